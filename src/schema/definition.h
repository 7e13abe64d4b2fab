/* SPDX-License-Identifier: MIT */
/*
 * Definitions of events in framed logs (kymo/define.h): the record in files, and the fields of an event by
 * this record.
 *
 *   index u16 │ application u16 │ version u16 │ fields u16 │ id u32 │ name length u16 │ template length u16 │
 *   name │ template │ fields field: what it is u32 (KYMO_FIELD_…) │ name length u16 │ name
 *
 * All in the byte order of the file, without gaps and zeros after texts. Readers trust nothing: every record
 * and event is checked against its end.
 */
#ifndef KYMO_SCHEMA_DEFINITION_H
#define KYMO_SCHEMA_DEFINITION_H

#include "base/bytes.h"
#include <kymo/define.h>
#include <kymo/schema.h>

struct kymo_event_definition_field {
  uint32_t what; /* KYMO_FIELD_… */
  uint32_t name_length;
  const char *name; /* not NUL-ended */
};

/* Its pointers belong to the owner of the bytes that were parsed, or to the program that defines. */
struct kymo_event_definition {
  uint32_t id;
  uint16_t index, application, version;
  uint16_t name_length, template_length, field_count;
  const char *name, *template_text; /* not NUL-ended; template_length 0: there is none */
  struct kymo_event_definition_field fields[KYMO_DEFINITION_FIELDS_MAX];
};

/* The fault, and its byte offset: "expected …, found …". */
enum { KYMO_DEFINITION_FAULT_TEXT = 320 };
struct kymo_event_definition_fault {
  size_t at;
  char text[KYMO_DEFINITION_FAULT_TEXT];
};

/* The parts of kymo_event_definition_field.what. */
static inline uint32_t kymo_field_kind(uint32_t what) { return what & 0x1f; }
static inline uint32_t kymo_field_bytes(uint32_t what) { return what >> 16; }
static inline uint32_t kymo_field_element(uint32_t what) { return what >> 8 & 0xff; }

/* Whether it is one of the kinds of kymo/define.h. */
bool kymo_field_is_known(uint32_t what);
/* Whether it is a valid name: 1 to KYMO_DEFINITION_NAME_MAX bytes, none of them a control character. */
bool kymo_field_is_name(const char *name, size_t length);

/* Reads a record; false with `fault` if it is invalid. */
bool kymo_event_definition_parse(struct kymo_event_definition *out, const void *bytes, size_t size,
                                 bool is_big, struct kymo_event_definition_fault *fault);
/* Bytes of the record, and the record in this machine's byte order, to a buffer of that size. */
size_t kymo_event_definition_size(const struct kymo_event_definition *definition);
void kymo_event_definition_put(const struct kymo_event_definition *definition, unsigned char *at);

/* The name of the type of seconds with microseconds, a float, in schemas. */
#define KYMO_TIMEVAL_NAME "timeval"

/* Attributes of event classes that were created by definitions, and their values. */
#define KYMO_DEFINITION_ID_KEY "\"kymo.definition\""
#define KYMO_DEFINITION_APPLICATION_KEY "\"kymo.application\""
#define KYMO_DEFINITION_VERSION_KEY "\"kymo.version\""
struct kymo_event_definition_numbers {
  uint32_t id, application, version;
};
/* False: the class was not created by a definition. `out` may be NULL. */
bool kymo_event_definition_numbers(const struct kymo_event_class *class_,
                                   struct kymo_event_definition_numbers *out);
/* Whether a stream class has any. */
static inline bool kymo_has_definitions(const struct kymo_stream_class *stream) {
  for (uint32_t i = 0; i < stream->event_count; i++)
    if (kymo_event_definition_numbers(stream->events[i], NULL))
      return true;
  return false;
}

/* One field of an event. */
struct kymo_event_definition_value {
  uint64_t number; /* integers, sign-extended; bits of a float; nanoseconds; seconds; the id */
  uint32_t microseconds;
  uint32_t count; /* of bytes or elements at `bytes`: texts, arrays, memory */
  const uint8_t *bytes;
  bool is_big; /* the elements */
};

/* Reads field `field` at the cursor and moves after it; false with `fault`, at offsets in the cursor's
 * bytes. */
bool kymo_event_definition_read(const struct kymo_event_definition *definition, uint32_t field,
                                struct kymo_bytes *bytes, struct kymo_event_definition_value *value,
                                struct kymo_event_definition_fault *fault);
/* Whether the event ends at the cursor; else fills in `fault`. */
bool kymo_event_definition_is_end(const struct kymo_event_definition *definition,
                                  const struct kymo_bytes *bytes, struct kymo_event_definition_fault *fault);
/* Whether the fields fit these bytes exactly; else fills in `fault`. */
bool kymo_event_definition_fits(const struct kymo_event_definition *definition, const void *bytes,
                                size_t size, bool is_big, struct kymo_event_definition_fault *fault);

#endif
