/* SPDX-License-Identifier: MIT */
/* kymo/get.h: the fields of an event. See kymo/read.h. */
#ifndef KYMO_GET_H
#define KYMO_GET_H

#include <kymo/event.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- get: all fields in order ---- */

enum kymo_token {
  KYMO_TOKEN_DONE,    /* the end of the scope */
  KYMO_TOKEN_BEGIN,   /* a struct, union, array, sequence begins: value.count members or elements follow */
  KYMO_TOKEN_END,     /* … ends */
  KYMO_TOKEN_INTEGER, /* integer, boolean, bit map, enumeration, varint: value.u, or value.i if
                       * type->is_signed */
  KYMO_TOKEN_FLOAT,   /* value.f */
  KYMO_TOKEN_TEXT,    /* value.bytes, value.count: zero copy, without the end mark, in type->encoding */
  KYMO_TOKEN_BLOB,    /* value.bytes, value.count */
  KYMO_TOKEN_ABSENT,  /* an optional that is not there */
  KYMO_TOKEN_ERROR,   /* the bytes do not fit the type; the walk ends */
};

/* One step of a walk. The chosen option of a variant and the element of a present optional are reported as
 * themselves (member has the name of the option: `option`), without BEGIN and END of their own. */
struct kymo_value {
  const struct kymo_type *type;
  const struct kymo_member *member; /* the name in the surrounding struct, NULL for elements */
  const struct kymo_member *option; /* innermost chosen variant option that led here, or NULL */
  union {
    uint64_t u;
    int64_t i;
    double f;
  };
  const uint8_t *bytes;
  uint64_t count; /* bytes; members or elements for BEGIN */
};

/* Where a walk over fields is. Make one and use it for all events. Several may go on at a time (those of an
 * event with more than 32 lengths and tags only if they are of different events). */
struct kymo_walk;
/* NULL: out of memory. */
struct kymo_walk *kymo_walk_new(void);
/* NULL is fine. */
void kymo_walk_free(struct kymo_walk *walk);

/* Starts a walk over one scope of an event; false if the event has no such scope. */
bool kymo_walk_begin(struct kymo_walk *walk, const struct kymo_event *event, enum kymo_scope scope);
enum kymo_token kymo_walk_next_(struct kymo_walk *walk, struct kymo_value *value, size_t size);
/* The next step; the outermost struct's own BEGIN and END are not reported. */
static inline enum kymo_token kymo_walk_next(struct kymo_walk *walk, struct kymo_value *value) {
  return kymo_walk_next_(walk, value, sizeof *value);
}

/* Starts a walk over the contents of one field: the elements of a list, the members of a group, in order; the
 * field itself is not reported. KYMO_E_TYPE: it is neither; KYMO_E_ABSENT. */
int kymo_walk_field(struct kymo_walk *walk, const struct kymo_event *event, uint32_t field);
/* The same for one element of a list that is a list or group itself, as each element of a list of structs; by
 * its index from 0. KYMO_E_RANGE: the list is shorter. Members of an element are found by their names
 * (value.member->name). */
int kymo_walk_element(struct kymo_walk *walk, const struct kymo_event *event, uint32_t field, uint64_t index);

/* ---- get: the whole event ---- */

/* The number of the event's class, for kymo_trace_class: below kymo_trace_class_count. */
uint32_t kymo_event_get_class_number(const struct kymo_event *event);
/* Bytes from the event's header to its last field, borrowed until the next move; the first or last byte may
 * be shared with neighbours. Formats that re-encode their events (all but CTF and rings) return the
 * re-encoded bytes. Always KYMO_OK. */
int kymo_event_get_raw(const struct kymo_event *event, const uint8_t **bytes, uint64_t *count);

/* ---- get: one field ---- */

#define KYMO_FIELD_NONE UINT32_MAX
/*
 * Fields that every event has. kymo_field_id returns these for the names EVENT, ACQUISITION and STREAM,
 * unless the event class has own fields of these names.
 */
#define KYMO_FIELD_EVENT (UINT32_MAX - 1)       /* token: code is the class's id, text its name */
#define KYMO_FIELD_ACQUISITION (UINT32_MAX - 2) /* time, as kymo_event.time_ns */
#define KYMO_FIELD_STREAM (UINT32_MAX - 3)      /* number: the stream's instance, or its index */

/*
 * The id of a field of an event class: "name" or "outer.inner", searched in the payload, then in specific,
 * common and packet context. Ask once, then use the id. KYMO_FIELD_NONE: there is none. Ids are valid within
 * one class.
 */
