/* SPDX-License-Identifier: MIT */
#include "fleet/events.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/likely.h"
#include "query/json.h"
#include "query/value.h"
#include "print/out.h"
#include "print/unicode.h"
#include <stdlib.h>

/* A batch ends with this many rows or bytes. */
#define BATCH_ROWS 65536
#define BATCH_BYTES (48u << 20)
/* All tables together hold this much; it is compared after each HELD_EVENTS events of a part, so that
 * batches depend on the trace alone. */
#define HELD_BYTES (256u << 20)
#define HELD_EVENTS 16384

enum {
  STREAM,
  PACKET,
  SEQ,
  TS,
  CLOCK_ERROR,
  LEVEL,
  PID,
  THREAD,
  TID,
  CPU,
};

static const struct fleet_column own_columns[FLEET_EVENT_COLUMNS] = {
    [STREAM] = {.name = "stream", .type = FLEET_U64},
    [PACKET] = {.name = "packet", .type = FLEET_U64},
    [SEQ] = {.name = "seq", .type = FLEET_U64},
    [TS] = {.name = "ts", .type = FLEET_I64},
    [CLOCK_ERROR] = {.name = "clock_error_ns", .type = FLEET_U64, .may_be_null = true},
    [LEVEL] = {.name = "level", .type = FLEET_I64, .may_be_null = true},
    [PID] = {.name = "pid", .type = FLEET_I64, .may_be_null = true},
    [THREAD] = {.name = "thread", .type = FLEET_TEXT, .may_be_null = true, .is_label = true},
    [TID] = {.name = "tid", .type = FLEET_I64, .may_be_null = true},
    [CPU] = {.name = "cpu", .type = FLEET_U64, .may_be_null = true},
};
static const uint32_t identity[] = {STREAM, PACKET, SEQ, TS};
static const uint32_t steady[] = {STREAM, PACKET, CLOCK_ERROR, LEVEL, PID, THREAD, TID, CPU};
/* Columns of tables that kymo query does not have: a field of such a name is `fields.NAME`. */
static const char *const more_names[] = {"host",   "piece", "batch",          "digest", "day",
                                         "packet", "seq",   "clock_error_ns", NULL};

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* ---- tables ---- */

void fleet_events_columns(struct fleet_table *table, struct fleet_column *columns) {
  memcpy(columns, own_columns, sizeof own_columns);
  table->order = "trace, stream, ts, packet, seq";
  table->bounded[0] = "stream";
  table->bounded[1] = "ts";
  table->bounds[0] = STREAM;
  table->bounds[1] = TS;
  table->keeps = SEQ;
  table->identity = identity;
  table->identity_count = sizeof identity / sizeof *identity;
  table->block.columns = columns;
  table->block.column_count = FLEET_EVENT_COLUMNS;
  table->block.steady = steady;
  table->block.steady_count = sizeof steady / sizeof *steady;
}

static bool is_in(const char *const *list, const char *name) {
  while (*list && strcmp(*list, name) != 0)
    list++;
  return *list;
}

static const char *column_name(struct fleet_events *events, const char *name) {
  struct kymo_strbuf text = {0};
  if (!is_in(more_names, name))
    return name;
  kymo_strbuf_printf(&text, "fields.%s", name);
  const char *copy = text.failed ? NULL : kymo_arena_copy(&events->arena, text.text, text.length);
  kymo_strbuf_free(&text);
  return copy;
}

/* The type of a column: numbers with and without a sign, and whatever else differs between versions of a
 * class, are texts. */
static enum fleet_type type_of(const struct fleet_events *events, const struct query_columns *columns,
                               uint32_t index) {
  bool has_sign = false;
  for (uint32_t i = 0; i < events->source->class_count; i++)
    has_sign |= columns->places[i] && columns->places[i][index].get == QUERY_GET_INTEGER &&
                columns->places[i][index].type->is_signed;
  switch (columns->list[index].type) {
  case QUERY_INTEGER: return FLEET_I64;
  case QUERY_UNSIGNED: return has_sign ? FLEET_TEXT : FLEET_U64;
  case QUERY_REAL: return FLEET_F64;
  default: return FLEET_TEXT;
  }
}

