/* SPDX-License-Identifier: MIT */
/* Batches: cutting, sending, and what the table says is there. */
#include "fleet/table.h"
#include "base/fail.h"
#include "base/list.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* ---- the ledger ---- */

static int by_number(const void *a, const void *b) {
  const struct fleet_batch *one = a, *other = b;
  if (one->piece != other->piece)
    return one->piece < other->piece ? -1 : 1;
  return one->batch < other->batch ? -1 : one->batch > other->batch;
}

/* Reads "piece batch rows digest digest" lines. */
static int read_batches(struct fleet_batches *batches, const char *text, struct kymo_error *error) {
  struct fleet_batch batch;
  uint64_t highest;
  int used;
  for (batches->count = 0;
       text && sscanf(text, "%" SCNu64 " %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 "\n%n", &batch.piece,
                      &batch.batch, &batch.rows, &batch.digest, &highest, &used) == 5;
       text += used) {
    batch.is_mixed = batch.digest != highest;
    if (!KYMO_LIST_ROOM(batches->list, batches->capacity, batches->count))
      return no_memory(error);
    batches->list[batches->count++] = batch;
  }
  if (batches->count)
    qsort(batches->list, batches->count, sizeof *batches->list, by_number);
  return KYMO_OK;
}

static void add_trace(struct kymo_strbuf *sql, const struct fleet_part *part) {
  kymo_strbuf_printf(sql, "trace = toUUID('%s')", part->uuid);
}

/* What the table has of the part's trace. */
static int ask_batches(const struct fleet_table *table, struct fleet_batches *batches,
                       struct kymo_error *error) {
  struct kymo_strbuf sql = {0}, answer = {0};
  kymo_strbuf_puts(&sql, "SELECT piece, batch, count(), min(digest), max(digest) FROM ");
  fleet_add_name(&sql, table->local_name);
  kymo_strbuf_puts(&sql, " WHERE ");
  add_trace(&sql, table->part);
  kymo_strbuf_puts(&sql, " GROUP BY piece, batch");
  int status = sql.failed ? no_memory(error) : fleet_ask(table->part->server, sql.text, &answer, NULL, error);
  if (status == KYMO_OK)
    status = answer.failed ? no_memory(error) : read_batches(batches, answer.text, error);
  kymo_strbuf_free(&sql);
  kymo_strbuf_free(&answer);
  return status;
}

static const struct fleet_batch *find_batch(const struct fleet_batches *batches, uint64_t piece,
                                            uint32_t number) {
  struct fleet_batch wanted = {.piece = piece, .batch = number};
  return batches->count ? bsearch(&wanted, batches->list, batches->count, sizeof wanted, by_number) : NULL;
}

static int fail_other(const struct fleet_table *table, const struct fleet_batch *there,
                      const struct fleet_batch *cut, struct kymo_error *error) {
  if (there && there->digest == cut->digest && !there->is_mixed)
    return kymo_fail(error, KYMO_E_FORMAT,
                     "table %s: %s has %" PRIu64 " rows of batch %" PRIu32 " of trace %s, expected %" PRIu64,
                     table->name, table->part->server->shown, there->rows, cut->batch, table->part->uuid,
                     cut->rows);
  if (there)
    return kymo_fail(error, KYMO_E_FORMAT,
                     "table %s: %s has other rows as batch %" PRIu32
                     " of trace %s: the trace or its clock has changed since it was sent",
                     table->name, table->part->server->shown, cut->batch, table->part->uuid);
  return kymo_fail(error, KYMO_E_FORMAT, "table %s: %s lacks batch %" PRIu32 " of trace %s, which was sent",
                   table->name, table->part->server->shown, cut->batch, table->part->uuid);
}

static bool is_same(const struct fleet_batch *there, const struct fleet_batch *cut) {
  return there && !there->is_mixed && there->digest == cut->digest && there->rows == cut->rows;
}

/* ---- parts of one trace ---- */

