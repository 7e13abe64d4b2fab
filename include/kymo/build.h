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
 * KYMO_BUILD is a tracepoint: disabled, it is a load and a branch, and the calls below do nothing
 * (kymo_build_is_on reports it, so that a program need not prepare the pieces). Fields of all kinds come
 * first, then those that are put later, in their order. A field that is not put before the commit is 0 or
 * empty.
 *
 * The event is built in the program's memory and recorded by the commit, at its time and in the ring of the
 * thread that commits. So no ring is held meanwhile: tracepoints between beginning and commit, of this thread
 * and its signal handlers, are recorded as usual, before it; a longjmp, an exception or the end of the thread
 * loses only this event; a build may be begun before fork, or in another thread. One build belongs to one
 * thread at a time.
 *
 * An event that outgrows its buffer, or whose pieces do not fit the fields (a text for a number, a part of an
 * element, a zero in a text, too many fields), is abandoned: the commit returns false and counts it as lost.
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

/* An event in progress. The members are private to the library. */
struct kymo_build {
  const struct kymo_tracepoint *point; /* NULL: off */
  unsigned char *begin, *at, *end;     /* the bytes so far, and the end of the buffer */
  unsigned char *start;                /* of the current field, after its count */
  uint32_t field;                      /* the next field to be put, or the current one */
  bool is_open;                        /* a field is being put */
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
#define KYMO_STUB_ static inline __attribute__((unused, no_instrument_function))
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

/* Puts a number, truncated to the field's width, and goes on to the next field. */
void kymo_build_integer(struct kymo_build *build, int64_t value);
void kymo_build_float(struct kymo_build *build, double value);
/* Adds to a text; NULL: "(null)". */
void kymo_build_text(struct kymo_build *build, const char *text);
/* Adds to a text or blob, or whole elements to an array. Also puts a number, by its bytes. */
void kymo_build_bytes(struct kymo_build *build, const void *bytes, size_t size);
/* Adds `size` bytes of any value, which the caller fills before anything else is put (by read, for example).
 * NULL: there is no space, or the event is disabled. Not aligned. */
void *kymo_build_space(struct kymo_build *build, size_t size);
/* The text, blob or array is complete (or empty); the next field begins. */
void kymo_build_next(struct kymo_build *build);
/* Records the event. False: it is disabled, or was abandoned, or the ring had no space. The build may be
 * begun again. */
bool kymo_build_commit(struct kymo_build *build);
void kymo_build_begin_(struct kymo_build *build, const struct kymo_tracepoint *point, void *room,
                       size_t size);
/* kymo_build_reserve_ returns where the first fields are stored, NULL if the buffer is too small;
 * kymo_build_filled_ is called after they are stored. */
unsigned char *kymo_build_reserve_(struct kymo_build *build, size_t bytes);
void kymo_build_go_on_(struct kymo_build *build, unsigned char *at);

#ifdef __cplusplus
}
#endif

KYMO_INLINE_ bool kymo_build_is_on(const struct kymo_build *build) { return build->point != NULL; }
/* Drops the event; it does not count as lost. */
KYMO_INLINE_ void kymo_build_cancel(struct kymo_build *build) { build->point = NULL; }

#define KYMO_BUILD(build, room, size, ...)                                      \
  do {                                                                          \
    KYMO_STOP_(kymo_refuse_words_(KYMO_WORDS_(__VA_ARGS__)))                    \
    KYMO_CHECKED_(#__VA_ARGS__, __VA_ARGS__)                                    \
    KYMO_STOP_(kymo_refuse_fields_(kymo_wrong_))                                \
    KYMO_ASSERTED_() KYMO_BUILD_(#__VA_ARGS__, build, room, size, __VA_ARGS__); \
  } while (0)
#define KYMO_BUILD_(written, build, room, size, ...)                                                         \
  do {                                                                                                       \
    KYMO_DESCRIBE_(written, 0, __VA_ARGS__);                                                                 \
    struct kymo_build *kymo_build_ = (build);                                                                \
    kymo_build_cancel(kymo_build_);                                                                          \
    if (!KYMO_LIKELY_(!KYMO_IS_ON_(KYMO_HEAD_))) {                                                           \
      KYMO_FIND_TEXTS_(1, __VA_ARGS__)                                                                       \
      struct kymo_tail_ kymo_tail_;                                                                          \
      (void)&kymo_tail_;                                                                                     \
      KYMO_EACH_(KYMO_FIELD_TAKE_, __VA_ARGS__)                                                              \
      kymo_build_begin_(kymo_build_, &KYMO_HEAD_, (room), (size));                                           \
      unsigned char *kymo_at_ =                                                                              \
          kymo_build_reserve_(kymo_build_, 0 KYMO_EACH_(KYMO_FIELD_SIZE_, __VA_ARGS__));                     \
      if (kymo_at_) {                                                                                        \
        const struct kymo_place kymo_place_ = {0,                                                            \
                                               NULL}; /* an event abandoned here is counted by the commit */ \
        (void)kymo_place_;                                                                                   \
        KYMO_EACH_(KYMO_FIELD_PUT_, __VA_ARGS__)                                                             \
        kymo_build_go_on_(kymo_build_, kymo_at_);                                                            \
      }                                                                                                      \
    }                                                                                                        \
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
