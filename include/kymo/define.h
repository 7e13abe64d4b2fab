/* SPDX-License-Identifier: MIT */
/*
 * kymo/define.h: events that describe themselves, in framed logs of kymo/log.h.
 *
 *   struct kymo_definition *read = kymo_definition_new(log, "read", NULL);
 *   kymo_definition_add_field(read, "timeval", KYMO_FIELD_TIMEVAL);
 *   kymo_definition_add_field(read, "name", KYMO_FIELD_TEXT);
 *   kymo_definition_add_field(read, "fd", KYMO_FIELD_INT32);
 *   …
 *   kymo_definition_printf(read, "%8b%4b%0s%4b", seconds, microseconds, "read", fd);
 *
 * The description is in each file before the first event of its kind, so each file alone contains names and
 * types. The event is what the format stores, as with kymo_bprintf; the frame contains the index of the
 * description. The format of a call site is compared with the fields at its first call, and a format that
 * stores anything else is refused.
 *
 *   field                                     what stores it
 *   KYMO_FIELD_INT8 … INT64, UINT8 … UINT64   %1b %2b %4b %8b; of one byte %c too, unsigned %1n %2n %4n too
 *   KYMO_FIELD_FLOAT, KYMO_FIELD_DOUBLE       %4b or %8b of their bits, or %.4m, %.8m
 *   KYMO_FIELD_TEXT                           %0s
 *   KYMO_FIELD_COUNTED_TEXT(bytes)            %1S %2S %4S; bytes: of the count
 *   KYMO_FIELD_OBJECT(bytes)                  %1o %2o %4o: bytes
 *   KYMO_FIELD_ARRAY(bytes, element)          %2.8o …: unsigned integers of that size
 *   KYMO_FIELD_MEMORY(bytes)                  %.16m …: always this number of bytes
 *   KYMO_FIELD_CHARS(bytes)                   text up to the first zero in this size: %.16m, %.8M, or
 *                                             text in the format
 *   KYMO_FIELD_TIME                           %8b: nanoseconds since 1970
 *   KYMO_FIELD_TIMEVAL, KYMO_FIELD_TIMEVAL32  %8b%4b, %4b%4b: seconds since 1970 and microseconds
 *   KYMO_FIELD_ID                             nothing: the id of the definition
 *
 * | KYMO_FIELD_LITTLE and | KYMO_FIELD_BIG are the byte order of numbers and counts (%<4b, %>4b), whatever
 * the machine; | KYMO_FIELD_HEX shows an integer in hexadecimal.
 */
#ifndef KYMO_DEFINE_H
#define KYMO_DEFINE_H
#pragma GCC system_header /* as in kymo/fields.h */

#include <kymo/bprintf.h>

enum kymo_field_kind {
  KYMO_FIELD_IS_SIGNED = 1,
  KYMO_FIELD_IS_UNSIGNED,
  KYMO_FIELD_IS_FLOAT,
  KYMO_FIELD_IS_TEXT,
  KYMO_FIELD_IS_COUNTED_TEXT,
  KYMO_FIELD_IS_ARRAY,
  KYMO_FIELD_IS_MEMORY,
  KYMO_FIELD_IS_CHARS,
  KYMO_FIELD_IS_TIME,
  KYMO_FIELD_IS_TIMEVAL,
  KYMO_FIELD_IS_ID
};
/* What a field is, in one number: as in files. */
#define KYMO_FIELD_(kind, bytes, element) \
  ((uint32_t)(kind) | (uint32_t)(element) << 8 | (uint32_t)(bytes) << 16)
