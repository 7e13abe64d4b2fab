/* SPDX-License-Identifier: MIT */
#include "sink/arrow/ipc.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/list.h"
#include "sink/arrow/compress.h"
#include "sink/arrow/flat.h"
#include <stdlib.h>
#include <string.h>

/* Numbers of Arrow's descriptions: Message.fbs, Schema.fbs, File.fbs. */
enum { VERSION_5 = 4 };
enum { HEADER_SCHEMA = 1, HEADER_DICTIONARY = 2, HEADER_BATCH = 3 };
enum {
  TYPE_INT = 2,
  TYPE_FLOAT = 3,
  TYPE_BINARY = 4,
  TYPE_UTF8 = 5,
  TYPE_BOOL = 6,
  TYPE_TIMESTAMP = 10,
  TYPE_LIST = 12,
  TYPE_STRUCT = 13
};
enum { UNIT_NANOSECOND = 3, PRECISION_SINGLE = 1, PRECISION_DOUBLE = 2 };
enum { CODEC_LZ4_FRAME = 0, CODEC_ZSTD = 1 };

#define REFERENCE \
  { 4, 0, 0 }
#define NUMBER(size, value) \
  { size, value, 0 }

static const char magic[] = "ARROW1";

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* ---- the schema ---- */

static size_t add_int(struct kymo_strbuf *flat, unsigned bits, bool is_signed) {
  struct kymo_flat_field fields[] = {NUMBER(4, bits), NUMBER(1, is_signed)};
  return kymo_flat_table(flat, fields, 2);
}

/* The table of a type, whose number becomes *number. */
static size_t add_type(struct kymo_strbuf *flat, const struct kymo_arrow_column *column, unsigned *number) {
  struct kymo_flat_field precision[] = {NUMBER(2, column->bits == 32 ? PRECISION_SINGLE : PRECISION_DOUBLE)};
  struct kymo_flat_field time[] = {NUMBER(2, UNIT_NANOSECOND), REFERENCE};
  static const unsigned plain[] = {
      [KYMO_ARROW_BOOL] = TYPE_BOOL,    [KYMO_ARROW_TEXT] = TYPE_UTF8, [KYMO_ARROW_LABEL] = TYPE_UTF8,
      [KYMO_ARROW_BYTES] = TYPE_BINARY, [KYMO_ARROW_LIST] = TYPE_LIST, [KYMO_ARROW_STRUCT] = TYPE_STRUCT};
  size_t at;
  switch (column->kind) {
  case KYMO_ARROW_INT: *number = TYPE_INT; return add_int(flat, column->bits, column->is_signed);
  case KYMO_ARROW_FLOAT: *number = TYPE_FLOAT; return kymo_flat_table(flat, precision, 1);
  case KYMO_ARROW_TIME:
    *number = TYPE_TIMESTAMP;
    at = kymo_flat_table(flat, time, 2);
    kymo_flat_refer(flat, time[1].at, kymo_flat_text(flat, "UTC"));
    return at;
  default: *number = plain[column->kind]; return kymo_flat_table(flat, NULL, 0);
  }
}

static unsigned type_number(const struct kymo_arrow_column *column) {
  struct kymo_strbuf unused = {0};
  unsigned number;
  add_type(&unused, column, &number);
  kymo_strbuf_free(&unused);
  return number;
}

static size_t add_field(struct kymo_strbuf *flat, const struct kymo_arrow_column *column);

static size_t add_fields(struct kymo_strbuf *flat, const struct kymo_arrow_column *column) {
  const size_t vector = kymo_flat_vector(flat, NULL, column->count, 4);
  for (uint32_t i = 0; i < column->count; i++) {
    const size_t field = add_field(flat, &column->columns[i]);
    kymo_flat_refer(flat, kymo_flat_element(vector, i), field);
  }
  return vector;
}

static size_t add_dictionary(struct kymo_strbuf *flat, const struct kymo_arrow_dictionary *dictionary) {
  struct kymo_flat_field fields[] = {NUMBER(8, (uint64_t)dictionary->id), REFERENCE};
  const size_t at = kymo_flat_table(flat, fields, 2);
  kymo_flat_refer(flat, fields[1].at, add_int(flat, 32, true));
  return at;
}

