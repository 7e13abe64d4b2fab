/* SPDX-License-Identifier: MIT */
#include "stat/spill.h"
#include "base/fail.h"
#include "base/list.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)32 << 10)

struct kymo_spill {
  FILE *file;
  uint64_t *ends; /* of the runs */
  size_t count, capacity;
};

/* A group in a run; its ends, its name and its kept numbers follow; of floating-point numbers what is known
 * of them, and their places. */
struct record {
  uint64_t key;
  uint32_t is_text, name_length;
  uint64_t count, below_zero;
  int64_t least, most;
  double total, mean, squares, weighted;
  uint32_t value_count, bucket_count, has_ends, has_floats;
};
struct bucket {
  uint64_t count;
  uint32_t index, is_below;
};

static int fail(struct kymo_error *error, const char *what) {
  return kymo_fail_errno(error, "temporary file", what);
}

/* ---- writing ---- */

static bool open_file(struct kymo_spill *spill) {
  const char *folder = getenv("TMPDIR");
  char *name = NULL;
  if (asprintf(&name, "%s/kymo.XXXXXX", folder && *folder ? folder : "/var/tmp") < 0)
    return false;
  int fd = mkostemp(name, O_CLOEXEC);
  if (fd >= 0)
    unlink(name);
  free(name);
  spill->file = fd >= 0 ? fdopen(fd, "w+") : NULL;
  if (fd >= 0 && !spill->file)
    close(fd);
  return spill->file != NULL;
}

static uint32_t count_buckets(const struct kymo_samples *samples) {
  uint32_t count = 0;
  for (unsigned side = 0; side < 2; side++)
    for (unsigned i = 0; samples->sides[side] && i < KYMO_SAMPLES_OCTAVES; i++)
      for (unsigned k = 0; samples->sides[side]->octaves[i] && k < KYMO_SAMPLES_STEPS; k++)
        count += samples->sides[side]->octaves[i][k] != 0;
  return count;
}

static bool write_buckets(FILE *file, const struct kymo_samples *samples) {
  for (unsigned side = 0; side < 2; side++)
    for (unsigned i = 0; samples->sides[side] && i < KYMO_SAMPLES_OCTAVES; i++)
      for (unsigned k = 0; samples->sides[side]->octaves[i] && k < KYMO_SAMPLES_STEPS; k++) {
        struct bucket bucket = {samples->sides[side]->octaves[i][k], i * KYMO_SAMPLES_STEPS + k, side};
        if (bucket.count && fwrite(&bucket, sizeof bucket, 1, file) != 1)
          return false;
      }
  return true;
}

static bool write_floats(FILE *file, const struct kymo_floats *floats) {
  return fwrite(floats, sizeof *floats, 1, file) == 1 &&
         (!floats->place_count ||
          fwrite(floats->places, sizeof *floats->places, floats->place_count, file) == floats->place_count);
}

static bool write_group(FILE *file, const struct kymo_stat_group *group) {
  const struct kymo_samples *samples = &group->samples;
  struct record record = {.key = group->key,
                          .is_text = group->is_text,
                          .name_length = (uint32_t)strlen(group->name),
                          .count = samples->count,
                          .below_zero = samples->below_zero,
                          .least = samples->least,
                          .most = samples->most,
                          .total = samples->total,
                          .mean = samples->mean,
                          .squares = samples->squares,
                          .weighted = group->weighted,
                          .value_count = samples->room ? (uint32_t)samples->count : 0,
                          .bucket_count = count_buckets(samples),
                          .has_ends = group->ends != NULL,
                          .has_floats = samples->floats != NULL};
  return fwrite(&record, sizeof record, 1, file) == 1 &&
         (!group->ends || fwrite(group->ends, sizeof *group->ends, 1, file) == 1) &&
         fwrite(group->name, 1, record.name_length, file) == record.name_length &&
         (record.value_count == 0 ||
          fwrite(samples->values, sizeof *samples->values, record.value_count, file) == record.value_count) &&
         write_buckets(file, samples) && (!samples->floats || write_floats(file, samples->floats));
}

