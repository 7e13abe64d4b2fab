/* SPDX-License-Identifier: MIT */
#include "fleet/block.h"
#include "base/bytes.h"
#include "base/hash.h"
#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>

/* A longer text is sent, not a part of the statement. */
#define CONSTANT_MAX 200
#define FIRST_ROWS 256

static const char *const type_names[] = {"Int64", "UInt64", "Float64", "String"};

const char *fleet_type_name(enum fleet_type type) { return type_names[type]; }

/* ---- rows ---- */

static bool grow(void **list, uint32_t *capacity, uint32_t rows, size_t size) {
  if (rows < *capacity)
    return true;
  size_t wanted = *capacity ? *capacity * (size_t)2 : FIRST_ROWS;
  while (wanted <= rows)
    wanted *= 2;
  void *larger = realloc(*list, wanted * size);
  if (larger) {
    *list = larger;
    *capacity = (uint32_t)wanted;
  }
  return larger;
}

/* Space for the current row. */
static bool grow_numbers(struct fleet_block *block, struct fleet_column *column) {
  bool ok = grow((void **)&column->numbers, &column->capacity, block->rows, sizeof *column->numbers);
  block->failed |= !ok;
  return ok;
}

static bool grow_nulls(struct fleet_block *block, struct fleet_column *column) {
  bool ok = grow((void **)&column->nulls, &column->null_capacity, block->rows, 1);
  block->failed |= !ok;
  return ok;
}

/* Lists what all rows so far have. */
static void spread(struct fleet_block *block, struct fleet_column *column) {
  if (column->differs)
    return;
  column->differs = true;
  if (column->has_nulls && grow_nulls(block, column))
    memset(column->nulls, 1, block->rows);
  if (column->type == FLEET_TEXT) {
    size_t length = column->texts.length;
    char *at = kymo_strbuf_room(&column->texts, length * block->rows);
    for (uint32_t i = 1; at && i < block->rows; i++, at += length)
      memcpy(at, column->texts.text, length);
    if (at && block->rows > 1)
      kymo_strbuf_used(&column->texts, length * (block->rows - 1));
    block->failed |= column->texts.failed;
  } else if (grow_numbers(block, column)) {
    for (uint32_t i = 0; i < block->rows; i++)
      column->numbers[i] = column->first;
  }
}

void fleet_put_other(struct fleet_block *block, struct fleet_column *column, uint64_t value) {
  if (block->rows == 0) {
    column->first = value;
    return;
  }
  spread(block, column);
  if (column->has_nulls && grow_nulls(block, column))
    column->nulls[block->rows] = 0;
  if (grow_numbers(block, column))
    column->numbers[block->rows] = value;
}

void fleet_put_numbers(struct fleet_block *block, uint32_t column, const uint64_t *values, uint32_t count) {
  struct fleet_column *to = &block->columns[column];
  uint32_t begin = block->rows;
  if (to->differs && !to->has_nulls && to->capacity >= count && begin <= to->capacity - count) {
    memcpy(to->numbers + begin, values, count * sizeof *values);
    return;
  }
  for (uint32_t i = 0; i < count; i++, block->rows++)
    fleet_put_number(block, column, values[i]);
  block->rows = begin;
}

/* Adds a text with its length before it; returns the length of both. */
static size_t add_counted(struct kymo_strbuf *out, const char *text, size_t length) {
  char *at = kymo_strbuf_room(out, length + 10);
  size_t used = 0, rest = length;
  if (!at)
    return 0;
  for (; rest > 127; rest >>= 7)
    at[used++] = (char)(rest | 128);
  at[used++] = (char)rest;
  if (length)
    memcpy(at + used, text, length);
  kymo_strbuf_used(out, used + length);
  return used + length;
}

/* Adds the text of a row; it may be the first one. */
static void add_text(struct fleet_block *block, struct fleet_column *column, const char *text,
                     size_t length) {
  column->last = column->texts.length;
  size_t size = add_counted(&column->texts, text, length);
  column->last_head = size - length;
  column->head = block->rows ? column->head : column->last_head;
  block->failed |= column->texts.failed;
}