static size_t add_field(struct kymo_strbuf *flat, const struct kymo_arrow_column *column) {
  struct kymo_flat_field fields[] = {REFERENCE, NUMBER(1, true), NUMBER(1, type_number(column)), REFERENCE,
                                     {0},       REFERENCE};
  unsigned number;
  fields[4].size = column->dictionary ? 4 : 0;
  const size_t at = kymo_flat_table(flat, fields, 6);
  kymo_flat_refer(flat, fields[0].at, kymo_flat_text(flat, column->name));
  kymo_flat_refer(flat, fields[3].at, add_type(flat, column, &number));
  if (column->dictionary)
    kymo_flat_refer(flat, fields[4].at, add_dictionary(flat, column->dictionary));
  kymo_flat_refer(flat, fields[5].at, add_fields(flat, column));
  return at;
}

static size_t add_schema(struct kymo_strbuf *flat, const struct kymo_arrow_column *table) {
  struct kymo_flat_field fields[] = {NUMBER(2, KYMO_HOST_IS_BIG), REFERENCE};
  const size_t at = kymo_flat_table(flat, fields, 2);
  kymo_flat_refer(flat, fields[1].at, add_fields(flat, table));
  return at;
}

/* ---- messages ---- */

static int put(struct kymo_arrow_ipc *ipc, const void *bytes, size_t size, struct kymo_error *error) {
  if (size && fwrite(bytes, 1, size, ipc->file) != size)
    return kymo_fail_errno(error, ipc->path, "cannot write");
  ipc->offset += size;
  return KYMO_OK;
}

/* Begins a message; the header follows, to which the result leads. */
static size_t begin_message(struct kymo_strbuf *flat, unsigned header, uint64_t body_bytes) {
  struct kymo_flat_field fields[] = {NUMBER(2, VERSION_5), NUMBER(1, header), REFERENCE,
                                     NUMBER(8, body_bytes)};
  kymo_flat_begin(flat);
  const size_t at = kymo_flat_table(flat, fields, 4);
  kymo_flat_refer(flat, 0, at);
  return fields[2].at;
}

/* Writes the message in ipc->flat and the body; *block, unless NULL, becomes its place. */
static int end_message(struct kymo_arrow_ipc *ipc, struct kymo_arrow_block *block, struct kymo_error *error) {
  struct kymo_strbuf *flat = &ipc->flat;
  uint8_t head[8] = {0xff, 0xff, 0xff, 0xff};
  static const char zeros[8];
  kymo_strbuf_add(flat, zeros, (8 - flat->length % 8) % 8);
  if (flat->failed || ipc->body.failed)
    return no_memory(error);
  for (unsigned i = 0; i < 4; i++)
    head[4 + i] = (uint8_t)(flat->length >> 8 * i);
  if (block)
    *block = (struct kymo_arrow_block){ipc->offset, sizeof head + flat->length, ipc->body.length};
  int status = put(ipc, head, sizeof head, error);
  if (status == KYMO_OK)
    status = put(ipc, flat->text, flat->length, error);
  if (status == KYMO_OK)
    status = put(ipc, ipc->body.text, ipc->body.length, error);
  return status;
}

/* ---- bodies ---- */

struct batch {
  struct kymo_arrow_ipc *ipc;
  uint64_t *nodes, *buffers; /* two numbers each */
  size_t node_count, node_capacity, buffer_count, buffer_capacity;
  bool failed;
};

static void add_pair(struct batch *batch, bool is_node, uint64_t first, uint64_t second) {
  uint64_t **list = is_node ? &batch->nodes : &batch->buffers;
  size_t *count = is_node ? &batch->node_count : &batch->buffer_count;
  size_t *capacity = is_node ? &batch->node_capacity : &batch->buffer_capacity;
  if (!KYMO_LIST_ROOM(*list, *capacity, *count + 1)) {
    batch->failed = true;
    return;
  }
  (*list)[(*count)++] = first;
  (*list)[(*count)++] = second;
}

/* Its length, or -1 if compressing does not make it shorter; then the bytes. */
static void add_compressed(struct batch *batch, const char *bytes, size_t size) {
  struct kymo_strbuf *body = &batch->ipc->body;
  const enum kymo_arrow_codec codec = batch->ipc->codec;
  const size_t room = kymo_arrow_compress_room(codec, size);
  char *to = kymo_strbuf_room(body, room + 8);
  if (!to)
    return;
  const size_t length = kymo_arrow_compress(codec, to + 8, room, bytes, size);
  const uint64_t whole = length ? size : UINT64_MAX;
  if (length == SIZE_MAX) {
    batch->failed = true;
    return;
  }
  for (unsigned i = 0; i < 8; i++)
    to[i] = (char)(whole >> 8 * i);
  if (!length)
    memcpy(to + 8, bytes, size);
  kymo_strbuf_used(body, 8 + (length ? length : size));
}

