/* SPDX-License-Identifier: MIT */
#include "query/test.h"
#include "base/fail.h"
#include "decode/labels.h"
#include "print/unicode.h"
#include "query/value.h"
#include <math.h>
#include <string.h>

#define TWO_63 9223372036854775808.0

/* ---- operands ---- */

/* The digits of a number of 2^63 and more, as values of such columns are spelt. */
static bool read_large(const char *text, size_t length, uint64_t *out) {
  uint64_t value = 0;
  for (size_t i = 0; i < length; i++) {
    unsigned digit = (unsigned)(text[i] - '0');
    if (digit > 9 || __builtin_mul_overflow(value, 10u, &value) ||
        __builtin_add_overflow(value, digit, &value))
      return false;
  }
  *out = value;
  return length > 0 && text[0] != '0' && value > INT64_MAX;
}

static void take_text(struct query_operand *operand, const struct query_column *column,
                      struct kymo_arena *arena, sqlite3_value *value) {
  const char *text = (const char *)sqlite3_value_text(value);
  size_t length = (size_t)sqlite3_value_bytes(value);
  if (column->type == QUERY_UNSIGNED && text && read_large(text, length, &operand->large))
    operand->kind = QUERY_IS_UNSIGNED;
  if (column->type != QUERY_TEXT || !text || !(operand->text = kymo_arena_copy(arena, text, length)))
    return;
  operand->kind = QUERY_IS_TEXT;
  operand->length = length;
}

static int add_operand(struct query_test *test, struct kymo_arena *arena, const struct query_column *column,
                       sqlite3_value *value, struct kymo_error *error) {
  struct query_operand *list = kymo_arena_array(arena, test->count + 1, sizeof *list);
  if (!list)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (test->count)
    memcpy(list, test->operands, test->count * sizeof *list);
  test->operands = list;
  struct query_operand *operand = &list[test->count++];
  bool is_text = column->type == QUERY_TEXT;
  switch (sqlite3_value_type(value)) {
  case SQLITE_NULL: operand->kind = QUERY_NEVER; break;
  case SQLITE_INTEGER:
    operand->kind = is_text ? QUERY_UNDECIDED : QUERY_IS_INTEGER;
    operand->integer = sqlite3_value_int64(value);
    break;
  case SQLITE_FLOAT:
    operand->kind = is_text ? QUERY_UNDECIDED : QUERY_IS_REAL;
    operand->real = sqlite3_value_double(value);
    if (column->type == QUERY_UNSIGNED && operand->real >= TWO_63)
      return kymo_fail(error, KYMO_E_USAGE,
                       "column \"%s\" holds numbers of 2^63 and more as text, and this number is not exact: "
                       "write it as text, as in \"%s\" = '18446744073709551615'",
                       column->name, column->name);
    break;
  case SQLITE_TEXT: take_text(operand, column, arena, value); break;
  default: break;
  }
  return arena->failed ? kymo_fail(error, KYMO_E_MEMORY, "out of memory") : KYMO_OK;
}

int query_test_add(struct query_test *test, struct kymo_arena *arena, const struct query_column *column,
                   sqlite3_value *value, struct kymo_error *error) {
  sqlite3_value *one;
  if (test->letter != 'I')
    return add_operand(test, arena, column, value, error);
  int status = KYMO_OK;
  int step = sqlite3_vtab_in_first(value, &one);
  for (; step == SQLITE_OK && one && status == KYMO_OK; step = sqlite3_vtab_in_next(value, &one))
    status = add_operand(test, arena, column, one, error);
  if (status == KYMO_OK && step != SQLITE_OK && step != SQLITE_DONE)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  return status;
}

/* ---- numbers ---- */

/* A value of a column. */
struct number {
  enum { IS_INTEGER, IS_UNSIGNED, IS_REAL } kind; /* IS_UNSIGNED: 2^63 and more */
  int64_t integer;
  uint64_t large;
  double real;
};

static int order_of(double a, double b) { return a < b ? -1 : a > b; }

/* Exact, though a double does not have all integers. */
static int compare_integer(int64_t a, double b) {
  if (b >= TWO_63)
    return -1;
  if (b < -TWO_63)
    return 1;
  int64_t whole = (int64_t)b;
  return a != whole ? (a < whole ? -1 : 1) : order_of((double)whole, b);
}

