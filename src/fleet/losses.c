/* SPDX-License-Identifier: MIT */
#include "fleet/losses.h"
#include "base/fail.h"
#include "fleet/events.h"
#include "query/pairing.h"
#include <stdlib.h>

enum { LOSS_SEQ, LOSS_STREAM, LOSS_WHAT, LOSS_COUNT, LOSS_BEGIN, LOSS_END, LOSS_PATH, LOSS_COLUMNS };
static const struct fleet_column loss_columns[LOSS_COLUMNS] = {
    [LOSS_SEQ] = {.name = "seq", .type = FLEET_U64},
    [LOSS_STREAM] = {.name = "stream", .type = FLEET_U64},
    [LOSS_WHAT] = {.name = "what", .type = FLEET_TEXT, .is_label = true},
    [LOSS_COUNT] = {.name = "count", .type = FLEET_U64, .may_be_null = true},
    [LOSS_BEGIN] = {.name = "begin", .type = FLEET_I64, .may_be_null = true},
    [LOSS_END] = {.name = "end", .type = FLEET_I64, .may_be_null = true},
    [LOSS_PATH] = {.name = "path", .type = FLEET_TEXT, .is_label = true},
};
static const uint32_t loss_identity[] = {LOSS_SEQ, LOSS_STREAM, LOSS_COUNT, LOSS_BEGIN, LOSS_END};

enum {
  SPAN_SEQ,
  SPAN_NAME,
  SPAN_BEGIN,
  SPAN_END,
  SPAN_DURATION,
  SPAN_THREAD,
  SPAN_TID,
  SPAN_FIELDS,
  SPAN_DEPTH,
  SPAN_STATE,
  SPAN_COLUMNS
};
static const struct fleet_column span_columns[SPAN_COLUMNS] = {
    [SPAN_SEQ] = {.name = "seq", .type = FLEET_U64},
    [SPAN_NAME] = {.name = "name", .type = FLEET_TEXT, .is_label = true},
    [SPAN_BEGIN] = {.name = "begin", .type = FLEET_I64},
    [SPAN_END] = {.name = "end", .type = FLEET_I64, .may_be_null = true},
    [SPAN_DURATION] = {.name = "duration", .type = FLEET_I64, .may_be_null = true},
    [SPAN_THREAD] = {.name = "thread", .type = FLEET_TEXT, .may_be_null = true, .is_label = true},
    [SPAN_TID] = {.name = "tid", .type = FLEET_I64, .may_be_null = true},
    [SPAN_FIELDS] = {.name = "fields", .type = FLEET_TEXT},
    [SPAN_DEPTH] = {.name = "depth", .type = FLEET_U64},
    [SPAN_STATE] = {.name = "state", .type = FLEET_TEXT, .is_label = true},
};
static const uint32_t span_identity[] = {SPAN_SEQ, SPAN_BEGIN, SPAN_END, SPAN_DEPTH};

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

static int begin(struct fleet_sets *sets, const struct fleet_table *like, const struct fleet_part *parts,
                 size_t count, struct kymo_error *error) {
  *sets = (struct fleet_sets){.count = count, .tables = calloc(count + 1, sizeof *sets->tables)};
  if (!sets->tables)
    return no_memory(error);
  for (size_t i = 0; i < count; i++) {
    struct fleet_table *table = &sets->tables[i];
    *table = *like;
    table->part = &parts[i];
    table->block.columns =
        kymo_arena_array(&sets->arena, like->block.column_count, sizeof *table->block.columns);
    if (!table->block.columns)
      return no_memory(error);
    memcpy(table->block.columns, like->block.columns,
           like->block.column_count * sizeof *table->block.columns);
  }
  return KYMO_OK;
}

int fleet_sets_finish(struct fleet_sets *sets, struct kymo_error *error) {
  int status = sets->status;
  if (status != KYMO_OK)
    *error = sets->error;
  for (size_t i = 0; status == KYMO_OK && i < sets->count; i++) {
    status = i == 0 ? fleet_table_make(&sets->tables[i], error) : KYMO_OK;
    if (status == KYMO_OK)
      status = fleet_table_flush(&sets->tables[i], error);
  }
  if (status == KYMO_OK && sets->count)
    status = fleet_posts_wait(sets->tables[0].database->posts, error);
  for (size_t i = 0; status == KYMO_OK && i < sets->count; i++)
    status = fleet_table_check(&sets->tables[i], error);
  return status;
}

void fleet_sets_end(struct fleet_sets *sets) {
  for (size_t i = 0; sets->tables && i < sets->count; i++)
    fleet_table_free(&sets->tables[i]);
  free(sets->tables);
  kymo_strbuf_free(&sets->text);
  kymo_arena_free(&sets->arena);
  *sets = (struct fleet_sets){0};
}

static void put_word(struct fleet_block *block, uint32_t column, const char *word) {
  fleet_put_text(block, column, word, strlen(word));
}

static void put_known(struct fleet_block *block, uint32_t column, bool is_known, uint64_t value) {
  if (is_known)
    fleet_put_number(block, column, value);
  else
    fleet_put_null(block, column);
}

/* The next row's number among those of its part, and space for it. */
static int begin_row(struct fleet_table *table, int64_t time_ns, uint64_t *seq, struct kymo_error *error) {
  int status = fleet_table_row(table, fleet_day_of(time_ns, true), error);
  *seq = table->cut_rows + table->block.rows;
  return status;
}

/* ---- losses ---- */

