/* SPDX-License-Identifier: MIT */
/*
 * folded: stacks of nested spans, for flame graphs. One line a stack: the thread, then the spans from the
 * outermost to the innermost, and for how many nanoseconds the last one was the innermost of its thread.
 *
 *   worker;request;parse 120345
 *   worker;request 80211
 *
 * If events have call chains (fields `callchain`, as samples of perf have), the stacks are these instead: the
 * thread, then the functions from the outermost to the innermost, and the sum of the samples' periods, which
 * are nanoseconds of cpu-clock, and cycles of cycles; or their number, if they have no periods.
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
#include "symbols/symbols.h"
#include <inttypes.h>
#include <stdlib.h>

#define DEPTH_MAX 500

/* A frame below others. The root has no name. */
struct stack {
  const char *name;
  uint32_t outer, depth;
  uint64_t self_ns, samples;
};

/* The fields of an event class that make it one of samples. */
struct chain_class {
  bool is_known;
  uint32_t chain, period; /* or KYMO_FIELD_NONE */
};

struct kymo_sink_state {
  struct kymo_slices slices;
  struct kymo_export_file file;
  struct stack *stacks;
  size_t count, capacity;
  struct kymo_hash_table table; /* by outer and name; items are indices + 1 */
  struct kymo_strbuf line;
  struct kymo_trace *trace;
  struct kymo_symbols *symbols;
  struct kymo_walk *walk;
  struct chain_class *classes; /* by number */
  const char **frames;         /* of a sample, from the innermost one on */
  size_t frame_count, frame_capacity;
  bool has_samples;
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

/* ---- samples ---- */

static const struct chain_class *class_of(struct kymo_sink_state *state, const struct kymo_event *event) {
  struct chain_class *class_ = &state->classes[kymo_event_get_class_number(event)];
  if (!class_->is_known)
    *class_ = (struct chain_class){.is_known = true,
                                   .chain = kymo_field_id(state->trace, event->class_, "callchain"),
                                   .period = kymo_field_id(state->trace, event->class_, "period")};
  return class_;
}

/* The functions of a chain, as far as they are known. False: out of memory. */
static bool read_chain(struct kymo_sink_state *state, const struct kymo_event *event, uint32_t chain) {
  struct kymo_value value;
  struct kymo_symbol symbol;
  state->frame_count = 0;
  if (chain == KYMO_FIELD_NONE || kymo_walk_field(state->walk, event, chain) != KYMO_OK)
    return true;
  while (kymo_walk_next(state->walk, &value) == KYMO_TOKEN_INTEGER && value.type->is_address) {
    if (!KYMO_LIST_ROOM(state->frames, state->frame_capacity, state->frame_count))
      return false;
    bool is_named = kymo_symbols_find(state->symbols, event->packet->stream->part, value.u, event, &symbol);
    state->frames[state->frame_count++] = is_named ? symbol.name : "[unknown]";
  }
  return true;
}

static int folded_instant(struct kymo_sink_state *state, const struct kymo_slice *slice,
                          struct kymo_error *error) {
  const struct chain_class *class_ = class_of(state, slice->event);
  uint64_t period = 1;
  if (!read_chain(state, slice->event, class_->chain))
    return no_memory(error);
  if (!state->frame_count)
    return KYMO_OK;
  if (class_->period != KYMO_FIELD_NONE)
    kymo_event_get_uint(slice->event, class_->period, &period);
  uint32_t at = find_stack(state, 0, slice->row->name);
  for (size_t i = state->frame_count; at && i-- > 0;)
    at = find_stack(state, at, state->frames[i]);
  state->stacks[at].samples += period;
  state->has_samples = true;
  return at ? KYMO_OK : no_memory(error);
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
  uint64_t sum = state->has_samples ? state->stacks[at].samples : state->stacks[at].self_ns;
  if (!sum)
    return true;
  state->line.length = 0;
  add_path(state, at);
  kymo_strbuf_printf(&state->line, " %" PRIu64 "\n", sum);
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
  kymo_symbols_free(state->symbols);
  kymo_walk_free(state->walk);
  free(state->classes);
  free(state->frames);
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
  state->trace = trace;
  state->symbols = kymo_symbols_new(trace);
  state->walk = kymo_walk_new();
  state->classes = calloc(kymo_trace_class_count(trace) + 1, sizeof *state->classes);
  bool has_memory = state->symbols && state->walk && state->classes &&
                    KYMO_LIST_ROOM(state->stacks, state->capacity, state->count);
  if (status == KYMO_OK && !has_memory)
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
    .summary = "stacks of nested spans with their own times, or of samples, for flame graphs",
    .makes_files = true,
    .begin = folded_begin,
    .event = folded_event,
    .loss = folded_loss,
    .end = folded_end,
};
