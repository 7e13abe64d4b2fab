/* SPDX-License-Identifier: MIT */
/* Shared code of the outputs that print text. */
#include "print/print.h"
#include "base/fail.h"
#include "decode/layout.h"
#include "decode/walk.h"
#include "print/number.h"
#include "schema/attribute.h"
#include <errno.h>
#include <string.h>

static int prepare(struct kymo_print *print, struct kymo_error *error) {
  int status = kymo_names_begin(&print->names, print->trace, print->label, error);
  if (status >= 0)
    status = kymo_label_memory_begin(&print->memory, print->trace, print->labelled, error);
  if (status >= 0)
    status = kymo_whos_begin(&print->whos, print->trace, error);
  if (status < 0)
    return status;
  size_t classes = (size_t)print->whos.numbers.class_count + 1;
  print->classes = kymo_arena_array(&print->arena, classes, sizeof(*print->classes));
  return print->classes ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

int kymo_print_names_addresses(struct kymo_print *print, const struct kymo_trace *trace,
                               const struct kymo_script_style *style, struct kymo_error *error) {
  print->style = *style;
  if (!kymo_symbols_are_there(trace))
    return KYMO_OK;
  print->style.leaves_addresses = true;
  print->trace = trace;
  print->symbols = kymo_symbols_new(trace);
  return print->symbols ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

bool kymo_print_symbol(const struct kymo_print *print, uint32_t part, const struct kymo_value *value,
                       struct kymo_symbol *out) {
  return print->symbols && value->type->is_address &&
         kymo_symbols_find(print->symbols, kymo_trace_part(print->trace, part), value->u, print->event, out);
}

char *kymo_print_put_symbol(char *at, const struct kymo_symbol *symbol) {
  enum { NAME_MAX_ = KYMO_SYMBOL_TEXT - 24 };
  const char *name = symbol->name;
  for (int i = 0; i < NAME_MAX_ && name[i]; i++)
    *at++ = name[i] >= ' ' && name[i] < 127 && name[i] != '"' && name[i] != '\\' ? name[i] : '?';
  memcpy(at, "+0x", 3);
  return kymo_put_hex(at + 3, symbol->offset, false);
}

static void forget(struct kymo_print *print) {
  kymo_names_end(&print->names);
  kymo_label_memory_end(&print->memory);
  kymo_whos_end(&print->whos);
  kymo_arena_free(&print->arena);
}

int kymo_print_begin(struct kymo_print *print, const struct kymo_trace *trace, FILE *out,
                     kymo_label_writer *label, kymo_value_writer *labelled, struct kymo_error *error) {
  print->shown = &print->names;
  print->trace = trace;
  print->label = label;
  print->labelled = labelled;
  int status = kymo_out_begin(&print->out, out, error);
  return status < 0 ? status : prepare(print, error);
}

int kymo_print_grow(struct kymo_print *print, struct kymo_error *error) {
  forget(print);
  return prepare(print, error);
}

int kymo_print_flush(struct kymo_print *print, struct kymo_error *error) {
  kymo_out_flush(&print->out);
  errno = 0;
  if (!print->out.error_number && fflush(print->out.file) != 0)
    print->out.error_number = errno ? errno : EIO;
  return kymo_out_check(&print->out, error);
}

int kymo_print_end(struct kymo_print *print, struct kymo_error *error) {
  if (print->arena.failed && !print->out.error_number)
    print->out.error_number = ENOMEM; /* a class is printed incompletely */
  int status = kymo_out_finish(&print->out, error);
  forget(print);
  kymo_strbuf_free(&print->message);
  kymo_symbols_free(print->symbols);
  return status;
}

const struct kymo_strbuf *kymo_print_message(struct kymo_print *print, const struct kymo_event *event,
                                             const struct kymo_message *message) {
  print->message.length = 0;
  bool is_said = kymo_message_add(message, event, &print->message);
  kymo_strbuf_room(&print->message, KYMO_MESSAGE_SLACK);
  if (print->message.failed)
    print->out.error_number = ENOMEM;
  return is_said ? &print->message : NULL;
}

static struct kymo_frame new_frame(const struct kymo_print *print, uint32_t part,
                                   const struct kymo_type *type) {
  static const struct kymo_label no_labels[1];
  struct kymo_frame frame = {.type = type};
  if (type->kind == KYMO_KIND_STRUCT || type->kind == KYMO_KIND_UNION) {
    frame.labels = kymo_names_labels(print->shown, part, type);
    if (!frame.labels)
      frame.labels = no_labels;
    frame.only = kymo_element_member(type);
  }
  return frame;
}

/* Skips the rest after a BEGIN that is not shown. False if the walk ends. */
static bool skip(struct kymo_walk *walk) {
  struct kymo_value value;
  for (unsigned depth = 1; depth > 0;) {
    enum kymo_token token = kymo_walk_next(walk, &value);
    if (token == KYMO_TOKEN_DONE || token == KYMO_TOKEN_ERROR)
      return false;
    depth += token == KYMO_TOKEN_BEGIN;
    depth -= token == KYMO_TOKEN_END;
  }
  return true;
}

/* The next value of the walk. */
static const struct kymo_node *next_node(const struct kymo_walk *walk) {
  const struct kymo_walk_frame *frame = &walk->frames[walk->depth - 1];
  return walk->depth > 0 && frame->index < frame->count ? frame->part : NULL;
}

/* Prints an array that is shown as an address, whose BEGIN the walk has passed. False: it has no suitable
 * size, and the walk has not moved. */
static bool print_address(struct kymo_print *print, const struct kymo_value *begin) {
  const struct kymo_walk before = print->walk;
  uint8_t bytes[KYMO_ADDRESS_BYTES];
  unsigned size = begin->type->element->size_bits / 8;
  uint64_t total = begin->count * size;
  struct kymo_value value;
  if (begin->count > KYMO_ADDRESS_BYTES || (total != 4 && total != KYMO_ADDRESS_BYTES))
    return false;
  for (unsigned i = 0; kymo_walk_next(&print->walk, &value) == KYMO_TOKEN_INTEGER; i++)
    kymo_script_add_address(bytes, i, size, value.u);
  if (print->walk.depth + 1 != before.depth) { /* it broke off */
    print->walk = before;
    return false;
  }
  print->style.address(&print->out, bytes, (unsigned)total);
  return true;
}

/* The displayed form of the value: with names that are not in the trace. */
static void show(struct kymo_value *value, const struct kymo_type *shown) {
  value->type = shown;
  if (!shown->is_signed && shown->size_bits < 64)
    value->u &= (UINT64_C(1) << shown->size_bits) - 1;
}

static bool is_hidden(const struct kymo_print *print, const struct kymo_frame *frame,
                      const struct kymo_value *value, const struct kymo_script_step *step) {
  if (!frame->labels || frame->type->member_count == 0)
    return false;
  uint32_t index = (uint32_t)(value->member - frame->type->members);
  return frame->labels[index].is_hidden ||
         (step->leaves_out && frame == print->frames && step->leaves_out(step->user, index));
}

static void end_frame(struct kymo_sink_state *state, const struct kymo_walk_style *style,
                      const struct kymo_frame *frame) {
  if (!frame->only)
    style->end(state, frame);
}

void kymo_print_members(struct kymo_print *print, struct kymo_sink_state *state,
                        const struct kymo_walk_style *style, const struct kymo_event *event,
                        const struct kymo_script_step *step) {
  uint32_t part = event->packet->stream->part->index;
  struct kymo_frame *frame = print->frames;
  struct kymo_value value;
  if (!kymo_walk_begin(&print->walk, event, step->scope))
    return;
  *frame = new_frame(print, part, step->type);
  frame->count = step->more;
  for (bool goes_on = true; goes_on;) {
    const struct kymo_node *node = print->style.address ? next_node(&print->walk) : NULL;
    enum kymo_token token = kymo_walk_next(&print->walk, &value);
    const struct kymo_type *shown = node ? node->shown : NULL;
    if (token == KYMO_TOKEN_DONE || token == KYMO_TOKEN_ERROR) {
      break;
    } else if (token == KYMO_TOKEN_END) {
      end_frame(state, style, frame--);
    } else if (is_hidden(print, frame, &value, step) || !(frame->only || style->lead(state, frame, &value))) {
      goes_on = token != KYMO_TOKEN_BEGIN || skip(&print->walk);
    } else if (token == KYMO_TOKEN_BEGIN && shown && print_address(print, &value)) {
      continue;
    } else if (token == KYMO_TOKEN_BEGIN) {
      *++frame = new_frame(print, part, value.type);
      if (!frame->only)
        style->begin(state, frame);
    } else {
      if (shown && token == KYMO_TOKEN_INTEGER)
        show(&value, shown);
      style->scalar(state, part, token, &value);
    }
  }
  while (frame > print->frames)
    end_frame(state, style, frame--);
}