static void add_buffer(struct batch *batch, const char *bytes, size_t size) {
  static const char zeros[8];
  struct kymo_strbuf *body = &batch->ipc->body;
  const size_t begin = body->length;
  if (size && batch->ipc->codec != KYMO_ARROW_RAW)
    add_compressed(batch, bytes, size);
  else
    kymo_strbuf_add(body, bytes, size);
  add_pair(batch, false, begin, body->length - begin);
  kymo_strbuf_add(body, zeros, (8 - body->length % 8) % 8);
}

/* 0, then where each text or list ends. */
static void add_offsets(struct batch *batch, const char *ends, size_t size) {
  struct kymo_strbuf all = {0};
  kymo_strbuf_add(&all, "\0\0\0", 4);
  kymo_strbuf_add(&all, ends, size);
  if (all.failed)
    batch->failed = true;
  else
    add_buffer(batch, all.text, all.length);
  kymo_strbuf_free(&all);
}

static void add_column(struct batch *batch, const struct kymo_arrow_column *column) {
  add_pair(batch, true, column->length, column->null_count);
  add_buffer(batch, column->validity.text, column->null_count ? column->validity.length : 0);
  if (column->kind == KYMO_ARROW_TEXT || column->kind == KYMO_ARROW_BYTES || column->kind == KYMO_ARROW_LIST)
    add_offsets(batch, column->offsets.text, column->offsets.length);
  if (column->kind != KYMO_ARROW_LIST && column->kind != KYMO_ARROW_STRUCT)
    add_buffer(batch, column->data.text, column->data.length);
  for (uint32_t i = 0; i < column->count; i++)
    add_column(batch, &column->columns[i]);
}

/* The table of a batch of rows. */
static size_t add_batch(struct kymo_strbuf *flat, const struct batch *batch, uint64_t rows) {
  struct kymo_flat_field fields[] = {NUMBER(8, rows), REFERENCE, REFERENCE, {0}};
  struct kymo_flat_field codec[] = {
      NUMBER(1, batch->ipc->codec == KYMO_ARROW_LZ4 ? CODEC_LZ4_FRAME : CODEC_ZSTD), NUMBER(1, 0)};
  fields[3].size = batch->ipc->codec == KYMO_ARROW_RAW ? 0 : 4;
  const size_t at = kymo_flat_table(flat, fields, 4);
  kymo_flat_refer(flat, fields[1].at, kymo_flat_vector(flat, batch->nodes, batch->node_count / 2, 16));
  kymo_flat_refer(flat, fields[2].at, kymo_flat_vector(flat, batch->buffers, batch->buffer_count / 2, 16));
  if (fields[3].size)
    kymo_flat_refer(flat, fields[3].at, kymo_flat_table(flat, codec, 2));
  return at;
}

static int end_batch(struct batch *batch, struct kymo_arrow_block *block, struct kymo_error *error) {
  int status = batch->failed ? no_memory(error) : end_message(batch->ipc, block, error);
  free(batch->nodes);
  free(batch->buffers);
  return status;
}

/* ---- dictionaries ---- */

/* The texts that are not written yet. */
static int put_dictionary(struct kymo_arrow_ipc *ipc, struct kymo_arrow_dictionary *dictionary,
                          struct kymo_error *error) {
  const uint32_t begin = dictionary->sent ? dictionary->ends[dictionary->sent - 1] : 0;
  const uint32_t count = dictionary->count - dictionary->sent;
  struct batch batch = {.ipc = ipc};
  struct kymo_strbuf ends = {0};
  if (dictionary->is_begun && count == 0)
    return KYMO_OK;
  if (!KYMO_LIST_ROOM(ipc->dictionaries, ipc->dictionary_capacity, ipc->dictionary_count))
    return no_memory(error);
  for (uint32_t i = dictionary->sent; i < dictionary->count; i++) {
    const uint32_t end = dictionary->ends[i] - begin;
    kymo_strbuf_add(&ends, (const char *)&end, sizeof end);
  }
  ipc->body.length = 0;
  add_pair(&batch, true, count, 0);
  add_buffer(&batch, NULL, 0);
  add_offsets(&batch, ends.text, ends.length);
  add_buffer(&batch, dictionary->text.text ? dictionary->text.text + begin : NULL,
             dictionary->text.length - begin);
  batch.failed |= ends.failed;
  kymo_strbuf_free(&ends);
  struct kymo_flat_field fields[] = {NUMBER(8, (uint64_t)dictionary->id), REFERENCE,
                                     NUMBER(1, dictionary->is_begun)};
  const size_t header = begin_message(&ipc->flat, HEADER_DICTIONARY, ipc->body.length);
  kymo_flat_refer(&ipc->flat, header, kymo_flat_table(&ipc->flat, fields, 3));
  kymo_flat_refer(&ipc->flat, fields[1].at, add_batch(&ipc->flat, &batch, count));
  dictionary->is_begun = true;
  dictionary->sent = dictionary->count;
  return end_batch(&batch, &ipc->dictionaries[ipc->dictionary_count++], error);
}