static int by_key(const void *a, const void *b) {
  const struct kymo_stat_group *x = *(struct kymo_stat_group *const *)a,
                               *y = *(struct kymo_stat_group *const *)b;
  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  return (int)x->is_text - (int)y->is_text;
}

static int write_run(struct kymo_groups *groups, struct kymo_error *error) {
  struct kymo_spill *spill =
      groups->spill ? groups->spill : (groups->spill = calloc(1, sizeof *groups->spill));
  struct kymo_stat_group **list = calloc(groups->count + 1, sizeof *list);
  bool has_room = spill && KYMO_LIST_ROOM(spill->ends, spill->capacity, spill->count);
  size_t count = 0;
  int status = list && has_room ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status == KYMO_OK && !spill->file && !open_file(spill))
    status = fail(error, "cannot be made (set TMPDIR)");
  for (size_t i = 0; status == KYMO_OK && i < groups->count; i++)
    if (groups->list[i]->samples.count || groups->list[i]->ends)
      list[count++] = groups->list[i];
  qsort(list, count, sizeof *list, by_key);
  for (size_t i = 0; status == KYMO_OK && i < count; i++)
    if (!write_group(spill->file, list[i]))
      status = fail(error, "cannot be written");
  if (status == KYMO_OK && fflush(spill->file) != 0)
    status = fail(error, "cannot be written");
  if (status == KYMO_OK)
    spill->ends[spill->count++] = (uint64_t)ftello(spill->file);
  free(list);
  return status;
}

void kymo_spill_free(struct kymo_spill *spill) {
  if (spill && spill->file)
    fclose(spill->file);
  if (spill)
    free(spill->ends);
  free(spill);
}

/* ---- emptying ---- */

static void mark(struct kymo_stat_group **group) {
  if (*group)
    (*group)->is_kept = true;
}

static void replace(struct kymo_stat_group **group) {
  if (*group)
    *group = (*group)->forward;
}

static bool keep(struct kymo_groups *kept, struct kymo_stat_group *group) {
  struct kymo_stat_group *copy = kymo_arena_alloc(&kept->arena, sizeof *copy);
  const char *name = kymo_arena_copy(&kept->arena, group->name, strlen(group->name));
  if (!copy || !name)
    return false;
  *copy = (struct kymo_stat_group){.key = group->key, .is_text = group->is_text, .name = name};
  if (!kymo_groups_put(kept, copy))
    return false;
  group->forward = copy;
  kept->bytes += sizeof *copy + strlen(name) + KYMO_GROUP_OVERHEAD;
  return true;
}

