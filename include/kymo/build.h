/* SPDX-License-Identifier: MIT */
/*
 * kymo/build.h: events that are built in pieces. Included by kymo/trace.h.
 *
 *   struct kymo_build build;
 *   char room[1024];
 *   KYMO_BUILD(&build, room, sizeof room, http, request, id, KYMO_LATER_TEXT(path), KYMO_LATER_ARRAY(sizes,
 *   uint16_t),
 *              KYMO_LATER(status, int));
 *   kymo_build_text(&build, "/");
 *   kymo_build_text(&build, name);              texts, bytes and arrays grow by pieces …
 *   kymo_build_next(&build);                    … until the next field begins
 *   kymo_build_bytes(&build, sizes, 2 * sizeof sizes[0]);
 *   kymo_build_next(&build);
 *   kymo_build_integer(&build, 200);            a number is one piece
 *   kymo_build_commit(&build);
 *
 * KYMO_BUILD is a tracepoint: off, it is a load and a branch, and what follows does nothing (kymo_build_is_on
 * tells, so that one need not prepare the pieces). Fields of all kinds come first, then those that are put
 * later, in their order. What is not put by the commit is 0 or empty.
 *
 * The event is built in the program's memory and recorded by the commit, at its time and in the ring of the
 * thread that commits. So nothing is held meanwhile: tracepoints between beginning and commit, of this thread
 * and its signal handlers, are recorded as ever, and in front of it; a longjmp, an exception or the end of
 * the thread loses the event in work and nothing else; a build may be begun before fork, or in another
 * thread. One build belongs to one thread at a time.
 *
 * An event that outgrows its room, or whose pieces do not fit the fields (a text for a number, a part of an
 * element, a zero in a text, more fields than there are), is given up: the commit returns false and counts it
 * as lost.
 */
#ifndef KYMO_BUILD_H
#define KYMO_BUILD_H
#pragma GCC system_header /* as in kymo/fields.h */

#include <kymo/check.h>
#include <stdbool.h>
#include <stddef.h>

/* A number of this type; a text; bytes; an array of numbers of this type. */
#define KYMO_LATER(name, TYPE) (kymo_later, name, TYPE, KYMO_KIND_VALUE_, 0, kymo_field)
#define KYMO_LATER_TEXT(name) (kymo_later_text, name, 0, 0, 0, kymo_field)
#define KYMO_LATER_BLOB(name) (kymo_later_blob, name, 0, 0, 0, kymo_field)
#define KYMO_LATER_ARRAY(name, TYPE) (kymo_later, name, TYPE, KYMO_KIND_ARRAY_, 0, kymo_field)

/* An event in work. Contents are the functions' own. */
struct kymo_build {
  const struct kymo_tracepoint *point; /* NULL: off */
  unsigned char *begin, *at, *end;     /* the bytes so far, and the end of the room */
  unsigned char *start;                /* of the field in work, behind its count */
  uint32_t field;                      /* the next one to be put, or the one in work */
  bool is_open;                        /* a field is in work */
  bool has_failed;
};

#define KYMO_MENTION_kymo_later_(i, name, TYPE, kind, c)
#define KYMO_MENTION_kymo_later_text_(i, name, a, b, c)
#define KYMO_MENTION_kymo_later_blob_(i, name, a, b, c)

#ifdef KYMO_DISABLE

#define KYMO_BUILD(build, room, size, ...)     \
  do {                                         \
    (void)(build), (void)(room), (void)(size); \
    KYMO(__VA_ARGS__);                         \
  } while (0)
#define KYMO_STUB_ static inline __attribute__((unused))
KYMO_STUB_ bool kymo_build_is_on(const struct kymo_build *build) { return (void)build, false; }
KYMO_STUB_ void kymo_build_integer(struct kymo_build *build, int64_t value) { (void)build, (void)value; }
KYMO_STUB_ void kymo_build_float(struct kymo_build *build, double value) { (void)build, (void)value; }
KYMO_STUB_ void kymo_build_text(struct kymo_build *build, const char *text) { (void)build, (void)text; }
KYMO_STUB_ void kymo_build_bytes(struct kymo_build *build, const void *bytes, size_t size) {
  (void)build, (void)bytes, (void)size;
}
KYMO_STUB_ void *kymo_build_space(struct kymo_build *build, size_t size) {
  return (void)build, (void)size, (void *)0;
}
KYMO_STUB_ void kymo_build_next(struct kymo_build *build) { (void)build; }
KYMO_STUB_ bool kymo_build_commit(struct kymo_build *build) { return (void)build, false; }
KYMO_STUB_ void kymo_build_cancel(struct kymo_build *build) { (void)build; }

#else