/* Compares as SQLite does; false: it is not decided here. */
static bool compare(const struct number *value, const struct query_operand *operand, int *order) {
  if (value->kind == IS_UNSIGNED) { /* a text for SQLite, after all numbers */
    *order = 1;
    if (operand->kind == QUERY_IS_UNSIGNED)
      *order = value->large < operand->large ? -1 : value->large > operand->large;
    return true;
  }
  if (operand->kind == QUERY_IS_UNSIGNED) {
    *order = -1;
    return value->kind == IS_INTEGER;
  }
  bool is_real = operand->kind == QUERY_IS_REAL;
  if (value->kind == IS_INTEGER)
    *order = is_real                             ? compare_integer(value->integer, operand->real)
             : value->integer < operand->integer ? -1
                                                 : value->integer > operand->integer;
  else
    *order = is_real ? order_of(value->real, operand->real) : -compare_integer(operand->integer, value->real);
  return true;
}

static bool fits(char letter, int order) {
  switch (letter) {
  case '>': return order > 0;
  case 'G': return order >= 0;
  case '<': return order < 0;
  case 'L': return order <= 0;
  default: return order == 0;
  }
}

static bool number_passes(const struct query_test *test, const struct number *value) {
  for (size_t i = 0; i < test->count; i++) {
    const struct query_operand *operand = &test->operands[i];
    int order;
    if (operand->kind == QUERY_NEVER)
      continue;
    if (operand->kind == QUERY_UNDECIDED || !compare(value, operand, &order) || fits(test->letter, order))
      return true;
  }
  return false;
}

static struct number unsigned_number(uint64_t value) {
  return value > INT64_MAX ? (struct number){.kind = IS_UNSIGNED, .large = value}
                           : (struct number){.kind = IS_INTEGER, .integer = (int64_t)value};
}

/* ---- texts ---- */

/* U+FFFD is also what SQLite gets in place of bytes that are no character. */
static bool has_replacement(const char *text, size_t length) {
  return memmem(text, length, "\xEF\xBF\xBD", 3);
}

bool query_test_names(const struct query_test *test, const char *name, size_t length) {
  for (size_t i = 0; i < test->count; i++) {
    const struct query_operand *operand = &test->operands[i];
    if (operand->kind == QUERY_NEVER)
      continue;
    if (operand->kind != QUERY_IS_TEXT || has_replacement(operand->text, operand->length) ||
        (operand->length == length && memcmp(operand->text, name, length) == 0))
      return true;
  }
  return false;
}

static bool name_passes(const struct query_test *test, const char *name) {
  return name && query_test_names(test, name, strlen(name));
}

/* ---- fields ---- */

static bool label_passes(const struct query_test *test, const struct kymo_event *event, uint32_t field,
                         const struct kymo_type *type) {
  uint64_t value;
  int64_t number;
  if (type->kind == KYMO_KIND_BITMAP)
    return true;
  if (kymo_event_get_uint(event, field, &value) != KYMO_OK) {
    if (kymo_event_get_int(event, field, &number) != KYMO_OK)
      return false;
    value = (uint64_t)number;
  }
  struct kymo_labels labels = kymo_labels_begin(type, value);
  return name_passes(test, kymo_labels_next(&labels));
}

static bool text_passes(const struct query_test *test, const struct kymo_event *event, uint32_t field,
                        const struct kymo_type *type) {
  const char *text;
  uint64_t length;
  if (!kymo_is_byte_encoding(type->encoding))
    return true;
  int status = kymo_event_get_string(event, field, &text, &length);
  return status == KYMO_OK ? query_test_names(test, text, (size_t)length) : status != KYMO_E_ABSENT;
}

static bool float_passes(const struct query_test *test, const struct kymo_event *event, uint32_t field) {
  struct number value = {.kind = IS_REAL};
  int status = kymo_event_get_float(event, field, &value.real);
  return status == KYMO_OK ? !isnan(value.real) && number_passes(test, &value) : status != KYMO_E_ABSENT;
}

static bool integer_passes(const struct query_test *test, const struct kymo_event *event, uint32_t field,
                           const struct kymo_type *type) {
  struct number value = {.kind = IS_INTEGER};
  uint64_t large;
  int status = kymo_event_get_int(event, field, &value.integer);
  if (status == KYMO_E_RANGE && kymo_event_get_uint(event, field, &large) == KYMO_OK)
    value = unsigned_number(large);
  else if (status != KYMO_OK)
    return status != KYMO_E_ABSENT;
  if (type->kind == KYMO_KIND_BOOLEAN)
    value = (struct number){.kind = IS_INTEGER, .integer = value.kind == IS_UNSIGNED || value.integer != 0};
  return number_passes(test, &value);
}