/* The rows of two parts of one trace are of different packets, or they are the same events twice. */
static int check_pieces(const struct fleet_table *table, struct kymo_error *error) {
  struct kymo_strbuf sql = {0}, answer = {0};
  const char *of = "min(ts) AS a, max(ts) AS b, min(packet) AS c, max(packet) AS d";
  uint64_t stream, packet;
  kymo_strbuf_puts(
      &sql,
      "SELECT stream, c1 FROM (SELECT stream, a AS a1, b AS b1, c AS c1, d AS d1 FROM (SELECT stream, ");
  kymo_strbuf_printf(&sql, "%s FROM ", of);
  fleet_add_name(&sql, table->local_name);
  kymo_strbuf_puts(&sql, " WHERE ");
  add_trace(&sql, table->part);
  kymo_strbuf_printf(
      &sql, " AND piece = %" PRIu64 " GROUP BY stream)) ALL INNER JOIN (SELECT piece, stream, %s FROM ",
      table->part->piece, of);
  fleet_add_name(&sql, table->local_name);
  kymo_strbuf_puts(&sql, " WHERE ");
  add_trace(&sql, table->part);
  kymo_strbuf_printf(&sql,
                     " AND piece != %" PRIu64 " GROUP BY piece, stream) USING stream "
                     "WHERE a <= b1 AND a1 <= b AND c <= d1 AND c1 <= d ORDER BY stream LIMIT 1",
                     table->part->piece);
  int status = sql.failed ? no_memory(error) : fleet_ask(table->part->server, sql.text, &answer, NULL, error);
  if (status == KYMO_OK && answer.text && sscanf(answer.text, "%" SCNu64 " %" SCNu64, &stream, &packet) == 2)
    status = kymo_fail(error, KYMO_E_FORMAT,
                       "table %s: %s has events of stream %" PRIu64 " of trace %s twice, from packet %" PRIu64
                       " on: it was sent from other files, too",
                       table->name, table->part->server->shown, stream, table->part->uuid, packet);
  kymo_strbuf_free(&sql);
  kymo_strbuf_free(&answer);
  return status;
}

int fleet_table_check(struct fleet_table *table, struct kymo_error *error) {
  struct fleet_batches now = {0};
  if (table->cut.count == 0)
    return KYMO_OK;
  int status = ask_batches(table, &now, error);
  for (size_t i = 0; status == KYMO_OK && i < table->cut.count; i++) {
    const struct fleet_batch *cut = &table->cut.list[i],
                             *there = find_batch(&now, table->part->piece, cut->batch);
    if (!is_same(there, cut))
      status = fail_other(table, there, cut, error);
  }
  bool has_others = false;
  for (size_t i = 0; i < now.count; i++)
    has_others |= now.list[i].piece != table->part->piece;
  free(now.list);
  return status == KYMO_OK && has_others && table->class_name ? check_pieces(table, error) : status;
}

/* ---- sending ---- */

/* The least and the greatest number of a column; of numbers with a sign, the sign bit is turned. */
static void find_bounds(const struct fleet_column *column, uint32_t rows, uint64_t flip, uint64_t bounds[2]) {
  const uint64_t *numbers = column->differs ? column->numbers : &column->first;
  uint64_t least = UINT64_MAX, most = 0;
  for (uint32_t row = 0; row < (column->differs ? rows : 1); row++) {
    uint64_t value = numbers[row] ^ flip;
    least = value < least ? value : least;
    most = value > most ? value : most;
  }
  bounds[0] = least ^ flip;
  bounds[1] = most ^ flip;
}

/* " AND stream BETWEEN toUInt64('3') AND toUInt64('7')" */
static void add_bounds(const struct fleet_table *table, struct kymo_strbuf *sql) {
  uint64_t bounds[2];
  for (size_t i = 0; i < 2 && table->bounded[i]; i++) {
    const struct fleet_column *column = &table->block.columns[table->bounds[i]];
    bool is_signed = column->type == FLEET_I64;
    find_bounds(column, table->block.rows, is_signed ? UINT64_C(1) << 63 : 0, bounds);
    kymo_strbuf_printf(sql, " AND %s BETWEEN ", table->bounded[i]);
    if (is_signed)
      kymo_strbuf_printf(sql, "toInt64('%" PRId64 "') AND toInt64('%" PRId64 "')", (int64_t)bounds[0],
                         (int64_t)bounds[1]);
    else
      kymo_strbuf_printf(sql, "toUInt64('%" PRIu64 "') AND toUInt64('%" PRIu64 "')", bounds[0], bounds[1]);
  }
}