/* Whether the text is the one that all rows have. */
static bool is_first(const struct fleet_column *column, const char *text, size_t length) {
  return column->texts.length - column->head == length &&
         (length == 0 || memcmp(column->texts.text + column->head, text, length) == 0);
}

void fleet_put_text(struct fleet_block *block, uint32_t index, const char *text, size_t length) {
  struct fleet_column *column = &block->columns[index];
  if (block->rows && !column->differs && !column->has_nulls && is_first(column, text, length))
    return;
  if (block->rows)
    spread(block, column);
  if (column->has_nulls && grow_nulls(block, column))
    column->nulls[block->rows] = 0;
  add_text(block, column, text, length);
}

void fleet_put_other_null(struct fleet_block *block, struct fleet_column *column) {
  if (block->rows) {
    spread(block, column);
    if (grow_nulls(block, column)) {
      memset(column->nulls + (column->has_nulls ? block->rows : 0), 0, column->has_nulls ? 0 : block->rows);
      column->nulls[block->rows] = 1;
    }
  }
  column->has_nulls = true;
  if (column->type == FLEET_TEXT) {
    add_text(block, column, "", 0);
  } else if (block->rows == 0) {
    column->first = 0;
  } else if (grow_numbers(block, column)) {
    column->numbers[block->rows] = 0;
  }
}

/* Copies a text to `count` rows after it. As much space is wanted as if they were put one by one, since a
 * batch may end when a block holds too much. */
static void repeat_text(struct fleet_block *block, struct fleet_column *column, uint32_t count) {
  size_t size = column->texts.length - column->last;
  char *at = kymo_strbuf_room(&column->texts, size * count + 10 - column->last_head);
  const char *from = column->texts.text + column->last;
  for (uint32_t i = 0; at && i < count; i++, at += size)
    memcpy(at, from, size);
  if (at)
    kymo_strbuf_used(&column->texts, size * count);
  column->last = column->texts.length - size;
  block->failed |= column->texts.failed;
}

/* Copies the value of the row before `begin` up to the last row. */
static void repeat(struct fleet_block *block, struct fleet_column *column, uint32_t begin) {
  uint32_t end = block->rows;
  uint64_t value = column->type == FLEET_TEXT ? 0 : column->numbers[begin - 1];
  if (column->has_nulls) {
    if (!grow((void **)&column->nulls, &column->null_capacity, end - 1, 1))
      block->failed = true;
    else
      memset(column->nulls + begin, column->nulls[begin - 1], end - begin);
  }
  if (column->type == FLEET_TEXT)
    repeat_text(block, column, end - begin);
  else if (!grow((void **)&column->numbers, &column->capacity, end - 1, sizeof *column->numbers))
    block->failed = true;
  else
    for (uint32_t i = begin; i < end; i++)
      column->numbers[i] = value;
}

void fleet_block_settle(struct fleet_block *block) {
  uint32_t begin = block->rows - block->repeats;
  for (uint32_t i = 0; block->repeats && !block->failed && i < block->steady_count; i++)
    if (block->columns[block->steady[i]].differs)
      repeat(block, &block->columns[block->steady[i]], begin);
  block->repeats = 0;
}

size_t fleet_block_bytes(const struct fleet_block *block) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < block->column_count; i++) {
    const struct fleet_column *column = &block->columns[i];
    bytes += column->texts.length;
    if (column->differs)
      bytes += block->rows * (size_t)(column->type == FLEET_TEXT ? 1 : 9);
  }
  return bytes;
}

size_t fleet_block_held(const struct fleet_block *block) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < block->column_count; i++)
    bytes += block->columns[i].texts.capacity + block->columns[i].capacity * sizeof(uint64_t) +
             block->columns[i].null_capacity;
  return bytes;
}

void fleet_block_clear(struct fleet_block *block) {
  for (uint32_t i = 0; i < block->column_count; i++) {
    block->columns[i].differs = block->columns[i].has_nulls = false;
    block->columns[i].texts.length = 0;
  }
  block->rows = block->repeats = 0;
}

