/* SPDX-License-Identifier: MIT */
#include "records/records.h"
#include "base/fail.h"
#include "print/out.h"
#include "source/map.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct source {
  const char *path;
  struct records_file *file;
  struct records_piece record; /* the current one */
  bool is_over;
  uint64_t late_count, late_offset; /* records out of order, and the first of them */
};

struct merger {
  struct records_merge *merge;
  struct source *sources;
  size_t count;
  size_t *nodes; /* tournament tree: [0] is the winner, the others are the losers of their games; leaf i is at
               * count + i */
  struct kymo_out out;
  FILE *file;
  struct records_piece last; /* the written one, of the file `last_path`; its bytes are not available any
                              * more */
  const char *last_path;
};

void kymo_records_warn(const struct records_merge *merge, const char *format, ...) {
  char text[2048];
  va_list args;
  if (!merge->job->warn)
    return;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  merge->job->warn(merge->job->user, text);
}

void kymo_records_damage(struct records_merge *merge, const char *path, uint64_t offset, uint64_t lost,
                         const char *message) {
  char skipped[48] = "";
  merge->is_damaged = true;
  if (lost)
    snprintf(skipped, sizeof skipped, " (%" PRIu64 " bytes skipped)", lost);
  kymo_records_warn(merge, "%s: byte %" PRIu64 ": %s%s", path, offset, message, skipped);
}

int kymo_records_end(struct records_merge *merge, struct kymo_map *map, const char *path) {
  struct kymo_error why;
  const uint8_t *data;
  uint64_t size;
  if (kymo_map_get(map, map->size, 0, &data, &size, &why) != KYMO_OK ||
      kymo_map_check_end(map, &why) != KYMO_OK)
    kymo_records_damage(merge, path, why.offset == KYMO_ERROR_NO_OFFSET ? map->size : why.offset, 0,
                        why.message);
  return KYMO_END;
}

/* ---- the order ---- */

/* Equal ones come in the order of the files, finished files come last. */
static bool is_before(const struct merger *merger, size_t a, size_t b) {
  const struct source *one = &merger->sources[a], *other = &merger->sources[b];
  if (one->is_over || other->is_over)
    return !one->is_over;
  int order = merger->merge->kind->compare(one->file, other->file);
  return order < 0 || (order == 0 && a < b);
}

/* A source with a new record replays the games on its path up. */
static void play(struct merger *merger, size_t player) {
  for (size_t node = (merger->count + player) / 2; node > 0; node /= 2) {
    size_t loser = merger->nodes[node];
    if (!is_before(merger, loser, player))
      continue;
    merger->nodes[node] = player;
    player = loser;
  }
  merger->nodes[0] = player;
}

/* The winner of all below a node, where the losers stay. */
static size_t play_all(struct merger *merger, size_t node) {
  if (node >= merger->count)
    return node - merger->count;
  size_t one = play_all(merger, 2 * node), other = play_all(merger, 2 * node + 1);
  bool is_one = is_before(merger, one, other);
  merger->nodes[node] = is_one ? other : one;
  return is_one ? one : other;
}

/* ---- from record to record ---- */

static void put_line(struct kymo_out *out, const char *path, const struct records_piece *piece,
                     const char *what) {
  char text[96];
  kymo_out_bytes(out, path, strlen(path));
  int length = snprintf(text, sizeof text, ": byte %" PRIu64 ": %s length = %" PRIu64 ", bytes = <",
                        piece->offset, what, piece->size);
  kymo_out_bytes(out, text, (size_t)length);
  for (uint64_t i = 0; i < piece->size; i++) {
    char *at = kymo_out_room(out, 3);
    if (i > 0)
      *at++ = ' ';
    out->at = kymo_put_hex_byte(at, piece->bytes[i]);
  }
  kymo_out_literal(out, ">\n");
}

/* A record cut off by end of file gets its missing newline before the next one is appended. */
static void put(struct merger *merger, const struct source *source, const struct records_piece *piece) {
  const struct records_piece *last = &merger->last;
  if (last->is_open) {
    kymo_out_byte(&merger->out, (char)last->end);
    kymo_records_warn(merger->merge,
                      "warning: %s: byte %" PRIu64
                      ": this record ends with the file, without byte 0x%02x, which is added",
                      merger->last_path, last->offset, last->end);
  }
  kymo_out_bytes(&merger->out, piece->bytes, (size_t)piece->size);
  merger->last = *piece;
  merger->last_path = source->path;
}

/* KYMO_OK, or negative. */
static int advance(struct merger *merger, struct source *source) {
  bool is_late = false;
  int status = merger->merge->kind->next(source->file, &source->record, &is_late);
  if (status == KYMO_OK && is_late && source->late_count++ == 0)
    source->late_offset = source->record.offset;
  source->is_over = status != KYMO_OK;
  return status < 0 ? status : KYMO_OK;
}

