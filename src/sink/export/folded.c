/* SPDX-License-Identifier: MIT */
/*
 * folded: stacks of nested spans, for flame graphs. One line a stack: the thread, then the spans from the
 * outermost to the innermost, and for how many nanoseconds the last one was the innermost of its thread.
 *
 *   worker;request;parse 120345
 *   worker;request 80211
 *
 * Threads of one name are added up. Spans that are open at the end, and spans over lost events, are in no
 * sum. Times below the deepest level count for that level. Lines are sorted; in names, ';' is written as ':',
 * and control characters as blanks.
 */
#include "base/fail.h"
#include "base/hash.h"
#include "base/list.h"
#include "sink/export/file.h"
#include "sink/export/slices.h"
#include <inttypes.h>
#include <stdlib.h>

#define DEPTH_MAX 500

/* A frame below others. The root has no name. */
struct stack {
  const char *name;
  uint32_t outer, depth;
  uint64_t self_ns;
};

struct kymo_sink_state {
  struct kymo_slices slices;
  struct kymo_export_file file;
  struct stack *stacks;
  size_t count, capacity;
  struct kymo_hash_table table; /* by outer and name; items are indices + 1 */
  struct kymo_strbuf line;
  bool has_failed;
};

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* ---- stacks ---- */

/* The index of a frame, made if it is new; 0: out of memory. */
static uint32_t find_stack(struct kymo_sink_state *state, uint32_t outer, const char *name) {
  struct kymo_keyed keyed;
  kymo_keyed_begin(&keyed);
  kymo_keyed_add(&keyed, outer);
  kymo_keyed_add_text(&keyed, name);
  const uint32_t hash = (uint32_t)kymo_keyed_end(&keyed);
  uintptr_t item;
  if (state->stacks[outer].depth == DEPTH_MAX)
    return outer;
  for (uint32_t at = hash; (item = kymo_hash_table_next(&state->table, hash, &at)) != 0;)
    if (state->stacks[item - 1].outer == outer && strcmp(state->stacks[item - 1].name, name) == 0)
      return (uint32_t)(item - 1);
  if (!KYMO_LIST_ROOM(state->stacks, state->capacity, state->count) ||
      !kymo_hash_table_add(&state->table, NULL, hash, state->count + 1))
    return 0;
  state->stacks[state->count] =
      (struct stack){.name = name, .outer = outer, .depth = state->stacks[outer].depth + 1};
  return (uint32_t)state->count++;
}

static int folded_row(struct kymo_sink_state *state, const struct kymo_slice_row *row,
                      struct kymo_error *error) {
  (void)state, (void)row, (void)error;
  return KYMO_OK;
}

static int folded_begin_slice(struct kymo_sink_state *state, const struct kymo_slice *slice,
                              struct kymo_error *error) {
  struct kymo_span *span = slice->span;
  if (slice->goes_on)
    return KYMO_OK;
  uint32_t outer = span->outer ? span->outer->track : find_stack(state, 0, slice->row->name);
  span->track = outer ? find_stack(state, outer, slice->name) : 0;
  return span->track ? KYMO_OK : no_memory(error);
}

static int folded_end_slice(struct kymo_sink_state *state, const struct kymo_slice *slice,
                            struct kymo_error *error) {
  (void)error;
  if (!slice->goes_on && !slice->is_over_loss && slice->self_ns > 0)
    state->stacks[slice->span->track].self_ns += (uint64_t)slice->self_ns;
  return KYMO_OK;
}

static int folded_instant(struct kymo_sink_state *state, const struct kymo_slice *slice,
                          struct kymo_error *error) {
  (void)state, (void)slice, (void)error;
  return KYMO_OK;
}

/* ---- lines ---- */

static void add_name(struct kymo_strbuf *line, const char *name) {
  for (; *name; name++) {
    char byte = *name == ';' ? ':' : (unsigned char)*name < ' ' || *name == 127 ? ' ' : *name;
    kymo_strbuf_add(line, &byte, 1);
  }
}