static int put_dictionaries(struct kymo_arrow_ipc *ipc, struct kymo_arrow_column *column,
                            struct kymo_error *error) {
  int status = column->dictionary ? put_dictionary(ipc, column->dictionary, error) : KYMO_OK;
  for (uint32_t i = 0; i < column->count && status == KYMO_OK; i++)
    status = put_dictionaries(ipc, &column->columns[i], error);
  return status;
}

/* ---- files ---- */

int kymo_arrow_ipc_begin(struct kymo_arrow_ipc *ipc, struct kymo_error *error) {
  int status = ipc->is_stream ? KYMO_OK : put(ipc, "ARROW1\0", 8, error);
  ipc->body.length = 0;
  const size_t header = begin_message(&ipc->flat, HEADER_SCHEMA, 0);
  kymo_flat_refer(&ipc->flat, header, add_schema(&ipc->flat, ipc->table));
  return status == KYMO_OK ? end_message(ipc, NULL, error) : status;
}

int kymo_arrow_ipc_batch(struct kymo_arrow_ipc *ipc, struct kymo_error *error) {
  struct batch batch = {.ipc = ipc};
  int status = put_dictionaries(ipc, ipc->table, error);
  if (status != KYMO_OK)
    return status;
  if (!KYMO_LIST_ROOM(ipc->batches, ipc->batch_capacity, ipc->batch_count))
    return no_memory(error);
  ipc->body.length = 0;
  for (uint32_t i = 0; i < ipc->table->count; i++)
    add_column(&batch, &ipc->table->columns[i]);
  const size_t header = begin_message(&ipc->flat, HEADER_BATCH, ipc->body.length);
  kymo_flat_refer(&ipc->flat, header, add_batch(&ipc->flat, &batch, ipc->table->length));
  status = end_batch(&batch, &ipc->batches[ipc->batch_count++], error);
  ipc->has_batch = true;
  kymo_arrow_clear(ipc->table);
  return status;
}

static int put_footer(struct kymo_arrow_ipc *ipc, struct kymo_error *error) {
  struct kymo_flat_field fields[] = {NUMBER(2, VERSION_5), REFERENCE, REFERENCE, REFERENCE};
  struct kymo_strbuf *flat = &ipc->flat;
  uint8_t size[4];
  kymo_flat_begin(flat);
  const size_t at = kymo_flat_table(flat, fields, 4);
  kymo_flat_refer(flat, fields[1].at, add_schema(flat, ipc->table));
  kymo_flat_refer(
      flat, fields[2].at,
      kymo_flat_vector(flat, ipc->dictionaries, ipc->dictionary_count, sizeof *ipc->dictionaries));
  kymo_flat_refer(flat, fields[3].at,
                  kymo_flat_vector(flat, ipc->batches, ipc->batch_count, sizeof *ipc->batches));
  kymo_flat_end(flat, at);
  if (flat->failed)
    return no_memory(error);
  for (unsigned i = 0; i < 4; i++)
    size[i] = (uint8_t)(flat->length >> 8 * i);
  int status = put(ipc, flat->text, flat->length, error);
  if (status == KYMO_OK)
    status = put(ipc, size, sizeof size, error);
  return status == KYMO_OK ? put(ipc, magic, strlen(magic), error) : status;
}

int kymo_arrow_ipc_end(struct kymo_arrow_ipc *ipc, struct kymo_error *error) {
  static const uint8_t end[8] = {0xff, 0xff, 0xff, 0xff};
  int status = ipc->table->length || !ipc->has_batch ? kymo_arrow_ipc_batch(ipc, error) : KYMO_OK;
  if (status == KYMO_OK)
    status = put(ipc, end, sizeof end, error);
  return status == KYMO_OK && !ipc->is_stream ? put_footer(ipc, error) : status;
}

void kymo_arrow_ipc_free(struct kymo_arrow_ipc *ipc) {
  kymo_strbuf_free(&ipc->flat);
  kymo_strbuf_free(&ipc->body);
  free(ipc->dictionaries);
  free(ipc->batches);
  *ipc = (struct kymo_arrow_ipc){0};
}