int kymo_groups_spill(struct kymo_groups *groups, kymo_groups_owner *owner, void *user,
                      struct kymo_error *error) {
  struct kymo_groups kept = {
      .bytes_limit = groups->bytes_limit, .joiner = groups->joiner, .user = groups->user};
  int status = write_run(groups, error);
  if (status != KYMO_OK)
    return status;
  owner(user, mark);
  bool is_done = true;
  for (size_t i = 0; i < groups->count && is_done; i++)
    if (groups->list[i]->is_kept)
      is_done = keep(&kept, groups->list[i]);
  if (!is_done) {
    kymo_groups_free(&kept);
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  owner(user, replace);
  kept.spill = groups->spill;
  groups->spill = NULL;
  kymo_groups_free(groups);
  *groups = kept;
  /* open spans stay in memory: more of them must not write a run for each event */
  if (groups->bytes > groups->bytes_limit / 2)
    groups->bytes_limit = groups->bytes * 2;
  return KYMO_OK;
}

/* ---- merging ---- */

struct cursor {
  int fd;
  uint64_t at, end; /* the part of the run that is not in the buffer yet */
  uint8_t *buffer;
  size_t next, filled;
  struct record record;
};

struct merging {
  struct cursor *cursors;
  size_t *heap, count; /* of cursors, the least key first */
};

static bool read_bytes(struct cursor *cursor, void *to, size_t size) {
  uint8_t *out = to;
  while (size) {
    if (cursor->next == cursor->filled) {
      size_t left =
          cursor->end - cursor->at < BUFFER_BYTES ? (size_t)(cursor->end - cursor->at) : BUFFER_BYTES;
      ssize_t got = pread(cursor->fd, cursor->buffer, left, (off_t)cursor->at);
      if (got <= 0)
        return false;
      cursor->at += (uint64_t)got;
      cursor->next = 0;
      cursor->filled = (size_t)got;
    }
    size_t piece = cursor->filled - cursor->next < size ? cursor->filled - cursor->next : size;
    memcpy(out, cursor->buffer + cursor->next, piece);
    cursor->next += piece;
    out += piece;
    size -= piece;
  }
  return true;
}

static bool is_at_end(const struct cursor *cursor) {
  return cursor->next == cursor->filled && cursor->at == cursor->end;
}

/* Earlier runs come first, so instances of a group stay in their order. */
static bool is_less(const struct merging *merging, size_t a, size_t b) {
  const struct record *x = &merging->cursors[a].record, *y = &merging->cursors[b].record;
  if (x->key != y->key)
    return x->key < y->key;
  return x->is_text != y->is_text ? x->is_text < y->is_text : a < b;
}

static void sink_down(struct merging *merging) {
  for (size_t at = 0, child; (child = 2 * at + 1) < merging->count; at = child) {
    if (child + 1 < merging->count && is_less(merging, merging->heap[child + 1], merging->heap[child]))
      child++;
    if (!is_less(merging, merging->heap[child], merging->heap[at]))
      return;
    size_t other = merging->heap[at];
    merging->heap[at] = merging->heap[child];
    merging->heap[child] = other;
  }
}

static void rise(struct merging *merging, size_t cursor) {
  size_t at = merging->count++;
  for (; at > 0 && is_less(merging, cursor, merging->heap[(at - 1) / 2]); at = (at - 1) / 2)
    merging->heap[at] = merging->heap[(at - 1) / 2];
  merging->heap[at] = cursor;
}

static bool read_floats(struct cursor *cursor, struct kymo_samples *samples) {
  struct kymo_floats *floats = samples->floats = calloc(1, sizeof *floats);
  if (!floats || !read_bytes(cursor, floats, sizeof *floats)) {
    free(floats); /* its places are those that were written */
    samples->floats = NULL;
    return false;
  }
  floats->room = floats->place_count;
  floats->places = calloc(floats->place_count + 1u, sizeof *floats->places);
  return floats->places && read_bytes(cursor, floats->places, floats->place_count * sizeof *floats->places);
}

/* Reads the kept numbers of a record. */
static bool read_samples(struct cursor *cursor, struct kymo_samples *samples) {
  const struct record *record = &cursor->record;
  *samples = (struct kymo_samples){.count = record->count,
                                   .least = record->least,
                                   .most = record->most,
                                   .total = record->total,
                                   .mean = record->mean,
                                   .squares = record->squares,
                                   .below_zero = record->below_zero};
  if (record->value_count) {
    samples->room = record->value_count;
    samples->values = malloc(record->value_count * sizeof *samples->values);
    return samples->values &&
           read_bytes(cursor, samples->values, record->value_count * sizeof *samples->values);
  }
  for (uint32_t i = 0; i < record->bucket_count; i++) {
    struct bucket bucket;
    if (!read_bytes(cursor, &bucket, sizeof bucket) ||
        !kymo_samples_fill(samples, bucket.is_below, bucket.index, bucket.count))
      return false;
  }
  return !record->has_floats || read_floats(cursor, samples);
}

/* Appends the ends of a later run to those that the group has. */
static bool join_ends(const struct kymo_groups *groups, struct kymo_arena *arena,
                      struct kymo_stat_group *group, const struct kymo_group_ends *ends) {
  bool is_done = !group->ends || !groups->joiner ||
                 groups->joiner(groups->user, group, &group->ends->last, &ends->first);
  if (!group->ends)
    group->ends = kymo_arena_alloc(arena, sizeof *ends);
  if (group->ends)
    *group->ends = *ends;
  return is_done && group->ends;
}

/* Adds the first record to the group, and goes on to the next one. */
static bool take(struct merging *merging, const struct kymo_groups *groups, struct kymo_arena *arena,
                 struct kymo_stat_group *group) {
  struct cursor *cursor = &merging->cursors[merging->heap[0]];
  struct kymo_samples samples;
  struct kymo_group_ends ends = {0};
  size_t length = cursor->record.name_length;
  char *name = kymo_arena_alloc(arena, length + 1);
  bool is_done = name && (!cursor->record.has_ends || read_bytes(cursor, &ends, sizeof ends)) &&
                 read_bytes(cursor, name, length);
  is_done = is_done && read_samples(cursor, &samples);
  if (is_done) {
    group->name = name;
    group->weighted += cursor->record.weighted + (double)group->samples.count * cursor->record.total;
    is_done = kymo_samples_join(&group->samples, &samples) &&
              (!cursor->record.has_ends || join_ends(groups, arena, group, &ends));
    kymo_samples_free(&samples);
  }
  bool is_over = is_at_end(cursor);
  if (is_over)
    merging->heap[0] = merging->heap[--merging->count];
  else
    is_done = is_done && read_bytes(cursor, &cursor->record, sizeof cursor->record);
  if (merging->count)
    sink_down(merging);
  return is_done;
}

static bool begin_merging(struct merging *merging, const struct kymo_spill *spill) {
  merging->cursors = calloc(spill->count + 1, sizeof *merging->cursors);
  merging->heap = calloc(spill->count + 1, sizeof *merging->heap);
  for (size_t i = 0; merging->cursors && merging->heap && i < spill->count; i++) {
    struct cursor *cursor = &merging->cursors[i];
    *cursor = (struct cursor){.fd = fileno(spill->file),
                              .at = i ? spill->ends[i - 1] : 0,
                              .end = spill->ends[i],
                              .buffer = malloc(BUFFER_BYTES)};
    if (!cursor->buffer)
      return false;
    if (is_at_end(cursor))
      continue;
    if (!read_bytes(cursor, &cursor->record, sizeof cursor->record))
      return false;
    rise(merging, i);
  }
  return merging->cursors && merging->heap;
}

static void end_merging(struct merging *merging, size_t count) {
  for (size_t i = 0; merging->cursors && i < count; i++)
    free(merging->cursors[i].buffer);
  free(merging->cursors);
  free(merging->heap);
}

/* ---- the first ones ---- */

struct best {
  const struct kymo_report *report;
  struct kymo_arena arena;
  struct kymo_stat_group **list;
  size_t count, room, top;
  size_t taken; /* groups in the arena */
};

static void forget(struct best *best) {
  for (size_t i = 0; i < best->count; i++)
    kymo_samples_free(&best->list[i]->samples);
  best->count = 0;
  kymo_arena_free(&best->arena);
}

/* Drops all but the first `top`; these are copied, so that memory is released. */
static bool shorten(struct best *best) {
  struct kymo_arena arena = {0};
  size_t kept = best->count < best->top ? best->count : best->top;
  kymo_report_sort(best->report, best->list, best->count);
  for (size_t i = kept; i < best->count; i++)
    kymo_samples_free(&best->list[i]->samples);
  best->count = best->taken = kept;
  for (size_t i = 0; i < kept; i++) {
    struct kymo_stat_group *copy = kymo_arena_alloc(&arena, sizeof *copy);
    const char *name = kymo_arena_copy(&arena, best->list[i]->name, strlen(best->list[i]->name));
    if (!copy || !name) {
      forget(best);
      kymo_arena_free(&arena);
      return false;
    }
    *copy = *best->list[i];
    copy->name = name;
    best->list[i] = copy;
  }
  kymo_arena_free(&best->arena);
  best->arena = arena;
  return true;
}

static bool add_to_best(struct best *best, struct kymo_stat_group *group) {
  if (!KYMO_LIST_ROOM(best->list, best->room, best->count)) {
    kymo_samples_free(&group->samples);
    return false;
  }
  best->list[best->count++] = group;
  return true;
}

static bool merge_one(struct merging *merging, struct best *best, struct kymo_groups *groups,
                      struct kymo_samples *all) {
  struct kymo_stat_group *group = kymo_arena_alloc(&best->arena, sizeof *group);
  const struct record *first = &merging->cursors[merging->heap[0]].record;
  if (!group)
    return false;
  *group = (struct kymo_stat_group){.key = first->key, .is_text = first->is_text};
  do {
    if (!take(merging, groups, &best->arena, group)) {
      kymo_samples_free(&group->samples);
      return false;
    }
    first = merging->count ? &merging->cursors[merging->heap[0]].record : NULL;
  } while (first && first->key == group->key && first->is_text == group->is_text);
  bool is_done = true;
  groups->ended += group->ends != NULL;
  if (group->samples.count && kymo_report_wants(best->report, group)) {
    groups->merged++;
    is_done = add_to_best(best, group) && kymo_samples_join(all, &group->samples);
  } else {
    kymo_samples_free(&group->samples);
  }
  return is_done && (++best->taken / 2 < best->top || shorten(best));
}

/* The groups become the first ones of all runs. */
static bool merge(struct kymo_groups *groups, const struct kymo_report *report, struct kymo_samples *all) {
  struct merging merging = {0};
  struct best best = {.report = report, .top = report->top ? report->top : KYMO_SPILL_TOP};
  bool is_done = begin_merging(&merging, groups->spill);
  while (is_done && merging.count)
    is_done = merge_one(&merging, &best, groups, all);
  end_merging(&merging, groups->spill->count);
  is_done = is_done && shorten(&best);
  if (!is_done) {
    forget(&best);
    free(best.list);
    return false;
  }
  for (size_t i = 0; i < groups->count; i++)
    kymo_samples_free(&groups->list[i]->samples);
  free(groups->list);
  kymo_hash_table_free(&groups->table);
  groups->list = best.list;
  groups->count = groups->capacity = best.count;
  groups->merged_arena = best.arena;
  return true;
}

/* The sum of all wanted groups. */
static bool sum(struct kymo_groups *groups, const struct kymo_report *report, struct kymo_samples *all) {
  for (size_t i = 0; i < groups->count; i++) {
    const struct kymo_stat_group *group = groups->list[i];
    groups->ended += group->ends != NULL;
    if (kymo_report_wants(report, group) && !kymo_samples_join(all, &group->samples))
      return false;
  }
  return true;
}

int kymo_groups_settle(struct kymo_groups *groups, const struct kymo_report *report, struct kymo_samples *all,
                       struct kymo_error *error) {
  if (!groups->spill)
    return sum(groups, report, all) ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = write_run(groups, error);
  errno = 0;
  if (status == KYMO_OK && !merge(groups, report, all))
    status = errno && errno != ENOMEM ? fail(error, "cannot be read")
                                      : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  return status;
}

/* ---- owners that are spans ---- */

struct visit {
  kymo_group_visit *visit;
};

static bool visit_owner(void *user, struct kymo_span *span) {
  struct kymo_stat_group *group = span->owner;
  ((struct visit *)user)->visit(&group);
  span->owner = group;
  return true;
}

void kymo_groups_visit_spans(const struct kymo_spans *spans, kymo_group_visit *visit) {
  kymo_spans_each(spans, visit_owner, &(struct visit){visit});
}