static bool is_label(const struct fleet_events *events, const struct query_columns *columns, uint32_t index) {
  for (uint32_t i = 0; i < events->source->class_count; i++)
    if (columns->places[i] && columns->places[i][index].get == QUERY_GET_LABEL)
      return true;
  return false;
}

/* A class that is called like a table of another kind is NAME#2, as in kymo query. */
static const char *table_name(struct fleet_events *events, const char *name) {
  struct kymo_strbuf text = {0};
  if (!is_in(fleet_reserved, name) && *name)
    return name;
  kymo_strbuf_printf(&text, "%s#2", name);
  const char *copy = text.failed ? NULL : kymo_arena_copy(&events->arena, text.text, text.length);
  kymo_strbuf_free(&text);
  return copy;
}

static int begin_kind(struct fleet_events *events, struct fleet_kind *kind, uint32_t number,
                      struct kymo_error *error) {
  struct query_columns *columns = &kind->columns;
  struct fleet_table *table = &kind->table;
  kind->is_set = true;
  int status = query_columns_begin(columns, events->source, number, error);
  if (status != KYMO_OK)
    return status;
  uint32_t fields = columns->count - QUERY_FIXED;
  struct fleet_column *list =
      kymo_arena_array(&events->arena, FLEET_EVENT_COLUMNS + (size_t)fields, sizeof *list);
  table->database = events->database;
  table->class_name = events->source->kinds[number];
  table->name = table_name(events, table->class_name);
  if (!list || !table->name)
    return no_memory(error);
  if (columns->left_out)
    return kymo_fail(error, KYMO_E_LIMIT, "table %s: the event class has too many fields", table->name);
  fleet_events_columns(table, list);
  for (uint32_t i = 0; i < fields; i++) {
    uint32_t from = QUERY_FIXED + i;
    struct fleet_column *column = &list[table->block.column_count++];
    *column = (struct fleet_column){.name = column_name(events, columns->list[from].name),
                                    .type = type_of(events, columns, from),
                                    .is_label = is_label(events, columns, from),
                                    .may_be_null = true};
    if (!column->name)
      return no_memory(error);
  }
  fleet_table_reset(table, events->part);
  return KYMO_OK;
}

/* Looks whether one load reads the field as a number. */
static struct fleet_field field_of(const struct kymo_event_plan *plan, const struct fleet_column *column,
                                   struct fleet_field field) {
  const struct field *place = kymo_find_field(plan, field.id);
  if (field.get == QUERY_GET_INTEGER && column->type != FLEET_TEXT && place && place->near.size_bits)
    field.near = place->near;
  return field;
}

/* Whether all fields are numbers that one load reads. */
static void find_quick(struct fleet_fields *fields) {
  struct fleet_quick *quick = &fields->quick;
  bool is_quick = !fields->absent_count && fields->count <= FLEET_QUEUE_FIELDS;
  for (uint32_t i = 0; is_quick && i < fields->count; i++) {
    is_quick = fields->list[i].near.is_there;
    quick->columns[i] = fields->list[i].column;
    quick->fields[i] = quick->fields[i + 1] = fields->list[i].near;
  }
  quick->count = fields->count;
  quick->plan = is_quick ? fields->plan : NULL;
}

