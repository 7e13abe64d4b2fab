/* SPDX-License-Identifier: MIT */
/* What the outputs that print text have in common. */
#include "sink/print.h"
#include "base/fail.h"

int kymo_print_begin(struct kymo_print *print, const struct kymo_trace *trace, FILE *out, kymo_label_writer *label,
                     kymo_value_writer *labelled, struct kymo_error *error) {
  int status = kymo_out_begin(&print->out, out, error);
  if (status >= 0)
    status = kymo_names_begin(&print->names, trace, label, error);
  if (status >= 0)
    status = kymo_label_memory_begin(&print->memory, trace, labelled, error);
  if (status >= 0)
    status = kymo_whos_begin(&print->whos, trace, error);
  if (status < 0)
    return status;
  size_t classes = (size_t)print->whos.numbers.class_count + 1;
  print->classes = kymo_arena_array(&print->arena, classes, sizeof(*print->classes));
  return print->classes ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

int kymo_print_end(struct kymo_print *print, struct kymo_error *error) {
  int status = kymo_out_finish(&print->out, error);
  kymo_names_end(&print->names);
  kymo_label_memory_end(&print->memory);
  kymo_whos_end(&print->whos);
  kymo_arena_free(&print->arena);
  return status;
}

static struct kymo_frame new_frame(const struct kymo_print *print, uint32_t part, const struct kymo_type *type) {
  static const struct kymo_label no_labels[1];
  struct kymo_frame frame = {.type = type};
  if (type->kind == KYMO_KIND_STRUCT || type->kind == KYMO_KIND_UNION) {
    frame.labels = kymo_names_labels(&print->names, part, type);
    if (!frame.labels)
      frame.labels = no_labels;
  }
  return frame;
}

/* Walks over what is behind a BEGIN that is not shown. False if there is no more behind it. */
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

void kymo_print_members(struct kymo_print *print, struct kymo_sink_state *state, const struct kymo_walk_style *style,
                        const struct kymo_event *event, const struct kymo_script_step *step) {
  uint32_t part = event->packet->stream->part->index;
  struct kymo_frame *frame = print->frames;
  struct kymo_value value;
  if (!kymo_walk_begin(&print->walk, event, step->scope))
    return;
  *frame = new_frame(print, part, step->type);
  frame->count = step->more;
  for (bool goes_on = true; goes_on;) {
    enum kymo_token token = kymo_walk_next(&print->walk, &value);
    if (token == KYMO_TOKEN_DONE || token == KYMO_TOKEN_ERROR) {
      break;
    } else if (token == KYMO_TOKEN_END) {
      style->end(state, frame--);
    } else if (!style->lead(state, frame, &value)) {
      goes_on = token != KYMO_TOKEN_BEGIN || skip(&print->walk);
    } else if (token == KYMO_TOKEN_BEGIN) {
      *++frame = new_frame(print, part, value.type);
      style->begin(state, frame);
    } else {
      style->scalar(state, part, token, &value);
    }
  }
  while (frame > print->frames)
    style->end(state, frame--);
}