int fleet_losses_begin(struct fleet_sets *sets, struct fleet_database *database,
                       const struct fleet_part *parts, size_t count, struct kymo_error *error) {
  struct fleet_table like = {
      .database = database,
      .name = "losses",
      .order = "trace, stream, seq",
      .identity = loss_identity,
      .identity_count = sizeof loss_identity / sizeof *loss_identity,
      .keeps = LOSS_SEQ,
      .block = {.columns = (struct fleet_column *)loss_columns, .column_count = LOSS_COLUMNS}};
  return begin(sets, &like, parts, count, error);
}

void fleet_losses_take(void *user, const struct kymo_loss *loss) {
  struct fleet_sets *sets = user;
  const struct kymo_stream *stream = loss->stream;
  struct fleet_table *table = &sets->tables[stream->part->index];
  struct fleet_block *block = &table->block;
  uint64_t seq;
  if (sets->status == KYMO_OK)
    sets->status = begin_row(table, loss->has_times ? loss->begin_ns : 0, &seq, &sets->error);
  if (sets->status != KYMO_OK)
    return;
  fleet_put_number(block, LOSS_SEQ, seq);
  fleet_put_number(block, LOSS_STREAM, stream->instance != UINT64_MAX ? stream->instance : stream->index);
  put_word(block, LOSS_WHAT, loss->is_packets ? "packets" : "events");
  put_known(block, LOSS_COUNT, loss->count_known, loss->count);
  put_known(block, LOSS_BEGIN, loss->has_times, (uint64_t)loss->begin_ns);
  put_known(block, LOSS_END, loss->has_times, (uint64_t)loss->end_ns);
  fleet_put_utf8(block, LOSS_PATH, &sets->text, (const uint8_t *)stream->path, strlen(stream->path),
                 KYMO_ENCODING_UTF8);
  fleet_block_end_row(block);
}

/* ---- spans ---- */

int fleet_spans_begin(struct fleet_sets *sets, struct fleet_database *database,
                      const struct fleet_part *parts, size_t count, struct kymo_error *error) {
  struct fleet_table like = {
      .database = database,
      .name = "spans",
      .order = "trace, begin, seq",
      .bounded = {"begin"},
      .bounds = {SPAN_BEGIN},
      .identity = span_identity,
      .identity_count = sizeof span_identity / sizeof *span_identity,
      .keeps = SPAN_SEQ,
      .block = {.columns = (struct fleet_column *)span_columns, .column_count = SPAN_COLUMNS}};
  return begin(sets, &like, parts, count, error);
}

/* Without pairs, the traces are not read again. */
static int has_spans(const struct query_source *source, bool *has, struct kymo_error *error) {
  struct kymo_edges edges = {0};
  size_t count = 0;
  int status = kymo_edges_begin(&edges, source->first->trace, &source->first->whos.numbers, error);
  if (status == KYMO_OK && kymo_edges_add_spans(&edges, &count) != KYMO_OK)
    status = no_memory(error);
  *has = count > 0;
  kymo_edges_end(&edges);
  return status;
}

static void put_bytes(struct fleet_sets *sets, struct fleet_block *block, uint32_t column, const char *text,
                      size_t length) {
  fleet_put_utf8(block, column, &sets->text, (const uint8_t *)text, length, KYMO_ENCODING_UTF8);
}

static int put_span(struct fleet_sets *sets, const struct query_pairing *pairing, struct kymo_error *error) {
  static const char *const states[] = {"complete", "open", "lost"};
  const struct kymo_span *span = pairing->span;
  const struct query_begun *begun = &pairing->begun[span->track];
  struct fleet_table *table = &sets->tables[begun->part];
  struct fleet_block *block = &table->block;
  bool is_complete = pairing->state == QUERY_SPAN_COMPLETE;
  uint64_t seq;
  int status = begin_row(table, span->begin_ns, &seq, error);
  if (status != KYMO_OK)
    return status;
  fleet_put_number(block, SPAN_SEQ, seq);
  put_bytes(sets, block, SPAN_NAME, begun->name, begun->name_length);
  fleet_put_number(block, SPAN_BEGIN, (uint64_t)span->begin_ns);
  put_known(block, SPAN_END, is_complete, (uint64_t)pairing->end_ns);
  put_known(block, SPAN_DURATION, is_complete, (uint64_t)pairing->end_ns - (uint64_t)span->begin_ns);
  if (span->thread[0])
    put_bytes(sets, block, SPAN_THREAD, span->thread, strnlen(span->thread, sizeof span->thread));
  else
    fleet_put_null(block, SPAN_THREAD);
  put_known(block, SPAN_TID, span->has_tid, (uint64_t)span->tid);
  put_bytes(sets, block, SPAN_FIELDS, begun->fields ? begun->fields : "", begun->fields ? begun->length : 0);
  fleet_put_number(block, SPAN_DEPTH, begun->depth);
  put_word(block, SPAN_STATE, states[pairing->state]);
  fleet_block_end_row(block);
  return KYMO_OK;
}

int fleet_spans_send(struct fleet_sets *sets, struct query_source *source, struct kymo_error *error) {
  const struct query_pairing_options options = {.wants_fields = true, .is_apart = sets->count > 1};
  struct query_pairing pairing = {0};
  bool has;
  int status = has_spans(source, &has, error);
  if (status != KYMO_OK || !has)
    return status;
  status = query_pairing_begin(&pairing, source, &options, error);
  while (status == KYMO_OK && pairing.span) {
    status = put_span(sets, &pairing, error);
    if (status == KYMO_OK)
      status = query_pairing_next(&pairing, error);
  }
  query_pairing_end(&pairing);
  return status;
}
