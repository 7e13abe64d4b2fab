/* SPDX-License-Identifier: MIT */
/*
 * Opening: finding traces below paths, letting formats add parts and streams, ordering the
 * streams, checking that their clocks can be compared. And what can be asked of an open trace.
 */
#include "base/fail.h"
#include "read/trace.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SEARCH_DEPTH 32
#define DAMAGE_LIMIT 4096

/* ---- lists that grow while opening ---- */

static bool grow(void **list, size_t *capacity, size_t count, size_t size) {
  if (count < *capacity)
    return true;
  size_t wanted = *capacity ? *capacity * 2 : 8;
  void *grown = realloc(*list, wanted * size);
  if (!grown)
    return false;
  *list = grown;
  *capacity = wanted;
  return true;
}

/* Paths that one format took. */
struct found { char **paths; size_t count, capacity; };

struct search {
  const struct kymo_format *only;    /* or NULL: any */
  struct found *found;               /* by index in kymo_formats */
  struct kymo_error *error;
};

static int take(struct search *search, size_t format, const char *path) {
  struct found *found = &search->found[format];
  for (size_t i = 0; i < found->count; i++)
    if (strcmp(found->paths[i], path) == 0)
      return KYMO_OK; /* named twice */
  char *copy = strdup(path);
  if (!copy || !grow((void **)&found->paths, &found->capacity, found->count, sizeof *found->paths)) {
    free(copy);
    return kymo_fail(search->error, KYMO_E_MEMORY, "out of memory");
  }
  found->paths[found->count++] = copy;
  return KYMO_OK;
}

/* Does the format take this path? */
static int probe(struct search *search, const char *path, bool *taken) {
  *taken = false;
  for (size_t i = 0; kymo_formats[i]; i++) {
    if (search->only && search->only != kymo_formats[i])
      continue;
    if (!kymo_formats[i]->probe(path))
      continue;
    *taken = true;
    return take(search, i, path);
  }
  return KYMO_OK;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *entry) {
  return entry->d_name[0] != '.';
}

static int look(struct search *search, const char *path, int depth, bool *any);

static int look_inside(struct search *search, const char *path, int depth, bool *any) {
  struct dirent **entries = NULL;
  int count = scandir(path, &entries, is_visible, by_name);
  if (count < 0)
    return depth == 0 ? kymo_fail_errno(search->error, path, "cannot list") : KYMO_OK;
  int status = KYMO_OK;
  for (int i = 0; i < count && status == KYMO_OK; i++) {
    size_t size = strlen(path) + strlen(entries[i]->d_name) + 2;
    char *inner = malloc(size);
    struct stat info;
    if (!inner) {
      status = kymo_fail(search->error, KYMO_E_MEMORY, "out of memory");
    } else {
      bool has_slash = path[0] != 0 && path[strlen(path) - 1] == '/';
      snprintf(inner, size, "%s%s%s", path, has_slash ? "" : "/", entries[i]->d_name);
      if (stat(inner, &info) == 0)
        status = look(search, inner, depth + 1, any);
    }
    free(inner);
  }
  for (int i = 0; i < count; i++)
    free(entries[i]);
  free(entries);
  return status;
}

