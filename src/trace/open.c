/* SPDX-License-Identifier: MIT */
/*
 * Opening: calls formats to add parts and streams, orders the streams, checks that their clocks can be
 * compared. And properties of an open trace.
 */
#include "base/fail.h"
#include "base/list.h"
#include "base/sized.h"
#include "base/strbuf.h"
#include "schema/attribute.h"
#include "trace/follow.h"
#include "trace/search.h"
#include "trace/trace.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- lists that grow ---- */

/* ---- what formats ask for ---- */

const struct kymo_trace_options *kymo_trace_options(const struct kymo_trace *trace) {
  return &trace->options;
}

const char *kymo_trace_copy_text(struct kymo_trace *trace, const char *text) {
  return kymo_arena_copy(&trace->arena, text, strlen(text));
}

struct kymo_part *kymo_trace_own_part(struct kymo_trace *trace, size_t part) {
  return &trace->parts[part]->part;
}

void kymo_stream_may_repeat(const struct kymo_stream *stream) {
  ((struct stream_state *)(uintptr_t)stream)->may_repeat = true;
}

/* ---- parts and streams ---- */

static int64_t add_ns(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum))
    return a < 0 ? INT64_MIN : INT64_MAX;
  return sum;
}

int64_t kymo_path_offset(const struct kymo_trace *trace, const char *path) {
  int64_t offset_ns = trace->options.clock_offset_ns;
  if (!trace->options.path_offsets_ns || !trace->found)
    return offset_ns;
  for (size_t i = 0; trace->formats[i]; i++)
    for (size_t k = 0; k < trace->found[i].count; k++)
      if (strcmp(trace->found[i].paths[k], path) == 0)
        return add_ns(offset_ns, trace->options.path_offsets_ns[trace->found[i].arguments[k]]);
  return offset_ns;
}

/* The plan of a schema, which its parts share, together with the known fields. */
static int find_plan(struct kymo_trace *trace, struct part_state *state, struct kymo_error *error) {
  for (size_t i = 0; i < trace->part_count && !state->plan; i++)
    if (trace->parts[i] != state && trace->parts[i]->schema == state->schema)
      state->plan = trace->parts[i]->plan;
  return state->plan ? KYMO_OK : kymo_schema_plan_new(&state->plan, &trace->arena, state->schema, error);
}