/* The fields of a class, and their columns. */
static int begin_class(struct fleet_events *events, const struct fleet_kind *kind,
                       const struct kymo_event *event, struct kymo_error *error) {
  uint32_t number = kymo_kind_of(event);
  const struct query_place *row = kind->columns.places[number];
  const struct query_fields *ids = query_reader_fields(events->reader, number);
  struct fleet_fields *fields = &events->fields[number];
  uint32_t count = kind->columns.count - QUERY_FIXED;
  fields->list = kymo_arena_array(&events->arena, count + 1u, sizeof *fields->list);
  fields->absent = kymo_arena_array(&events->arena, count + 1u, sizeof *fields->absent);
  if (!ids || !row || !fields->list || !fields->absent)
    return no_memory(error);
  for (uint32_t i = 0; i < count; i++) {
    const struct query_place *place = &row[QUERY_FIXED + i];
    if (place->get == QUERY_GET_NOTHING)
      fields->absent[fields->absent_count++] = FLEET_EVENT_COLUMNS + i;
    else
      fields->list[fields->count++] =
          field_of(event->plan, &kind->table.block.columns[FLEET_EVENT_COLUMNS + i],
                   (struct fleet_field){.column = FLEET_EVENT_COLUMNS + i,
                                        .id = ids->ids[place->index],
                                        .get = place->get,
                                        .type = place->type});
  }
  fields->plan = event->plan;
  find_quick(fields);
  fields->has_pid = query_has_pid(events->reader, kymo_trace_class(events->reader->trace, number));
  fields->is_set = true;
  return KYMO_OK;
}

/* ---- values ---- */

static bool is_plain(const uint8_t *bytes, uint64_t count) {
  uint64_t all = 0;
  for (; count >= 8; count -= 8, bytes += 8)
    all |= kymo_load_host64(bytes);
  for (uint64_t i = 0; i < count; i++)
    all |= bytes[i];
  return !(all & UINT64_C(0x8080808080808080));
}

void fleet_put_utf8(struct fleet_block *block, uint32_t column, struct kymo_strbuf *scratch,
                    const uint8_t *bytes, uint64_t count, enum kymo_encoding encoding) {
  if (kymo_is_byte_encoding(encoding) && is_plain(bytes, count)) {
    fleet_put_text(block, column, (const char *)bytes, count);
    return;
  }
  scratch->length = 0;
  query_add_text(scratch, bytes, count, encoding);
  block->failed |= scratch->failed;
  fleet_put_text(block, column, scratch->text ? scratch->text : "", scratch->length);
}

static void put_buffer(struct fleet_events *events, struct fleet_block *block, uint32_t column) {
  const struct kymo_strbuf *text = &events->reader->text;
  block->failed |= text->failed;
  fleet_put_text(block, column, text->text ? text->text : "", text->length);
}

static void put_double(struct fleet_block *block, uint32_t column, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  fleet_put_number(block, column, bits);
}

static void put_label(struct fleet_events *events, struct fleet_block *block, const struct fleet_field *field,
                      uint64_t value) {
  struct kymo_strbuf *text = &events->text;
  text->length = 0;
  if (query_add_label(text, field->type, value))
    fleet_put_utf8(block, field->column, &events->reader->text, (const uint8_t *)text->text, text->length,
                   KYMO_ENCODING_UTF8);
  else
    fleet_put_null(block, field->column);
  block->failed |= text->failed;
}

/* An integer of any size, as 64 bits. */
static bool get_bits(const struct kymo_event *event, uint32_t field, uint64_t *bits) {
  int64_t number;
  if (kymo_event_get_uint(event, field, bits) == KYMO_OK)
    return true;
  if (kymo_event_get_int(event, field, &number) != KYMO_OK)
    return false;
  *bits = (uint64_t)number;
  return true;
}

static void put_digits(struct fleet_block *block, uint32_t column, const struct kymo_value *value) {
  char text[32], *end;
  if (value->type->kind == KYMO_KIND_BOOLEAN)
    end = kymo_put_u64(text, value->u != 0);
  else
    end = value->type->is_signed ? kymo_put_i64(text, value->i) : kymo_put_u64(text, value->u);
  fleet_put_text(block, column, text, (size_t)(end - text));
}