/* Takes the path, or looks below it. Loops of symbolic links end with the depth. */
static int look(struct search *search, const char *path, int depth, bool *any) {
  bool taken;
  int status = probe(search, path, &taken);
  *any |= taken;
  struct stat info;
  if (status != KYMO_OK || taken || depth >= SEARCH_DEPTH || stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
    return status;
  return look_inside(search, path, depth, any);
}

static int search_all(struct search *search, const char *const *paths, size_t count) {
  for (size_t i = 0; i < count; i++) {
    bool any = false;
    int status = look(search, paths[i], 0, &any);
    if (status != KYMO_OK)
      return status;
    struct stat info;
    if (!any && stat(paths[i], &info) != 0)
      return kymo_fail_errno(search->error, paths[i], "cannot open");
    if (!any)
      return kymo_fail_at(search->error, KYMO_E_UNKNOWN, paths[i], KYMO_ERROR_NO_OFFSET, "no trace found here");
  }
  return KYMO_OK;
}

/* ---- parts and streams ---- */

int kymo_trace_add_part(struct kymo_trace *trace, const struct kymo_part_source *source, struct kymo_part **part,
                        struct kymo_error *error) {
  struct part_state *state = kymo_arena_alloc(&trace->arena, sizeof *state);
  char *path = kymo_arena_copy(&trace->arena, source->path, strlen(source->path));
  if (!state || !path ||
      !grow((void **)&trace->parts, &trace->part_capacity, trace->part_count, sizeof *trace->parts)) {
    kymo_schema_release(source->schema);
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  state->part = (struct kymo_part){.path = path, .format = source->format, .schema = source->schema,
                                   .index = (uint32_t)trace->part_count};
  state->schema = source->schema;
  state->quirks = source->quirks;
  trace->parts[trace->part_count++] = state;
  *part = &state->part;
  return kymo_plan_new(&state->plan, &trace->arena, source->schema, error);
}

int kymo_part_peek(const struct kymo_part *part, const struct kymo_chunk *chunk, struct kymo_peek *peek,
                   struct kymo_error *error) {
  const struct kymo_schema_plan *plan = ((const struct part_state *)part)->plan;
  uint64_t *notes = calloc((size_t)plan->segment_count + plan->slot_count + 1, sizeof *notes);
  if (!notes)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  struct kymo_packet_head head;
  int status = kymo_packet_read(plan, chunk, NULL, 0, &(struct kymo_notes){notes, notes + plan->segment_count},
                                &head, error);
  free(notes);
  if (status == KYMO_OK)
    *peek = (struct kymo_peek){.class_ = head.plan->class_, .instance = head.instance,
                               .has_begin = head.packet.has_begin, .begin_cycles = head.packet.begin_cycles,
                               .sequence = head.packet.sequence};
  return status;
}

/* So that what looking ahead needs begins with a cache line. */
static struct stream_state *new_stream(struct kymo_trace *trace) {
  char *memory = kymo_arena_alloc(&trace->arena, sizeof(struct stream_state) + KYMO_CACHE_LINE);
  size_t hot = offsetof(struct stream_state, packet.data);
  return memory ? (void *)(memory + (-((uintptr_t)memory + hot) & (KYMO_CACHE_LINE - 1) & ~(uintptr_t)7)) : NULL;
}

int kymo_part_add_stream(struct kymo_trace *trace, struct kymo_part *part,
                         const struct kymo_stream_source *source, struct kymo_error *error) {
  struct part_state *state = (struct part_state *)part;
  struct stream_state *stream = new_stream(trace);
  char *path = kymo_arena_copy(&trace->arena, source->path, strlen(source->path));
  size_t capacity = state->capacity;
  if (!stream || !path || !grow((void **)&state->streams, &capacity, part->stream_count, sizeof *state->streams)) {
    source->operations->free(source->source);
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  state->capacity = (uint32_t)capacity;
  stream->stream = (struct kymo_stream){.part = part, .class_ = source->class_, .path = path,
                                        .instance = source->instance, .index = part->stream_count};
  stream->trace = trace;
  stream->part = state;
  stream->operations = source->operations;
  stream->source = source->source;
  stream->may_repeat = source->may_repeat;
  state->streams[part->stream_count++] = stream;
  return KYMO_OK;
}

/* The order that breaks ties: uuid, path, stream class, instance, path of the file. */
static int compare_streams(const void *a, const void *b) {
  const struct stream_state *left = *(struct stream_state *const *)a, *right = *(struct stream_state *const *)b;
  const struct kymo_part *one = left->stream.part, *other = right->stream.part;
  int order = memcmp(one->schema->uuid, other->schema->uuid, 16);
  if (order == 0)
    order = strcmp(one->path, other->path);
  if (order != 0)
    return order;
  uint64_t one_class = left->stream.class_ ? left->stream.class_->id : UINT64_MAX;
  uint64_t other_class = right->stream.class_ ? right->stream.class_->id : UINT64_MAX;
  if (one_class != other_class)
    return one_class < other_class ? -1 : 1;
  if (left->stream.instance != right->stream.instance)
    return left->stream.instance < right->stream.instance ? -1 : 1;
  order = strcmp(left->stream.path, right->stream.path);
  return order != 0 ? order : (left->stream.index > right->stream.index) - (left->stream.index < right->stream.index);
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
  qsort(trace->streams, trace->stream_count, sizeof *trace->streams, compare_streams);
  for (size_t i = 0; i < trace->stream_count; i++) {
    trace->streams[i]->rank = (uint32_t)i;
    int status = kymo_stream_prepare(trace->streams[i], error);
    if (status != KYMO_OK)
      return status;
  }
  return KYMO_OK;
}

static bool same_text(const char *a, const char *b) {
  return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Times of two clocks can be compared if they count from one origin. */
static bool are_correlated(const struct kymo_clock *a, const struct kymo_clock *b) {
  if (a == b || (a->origin_is_epoch && b->origin_is_epoch))
    return true;
  if (a->origin_is_epoch != b->origin_is_epoch)
    return false;
  if (a->origin_name || b->origin_name || a->origin_uid || b->origin_uid)
    return same_text(a->origin_namespace, b->origin_namespace) && same_text(a->origin_name, b->origin_name) &&
           same_text(a->origin_uid, b->origin_uid);
  return a->has_uuid && b->has_uuid && memcmp(a->uuid, b->uuid, 16) == 0;
}

static int check_clocks(const struct kymo_trace *trace, struct kymo_error *error) {
  const struct kymo_clock *first = NULL;
  for (size_t i = 0; i < trace->stream_count && !trace->options.force_correlate; i++) {
    const struct kymo_stream_class *class_ = trace->streams[i]->stream.class_;
    if (!class_ || !class_->clock)
      continue;
    if (first && !are_correlated(first, class_->clock))
      return kymo_fail_at(error, KYMO_E_USAGE, trace->streams[i]->stream.path, KYMO_ERROR_NO_OFFSET,
                          "the clocks '%s' and '%s' have no common origin: their times cannot be compared",
                          first->name ? first->name : "", class_->clock->name ? class_->clock->name : "");
    if (!first)
      first = class_->clock;
  }
  return KYMO_OK;
}

/* ---- open and close ---- */

static const struct kymo_format *find_format(const char *name) {
  for (size_t i = 0; kymo_formats[i]; i++)
    if (strcmp(kymo_formats[i]->name, name) == 0)
      return kymo_formats[i];
  return NULL;
}

static int load(struct kymo_trace *trace, const struct found *found, struct kymo_error *error) {
  int status = KYMO_OK;
  for (size_t i = 0; kymo_formats[i] && status == KYMO_OK; i++)
    if (found[i].count > 0)
      status = kymo_formats[i]->open(trace, (const char *const *)found[i].paths, found[i].count, error);
  return status == KYMO_OK ? kymo_trace_finish(trace, error) : status;
}

struct kymo_trace *kymo_trace_new(void) {
  return calloc(1, sizeof(struct kymo_trace));
}

int kymo_trace_finish(struct kymo_trace *trace, struct kymo_error *error) {
  int status = order_streams(trace, error);
  return status == KYMO_OK ? check_clocks(trace, error) : status;
}

static size_t count_formats(void) {
  size_t count = 0;
  while (kymo_formats[count])
    count++;
  return count;
}

int kymo_open(struct kymo_trace **out, const char *const *paths, size_t count,
              const struct kymo_open_options *options, struct kymo_error *error) {
  *out = NULL;
  if (count == 0)
    return kymo_fail(error, KYMO_E_USAGE, "no path was given");
  struct kymo_trace *trace = kymo_trace_new();
  size_t format_count = count_formats();
  struct search search = {.found = calloc(format_count + 1, sizeof *search.found), .error = error};
  int status = trace && search.found ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status == KYMO_OK && options) {
    size_t size = options->size < sizeof trace->options ? options->size : sizeof trace->options;
    memcpy(&trace->options, options, size);
  }
  if (status == KYMO_OK && trace->options.format) {
    search.only = find_format(trace->options.format);
    if (!search.only)
      status = kymo_fail(error, KYMO_E_UNKNOWN, "no format is called '%s'", trace->options.format);
  }
  if (status == KYMO_OK)
    status = search_all(&search, paths, count);
  if (status == KYMO_OK)
    status = load(trace, search.found, error);
  for (size_t i = 0; search.found && i < format_count; i++) {
    for (size_t k = 0; k < search.found[i].count; k++)
      free(search.found[i].paths[k]);
    free(search.found[i].paths);
  }
  free(search.found);
  if (status != KYMO_OK) {
    kymo_close(trace);
    return status;
  }
  *out = trace;
  return KYMO_OK;
}

void kymo_close(struct kymo_trace *trace) {
  if (!trace)
    return;
  for (size_t i = 0; i < trace->part_count; i++) {
    struct part_state *part = trace->parts[i];
    for (uint32_t k = 0; k < part->part.stream_count; k++) {
      struct stream_state *stream = part->streams[k];
      if (stream->cursor)
        stream->operations->end(stream->cursor);
      stream->operations->free(stream->source);
    }
    free(part->streams);
    kymo_schema_release(part->schema);
  }
  free(trace->parts);
  free(trace->damage);
  kymo_arena_free(&trace->arena);
  free(trace);
}

/* ---- information ---- */

size_t kymo_trace_part_count(const struct kymo_trace *trace) {
  return trace->part_count;
}

const struct kymo_part *kymo_trace_part(const struct kymo_trace *trace, size_t index) {
  return index < trace->part_count ? &trace->parts[index]->part : NULL;
}

const struct kymo_stream *kymo_part_stream(const struct kymo_trace *trace, const struct kymo_part *part,
                                           size_t index) {
  (void)trace;
  const struct part_state *state = (const struct part_state *)part;
  return index < part->stream_count ? &state->streams[index]->stream : NULL;
}

void kymo_set_loss_handler(struct kymo_trace *trace, kymo_loss_handler *handler, void *user) {
  trace->loss_handler = handler;
  trace->loss_user = user;
}

/* ---- damage ---- */

void kymo_trace_add_damage(struct kymo_trace *trace, const struct kymo_damage *damage) {
  if (trace->damage_count == DAMAGE_LIMIT) { /* hostile files are all damage: the last one tells the sum */
    trace->damage[DAMAGE_LIMIT - 1].message = "further damage is not listed";
    trace->damage[DAMAGE_LIMIT - 1].bytes_lost += damage->bytes_lost;
    return;
  }
  struct kymo_damage copy = *damage;
  copy.path = kymo_arena_copy(&trace->arena, damage->path, strlen(damage->path));
  copy.message = kymo_arena_copy(&trace->arena, damage->message, strlen(damage->message));
  if (!copy.path || !copy.message ||
      !grow((void **)&trace->damage, &trace->damage_capacity, trace->damage_count, sizeof *trace->damage))
    return; /* out of memory: the reading goes on, the note is lost */
  trace->damage[trace->damage_count++] = copy;
}

size_t kymo_trace_damage_count(const struct kymo_trace *trace) {
  return trace->damage_count;
}

const struct kymo_damage *kymo_trace_damage(const struct kymo_trace *trace, size_t index) {
  return index < trace->damage_count ? &trace->damage[index] : NULL;
}