int kymo_trace_add_part(struct kymo_trace *trace, const struct kymo_part_source *source,
                        struct kymo_part **part, struct kymo_error *error) {
  struct part_state *state = kymo_arena_alloc(&trace->arena, sizeof *state);
  char *path = kymo_arena_copy(&trace->arena, source->path, strlen(source->path));
  if (!state || !path || !KYMO_LIST_ROOM(trace->parts, trace->part_capacity, trace->part_count)) {
    kymo_schema_release(source->schema);
    if (source->free_memory)
      source->free_memory(source->memory);
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  state->part = (struct kymo_part){.path = path,
                                   .path_count = source->path_count ? source->path_count : 1,
                                   .format = source->format,
                                   .schema = source->schema,
                                   .index = (uint32_t)trace->part_count};
  state->schema = source->schema;
  state->quirks = source->quirks;
  state->memory = source->memory;
  state->free_memory = source->free_memory;
  state->kernel = source->kernel;
  state->map = source->map;
  state->clock_offset_ns = kymo_path_offset(trace, source->path);
  trace->parts[trace->part_count++] = state;
  *part = &state->part;
  return find_plan(trace, state, error);
}

int kymo_part_peek(const struct kymo_part *part, const struct kymo_chunk *chunk, struct kymo_peek *peek,
                   struct kymo_error *error) {
  const struct kymo_schema_plan *plan = ((const struct part_state *)part)->plan;
  uint64_t *notes = calloc((size_t)plan->segment_count + plan->slot_count + 1, sizeof *notes);
  if (!notes)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  struct kymo_packet_head head;
  int status = kymo_packet_read(plan, chunk, NULL, 0,
                                &(struct kymo_notes){notes, notes + plan->segment_count}, &head, error);
  free(notes);
  if (status == KYMO_OK)
    *peek = (struct kymo_peek){.class_ = head.plan->class_,
                               .instance = head.instance,
                               .has_begin = head.packet.has_begin,
                               .begin_cycles = head.packet.begin_cycles,
                               .sequence = head.packet.sequence};
  return status;
}

/* So that the data of lookahead begins with a cache line. */
static struct stream_state *allocate_stream(struct kymo_trace *trace) {
  char *memory = kymo_arena_alloc(&trace->arena, sizeof(struct stream_state) + KYMO_CACHE_LINE);
  size_t hot = offsetof(struct stream_state, decoder.packet.data);
  return memory ? (void *)(memory + (-((uintptr_t)memory + hot) & (KYMO_CACHE_LINE - 1) & ~(uintptr_t)7))
                : NULL;
}

struct stream_state *kymo_stream_new(struct kymo_trace *trace, const struct kymo_stream *stream,
                                     const struct kymo_stream_source *source) {
  struct stream_state *state = allocate_stream(trace);
  struct part_state *part = (struct part_state *)(uintptr_t)stream->part;
  if (!state)
    return NULL;
  state->decoder = (struct kymo_decoder){.stream = *stream,
                                         .first_kind = part->first_kind,
                                         .schema_plan = part->plan,
                                         .kernel = part->kernel,
                                         .clock_offset_ns = part->clock_offset_ns,
                                         .is_rounded = part->quirks & KYMO_QUIRK_ROUNDED,
                                         .is_raw = source->operations->next_event != NULL};
  state->trace = trace;
  state->part = part;
  state->operations = source->operations;
  state->source = source->source;
  state->may_repeat = source->may_repeat;
  return state;
}

int kymo_part_add_stream(struct kymo_trace *trace, struct kymo_part *part,
                         const struct kymo_stream_source *source, struct kymo_error *error) {
  struct part_state *state = (struct part_state *)part;
  char *path = kymo_arena_copy(&trace->arena, source->path, strlen(source->path));
  struct kymo_stream as = {.part = part,
                           .class_ = source->class_,
                           .path = path,
                           .instance = source->instance,
                           .index = part->stream_count,
                           .number = trace->stream_number};
  struct stream_state *stream = kymo_stream_new(trace, &as, source);
  size_t capacity = state->capacity;
  if (!stream || !path || !KYMO_LIST_ROOM(state->streams, capacity, part->stream_count)) {
    source->operations->free(source->source);
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  state->capacity = (uint32_t)capacity;
  state->streams[part->stream_count++] = stream;
  trace->stream_number++;
  return KYMO_OK;
}

/* The order that breaks ties: the part's place, uuid, path, stream class, instance, path of the file. */
static int compare_streams(const void *a, const void *b) {
  const struct stream_state *left = *(struct stream_state *const *)a,
                            *right = *(struct stream_state *const *)b;
  const struct kymo_part *one = left->decoder.stream.part, *other = right->decoder.stream.part;
  if (left->part->place != right->part->place)
    return left->part->place < right->part->place ? -1 : 1;
  int order = memcmp(one->schema->uuid, other->schema->uuid, 16);
  if (order == 0)
    order = strcmp(one->path, other->path);
  if (order != 0)
    return order;
  uint64_t one_class = left->decoder.stream.class_ ? left->decoder.stream.class_->id : UINT64_MAX;
  uint64_t other_class = right->decoder.stream.class_ ? right->decoder.stream.class_->id : UINT64_MAX;
  if (one_class != other_class)
    return one_class < other_class ? -1 : 1;
  if (left->decoder.stream.instance != right->decoder.stream.instance)
    return left->decoder.stream.instance < right->decoder.stream.instance ? -1 : 1;
  order = strcmp(left->decoder.stream.path, right->decoder.stream.path);
  return order != 0 ? order
                    : (left->decoder.stream.index > right->decoder.stream.index) -
                          (left->decoder.stream.index < right->decoder.stream.index);
}

static void rank_streams(struct kymo_trace *trace) {
  qsort(trace->streams, trace->stream_count, sizeof *trace->streams, compare_streams);
  for (size_t i = 0; i < trace->stream_count; i++)
    trace->streams[i]->rank = (uint32_t)i;
}

static int order_streams(struct kymo_trace *trace, struct kymo_error *error) {
  trace->stream_count = 0;
  for (size_t i = 0; i < trace->part_count; i++)
    trace->stream_count += trace->parts[i]->part.stream_count;
  trace->streams = kymo_arena_array(&trace->arena, trace->stream_count + 1, sizeof *trace->streams);
  if (!trace->streams)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  size_t at = 0;
  for (size_t i = 0; i < trace->part_count; i++)
    for (uint32_t k = 0; k < trace->parts[i]->part.stream_count; k++)
      trace->streams[at++] = trace->parts[i]->streams[k];
  rank_streams(trace);
  for (size_t i = 0; i < trace->stream_count; i++) {
    int status = trace->streams[i]->decoder.found ? KYMO_OK : kymo_stream_prepare(trace->streams[i], error);
    if (status != KYMO_OK)
      return status;
  }
  return KYMO_OK;
}

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

/* Equal namespace, name and uid of clocks of CTF 2 mean the same clock. */
static bool is_same_clock(const struct kymo_clock *a, const struct kymo_clock *b) {
  bool is_same_uuid = a->has_uuid && b->has_uuid && memcmp(a->uuid, b->uuid, 16) == 0;
  return same_text(a->name, b->name) && kymo_attribute_same_space(a->attributes, b->attributes) &&
         (is_same_uuid || kymo_attribute_same_uid(a->attributes, b->attributes));
}

/* Times of two clocks can be compared if they count from one origin. */
static bool are_correlated(const struct kymo_clock *a, const struct kymo_clock *b) {
  if (a == b || (a->origin_is_epoch && b->origin_is_epoch) || is_same_clock(a, b))
    return true;
  if (a->origin_is_epoch != b->origin_is_epoch)
    return false;
  if (a->origin_name || b->origin_name || a->origin_uid || b->origin_uid)
    return same_text(a->origin_namespace, b->origin_namespace) && same_text(a->origin_name, b->origin_name) &&
           same_text(a->origin_uid, b->origin_uid);
  return a->has_uuid && b->has_uuid && memcmp(a->uuid, b->uuid, 16) == 0;
}

/* The name of a clock: 'NAME', 'NAME' (id 'ID'), the one with the id 'ID'. */
static void add_clock(struct kymo_strbuf *text, const struct kymo_clock *clock) {
  bool has_name = clock->name && *clock->name;
  if (has_name)
    kymo_strbuf_printf(text, "'%.100s'", clock->name);
  if (clock->id)
    kymo_strbuf_printf(text, has_name ? " (id '%.100s')" : "with the id '%.100s'", clock->id);
  else if (!has_name)
    kymo_strbuf_puts(text, "without a name");
}

static int fail_clocks(const struct stream_state *stream, const struct kymo_clock *first,
                       struct kymo_error *error) {
  struct kymo_strbuf text = {0};
  kymo_strbuf_puts(&text, "the clocks ");
  add_clock(&text, first);
  kymo_strbuf_puts(&text, " and ");
  add_clock(&text, stream->decoder.stream.class_->clock);
  int status = text.failed
                   ? kymo_fail(error, KYMO_E_MEMORY, "out of memory")
                   : kymo_fail_at(error, KYMO_E_USAGE, stream->decoder.stream.path, KYMO_ERROR_NO_OFFSET,
                                  "%s have no common origin: their times cannot be compared, "
                                  "unless --force-correlate says that they can",
                                  text.text);
  kymo_strbuf_free(&text);
  return status;
}

static int check_clocks(const struct kymo_trace *trace, struct kymo_error *error) {
  const struct kymo_clock *first = NULL;
  for (size_t i = 0; i < trace->stream_count && !trace->options.force_correlate && !trace->options.unmerged;
       i++) {
    const struct kymo_stream_class *class_ = trace->streams[i]->decoder.stream.class_;
    if (!class_ || !class_->clock)
      continue;
    if (first && !are_correlated(first, class_->clock))
      return fail_clocks(trace->streams[i], first, error);
    if (!first)
      first = class_->clock;
  }
  return KYMO_OK;
}

/* ---- open and close ---- */

static int load(struct kymo_trace *trace, const struct found *found, struct kymo_error *error) {
  int status = KYMO_OK;
  trace->found = found;
  for (size_t i = 0; trace->formats[i] && status == KYMO_OK; i++)
    if (found[i].count > 0)
      status = trace->formats[i]->open(trace, (const char *const *)found[i].paths, found[i].count, error);
  trace->found = NULL;
  trace->options.path_offsets_ns = NULL;
  const struct found *unread = kymo_found_unread(found, trace->formats);
  for (size_t i = 0; i < unread->count; i++)
    kymo_trace_add_damage(trace, &(struct kymo_damage){.path = unread->unread[i].file,
                                                       .offset = unread->unread[i].offset,
                                                       .code = unread->unread[i].code,
                                                       .message = unread->unread[i].message});
  return status;
}

struct kymo_trace *kymo_trace_new(void) {
  struct kymo_trace *trace = calloc(1, sizeof *trace);
  if (trace) {
    trace->begin_ns = INT64_MIN;
    trace->end_ns = trace->slice_end_ns = INT64_MAX;
  }
  return trace;
}

int kymo_trace_finish(struct kymo_trace *trace, struct kymo_error *error) {
  kymo_trace_number_kinds(trace);
  int status = order_streams(trace, error);
  return status == KYMO_OK ? check_clocks(trace, error) : status;
}

static struct kymo_trace *new_trace(const struct kymo_format *const *formats,
                                    const struct kymo_trace_options *options, size_t size) {
  struct kymo_trace *trace = kymo_trace_new();
  if (trace)
    trace->formats = formats;
  if (trace && options)
    kymo_sized_in(&trace->options, sizeof trace->options, options, size);
  return trace;
}

/* Takes a reference to a description by which files are read, if there is one. */
static int take_key(struct kymo_trace *trace, struct kymo_schema *key, struct kymo_error *error) {
  struct retired_schema *share = key ? kymo_arena_alloc(&trace->arena, sizeof *share) : NULL;
  trace->options.description = key;
  if (!key)
    return KYMO_OK;
  if (!share)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  *share = (struct retired_schema){trace->keys, kymo_schema_retain(key)};
  trace->keys = share;
  if (!trace->options.format)
    trace->options.format = "described";
  return KYMO_OK;
}

/* Returns the trace to the caller, or closes it. */
static int hand_out(struct kymo_trace **out, struct kymo_trace *trace, int status) {
  *out = status == KYMO_OK ? trace : NULL;
  if (status != KYMO_OK)
    kymo_trace_close(trace);
  return status;
}

int kymo_trace_open_with(struct kymo_trace **out, const struct kymo_format *const *formats,
                         const char *const *paths, size_t count, const struct kymo_trace_options *options,
                         size_t size, struct kymo_error *error) {
  *out = NULL;
  if (count == 0)
    return kymo_fail(error, KYMO_E_USAGE, "no path was given");
  struct kymo_trace *trace = new_trace(formats, options, size);
  struct found *found = NULL;
  int status = trace ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status == KYMO_OK)
    status = take_key(trace, trace->options.description, error);
  if (status == KYMO_OK)
    status = kymo_search(&found, formats, paths, count, trace->options.format, error);
  if (status == KYMO_E_UNKNOWN && trace->options.follow && found)
    status = KYMO_OK; /* it may come */
  if (status == KYMO_OK && trace->options.follow)
    status = kymo_follow_begin(trace, paths, count, trace->options.path_offsets_ns, error);
  if (status == KYMO_OK)
    status = load(trace, found, error);
  if (status == KYMO_OK)
    status = kymo_trace_finish(trace, error);
  kymo_found_free(found, formats);
  return hand_out(out, trace, status);
}

static int open_input(struct kymo_trace *trace, const struct kymo_input *input, struct kymo_error *error) {
  struct kymo_trace_options common = trace->options;
  struct found *found = NULL;
  if (input->format)
    trace->options.format = input->format;
  int status = take_key(trace, input->description ? input->description : common.description, error);
  trace->options.clock_offset_ns = add_ns(common.clock_offset_ns, input->clock_offset_ns);
  if (status == KYMO_OK)
    status = kymo_search(&found, trace->formats, &input->path, 1, trace->options.format, error);
  if (status == KYMO_OK)
    status = load(trace, found, error);
  kymo_found_free(found, trace->formats);
  trace->options = common;
  return status;
}

int kymo_trace_open_set_with(struct kymo_trace **out, const struct kymo_format *const *formats,
                             const struct kymo_input *inputs, size_t input_size, size_t count,
                             const struct kymo_trace_options *options, size_t size,
                             struct kymo_error *error) {
  struct kymo_trace *trace = new_trace(formats, options, size);
  int status = trace ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  *out = NULL;
  if (status == KYMO_OK && (count == 0 || trace->options.follow))
    status =
        kymo_fail(error, KYMO_E_USAGE, count ? "a set of traces cannot be followed" : "no path was given");
  for (size_t i = 0; i < count && status == KYMO_OK; i++) {
    struct kymo_input input;
    kymo_sized_in(&input, sizeof input, (const char *)inputs + i * input_size, input_size);
    status = open_input(trace, &input, error);
  }
  if (status == KYMO_OK)
    status = kymo_trace_finish(trace, error);
  return hand_out(out, trace, status);
}

void kymo_trace_own_file(struct kymo_trace *trace, int file) {
  trace->has_own_file = true;
  trace->own_file = file;
}

void kymo_trace_close(struct kymo_trace *trace) {
  if (!trace)
    return;
  if (trace->filter)
    trace->filter_operations->free(trace->filter);
  for (size_t i = 0; i < trace->part_count; i++) {
    struct part_state *part = trace->parts[i];
    for (uint32_t k = 0; k < part->part.stream_count; k++) {
      struct stream_state *stream = part->streams[k];
      if (stream->cursor)
        stream->operations->end(stream->cursor);
      stream->operations->free(stream->source);
      kymo_index_free(&stream->index);
    }
    free(part->streams);
    free(part->sections);
    free(part->places);
    if (part->free_memory)
      part->free_memory(part->memory);
    for (struct retired_schema *retired = part->retired; retired; retired = retired->next)
      kymo_schema_release(retired->schema);
    kymo_schema_release(part->schema);
  }
  kymo_follow_end(trace);
  kymo_checkpoint_free(trace);
  for (struct retired_schema *key = trace->keys; key; key = key->next)
    kymo_schema_release(key->schema);
  if (trace->has_own_file)
    close(trace->own_file);
  free(trace->segments);
  free(trace->parts);
  free(trace->damage);
  free(trace->warnings);
  kymo_arena_free(&trace->arena);
  free(trace);
}

/* ---- information ---- */

size_t kymo_trace_part_count(const struct kymo_trace *trace) { return trace->part_count; }

const struct kymo_part *kymo_trace_part(const struct kymo_trace *trace, size_t index) {
  return index < trace->part_count ? &trace->parts[index]->part : NULL;
}

void kymo_trace_order_parts(struct kymo_trace *trace, const uint32_t *places) {
  for (size_t i = 0; i < trace->part_count; i++)
    trace->parts[i]->place = places[i];
  if (!trace->batch)
    rank_streams(trace);
}

const struct kymo_stream *kymo_part_stream(const struct kymo_trace *trace, const struct kymo_part *part,
                                           size_t index) {
  (void)trace;
  const struct part_state *state = (const struct part_state *)part;
  return index < part->stream_count ? &state->streams[index]->decoder.stream : NULL;
}

void kymo_trace_set_loss_handler(struct kymo_trace *trace, kymo_loss_handler *handler, void *user) {
  trace->loss_handler = handler;
  trace->loss_user = user;
}

void kymo_trace_set_boundary_handler(struct kymo_trace *trace, kymo_boundary_handler *handler, void *user) {
  trace->boundary_handler = handler;
  trace->boundary_user = user;
}