#ifdef __cplusplus
extern "C" {
#endif

/* Puts a number, cut to the field's width, and goes on to the next field. */
void kymo_build_integer(struct kymo_build *build, int64_t value);
void kymo_build_float(struct kymo_build *build, double value);
/* Adds to a text; NULL: "(null)". */
void kymo_build_text(struct kymo_build *build, const char *text);
/* Adds to a text or blob, or whole elements to an array. A number may be put so, too, by its bytes. */
void kymo_build_bytes(struct kymo_build *build, const void *bytes, size_t size);
/* Adds `size` bytes of any value, to be filled by the caller before anything else is put (by read, say).
 * NULL: there is no room, or the event is off. Not aligned. */
void *kymo_build_space(struct kymo_build *build, size_t size);
/* The text, blob or array is complete (or empty); the next field begins. */
void kymo_build_next(struct kymo_build *build);
/* Records the event. False: it is off, or was given up, or there was no room in the ring. The build may be
 * begun anew. */
bool kymo_build_commit(struct kymo_build *build);
void kymo_build_begin_(struct kymo_build *build, const struct kymo_tracepoint *point, void *room,
                       size_t size);
/* Where the fields that are there go, NULL if the room is too small for them; and that they have gone
 * there. */
unsigned char *kymo_build_reserve_(struct kymo_build *build, size_t bytes);
void kymo_build_go_on_(struct kymo_build *build, unsigned char *at);

#ifdef __cplusplus
}
#endif

KYMO_INLINE_ bool kymo_build_is_on(const struct kymo_build *build) { return build->point != NULL; }
/* Forgets it, which counts as nothing. */
KYMO_INLINE_ void kymo_build_cancel(struct kymo_build *build) { build->point = NULL; }

#define KYMO_BUILD(build, room, size, ...)                                      \
  do {                                                                          \
    KYMO_STOP_(kymo_refuse_words_(KYMO_WORDS_(__VA_ARGS__)))                    \
    KYMO_CHECKED_(#__VA_ARGS__, __VA_ARGS__)                                    \
    KYMO_STOP_(kymo_refuse_fields_(kymo_wrong_))                                \
    KYMO_ASSERTED_() KYMO_BUILD_(#__VA_ARGS__, build, room, size, __VA_ARGS__); \
  } while (0)
#define KYMO_BUILD_(written, build, room, size, ...)                                                       \
  do {                                                                                                     \
    KYMO_DESCRIBE_(written, 0, __VA_ARGS__);                                                               \
    struct kymo_build *kymo_build_ = (build);                                                              \
    kymo_build_cancel(kymo_build_);                                                                        \
    if (!KYMO_LIKELY_(!KYMO_IS_ON_(KYMO_HEAD_))) {                                                         \
      KYMO_EACH_(KYMO_FIELD_TAKE_, __VA_ARGS__)                                                            \
      kymo_build_begin_(kymo_build_, &KYMO_HEAD_, (room), (size));                                         \
      unsigned char *kymo_at_ =                                                                            \
          kymo_build_reserve_(kymo_build_, 0 KYMO_EACH_(KYMO_FIELD_SIZE_, __VA_ARGS__));                   \
      if (kymo_at_) {                                                                                      \
        const struct kymo_place kymo_place_ = {0,                                                          \
                                               NULL}; /* what is given up here is counted by the commit */ \
        (void)kymo_place_;                                                                                 \
        KYMO_EACH_(KYMO_FIELD_PUT_, __VA_ARGS__)                                                           \
        kymo_build_go_on_(kymo_build_, kymo_at_);                                                          \
      }                                                                                                    \
    }                                                                                                      \
  } while (0)

#define KYMO_DECLARE_kymo_later_(i, name, TYPE, kind, c)
#define KYMO_SLOT_kymo_later_(i, name, TYPE, kind, c)
#define KYMO_LISTING_kymo_later_(i, name, TYPE, kind, c)
#define KYMO_CODE_kymo_later_(i, name, TYPE, kind, c) \
  , (KYMO_CODE_(kind, KYMO_SCALAR_(TYPE), 0, 0) | KYMO_CODE_LATER_)
#define KYMO_TAKE_kymo_later_(i, name, TYPE, kind, c)
#define KYMO_SIZE_kymo_later_(i, name, TYPE, kind, c)
#define KYMO_PUT_kymo_later_(i, name, TYPE, kind, c)

#define KYMO_DECLARE_kymo_later_text_(i, name, a, b, c)
#define KYMO_SLOT_kymo_later_text_(i, name, a, b, c)
#define KYMO_LISTING_kymo_later_text_(i, name, a, b, c)
#define KYMO_CODE_kymo_later_text_(i, name, a, b, c) \
  , (KYMO_CODE_(KYMO_KIND_STRN_, KYMO_TYPE_TEXT_, 0, 0) | KYMO_CODE_LATER_)
#define KYMO_TAKE_kymo_later_text_(i, name, a, b, c)
#define KYMO_SIZE_kymo_later_text_(i, name, a, b, c)
#define KYMO_PUT_kymo_later_text_(i, name, a, b, c)

#define KYMO_DECLARE_kymo_later_blob_(i, name, a, b, c)
#define KYMO_SLOT_kymo_later_blob_(i, name, a, b, c)
#define KYMO_LISTING_kymo_later_blob_(i, name, a, b, c)
#define KYMO_CODE_kymo_later_blob_(i, name, a, b, c) \
  , (KYMO_CODE_(KYMO_KIND_BLOB_, KYMO_TYPE_UNSIGNED_ | 1, 16, 0) | KYMO_CODE_LATER_)
#define KYMO_TAKE_kymo_later_blob_(i, name, a, b, c)
#define KYMO_SIZE_kymo_later_blob_(i, name, a, b, c)
#define KYMO_PUT_kymo_later_blob_(i, name, a, b, c)

#endif /* KYMO_DISABLE */
#endif