static void add_path(struct kymo_sink_state *state, uint32_t at) {
  if (state->stacks[at].outer) {
    add_path(state, state->stacks[at].outer);
    kymo_strbuf_puts(&state->line, ";");
  }
  add_name(&state->line, state->stacks[at].name);
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool add_line(struct kymo_sink_state *state, uint32_t at, char **lines, size_t *count) {
  if (!state->stacks[at].self_ns)
    return true;
  state->line.length = 0;
  add_path(state, at);
  kymo_strbuf_printf(&state->line, " %" PRIu64 "\n", state->stacks[at].self_ns);
  return !state->line.failed && (lines[(*count)++] = strdup(state->line.text));
}

static int put_lines(struct kymo_sink_state *state, struct kymo_error *error) {
  char **lines = calloc(state->count + 1, sizeof *lines);
  size_t count = 0;
  bool is_done = lines;
  for (size_t i = 1; i < state->count && is_done; i++)
    is_done = add_line(state, (uint32_t)i, lines, &count);
  if (is_done)
    qsort(lines, count, sizeof *lines, by_text);
  for (size_t i = 0; lines && i <= state->count; i++) {
    if (is_done && lines[i])
      kymo_out_bytes(&state->file.out, lines[i], strlen(lines[i]));
    free(lines[i]);
  }
  free(lines);
  return is_done ? KYMO_OK : no_memory(error);
}

/* ---- the sink ---- */

static int folded_event(struct kymo_sink_state *state, const struct kymo_event *event,
                        struct kymo_error *error) {
  int status = event->has_time ? kymo_slices_event(&state->slices, event, error) : KYMO_OK;
  state->has_failed |= status != KYMO_OK;
  return status;
}

static int folded_loss(struct kymo_sink_state *state, const struct kymo_loss *loss,
                       struct kymo_error *error) {
  char name[KYMO_LOSS_NAME];
  (void)error;
  kymo_slices_loss(&state->slices, loss, name);
  return KYMO_OK;
}

static int folded_end(struct kymo_sink_state *state, struct kymo_error *error) {
  if (!state)
    return KYMO_OK;
  int status = state->has_failed ? KYMO_OK : put_lines(state, error);
  const bool is_whole = status == KYMO_OK && !state->has_failed;
  struct kymo_error later = {0};
  int closed = kymo_export_file_end(&state->file, is_whole, status == KYMO_OK ? error : &later);
  kymo_slices_end(&state->slices);
  kymo_hash_table_free(&state->table);
  kymo_strbuf_free(&state->line);
  free(state->stacks);
  free(state);
  return status == KYMO_OK ? closed : status;
}

static int folded_begin(struct kymo_sink_state **out, struct kymo_trace *trace,
                        const struct kymo_sink_options *options, struct kymo_error *error) {
  static const struct kymo_slice_style style = {folded_row, folded_begin_slice, folded_end_slice,
                                                folded_instant};
  struct kymo_sink_state *state = *out = calloc(1, sizeof *state);
  if (!state)
    return no_memory(error);
  state->has_failed = true;
  int status = kymo_slices_begin(&state->slices, trace, &style, state, error);
  if (status == KYMO_OK && !KYMO_LIST_ROOM(state->stacks, state->capacity, state->count))
    status = no_memory(error);
  if (status == KYMO_OK)
    status = kymo_export_file_begin(&state->file, options->path, error);
  if (status != KYMO_OK)
    return status;
  state->stacks[state->count++] = (struct stack){0};
  state->has_failed = false;
  return KYMO_OK;
}

const struct kymo_sink kymo_sink_folded = {
    KYMO_SINK_ABI,
    .name = "folded",
    .summary = "stacks of nested spans with their own times, for flame graphs",
    .makes_files = true,
    .begin = folded_begin,
    .event = folded_event,
    .loss = folded_loss,
    .end = folded_end,
};