static bool field_passes(const struct query_test *test, const struct query_columns *columns,
                         struct query_reader *reader, const struct kymo_event *event) {
  uint32_t number = kymo_kind_of(event);
  const struct query_place *row = columns->places[number], *place = row ? &row[test->column] : NULL;
  const struct query_fields *fields = query_reader_fields(reader, number);
  if (!place || !fields)
    return true;
  switch (place->get) {
  case QUERY_GET_NOTHING: return false; /* NULL, which fulfils no comparison */
  case QUERY_GET_INTEGER: return integer_passes(test, event, fields->ids[place->index], place->type);
  case QUERY_GET_FLOAT: return float_passes(test, event, fields->ids[place->index]);
  case QUERY_GET_TEXT: return text_passes(test, event, fields->ids[place->index], place->type);
  case QUERY_GET_LABEL: return label_passes(test, event, fields->ids[place->index], place->type);
  default: return true;
  }
}

/* ---- properties of every event ---- */

static bool who_passes(const struct query_test *test, struct query_reader *reader,
                       const struct kymo_event *event, enum query_column_kind kind) {
  const struct kymo_who *who = kymo_who_of(&reader->whos, event);
  struct number value;
  if (!who)
    return true;
  if (kind == QUERY_THREAD)
    return who->name_length && query_test_names(test, who->name, who->name_length);
  if (!(kind == QUERY_TID ? who->has_tid : who->has_cpu))
    return false;
  value = kind == QUERY_TID ? (struct number){.kind = IS_INTEGER, .integer = who->tid}
                            : unsigned_number(who->cpu);
  return number_passes(test, &value);
}

bool query_test_passes(const struct query_test *test, const struct query_columns *columns,
                       struct query_reader *reader, const struct kymo_event *event) {
  const struct kymo_part *part = event->packet->stream->part;
  struct number value = {.kind = IS_INTEGER};
  enum query_column_kind kind = columns->list[test->column].kind;
  switch (kind) {
  case QUERY_FIELD: return field_passes(test, columns, reader, event);
  case QUERY_CLASS: return name_passes(test, event->class_->name ? event->class_->name : "");
  case QUERY_GROUP: return name_passes(test, event->class_->group);
  case QUERY_PROCESS: return name_passes(test, query_process_of(part));
  case QUERY_PATH: return name_passes(test, part->path);
  case QUERY_STREAM: value = unsigned_number(query_stream_of(event)); break;
  case QUERY_TRACE: value.integer = part->index; break;
  case QUERY_LEVEL:
    value.integer = event->class_->level;
    if (value.integer < 0)
      return false;
    break;
  case QUERY_TS:
    value.integer = event->time_ns;
    if (!event->has_time)
      return false;
    break;
  case QUERY_PID:
    if (!query_pid_of(reader, event, &value.integer))
      return false;
    break;
  default: return who_passes(test, reader, event, kind);
  }
  return number_passes(test, &value);
}

/* ---- windows of time ---- */

static int64_t floor_of(double real) {
  return real >= TWO_63 ? INT64_MAX : real < -TWO_63 ? INT64_MIN : (int64_t)floor(real);
}

bool query_test_narrow(const struct query_test *test, int64_t *begin_ns, int64_t *end_ns) {
  const struct query_operand *operand = &test->operands[0];
  if (test->letter == 'I' || operand->kind == QUERY_UNDECIDED)
    return true;
  if (operand->kind == QUERY_NEVER)
    return false;
  bool is_integer = operand->kind == QUERY_IS_INTEGER;
  int64_t bound = is_integer ? operand->integer : floor_of(operand->real);
  /* the tests themselves decide at the boundaries: here the window may be one nanosecond too wide */
  if ((test->letter == '>' || test->letter == 'G' || test->letter == '=') && bound > *begin_ns)
    *begin_ns = bound;
  if ((test->letter == '<' || test->letter == 'L' || test->letter == '=') && bound < *end_ns)
    *end_ns = bound;
  return *begin_ns <= *end_ns;
}
