/* SPDX-License-Identifier: MIT */
/*
 * Shared code of the outputs that print text: the buffer, data prepared once per trace, and the walk over
 * scopes that scripts cannot print. The state of a sink contains a struct kymo_print, which the sink begins
 * and ends.
 */
#ifndef KYMO_PRINT_PRINT_H
#define KYMO_PRINT_PRINT_H

#include "decode/walk.h"
#include "print/labels.h"
#include "print/names.h"
#include "print/script.h"
#include "print/who.h"
#include "symbols/symbols.h"
#include <kymo/sink.h>

/* A struct, union, array that is being printed. */
struct kymo_frame {
  const struct kymo_type *type;
  const struct kymo_label *labels; /* of the members; NULL: an array */
  const struct kymo_member *only;  /* the member that is shown as the struct itself, or NULL */
  uint64_t count;                  /* printed in it so far */
  unsigned wraps;                  /* for the sink */
};

/* Data that is equal in all lines of an event class. */
struct kymo_print_class {
  struct kymo_piece head;             /* for the sink */
  struct kymo_script script;          /* without steps until made */
  const struct kymo_message *message; /* for the sink */
};

struct kymo_print {
  struct kymo_out out;
  struct kymo_script_style style; /* the sink's, and how addresses that may have names are printed */
  const struct kymo_trace *trace;
  struct kymo_symbols *symbols;   /* NULL: no address has a name */
  const struct kymo_event *event; /* that is being printed */
  kymo_label_writer *label;       /* how names … */
  kymo_value_writer *labelled;    /* … and how values with labels are spelt */
  struct kymo_names names;
  const struct kymo_names *shown; /* labels that walks show: `names`, unless the sink sets others */
  struct kymo_label_memory memory;
  struct kymo_whos whos; /* with the numbers of classes and streams */
  struct kymo_arena arena;
  struct kymo_print_class *classes; /* by class number */
  struct kymo_strbuf message;       /* of the current event */
  struct kymo_walk walk;
  struct kymo_frame frames[KYMO_WALK_DEPTH + 1];
};

/* How a sink prints during a walk. */
struct kymo_walk_style {
  /* The text before a value: separator, name or index. False if the value is not shown. */
  bool (*lead)(struct kymo_sink_state *state, struct kymo_frame *frame, const struct kymo_value *value);
  /* After the lead of a struct, union, array; and its end. */
  void (*begin)(struct kymo_sink_state *state, struct kymo_frame *frame);
  void (*end)(struct kymo_sink_state *state, const struct kymo_frame *frame);
  /* After the lead of any other value. */
  void (*scalar)(struct kymo_sink_state *state, uint32_t part, enum kymo_token token,
                 const struct kymo_value *value);
};

/* kymo_print_end ends it also after a failure. KYMO_E_MEMORY. */
int kymo_print_begin(struct kymo_print *print, const struct kymo_trace *trace, FILE *out,
                     kymo_label_writer *label, kymo_value_writer *labelled, struct kymo_error *error);
/* Sets the sink's style, for a trace in which addresses may have names: style->integer then prints them. */
int kymo_print_names_addresses(struct kymo_print *print, const struct kymo_trace *trace,
                               const struct kymo_script_style *style, struct kymo_error *error);
/* The name of an address, for the event's part, process and time. */
bool kymo_print_symbol(const struct kymo_print *print, uint32_t part, const struct kymo_value *value,
                       struct kymo_symbol *out);
/* "name+0x4", with '?' for other than visible ASCII characters, and cut if it is long; at most
 * KYMO_SYMBOL_TEXT bytes. Returns the end. */
enum { KYMO_SYMBOL_TEXT = 300 };
char *kymo_print_put_symbol(char *at, const struct kymo_symbol *symbol);
/* Prepares everything but the output again, since the trace has grown: prepared data of classes and streams
 * is invalid. KYMO_E_MEMORY. */
int kymo_print_grow(struct kymo_print *print, struct kymo_error *error);
/* Writes the output so far to the file. */
int kymo_print_flush(struct kymo_print *print, struct kymo_error *error);
/* Writes the rest; the result is that of kymo_out_finish. */
int kymo_print_end(struct kymo_print *print, struct kymo_error *error);
/* Bytes that can be read after the text of a message. */
#define KYMO_MESSAGE_SLACK 16
/* The text of an event whose class has a message, valid until the next call; NULL: the event cannot be
 * read. */
const struct kymo_strbuf *kymo_print_message(struct kymo_print *print, const struct kymo_event *event,
                                             const struct kymo_message *message);
/* Prints the members of the scope of `step` by walking; `print` is that of `state`. A walk that fails is
 * ended as if it were complete. */
void kymo_print_members(struct kymo_print *print, struct kymo_sink_state *state,
                        const struct kymo_walk_style *style, const struct kymo_event *event,
                        const struct kymo_script_step *step);

static inline struct kymo_print_class *kymo_print_class_of(const struct kymo_print *print,
                                                           const struct kymo_event *event) {
  return &print->classes[kymo_kind_of(event)];
}

static inline bool kymo_frame_is_outermost(const struct kymo_print *print, const struct kymo_frame *frame) {
  return frame == print->frames;
}

#endif
