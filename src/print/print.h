/* SPDX-License-Identifier: MIT */
/*
 * What the outputs that print text have in common: the buffer, everything made ready once a trace, and the
 * walk over scopes that a script leaves to walking. A sink's state holds a struct kymo_print, which the sink
 * begins and ends.
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

/* What is the same in all lines of an event class. */
struct kymo_print_class {
  struct kymo_piece head;             /* for the sink */
  struct kymo_script script;          /* without steps until made */
  const struct kymo_message *message; /* for the sink */
};

struct kymo_print {
  struct kymo_out out;
  struct kymo_script_style style; /* the sink's, and how addresses are printed that may have names */
  const struct kymo_trace *trace;
  struct kymo_symbols *symbols; /* NULL: no address has a name */
  uint64_t cycles;              /* of the event that is being printed */
  kymo_label_writer *label;     /* how names … */
  kymo_value_writer *labelled;  /* … and values with labels are spelt */
  struct kymo_names names;
  const struct kymo_names *shown; /* whose labels walks show: `names`, if the sink sets no other */
  struct kymo_label_memory memory;
  struct kymo_whos whos; /* with the numbers of classes and streams */
  struct kymo_arena arena;
  struct kymo_print_class *classes; /* by class number */
  struct kymo_strbuf message;       /* of the current event */
  struct kymo_walk walk;
  struct kymo_frame frames[KYMO_WALK_DEPTH + 1];
};

/* How a sink prints what it walks over. */
struct kymo_walk_style {
  /* What stands in front of a value: separator, name or index. False if the value is not to be shown. */
  bool (*lead)(struct kymo_sink_state *state, struct kymo_frame *frame, const struct kymo_value *value);
  /* Behind the lead of a struct, union, array; and its end. */
  void (*begin)(struct kymo_sink_state *state, struct kymo_frame *frame);
  void (*end)(struct kymo_sink_state *state, const struct kymo_frame *frame);
  /* Behind the lead of anything else. */
  void (*scalar)(struct kymo_sink_state *state, uint32_t part, enum kymo_token token,
                 const struct kymo_value *value);
};

/* Ended by kymo_print_end also after a failure. KYMO_E_MEMORY. */
int kymo_print_begin(struct kymo_print *print, const struct kymo_trace *trace, FILE *out,
                     kymo_label_writer *label, kymo_value_writer *labelled, struct kymo_error *error);
/* Takes the sink's style, for a trace in which addresses may have names: they are left to style->integer
 * then. */
int kymo_print_names_addresses(struct kymo_print *print, const struct kymo_trace *trace,
                               const struct kymo_script_style *style, struct kymo_error *error);
/* The name of an address, as the event's part and time have it. */
bool kymo_print_symbol(const struct kymo_print *print, uint32_t part, const struct kymo_value *value,
                       struct kymo_symbol *out);
/* "name+0x4", with what is no visible ASCII as '?', and cut if it is long; at most KYMO_SYMBOL_TEXT bytes.
 * Returns the end. */
enum { KYMO_SYMBOL_TEXT = 300 };
char *kymo_print_put_symbol(char *at, const struct kymo_symbol *symbol);
/* Makes all but the output ready anew, since the trace has grown: what was made for classes and streams is
 * void. KYMO_E_MEMORY. */
int kymo_print_grow(struct kymo_print *print, struct kymo_error *error);
/* Hands what was printed so far to the system. */
int kymo_print_flush(struct kymo_print *print, struct kymo_error *error);
/* Writes what is left; the result is that of kymo_out_finish. */
int kymo_print_end(struct kymo_print *print, struct kymo_error *error);
/* The text of an event whose class has a message, until the next one is asked for; NULL: the event cannot be
 * read. */
const struct kymo_strbuf *kymo_print_message(struct kymo_print *print, const struct kymo_event *event,
                                             const struct kymo_message *message);
/* Prints the members of the scope of `step` by walking; `print` is that of `state`. A walk that breaks off
 * is ended as if it were complete. */
void kymo_print_members(struct kymo_print *print, struct kymo_sink_state *state,
                        const struct kymo_walk_style *style, const struct kymo_event *event,
                        const struct kymo_script_step *step);

static inline struct kymo_print_class *kymo_print_class_of(const struct kymo_print *print,
                                                           const struct kymo_event *event) {
  return &print->classes[kymo_class_number(&print->whos.numbers, event->packet->stream->part->index,
                                           event->class_)];
}

static inline bool kymo_frame_is_outermost(const struct kymo_print *print, const struct kymo_frame *frame) {
  return frame == print->frames;
}

#endif