#define KYMO_FIELD_INT8 KYMO_FIELD_(KYMO_FIELD_IS_SIGNED, 1, 0)
#define KYMO_FIELD_INT16 KYMO_FIELD_(KYMO_FIELD_IS_SIGNED, 2, 0)
#define KYMO_FIELD_INT32 KYMO_FIELD_(KYMO_FIELD_IS_SIGNED, 4, 0)
#define KYMO_FIELD_INT64 KYMO_FIELD_(KYMO_FIELD_IS_SIGNED, 8, 0)
#define KYMO_FIELD_UINT8 KYMO_FIELD_(KYMO_FIELD_IS_UNSIGNED, 1, 0)
#define KYMO_FIELD_UINT16 KYMO_FIELD_(KYMO_FIELD_IS_UNSIGNED, 2, 0)
#define KYMO_FIELD_UINT32 KYMO_FIELD_(KYMO_FIELD_IS_UNSIGNED, 4, 0)
#define KYMO_FIELD_UINT64 KYMO_FIELD_(KYMO_FIELD_IS_UNSIGNED, 8, 0)
#define KYMO_FIELD_FLOAT KYMO_FIELD_(KYMO_FIELD_IS_FLOAT, 4, 0)
#define KYMO_FIELD_DOUBLE KYMO_FIELD_(KYMO_FIELD_IS_FLOAT, 8, 0)
#define KYMO_FIELD_TEXT KYMO_FIELD_(KYMO_FIELD_IS_TEXT, 0, 0)
#define KYMO_FIELD_COUNTED_TEXT(bytes) KYMO_FIELD_(KYMO_FIELD_IS_COUNTED_TEXT, bytes, 1)
#define KYMO_FIELD_OBJECT(bytes) KYMO_FIELD_(KYMO_FIELD_IS_ARRAY, bytes, 1)
#define KYMO_FIELD_ARRAY(bytes, element) KYMO_FIELD_(KYMO_FIELD_IS_ARRAY, bytes, element)
#define KYMO_FIELD_MEMORY(bytes) KYMO_FIELD_(KYMO_FIELD_IS_MEMORY, bytes, 0)
#define KYMO_FIELD_CHARS(bytes) KYMO_FIELD_(KYMO_FIELD_IS_CHARS, bytes, 0)
#define KYMO_FIELD_TIME KYMO_FIELD_(KYMO_FIELD_IS_TIME, 8, 0)
#define KYMO_FIELD_TIMEVAL KYMO_FIELD_(KYMO_FIELD_IS_TIMEVAL, 12, 0)
#define KYMO_FIELD_TIMEVAL32 KYMO_FIELD_(KYMO_FIELD_IS_TIMEVAL, 8, 0)
#define KYMO_FIELD_ID KYMO_FIELD_(KYMO_FIELD_IS_ID, 0, 0)
#define KYMO_FIELD_HEX 0x20u
#define KYMO_FIELD_LITTLE 0x40u
#define KYMO_FIELD_BIG 0x80u

enum { KYMO_DEFINITION_FIELDS_MAX = 64, KYMO_DEFINITION_NAME_MAX = 255, KYMO_DEFINITION_TEMPLATE_MAX = 4095 };

/* Zeroes are the defaults. One log may contain definitions of several applications, and of several
 * versions of an event. */
struct kymo_definition_options {
  uint32_t id; /* the application's own number of the event; 0: a number that counts up from 1 */
  uint16_t application, version;
  const char *template_text; /* how the event is shown: a printf format over all fields in their order */
};

struct kymo_definition {
  struct kymo_log *log;
  uint32_t serial; /* of no other definition in this process */
  uint16_t index;  /* before each event, in its frame */
};

#ifdef __cplusplus
extern "C" {
#endif

struct kymo_definition *kymo_definition_new_(struct kymo_log *log, const char *name,
                                             const struct kymo_definition_options *options, size_t size);
/*
 * Begins the definition of an event of a framed log. The texts are copied, and the definition lives as
 * long as the log. NULL with errno: EINVAL for a raw log, a name that is empty, too long or not text, a
 * template that is not a format; ENOSPC for more than 65536 definitions. Thread-safe; not for signal
 * handlers.
 */
static inline struct kymo_definition *kymo_definition_new(struct kymo_log *log, const char *name,
                                                          const struct kymo_definition_options *options) {
  return kymo_definition_new_(log, name, options, sizeof *options);
}
/* Adds a field. Returns 0, or -1 with errno: EINVAL for a field that is none of the above, and for a name
 * that is in use or invalid, ENOSPC for more than 64 fields, EBUSY once the definition is complete. One
 * thread at a time may build a definition. */
int kymo_definition_add_field(struct kymo_definition *definition, const char *name, uint32_t field);
/*
 * Completes the definition: it is written to every file, before the first event of its kind. The first event
 * also completes it. Returns 0, also if it was complete; or -1 with errno: EINVAL for a template that does
 * not fit the fields, ENOSPC for more than 1 MiB of definitions in one log, ENOMEM.
 */
int kymo_definition_end(struct kymo_definition *definition);
/* What is wrong with a format for this definition, or with the definition; NULL: nothing. */
const char *kymo_definition_fault(struct kymo_definition *definition, const char *format);

/* Writes one event of these bytes, which the program has encoded itself: EINVAL unless the fields fit them
 * exactly. Otherwise as kymo_definition_printf. */
int kymo_definition_write(struct kymo_definition *definition, const void *bytes, size_t size);
/* As kymo_bvprintf; format and fields are compared at each call. */
int kymo_definition_vprintf(struct kymo_definition *definition, const char *format,
                            const struct kymo_barg *args, size_t count);

/* Compares, and notes the definition at the call site. False with errno EINVAL. */
bool kymo_definition_fits_(struct kymo_definition *definition, uint32_t *fitted, const char *format);
int kymo_definition_slow_(struct kymo_definition *definition, struct kymo_bcache_ *cache, const char *format,
                          const struct kymo_barg *args, size_t count);

#ifdef __cplusplus
}
#endif