static int copy_records(struct merger *merger) {
  int status = KYMO_OK;
  for (size_t i = 0; i < merger->count && status == KYMO_OK; i++)
    status = advance(merger, &merger->sources[i]);
  if (status == KYMO_OK)
    merger->nodes[0] = play_all(merger, 1);
  while (status == KYMO_OK && !merger->out.error_number) {
    struct source *source = &merger->sources[merger->nodes[0]];
    if (source->is_over)
      break;
    if (merger->merge->job->is_shown)
      put_line(&merger->out, source->path, &source->record, "record");
    else
      put(merger, source, &source->record);
    status = advance(merger, source);
    play(merger, merger->nodes[0]);
  }
  return status;
}

/* The same bytes, except for the last one of the first head, if its file ended it. */
static bool is_same_head(const struct records_piece *a, const struct records_piece *b) {
  const struct records_piece *less = a->size < b->size ? a : b, *more = less == a ? b : a;
  bool is_as_long = more->size == less->size ||
                    (less->is_open && more->size == less->size + 1 && more->bytes[less->size] == less->end);
  return is_as_long && memcmp(less->bytes, more->bytes, (size_t)less->size) == 0;
}

/* The head of the first file that has one. Heads of others are left out, which is reported if they differ. */
static int copy_head(struct merger *merger) {
  const struct source *kept = NULL;
  struct records_piece first = {0};
  for (size_t i = 0; i < merger->count; i++) {
    struct source *source = &merger->sources[i];
    struct records_piece head = {0};
    int status = merger->merge->kind->head(source->file, &head);
    if (status < 0)
      return status;
    if (head.size == 0)
      continue;
    if (merger->merge->job->is_shown) {
      put_line(&merger->out, source->path, &head, "head");
      continue;
    }
    if (!kept) {
      kept = source;
      first = head;
      put(merger, source, &head);
    } else if (!is_same_head(&head, &first)) {
      kymo_records_warn(merger->merge,
                        "warning: %s: its head of %" PRIu64 " bytes differs from that of %s and is left out",
                        source->path, head.size, kept->path);
    }
  }
  return KYMO_OK;
}

static void report_late(const struct merger *merger) {
  for (size_t i = 0; i < merger->count; i++) {
    const struct source *source = &merger->sources[i];
    if (source->late_count)
      kymo_records_warn(merger->merge,
                        "warning: %s: byte %" PRIu64 ": not in order: %" PRIu64
                        " record%s (this is the first) belong%s before the previous one",
                        source->path, source->late_offset, source->late_count,
                        source->late_count == 1 ? "" : "s", source->late_count == 1 ? "s" : "");
  }
}

/* ---- files ---- */

static int begin(struct merger *merger) {
  const struct records_job *job = merger->merge->job;
  merger->sources = calloc(job->count, sizeof *merger->sources);
  merger->nodes = calloc(job->count, sizeof *merger->nodes);
  if (!merger->sources || !merger->nodes)
    return kymo_fail(merger->merge->error, KYMO_E_MEMORY, "out of memory");
  for (; merger->count < job->count; merger->count++) {
    struct source *source = &merger->sources[merger->count];
    source->path = job->paths[merger->count];
    int status = merger->merge->kind->open(&source->file, merger->merge, source->path);
    if (status < 0)
      return status;
  }
  return KYMO_OK;
}

static int open_out(struct merger *merger) {
  const char *path = merger->merge->job->out;
  merger->file = strcmp(path, "-") == 0 ? stdout : fopen(path, "wbxe");
  if (!merger->file)
    return kymo_fail_errno(merger->merge->error, path, "cannot write");
  return kymo_out_begin(&merger->out, merger->file, merger->merge->error);
}

/* An incomplete output is removed. The first error is returned. */
static int close_out(struct merger *merger, int status) {
  bool is_stdout = merger->file == stdout;
  const char *path = is_stdout ? "standard output" : merger->merge->job->out;
  if (!merger->file)
    return status;
  kymo_out_finish(&merger->out, NULL);
  int cause = merger->out.error_number;
  if (fclose(merger->file) != 0 && !cause)
    cause = errno;
  if (cause && status >= 0) {
    errno = cause;
    status = kymo_fail_errno(merger->merge->error, path, "cannot write");
  }
  if (status < 0 && !is_stdout)
    unlink(path);
  return status;
}

int kymo_records_run(struct records_merge *merge) {
  struct merger merger = {.merge = merge};
  int status = begin(&merger);
  if (status >= 0) {
    status = open_out(&merger);
    if (status >= 0)
      status = copy_head(&merger);
    if (status >= 0)
      status = copy_records(&merger);
    status = close_out(&merger, status);
    report_late(&merger);
  }
  for (size_t i = 0; merger.sources && i < merge->job->count; i++)
    merge->kind->close(merger.sources[i].file);
  free(merger.sources);
  free(merger.nodes);
  return status;
}

int kymo_records_merge(const struct records_job *job, bool *is_damaged, struct kymo_error *error) {
  struct records_merge merge = {.job = job, .error = error};
  int status = job->plugin ? kymo_records_by_plugin(&merge) : kymo_records_by_description(&merge);
  *is_damaged = merge.is_damaged;
  return status;
}