void fleet_block_free(struct fleet_block *block) {
  for (uint32_t i = 0; i < block->column_count; i++) {
    struct fleet_column *column = &block->columns[i];
    free(column->nulls);
    free(column->numbers);
    kymo_strbuf_free(&column->texts);
    column->nulls = NULL;
    column->numbers = NULL;
    column->capacity = column->null_capacity = 0;
  }
  fleet_block_clear(block);
}

/* ---- encoding ---- */

static bool is_constant(const struct fleet_column *column) {
  if (column->differs)
    return false;
  return column->has_nulls || column->type == FLEET_U64 || column->type == FLEET_I64 ||
         (column->type == FLEET_TEXT && column->texts.length <= CONSTANT_MAX);
}

#define AT_ONCE 8

/* The bits in which numbers are not 0; of numbers with a sign, those that are not the same as the next lower
 * one, so that a bit for the sign is among the rest. Several at once, by wide registers. */
static uint64_t bits_of(const uint64_t *numbers, uint32_t count, bool has_sign) {
  uint64_t bits[AT_ONCE] = {0}, all = 0, next = has_sign ? UINT64_MAX : 0;
  uint32_t at = 0;
  for (; at + AT_ONCE <= count; at += AT_ONCE)
    for (unsigned i = 0; i < AT_ONCE; i++)
      bits[i] |= numbers[at + i] ^ (numbers[at + i] << 1 & next);
  for (; at < count; at++)
    all |= numbers[at] ^ (numbers[at] << 1 & next);
  for (unsigned i = 0; i < AT_ONCE; i++)
    all |= bits[i];
  return all;
}

/* The bytes that each number of a column needs: 1, 2, 4 or 8. */
static unsigned width_of(const struct fleet_block *block, const struct fleet_column *column) {
  if (column->type == FLEET_F64)
    return 8;
  uint64_t bits = bits_of(column->numbers, block->rows, column->type == FLEET_I64);
  return bits >> 32 ? 8 : bits >> 16 ? 4 : bits >> 8 ? 2 : 1;
}

/* The server makes wider ones of them. */
static void add_type(struct kymo_strbuf *out, const struct fleet_column *column) {
  kymo_strbuf_puts(out, column->has_nulls ? "Nullable(" : "");
  if (column->type == FLEET_TEXT || column->type == FLEET_F64)
    kymo_strbuf_puts(out, type_names[column->type]);
  else
    kymo_strbuf_printf(out, "%s%u", column->type == FLEET_I64 ? "Int" : "UInt", column->width * 8);
  kymo_strbuf_puts(out, column->has_nulls ? ")" : "");
}

/* Adds the low bytes of the numbers, the lowest first. */
static void add_numbers(struct kymo_strbuf *out, const uint64_t *numbers, uint32_t count, unsigned width) {
  uint8_t *at = (uint8_t *)kymo_strbuf_room(out, (size_t)count * width);
  if (!at)
    return;
  switch (width) {
  case 1:
    for (uint32_t i = 0; i < count; i++)
      at[i] = (uint8_t)numbers[i];
    break;
  case 2:
    for (uint32_t i = 0; i < count; i++)
      memcpy(at + i * (size_t)2, &(uint16_t){htole16((uint16_t)numbers[i])}, 2);
    break;
  case 4:
    for (uint32_t i = 0; i < count; i++)
      memcpy(at + i * (size_t)4, &(uint32_t){htole32((uint32_t)numbers[i])}, 4);
    break;
  default:
    for (uint32_t i = 0; i < count; i++)
      kymo_store_le64(at + i * (size_t)8, numbers[i]);
    break;
  }
  kymo_strbuf_used(out, (size_t)count * width);
}

static void add_varint(struct kymo_strbuf *out, uint64_t value) {
  char bytes[10];
  size_t used = 0;
  for (; value > 127; value >>= 7)
    bytes[used++] = (char)(value | 128);
  bytes[used++] = (char)value;
  kymo_strbuf_add(out, bytes, used);
}