/* What is no number of its column: a text, a list, a value whose type differs from event to event. */
static void put_any(struct fleet_events *events, struct fleet_block *block, const struct kymo_event *event,
                    const struct fleet_field *field) {
  struct kymo_value value;
  enum kymo_token token;
  if (kymo_event_get_value(event, field->id, &value, &token) != KYMO_OK)
    token = KYMO_TOKEN_ABSENT;
  if (token == KYMO_TOKEN_INTEGER)
    put_digits(block, field->column, &value);
  else if (token == KYMO_TOKEN_TEXT)
    fleet_put_utf8(block, field->column, &events->text, value.bytes, value.count, value.type->encoding);
  else if (token == KYMO_TOKEN_BLOB)
    fleet_put_text(block, field->column, (const char *)value.bytes, value.count);
  else if (token != KYMO_TOKEN_ABSENT && query_json_field(events->reader, event, field->id))
    put_buffer(events, block, field->column);
  else
    fleet_put_null(block, field->column);
}

static void put_field(struct fleet_events *events, struct fleet_block *block, const struct kymo_event *event,
                      const struct fleet_field *field) {
  enum fleet_type type = block->columns[field->column].type;
  uint64_t bits;
  double real;
  if (field->get == QUERY_GET_LABEL && get_bits(event, field->id, &bits))
    put_label(events, block, field, bits);
  else if (field->get == QUERY_GET_INTEGER && type != FLEET_TEXT && get_bits(event, field->id, &bits))
    fleet_put_number(block, field->column, field->type->kind == KYMO_KIND_BOOLEAN ? bits != 0 : bits);
  else if (field->get == QUERY_GET_FLOAT && type == FLEET_F64 &&
           kymo_event_get_float(event, field->id, &real) == KYMO_OK)
    put_double(block, field->column, real);
  else if (type == FLEET_TEXT && field->get != QUERY_GET_LABEL)
    put_any(events, block, event, field);
  else
    fleet_put_null(block, field->column);
}

/* ---- the columns of every event ---- */

/* Moves to the packet of an event. */
static void begin_packet(struct fleet_place *place, const struct kymo_packet *packet) {
  if (place->stream != packet->stream)
    *place = (struct fleet_place){.stream = packet->stream, .ordinal = UINT64_MAX, .number = place->number};
  place->number++;
  place->offset = packet->offset;
  place->begin_cycles = packet->begin_cycles;
  place->ordinal++;
  place->packet = packet->sequence != UINT64_MAX ? packet->sequence : place->ordinal;
  place->seq = 0;
}

/* The error of the clock is that of the worse one of the readings of all clocks before and after the event.
 * UINT64_MAX: it is not known. */
static uint64_t clock_error(struct fleet_events *events, const struct kymo_event *event) {
  const struct kymo_part *part = event->packet->stream->part;
  size_t count = events->snapshot_count, *at = &events->snapshot;
  if (count == 0)
    return UINT64_MAX;
  if (*at && kymo_part_clock_snapshot(part, *at - 1)->cycles > event->cycles)
    *at = 0; /* another stream begins */
  while (*at < count && kymo_part_clock_snapshot(part, *at)->cycles <= event->cycles)
    ++*at;
  uint64_t before_ns = *at ? kymo_part_clock_snapshot(part, *at - 1)->error_ns : 0;
  uint64_t after_ns = *at < count ? kymo_part_clock_snapshot(part, *at)->error_ns : before_ns;
  return before_ns > after_ns ? before_ns : after_ns;
}

/* The process: that of the event's contexts, or of the trace. */
static bool find_pid(struct fleet_events *events, const struct kymo_event *event, int64_t *pid) {
  *pid = events->part->pid;
  return (events->fields[kymo_kind_of(event)].has_pid && query_pid_of(events->reader, event, pid)) ||
         events->part->has_pid;
}

static void put_known(struct fleet_block *block, uint32_t column, bool is_known, uint64_t value) {
  if (is_known)
    fleet_put_number(block, column, value);
  else
    fleet_put_null(block, column);
}

