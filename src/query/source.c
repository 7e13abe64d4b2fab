/* SPDX-License-Identifier: MIT */
#include "query/source.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/utf8.h"
#include "trace/part.h"
#include <stdlib.h>
#include <string.h>

/* ---- readers ---- */

static void free_reader(struct query_reader *reader) {
  if (!reader)
    return;
  kymo_whos_end(&reader->whos);
  kymo_walk_free(reader->walk);
  kymo_strbuf_free(&reader->text);
  free(reader->fields);
  free(reader->pids);
  free(reader->json);
  kymo_arena_free(&reader->arena);
  kymo_trace_close(reader->trace);
  free(reader);
}

/* Traces may grow between two openings: a reader of more classes would number them otherwise. */
static int check_same(const struct query_source *source, const struct query_reader *reader,
                      struct kymo_error *error) {
  if (source->readers && kymo_trace_class_count(reader->trace) != source->class_count)
    return kymo_fail(error, KYMO_E_FORMAT, "the traces have changed since the query began: run it again");
  return KYMO_OK;
}

static int open_reader(struct query_reader **out, struct query_source *source, struct kymo_error *error) {
  struct query_reader *reader = calloc(1, sizeof *reader);
  *out = NULL;
  if (!reader)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  reader->source = source;
  reader->is_fresh = true;
  int status = source->opening.open(source->opening.user, &reader->trace, error);
  if (status >= 0)
    status = check_same(source, reader, error);
  if (status >= 0)
    status = kymo_whos_begin(&reader->whos, reader->trace, error);
  if (status >= 0) {
    reader->walk = kymo_walk_new();
    reader->fields = calloc(kymo_trace_class_count(reader->trace) + 1u, sizeof *reader->fields);
    reader->pids = calloc(kymo_trace_class_count(reader->trace) + 1u, sizeof *reader->pids);
    if (!reader->walk || !reader->fields || !reader->pids)
      status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  if (status < 0) {
    free_reader(reader);
    return status;
  }
  reader->next = source->readers;
  source->readers = *out = reader;
  return KYMO_OK;
}

int query_reader_take(struct query_reader **out, struct query_source *source, struct kymo_error *error) {
  for (struct query_reader *reader = source->readers; reader; reader = reader->next)
    if (!reader->is_used) {
      reader->is_used = true;
      *out = reader;
      return KYMO_OK;
    }
  int status = open_reader(out, source, error);
  if (status == KYMO_OK)
    (*out)->is_used = true;
  return status;
}

/* Losses that are read again count again: the pass that has met most of them counts. */
static void note_losses(struct query_reader *reader) {
  struct kymo_losses now, *most = &reader->source->losses;
  kymo_trace_losses(reader->trace, &now);
  struct kymo_losses met = {now.events - reader->losses.events, now.packets - reader->losses.packets,
                            now.unknown - reader->losses.unknown};
  if (met.events + met.packets + met.unknown > most->events + most->packets + most->unknown)
    *most = met;
  reader->losses = now;
}

void query_reader_give_back(struct query_reader *reader) {
  if (!reader)
    return;
  note_losses(reader);
  reader->is_used = false;
}

const struct query_fields *query_reader_fields(struct query_reader *reader, uint32_t class_number) {
  struct query_fields *fields = &reader->fields[class_number];
  const struct kymo_event_class *class_ = fields->ids ? NULL : kymo_trace_class(reader->trace, class_number);
  if (class_ && kymo_field_list(reader->trace, class_, &fields->ids, &fields->count) != KYMO_OK)
    return NULL;
  return fields;
}

/* ---- moving ---- */

struct selecting {
  const struct query_source *source;
  const bool *kinds;
};

static bool wants_class(void *user, const struct kymo_event_class *class_) {
  const struct selecting *selecting = user;
  const struct query_opening *opening = &selecting->source->opening;
  const char *name = class_->name ? class_->name : "";
  if (opening->wants && !opening->wants(opening->user, name))
    return false;
  return !selecting->kinds || selecting->kinds[query_source_kind(selecting->source, name)];
}

int query_reader_begin(struct query_reader *reader, const struct query_window *window,
                       struct kymo_error *error) {
  const struct query_source *source = reader->source;
  struct selecting selecting = {source, window->kinds};
  int64_t begin_ns = window->begin_ns > source->begin_ns ? window->begin_ns : source->begin_ns;
  int64_t end_ns = window->end_ns < source->end_ns ? window->end_ns : source->end_ns;
  int status = KYMO_OK;
  note_losses(reader);
  kymo_trace_thin(reader->trace, false);
  if (window->kinds || reader->is_selecting || source->opening.wants)
    kymo_trace_select_classes(reader->trace, wants_class, &selecting);
  reader->is_selecting = window->kinds != NULL;
  kymo_trace_set_end_time(reader->trace, end_ns);
  if (begin_ns != INT64_MIN)
    status = kymo_trace_goto_time(reader->trace, begin_ns, error);
  else if (!reader->is_fresh)
    status = kymo_trace_rewind(reader->trace);
  reader->is_fresh = false;
  kymo_trace_thin(reader->trace, window->is_unnumbered && !source->opening.has_filter);
  return status < 0 ? status : KYMO_OK;
}

int query_reader_next_filtered(struct query_reader *reader, const struct kymo_event **event,
                               struct kymo_error *error) {
  return kymo_trace_next_filtered(reader->trace, event, error);
}

/* ---- kinds ---- */

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void query_add_sound(struct kymo_strbuf *out, const char *text, size_t length) {
  for (const uint8_t *at = (const uint8_t *)text, *end = at + length; at < end;) {
    char character[8];
    uint32_t code = kymo_next_utf8(&at, end);
    kymo_strbuf_add(out, character, (size_t)(kymo_put_character(character, code) - character));
  }
}

static bool is_plain(const char *text) {
  while (*text > 0)
    text++;
  return *text == 0;
}

uint32_t query_source_kind(const struct query_source *source, const char *name) {
  struct kymo_strbuf sound = {0};
  const char *wanted = name;
  if (!is_plain(name)) {
    query_add_sound(&sound, name, strlen(name));
    wanted = sound.text ? sound.text : "";
  }
  const char **found = bsearch(&wanted, source->kinds, source->kind_count, sizeof *source->kinds, by_name);
  kymo_strbuf_free(&sound);
  return found ? (uint32_t)(found - source->kinds) : UINT32_MAX;
}

/* The name of a class as SQL has it, in the arena. */
static const char *sound_name(struct query_source *source, const char *name) {
  struct kymo_strbuf sound = {0};
  if (!name || is_plain(name))
    return kymo_arena_copy(&source->arena, name ? name : "", name ? strlen(name) : 0);
  query_add_sound(&sound, name, strlen(name));
  const char *copy = sound.failed ? NULL : kymo_arena_copy(&source->arena, sound.text, sound.length);
  kymo_strbuf_free(&sound);
  return copy;
}

static int find_kinds(struct query_source *source, const struct kymo_trace *trace, struct kymo_error *error) {
  uint32_t count = source->class_count = kymo_trace_class_count(trace);
  source->kinds = kymo_arena_array(&source->arena, count + 1u, sizeof *source->kinds);
  source->kind_of = kymo_arena_array(&source->arena, count + 1u, sizeof *source->kind_of);
  if (!source->kinds || !source->kind_of)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (uint32_t i = 0; i < count; i++)
    if (!(source->kinds[i] = sound_name(source, kymo_trace_class_name(trace, i))))
      return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  qsort(source->kinds, count, sizeof *source->kinds, by_name);
  for (uint32_t i = 0; i < count; i++)
    if (i == 0 || strcmp(source->kinds[i], source->kinds[source->kind_count - 1]) != 0)
      source->kinds[source->kind_count++] = source->kinds[i];
  for (uint32_t i = 0; i < count; i++) {
    const char *name = kymo_trace_class_name(trace, i);
    source->kind_of[i] = query_source_kind(source, name ? name : "");
  }
  return KYMO_OK;
}

/* Whether all clocks count from 1970. */
static void look_at_clocks(struct query_source *source, const struct kymo_trace *trace) {
  source->has_epoch = true;
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++) {
    const struct kymo_schema *schema = kymo_trace_part(trace, i)->schema;
    for (uint32_t j = 0; schema && j < schema->stream_count; j++)
      source->has_epoch &= schema->streams[j]->clock && schema->streams[j]->clock->origin_is_epoch;
  }
}