static void add_statement(const struct fleet_table *table, const struct fleet_batch *batch,
                          struct kymo_strbuf *sql) {
  const struct fleet_part *part = table->part;
  kymo_strbuf_puts(sql, "INSERT INTO ");
  fleet_add_name(sql, table->local_name);
  kymo_strbuf_printf(sql, "(host,trace,piece,batch,digest,day,process%s", table->class_name ? ",class" : "");
  for (uint32_t i = 0; i < table->block.column_count; i++) {
    kymo_strbuf_puts(sql, ",");
    fleet_add_name(sql, table->titles[i]);
  }
  kymo_strbuf_puts(sql, ")SELECT ");
  fleet_add_text(sql, part->host, strlen(part->host));
  kymo_strbuf_printf(
      sql, ",toUUID('%s'),toUInt64('%" PRIu64 "'),%" PRIu32 ",toUInt64('%" PRIu64 "'),toDate(%" PRId64 "),",
      part->uuid, batch->piece, batch->batch, batch->digest, table->day);
  if (part->process)
    fleet_add_text(sql, part->process, strlen(part->process));
  else
    kymo_strbuf_puts(sql, "NULL");
  kymo_strbuf_puts(sql, ",");
  if (table->class_name) {
    fleet_add_text(sql, table->class_name, strlen(table->class_name));
    kymo_strbuf_puts(sql, ",");
  }
  fleet_block_select(&table->block, table->keeps, sql);
  kymo_strbuf_puts(sql, " FROM rows WHERE(SELECT count() FROM ");
  fleet_add_name(sql, table->local_name);
  kymo_strbuf_printf(sql, " WHERE day=toDate(%" PRId64 ") AND ", table->day);
  add_trace(sql, part);
  add_bounds(table, sql);
  kymo_strbuf_printf(sql, " AND piece=toUInt64('%" PRIu64 "') AND batch=%" PRIu32 ")=0", batch->piece,
                     batch->batch);
}

static void add_form_field(struct kymo_strbuf *body, const char *name, const struct kymo_strbuf *value) {
  kymo_strbuf_printf(body,
                     "--" FLEET_BOUNDARY "\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n",
                     name, value->text ? value->text : "");
}

static void add_body(struct fleet_table *table, struct kymo_strbuf *body) {
  struct kymo_strbuf structure = {0}, format = {0};
  kymo_strbuf_puts(&format, "Native");
  fleet_block_declare(&table->block, table->keeps, &structure);
  kymo_strbuf_room(body, fleet_block_bytes(&table->block) + structure.length + 8192);
  add_form_field(body, "rows_format", &format);
  add_form_field(body, "rows_structure", &structure);
  kymo_strbuf_puts(body, "--" FLEET_BOUNDARY
                         "\r\nContent-Disposition: form-data; name=\"rows\"; filename=\"rows\"\r\n"
                         "Content-Type: application/octet-stream\r\n\r\n");
  body->failed |= structure.failed || format.failed;
  fleet_block_encode(&table->block, table->keeps, body);
  kymo_strbuf_puts(body, "\r\n--" FLEET_BOUNDARY "--\r\n");
  kymo_strbuf_free(&structure);
  kymo_strbuf_free(&format);
}

static int send(struct fleet_table *table, const struct fleet_batch *batch, struct kymo_error *error) {
  struct fleet_upload upload = {
      .server = table->part->server, .table = table->name, .body = fleet_posts_body(table->database->posts)};
  add_body(table, &upload.body);
  add_statement(table, batch, &upload.query);
  kymo_strbuf_printf(&upload.id, "kymo %s/%s %s %" PRIx64 " %" PRIu32, table->part->server->database,
                     table->name, table->part->uuid, batch->piece, batch->batch);
  return fleet_post(table->database->posts, &upload, error);
}

/* Notes a batch that was cut; what is there already is not sent. */
static int take_batch(struct fleet_table *table, struct kymo_error *error) {
  struct fleet_batch batch = {.piece = table->part->piece,
                              .batch = (uint32_t)table->cut.count,
                              .rows = table->block.rows,
                              .digest =
                                  fleet_block_digest(&table->block, table->identity, table->identity_count)};
  const struct fleet_batch *there = find_batch(&table->there, batch.piece, batch.batch);
  if (there && !is_same(there, &batch))
    return fail_other(table, there, &batch, error);
  if (!KYMO_LIST_ROOM(table->cut.list, table->cut.capacity, table->cut.count))
    return no_memory(error);
  table->cut.list[table->cut.count++] = batch;
  table->cut_rows += batch.rows;
  return there ? KYMO_OK : send(table, &batch, error);
}

int fleet_table_flush(struct fleet_table *table, struct kymo_error *error) {
  if (table->block.rows == 0)
    return KYMO_OK;
  fleet_block_settle(&table->block);
  int status = table->block.failed ? no_memory(error) : fleet_table_make(table, error);
  if (status == KYMO_OK && !table->has_ledger)
    status = ask_batches(table, &table->there, error);
  table->has_ledger = status == KYMO_OK;
  if (status == KYMO_OK)
    status = take_batch(table, error);
  fleet_block_clear(&table->block);
  return status;
}

/* ---- life ---- */

void fleet_table_reset(struct fleet_table *table, const struct fleet_part *part) {
  fleet_block_clear(&table->block);
  table->part = part;
  table->has_ledger = false;
  table->there.count = table->cut.count = 0;
  table->cut_rows = 0;
}

void fleet_table_free(struct fleet_table *table) {
  fleet_block_free(&table->block);
  free(table->there.list);
  free(table->cut.list);
  kymo_arena_free(&table->arena);
}