static void put_steady(struct fleet_events *events, struct fleet_block *block, const struct kymo_event *event,
                       const struct kymo_who *who, const struct fleet_steady *now) {
  fleet_put_number(block, STREAM, query_stream_of(event));
  fleet_put_number(block, PACKET, events->place.packet);
  put_known(block, CLOCK_ERROR, now->error_ns != UINT64_MAX, now->error_ns);
  put_known(block, LEVEL, event->class_->level >= 0, (uint64_t)event->class_->level);
  put_known(block, PID, now->has_pid, (uint64_t)now->pid);
  if (who->name_length)
    fleet_put_utf8(block, THREAD, &events->text, (const uint8_t *)who->name, who->name_length,
                   KYMO_ENCODING_UTF8);
  else
    fleet_put_null(block, THREAD);
  put_known(block, TID, who->has_tid, (uint64_t)who->tid);
  put_known(block, CPU, who->has_cpu, who->cpu);
}

static bool is_same(const struct fleet_steady *a, const struct fleet_steady *b) {
  return a->packet == b->packet && a->who_version == b->who_version && a->error_ns == b->error_ns &&
         a->class_number == b->class_number && a->has_pid == b->has_pid && a->pid == b->pid;
}

/* Puts the steady columns. *repeats: they are those of the row before it. */
static bool look_at_steady(struct fleet_events *events, struct fleet_kind *kind,
                           const struct kymo_event *event, bool *repeats) {
  struct fleet_block *block = &kind->table.block;
  const struct kymo_who *who = kymo_who_of(&events->reader->whos, event);
  struct fleet_steady now = {.packet = events->place.number,
                             .who_version = who ? who->version : 0,
                             .error_ns = clock_error(events, event),
                             .class_number = kymo_kind_of(event),
                             .key = kymo_packet_key_of(event->packet)};
  if (!who)
    return false;
  now.has_pid = find_pid(events, event, &now.pid);
  now.is_of_packet = events->snapshot_count == 0 && !events->fields[now.class_number].has_pid &&
                     kymo_who_is_of_packet(&events->reader->whos, event);
  *repeats = block->rows && is_same(&now, &kind->steady);
  if (!*repeats) {
    fleet_block_settle(block);
    kind->steady = now;
    put_steady(events, block, event, who, &now);
  }
  return true;
}

/* Whether an event is of the packet that the table's last row is of. */
static inline bool is_of_packet(const struct fleet_events *events, const struct fleet_kind *kind,
                                const struct kymo_event *event) {
  return kind->steady.packet == events->place.number && kymo_packet_key_is(&kind->steady.key, event->packet);
}

/* The columns of every event; the row ends with its fields. */
static bool put_own(struct fleet_events *events, struct fleet_kind *kind, const struct kymo_event *event,
                    bool *repeats) {
  struct fleet_block *block = &kind->table.block;
  const struct fleet_steady *last = &kind->steady;
  *repeats = block->rows && last->is_of_packet && last->class_number == kymo_kind_of(event) &&
             is_of_packet(events, kind, event);
  if (!*repeats && !look_at_steady(events, kind, event, repeats))
    return false;
  fleet_put_number(block, SEQ, events->place.seq);
  fleet_put_number(block, TS, (uint64_t)event->time_ns);
  return true;
}

/* ---- rows ---- */

int fleet_table_look(struct fleet_table *table, int64_t day, struct kymo_error *error) {
  int status = KYMO_OK;
  bool is_full = table->block.rows >= BATCH_ROWS;
  if (table->block.rows % FLEET_LOOK_ROWS == 0) {
    fleet_block_settle(&table->block);
    is_full |= fleet_block_bytes(&table->block) >= BATCH_BYTES;
  }
  if (table->block.rows && (is_full || day != table->day))
    status = fleet_table_flush(table, error);
  table->day = day;
  return status == KYMO_OK && table->block.failed ? no_memory(error) : status;
}