/* Counts all events, which are merged for this only if the trace cannot count otherwise. */
static int count_kinds(struct query_reader *reader, uint64_t *counts, struct kymo_error *error) {
  const struct query_source *source = reader->source;
  struct query_window all = {.begin_ns = INT64_MIN, .end_ns = INT64_MAX};
  const struct kymo_event *event;
  int status = query_reader_begin(reader, &all, error);
  if (status == KYMO_OK && !source->opening.has_filter && kymo_trace_can_count(reader->trace)) {
    uint64_t *classes = calloc(source->class_count + 1u, sizeof *classes);
    status = classes ? kymo_trace_count_classes(reader->trace, classes, error)
                     : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
    for (uint32_t i = 0; i < source->class_count && status == KYMO_OK; i++)
      counts[source->kind_of[i]] += classes[i];
    free(classes);
    return status;
  }
  while (status == KYMO_OK && (status = query_reader_next(reader, &event, error)) == KYMO_OK)
    counts[source->kind_of[kymo_kind_of(event)]]++;
  return status;
}

const uint64_t *query_source_counts(struct query_source *source, struct kymo_error *error) {
  struct query_reader *reader;
  if (source->counts)
    return source->counts;
  uint64_t *counts = kymo_arena_array(&source->arena, source->kind_count + 1u, sizeof *counts);
  int status =
      counts ? query_reader_take(&reader, source, error) : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status < 0)
    return NULL;
  status = count_kinds(reader, counts, error);
  query_reader_give_back(reader);
  return source->counts = status < 0 ? NULL : counts;
}

