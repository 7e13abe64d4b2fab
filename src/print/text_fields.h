/* SPDX-License-Identifier: MIT */
/*
 * The fields of an event in the spelling of kymo's own lines, for the outputs that use it:
 *
 *   port = 80, state = OPEN, data = <01 02> | vpid = 4700
 *   └─ payload ───────────────────────────┘   └ contexts ┘
 *
 * For an event whose class has a message (schema/message.h), the payload is the text, in quotes, and the
 * fields that it does not show.
 *
 * A line is a script that is built once per class: its sink begins it, kymo_text_script_fields adds the
 * fields.
 */
#ifndef KYMO_PRINT_TEXT_FIELDS_H
#define KYMO_PRINT_TEXT_FIELDS_H

#include "print/print.h"

/* Fields of the common context that the sink prints elsewhere, so that they are left out here. */
enum kymo_text_says { KYMO_TEXT_SAYS_THREAD = 1 << 0, KYMO_TEXT_SAYS_CPU = 1 << 1 };

struct kymo_text_fields {
  uint32_t says;           /* set by the sink before it makes or prints a script … */
  const char *says_member; /* … and in the same way another member of the common context, if `says` is 0;
                            * or NULL */
  bool message_is_bare;    /* messages are printed without quotes */
  struct kymo_names bare;  /* without names */
  struct kymo_who_places places;
  const struct kymo_who_places *said; /* of the scope being walked */
  struct kymo_print print;            /* last, since most of it is for walking */
};

/* Whether values have names, and the text after the contexts: " NAME = VALUE, …", or "". */
struct kymo_text_shape {
  bool is_payload_bare, is_context_bare;
  const char *facts;
};

/* kymo_text_fields_end ends it also after a failure. `label` writes names, as kymo_text_label does: ", NAME =
 * ". */
int kymo_text_fields_begin(struct kymo_text_fields *fields, const struct kymo_trace *trace, FILE *out,
                           kymo_label_writer *label, struct kymo_error *error);
/* The trace has grown: scripts are invalid. KYMO_E_MEMORY. */
int kymo_text_fields_grow(struct kymo_text_fields *fields, struct kymo_error *error);
int kymo_text_fields_end(struct kymo_text_fields *fields, struct kymo_error *error);

/* The number of members of the contexts that are not printed elsewhere. */
uint32_t kymo_text_context_count(struct kymo_text_fields *fields, const struct kymo_event *event);
/* Adds " FIELDS | CONTEXTS" to a script. */
void kymo_text_script_fields(struct kymo_text_fields *fields, struct kymo_scripting *script,
                             const struct kymo_event *event, const struct kymo_text_shape *shape);
/* Prints an event to fields->print.out. */
void kymo_text_print(struct kymo_text_fields *fields, const struct kymo_event *event,
                     const struct kymo_script *script);

/* One value as in lines, but texts without quotes: control characters of terminals, and invalid ones, with a
 * backslash. */
void kymo_text_print_bare(struct kymo_text_fields *fields, uint32_t part, enum kymo_token token,
                          const struct kymo_value *value);
/* The same for a text of bytes. */
void kymo_text_print_bytes(struct kymo_out *out, const char *text, size_t length);

kymo_label_writer kymo_text_label;
/* A name of an event or field; control characters of terminals, and invalid ones, as \x and digits. */
void kymo_text_add_name(struct kymo_strbuf *buf, const char *name);
/* The name of an event class in the same way; a class without name is printed by its number, "event7". */
void kymo_text_add_class(struct kymo_strbuf *buf, const struct kymo_event_class *class_);

#endif