/* Stores the rows that wait. */
static void store_queue(struct fleet_kind *kind) {
  struct fleet_queue *queue = &kind->queue;
  struct fleet_block *block = &kind->table.block;
  queue->room = 0;
  if (queue->count == 0)
    return;
  fleet_put_numbers(block, SEQ, queue->seqs, queue->count);
  fleet_put_numbers(block, TS, queue->times, queue->count);
  for (uint32_t i = 0; i < queue->quick->count; i++)
    fleet_put_numbers(block, queue->quick->columns[i], queue->values[i], queue->count);
  fleet_block_end_many(block, queue->count);
  queue->count = 0;
}

/* Rows may wait after one of the same class and packet, until it has to be looked whether a batch is
 * complete. */
static void open_queue(struct fleet_kind *kind, const struct fleet_quick *quick, bool is_epoch) {
  struct fleet_queue *queue = &kind->queue;
  uint32_t next = kind->table.block.rows % FLEET_LOOK_ROWS;
  uint32_t room = quick->plan && kind->steady.is_of_packet && next ? FLEET_LOOK_ROWS - next : 0;
  queue->room = room < FLEET_QUEUE_ROWS ? room : FLEET_QUEUE_ROWS;
  queue->quick = quick;
  queue->begin_ns = fleet_day_begin(kind->table.day, is_epoch);
  queue->end_ns = fleet_day_end(kind->table.day, is_epoch);
}

int fleet_events_finish(struct fleet_events *events, struct kymo_error *error) {
  int status = KYMO_OK;
  for (uint32_t i = 0; status == KYMO_OK && i < events->source->kind_count; i++)
    if (events->kinds[i].is_set && events->part) {
      store_queue(&events->kinds[i]);
      status = fleet_table_flush(&events->kinds[i].table, error);
    }
  if (status == KYMO_OK)
    status = fleet_posts_wait(events->database->posts, error);
  for (uint32_t i = 0; status == KYMO_OK && i < events->source->kind_count; i++)
    if (events->kinds[i].is_set && events->part)
      status = fleet_table_check(&events->kinds[i].table, error);
  return status;
}

/* The rows of one part are complete before those of the next one begin: streams are read one after
 * another. */
static int begin_part(struct fleet_events *events, const struct kymo_event *event, struct kymo_error *error) {
  const struct fleet_part *part = &events->parts[event->packet->stream->part->index];
  int status = fleet_events_finish(events, error);
  events->part = part;
  events->snapshot_count = kymo_part_clock_snapshot_count(event->packet->stream->part);
  events->snapshot = 0;
  events->taken = 0;
  for (uint32_t i = 0; i < events->source->kind_count; i++)
    fleet_table_reset(&events->kinds[i].table, part);
  return status;
}

static bool is_in_packet(const struct fleet_place *place, const struct kymo_packet *packet) {
  return place->stream == packet->stream && place->offset == packet->offset &&
         place->begin_cycles == packet->begin_cycles;
}

static void put_fields(struct fleet_events *events, struct fleet_block *block,
                       const struct kymo_event *event) {
  const struct fleet_fields *fields = &events->fields[kymo_kind_of(event)];
  bool is_known = fields->plan == event->plan;
  for (uint32_t i = 0; i < fields->count; i++)
    if (is_known && fields->list[i].near.is_there)
      fleet_put_number(block, fields->list[i].column, fleet_load_near(event, &fields->list[i].near));
    else
      put_field(events, block, event, &fields->list[i]);
  for (uint32_t i = 0; i < fields->absent_count; i++)
    fleet_put_null(block, fields->absent[i]);
}

static int put_event(struct fleet_events *events, struct fleet_kind *kind, const struct kymo_event *event,
                     struct kymo_error *error) {
  const struct kymo_clock *clock = event->class_->stream->clock;
  struct fleet_block *block = &kind->table.block;
  int64_t day = event->has_time ? fleet_day_of(event->time_ns, clock && clock->origin_is_epoch) : 0;
  bool repeats;
  store_queue(kind);
  int status = fleet_table_row(&kind->table, day, error);
  if (status != KYMO_OK)
    return status;
  if (!put_own(events, kind, event, &repeats))
    return no_memory(error);
  put_fields(events, block, event);
  if (repeats)
    fleet_block_end_repeated(block);
  else
    fleet_block_end_row(block);
  open_queue(kind, &events->fields[kymo_kind_of(event)].quick, clock && clock->origin_is_epoch);
  return KYMO_OK;
}