/* ---- damage ---- */

static bool is_same(const struct kymo_damage *a, const struct kymo_damage *b) {
  return a->offset == b->offset && a->code == b->code &&
         strcmp(a->path ? a->path : "", b->path ? b->path : "") == 0 && strcmp(a->message, b->message) == 0;
}

static bool was_seen(const struct kymo_damage *const *seen, size_t count, const struct kymo_damage *damage) {
  for (size_t i = 0; i < count; i++)
    if (is_same(seen[i], damage))
      return true;
  return false;
}

size_t query_source_damage(const struct query_source *source, query_damage_handler *each, void *user) {
  const struct kymo_damage **seen = NULL;
  size_t count = 0, capacity = 0;
  for (const struct query_reader *reader = source->readers; reader; reader = reader->next)
    for (size_t i = 0; i < kymo_trace_damage_count(reader->trace); i++) {
      const struct kymo_damage *damage = kymo_trace_damage(reader->trace, i);
      if (was_seen(seen, count, damage))
        continue;
      if (each)
        each(user, damage);
      if (KYMO_LIST_ROOM(seen, capacity, count))
        seen[count++] = damage;
    }
  free(seen);
  return count;
}

/* ---- life ---- */

int query_source_new(struct query_source **out, const struct query_opening *opening,
                     struct kymo_error *error) {
  struct query_source *source = calloc(1, sizeof *source);
  struct query_reader *reader = NULL;
  *out = NULL;
  if (!source) {
    if (opening->free)
      opening->free(opening->user);
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  *source = (struct query_source){.owners = 1, .opening = *opening, .weight = 1};
  int status = open_reader(&reader, source, error);
  source->first = reader;
  if (status >= 0) {
    kymo_trace_times(reader->trace, &source->begin_ns, &source->end_ns);
    look_at_clocks(source, reader->trace);
    status = find_kinds(source, reader->trace, error);
  }
  if (status >= 0 && !(source->symbols = kymo_symbols_new(reader->trace)))
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status < 0) {
    query_source_release(source);
    return status;
  }
  *out = source;
  return KYMO_OK;
}

struct query_source *query_source_retain(struct query_source *source) {
  source->owners++;
  return source;
}

void query_source_release(struct query_source *source) {
  if (!source || --source->owners > 0)
    return;
  kymo_symbols_free(source->symbols);
  while (source->readers) {
    struct query_reader *reader = source->readers;
    source->readers = reader->next;
    free_reader(reader);
  }
  kymo_arena_free(&source->arena);
  if (source->opening.free)
    source->opening.free(source->opening.user);
  free(source);
}