KYMO_INLINE_ struct kymo_bplace_ kymo_breserve_defined_(const struct kymo_definition *definition,
                                                        size_t size) {
  struct kymo_bplace_ place =
      kymo_breserve_(definition->log, size + sizeof definition->index, KYMO_FRAME_DEFINED_);
  if (place.at) {
    memcpy(place.at, &definition->index, sizeof definition->index);
    place.at += sizeof definition->index;
  }
  return place;
}
#define KYMO_BDEFINED_EXTRA_ sizeof kymo_definition_->index
#define KYMO_BDEFINED_RESERVE_(size) kymo_breserve_defined_(kymo_definition_, size)
#define KYMO_BDEFINED_SLOW_(...) kymo_definition_slow_(kymo_definition_, __VA_ARGS__)

/*
 * Stores an event of a definition, as kymo_bprintf does. Returns the bytes stored, without those of the
 * frame; 0 if the log is off; -1 with errno; EINVAL also means that the format does not store the fields.
 * An event that is too long is not cut but lost, with EMSGSIZE. Signal handlers may call it once the
 * definition is complete (kymo_definition_end).
 */
#define kymo_definition_printf(definition, ...)                                                            \
  __extension__({                                                                                          \
    KYMO_STOP_(kymo_refuse_bformat_(KYMO_BFORMAT_FAULT_(__VA_ARGS__)))                                     \
    KYMO_BQUOTED_(KYMO_BFORMAT_OF_(__VA_ARGS__, ~))                                                        \
    (void)sizeof(definition), (void)sizeof(KYMO_BFORMAT_OF_(__VA_ARGS__, ~));                              \
    kymo_bresult_(!"" KYMO_BFORMAT_OF_(__VA_ARGS__, ~) + ({                                                \
      KYMO_BCHECKED_(KYMO_BFORMAT_OF_(__VA_ARGS__, ~), __VA_ARGS__)                                        \
      KYMO_STOP_(kymo_refuse_bformat_(kymo_bad_d))                                                         \
      KYMO_BASSERTED_() struct kymo_definition *const kymo_definition_ = (definition);                     \
      struct kymo_log *kymo_log_ = kymo_definition_->log;                                                  \
      static uint32_t                                                                                      \
          kymo_fitted_; /* acquire: the definition is complete; partner: kymo_definition_fits_ */          \
      int kymo_result_ = 0;                                                                                \
      if (__builtin_expect(__atomic_load_n(&kymo_log_->point->enabled, __ATOMIC_RELAXED) != 0, 1)) {       \
        if (__builtin_expect(__atomic_load_n(&kymo_fitted_, __ATOMIC_ACQUIRE) != kymo_definition_->serial, \
                             0) &&                                                                         \
            !kymo_definition_fits_(kymo_definition_, &kymo_fitted_, "" KYMO_BFORMAT_OF_(__VA_ARGS__, ~)))  \
          kymo_result_ = -1;                                                                               \
        else {                                                                                             \
          KYMO_BLIST_(KYMO_BTAKE_, 0, __VA_ARGS__)                                                         \
          KYMO_BPRINTF_(KYMO_BDEFINED_, "" KYMO_BFORMAT_OF_(__VA_ARGS__, ~), __VA_ARGS__)                  \
        }                                                                                                  \
      }                                                                                                    \
      kymo_result_;                                                                                        \
    }));                                                                                                   \
  })

#endif