uint32_t kymo_field_id(struct kymo_trace *trace, const struct kymo_event_class *class_, const char *path);
/* The type of a field in this event, inside optionals and variants; NULL: the field is absent, or has no type
 * (KYMO_FIELD_EVENT …). */
const struct kymo_type *kymo_event_get_type(const struct kymo_event *event, uint32_t field);
/* Whether the event has the field. */
bool kymo_event_has(const struct kymo_event *event, uint32_t field);

/*
 * The functions below return KYMO_OK, or leave the output unchanged: KYMO_E_TYPE if the field has another
 * type, KYMO_E_ABSENT if the event does not have it, KYMO_E_RANGE if the value does not fit the C type,
 * KYMO_E_UNKNOWN if there is no field with this id. Returned pointers are valid until the next move.
 */
/* Value of an integer, whatever its meaning. */
int kymo_event_get_uint(const struct kymo_event *event, uint32_t field, uint64_t *out);
int kymo_event_get_int(const struct kymo_event *event, uint32_t field, int64_t *out);
int kymo_event_get_float(const struct kymo_event *event, uint32_t field, double *out);
/* Bytes of a text or blob, not NUL-ended. */
int kymo_event_get_bytes(const struct kymo_event *event, uint32_t field, const uint8_t **out,
                         uint64_t *count);
/* The same for texts alone, in the encoding of their type. */
int kymo_event_get_string(const struct kymo_event *event, uint32_t field, const char **out, uint64_t *count);
/* A token: its code, and its interpretation, which is NULL for codes that have none. Either may be NULL. */
int kymo_event_get_token(const struct kymo_event *event, uint32_t field, uint64_t *code, const char **text);
/* Flags: all bits. kymo_type_flag_text returns the names of those that are set. */
int kymo_event_get_flags(const struct kymo_event *event, uint32_t field, uint64_t *bits);
/* The name of the flag number `index` (from 0) of those that are set in `bits`; NULL: fewer are set. `type`
 * is the type of the field. */
const char *kymo_type_flag_text(const struct kymo_type *type, uint64_t bits, uint32_t index);
/* A time in nanoseconds: for a field with a clock, from its origin as in events; for a field with a unit of
 * time (ns, us, ms, s), the duration. */
int kymo_event_get_time(const struct kymo_event *event, uint32_t field, int64_t *ns);
/* How many elements a list has. */
int kymo_event_get_count(const struct kymo_event *event, uint32_t field, uint64_t *count);
int kymo_event_get_element_(const struct kymo_event *event, uint32_t field, uint64_t index,
                            struct kymo_value *value, size_t size, enum kymo_token *token);
/* One element of a list, by its index from 0; KYMO_E_RANGE if the list is shorter. Lists and groups in it
 * are returned only as KYMO_TOKEN_BEGIN: kymo_walk_element enters them. Elements of varying size are stepped
 * over. */
static inline int kymo_event_get_element(const struct kymo_event *event, uint32_t field, uint64_t index,
                                         struct kymo_value *value, enum kymo_token *token) {
  return kymo_event_get_element_(event, field, index, value, sizeof *value, token);
}
int kymo_event_get_value_(const struct kymo_event *event, uint32_t field, struct kymo_value *value,
                          size_t size, enum kymo_token *token);
/* Any field: *token says what *value holds. */
static inline int kymo_event_get_value(const struct kymo_event *event, uint32_t field,
                                       struct kymo_value *value, enum kymo_token *token) {
  return kymo_event_get_value_(event, field, value, sizeof *value, token);
}
/*
 * Any field as text for people: interpretations of tokens and flags, numbers in the base of their type, bytes
 * in hexadecimal, lists and groups in brackets. Writes at most `size` bytes with the NUL into `out`; *length,
 * if not NULL, becomes the length of the whole text. KYMO_E_RANGE: it was cut.
 */
int kymo_event_format_field(const struct kymo_event *event, uint32_t field, char *out, size_t size,
                            size_t *length);
/*
 * The event's message: its class's format (of KYMO_PRINTF, of formats in CPEL and elog files, of templates of
 * definitions) filled in with its fields, as `kymo cat` prints it, without a line feed at its end. Writes at
 * most `size` bytes with the NUL into `out`, which may be NULL if `size` is 0; *length, if not NULL, becomes
 * the length of the whole text; the text may contain NULs. KYMO_OK, or KYMO_E_RANGE: it was cut.
 * KYMO_E_ABSENT: the class has no format, or its format does not fit its fields; KYMO_E_FORMAT: the event's
 * bytes do not fit its type; KYMO_E_MEMORY.
 */
int kymo_event_format_message(const struct kymo_event *event, char *out, size_t size, size_t *length);

#ifdef __cplusplus
}
#endif
#endif