/* Sends the rows of the tables that hold most, and frees their memory. */
static int hold_less(struct fleet_events *events, struct kymo_error *error) {
  int status = KYMO_OK;
  for (size_t held = HELD_BYTES + 1; status == KYMO_OK && held > HELD_BYTES;) {
    struct fleet_kind *most = NULL;
    size_t most_bytes = 0;
    held = 0;
    for (uint32_t i = 0; i < events->source->kind_count; i++) {
      store_queue(&events->kinds[i]);
      fleet_block_settle(&events->kinds[i].table.block);
      size_t bytes = fleet_block_held(&events->kinds[i].table.block);
      most = bytes > most_bytes ? &events->kinds[i] : most;
      most_bytes = bytes > most_bytes ? bytes : most_bytes;
      held += bytes;
    }
    if (held <= HELD_BYTES || !most)
      return KYMO_OK;
    status = fleet_table_flush(&most->table, error);
    fleet_block_free(&most->table.block);
  }
  return status;
}

static __attribute__((noinline)) int take_any(struct fleet_events *events, const struct kymo_event *event,
                                              struct kymo_error *error) {
  uint32_t number = kymo_kind_of(event), index = events->source->kind_of[number];
  struct fleet_kind *kind = &events->kinds[index];
  const struct fleet_part *part = &events->parts[event->packet->stream->part->index];
  int status = part != events->part ? begin_part(events, event, error) : KYMO_OK;
  if (!is_in_packet(&events->place, event->packet))
    begin_packet(&events->place, event->packet);
  if (status == KYMO_OK && kind->is_wanted) {
    if (!kind->is_set)
      status = begin_kind(events, kind, index, error);
    if (status == KYMO_OK && !events->fields[number].is_set)
      status = begin_class(events, kind, event, error);
    if (status == KYMO_OK)
      status = put_event(events, kind, event, error);
  }
  events->place.seq++;
  if (status == KYMO_OK && ++events->taken % HELD_EVENTS == 0)
    status = hold_less(events, error);
  return status;
}

/* A row that waits has its class and packet in common with the row before it, so it is in this packet. */
int fleet_events_take(struct fleet_events *events, const struct kymo_event *event, struct kymo_error *error) {
  struct fleet_kind *kind = &events->kinds[events->source->kind_of[kymo_kind_of(event)]];
  if (KYMO_UNLIKELY(!fleet_queue_takes(&kind->queue, event) ||
                    events->place.stream != event->packet->stream || !is_of_packet(events, kind, event)))
    return take_any(events, event, error);
  fleet_queue_add(&kind->queue, event, events->place.seq++);
  return KYMO_LIKELY(++events->taken % HELD_EVENTS) ? KYMO_OK : hold_less(events, error);
}

/* ---- life ---- */

int fleet_events_begin(struct fleet_events *events, struct fleet_database *database,
                       struct query_source *source, const struct fleet_part *parts,
                       struct kymo_error *error) {
  *events = (struct fleet_events){.database = database, .source = source, .parts = parts};
  events->kinds = calloc(source->kind_count + 1u, sizeof *events->kinds);
  events->fields = calloc(source->class_count + 1u, sizeof *events->fields);
  if (!events->kinds || !events->fields)
    return no_memory(error);
  return query_reader_take(&events->reader, source, error);
}

void fleet_events_end(struct fleet_events *events) {
  for (uint32_t i = 0; events->kinds && i < events->source->kind_count; i++) {
    fleet_table_free(&events->kinds[i].table);
    query_columns_end(&events->kinds[i].columns);
  }
  query_reader_give_back(events->reader);
  free(events->kinds);
  free(events->fields);
  kymo_strbuf_free(&events->text);
  kymo_arena_free(&events->arena);
}