static void add_column(const struct fleet_block *block, uint32_t index, struct kymo_strbuf *out) {
  const struct fleet_column *column = &block->columns[index];
  struct kymo_strbuf text = {0};
  kymo_strbuf_printf(&text, "c%" PRIu32, index);
  add_counted(out, text.text, text.length);
  text.length = 0;
  add_type(&text, column);
  add_counted(out, text.text, text.length);
  out->failed |= text.failed;
  kymo_strbuf_free(&text);
  if (column->has_nulls)
    kymo_strbuf_add(out, (const char *)column->nulls, block->rows);
  if (column->type == FLEET_TEXT)
    kymo_strbuf_add(out, column->texts.text, column->texts.length);
  else
    add_numbers(out, column->numbers, block->rows, column->width);
}

void fleet_block_declare(struct fleet_block *block, uint32_t keeps, struct kymo_strbuf *structure) {
  for (uint32_t i = 0; i < block->column_count && !block->failed; i++) {
    struct fleet_column *column = &block->columns[i];
    if (i != keeps && is_constant(column))
      continue;
    spread(block, column);
    if (!block->failed && column->type != FLEET_TEXT)
      column->width = width_of(block, column);
    kymo_strbuf_printf(structure, "%sc%" PRIu32 " ", structure->length ? "," : "", i);
    add_type(structure, column);
  }
  structure->failed |= block->failed;
}

void fleet_block_encode(const struct fleet_block *block, uint32_t keeps, struct kymo_strbuf *bytes) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < block->column_count; i++)
    count += i == keeps || !is_constant(&block->columns[i]);
  bytes->failed |= block->failed;
  add_varint(bytes, count);
  add_varint(bytes, block->rows);
  for (uint32_t i = 0; i < block->column_count && !bytes->failed; i++)
    if (i == keeps || !is_constant(&block->columns[i]))
      add_column(block, i, bytes);
}

/* ---- SQL ---- */

void fleet_add_name(struct kymo_strbuf *out, const char *name) {
  kymo_strbuf_puts(out, "`");
  for (; *name; name++) {
    if (*name == '`' || *name == '\\')
      kymo_strbuf_puts(out, "\\");
    kymo_strbuf_add(out, name, 1);
  }
  kymo_strbuf_puts(out, "`");
}

void fleet_add_text(struct kymo_strbuf *out, const char *text, size_t length) {
  kymo_strbuf_puts(out, "'");
  for (size_t i = 0; i < length; i++)
    if (text[i] == '\0')
      kymo_strbuf_puts(out, "\\0");
    else if (text[i] == '\'' || text[i] == '\\')
      kymo_strbuf_printf(out, "\\%c", text[i]);
    else
      kymo_strbuf_add(out, text + i, 1);
  kymo_strbuf_puts(out, "'");
}

static void add_constant(const struct fleet_column *column, struct kymo_strbuf *sql) {
  if (column->has_nulls)
    kymo_strbuf_puts(sql, "NULL");
  else if (column->type == FLEET_I64)
    kymo_strbuf_printf(sql, "toInt64('%" PRId64 "')", (int64_t)column->first);
  else if (column->type == FLEET_U64)
    kymo_strbuf_printf(sql, "toUInt64('%" PRIu64 "')", column->first);
  else
    fleet_add_text(sql, column->texts.text + column->head, column->texts.length - column->head);
}

void fleet_block_select(const struct fleet_block *block, uint32_t keeps, struct kymo_strbuf *sql) {
  for (uint32_t i = 0; i < block->column_count; i++) {
    kymo_strbuf_puts(sql, i ? "," : "");
    if (i == keeps || !is_constant(&block->columns[i]))
      kymo_strbuf_printf(sql, "c%" PRIu32, i);
    else
      add_constant(&block->columns[i], sql);
  }
}

uint64_t fleet_block_digest(const struct fleet_block *block, const uint32_t *columns, uint32_t count) {
  uint64_t digest = block->rows;
  for (uint32_t i = 0; i < count; i++) {
    const struct fleet_column *column = &block->columns[columns[i]];
    if (column->differs)
      digest = kymo_hash64(column->numbers, block->rows * sizeof *column->numbers, digest);
    else
      digest = kymo_hash64(&column->first, sizeof column->first, digest);
  }
  return digest;
}
