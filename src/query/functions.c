/* SPDX-License-Identifier: MIT */
/* Functions for statements: percentile(x, p), ns_to_text(ns), symbol(address [, trace]). */
#include "base/list.h"
#include "print/print.h"
#include "query/database.h"
#include "query/value.h"
#include <float.h>
#include <kymo/time.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- percentile ---- */

/* Numbers so far: as integers as long as all are, so that none is rounded. */
struct samples {
  union sample {
    int64_t integer;
    double real;
  } * list;
  size_t count, capacity;
  bool are_real, is_begun;
  double wanted;
};

static void make_real(struct samples *samples) {
  for (size_t i = 0; i < samples->count && !samples->are_real; i++)
    samples->list[i].real = (double)samples->list[i].integer;
  samples->are_real = true;
}

/* The percentage, which is the same in all rows. */
static bool take_wanted(struct samples *samples, sqlite3_context *context, sqlite3_value *value) {
  int type = sqlite3_value_numeric_type(value);
  double wanted = sqlite3_value_double(value);
  if ((type != SQLITE_INTEGER && type != SQLITE_FLOAT) || !(wanted >= 0 && wanted <= 100)) {
    sqlite3_result_error(context, "percentile(x, p): p is a number from 0 to 100", -1);
    return false;
  }
  if (samples->is_begun && wanted != samples->wanted) {
    sqlite3_result_error(context, "percentile(x, p): p is the same for all rows", -1);
    return false;
  }
  samples->wanted = wanted;
  samples->is_begun = true;
  return true;
}

void query_percentile_step(sqlite3_context *context, int count, sqlite3_value **values) {
  struct samples *samples = sqlite3_aggregate_context(context, sizeof *samples);
  (void)count;
  if (!samples) {
    sqlite3_result_error_nomem(context);
    return;
  }
  int type = sqlite3_value_numeric_type(values[0]);
  if (!take_wanted(samples, context, values[1]) || type == SQLITE_NULL)
    return;
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) {
    sqlite3_result_error(context, "percentile(x, p): x is a number", -1);
    return;
  }
  if (!KYMO_LIST_ROOM(samples->list, samples->capacity, samples->count)) {
    sqlite3_result_error_nomem(context);
    return;
  }
  if (type == SQLITE_FLOAT)
    make_real(samples);
  union sample *sample = &samples->list[samples->count++];
  if (samples->are_real)
    sample->real = sqlite3_value_double(values[0]);
  else
    sample->integer = sqlite3_value_int64(values[0]);
}

static int by_integer(const void *a, const void *b) {
  int64_t x = ((const union sample *)a)->integer, y = ((const union sample *)b)->integer;
  return x < y ? -1 : x > y;
}

static int by_real(const void *a, const void *b) {
  double x = ((const union sample *)a)->real, y = ((const union sample *)b)->real;
  return x < y ? -1 : x > y;
}

/* A percentage has few decimals, and so has the place of its sample: 0.9 * 136 is 122.4, which a double
 * misses by some of its last digits. Places that are so near to millionths are those. */
#define PLACE_PARTS 1000000
static double clean_place(double place) {
  double parts = place * PLACE_PARTS, whole = nearbyint(parts);
  return fabs(parts - whole) <= 8 * DBL_EPSILON * parts ? whole / PLACE_PARTS : place;
}

/* Between two integers: exact to the millionth of their distance, so that no digits are invented. */
static void put_between(sqlite3_context *context, int64_t low, int64_t high, double part) {
  uint64_t distance = (uint64_t)high - (uint64_t)low;
  uint64_t parts = (uint64_t)nearbyint(part * PLACE_PARTS);
  if (fabs(part * PLACE_PARTS - (double)parts) > 1e-3 || distance > UINT64_MAX / PLACE_PARTS) {
    sqlite3_result_double(context, (double)low + (double)distance * part);
    return;
  }
  int64_t whole = low + (int64_t)(distance * parts / PLACE_PARTS);
  uint64_t rest = distance * parts % PLACE_PARTS;
  if (rest == 0)
    sqlite3_result_int64(context, whole);
  else
    sqlite3_result_double(context, (double)whole + (double)rest / PLACE_PARTS);
}

/* Between two samples in a straight line; a sample itself is exact. */
static void put_percentile(sqlite3_context *context, const struct samples *samples) {
  double place = clean_place(samples->wanted / 100 * (double)(samples->count - 1));
  size_t below = (size_t)place, above = below + 1 < samples->count ? below + 1 : below;
  double part = place - (double)below;
  union sample low = samples->list[below], high = samples->list[above];
  if (samples->are_real)
    sqlite3_result_double(context, low.real + (high.real - low.real) * part);
  else
    put_between(context, low.integer, high.integer, part);
}

void query_percentile_final(sqlite3_context *context) {
  struct samples *samples = sqlite3_aggregate_context(context, 0);
  if (!samples)
    return;
  if (samples->count) {
    qsort(samples->list, samples->count, sizeof *samples->list, samples->are_real ? by_real : by_integer);
    put_percentile(context, samples);
  }
  free(samples->list);
  samples->list = NULL;
}

/* ---- times ---- */

void query_ns_to_text(sqlite3_context *context, int count, sqlite3_value **values) {
  const struct query_database *database = sqlite3_user_data(context);
  struct query_source *source;
  char text[KYMO_TIME_TEXT];
  bool has_epoch = true;
  (void)count;
  int type = sqlite3_value_numeric_type(values[0]);
  if (type == SQLITE_NULL)
    return;
  if (type != SQLITE_INTEGER) {
    sqlite3_result_error(context,
                         "ns_to_text(ns): ns is an integer, nanoseconds from the origin of the clock", -1);
    return;
  }
  for (size_t i = 0; (source = query_database_source(database, i)); i++)
    has_epoch &= source->has_epoch;
  kymo_time_to_text(sqlite3_value_int64(values[0]), has_epoch ? KYMO_TIME_UTC : KYMO_TIME_SECONDS, text);
  sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

/* ---- symbols ---- */

/* An address is an integer, or the text of one: digits, as those of 2^63 and more are, or 0x and hexadecimal
 * digits. */
static bool read_address(sqlite3_value *value, uint64_t *out) {
  if (sqlite3_value_type(value) == SQLITE_INTEGER) {
    *out = (uint64_t)sqlite3_value_int64(value);
    return true;
  }
  const char *text =
      sqlite3_value_type(value) == SQLITE_TEXT ? (const char *)sqlite3_value_text(value) : NULL;
  char *end;
  if (!text || *text < '0' || *text > '9')
    return false;
  *out = strtoull(text, &end, text[0] == '0' && (text[1] | 32) == 'x' ? 16 : 10);
  return *end == 0;
}

/* The name in one part; false: unknown. At most KYMO_SYMBOL_TEXT bytes. */
static bool find_in_part(const struct query_source *source, size_t part, uint64_t address, char *out) {
  const struct kymo_trace *trace = source->first->trace;
  struct kymo_symbol symbol;
  if (!kymo_symbols_find(source->symbols, kymo_trace_part(trace, part), address, NULL, &symbol))
    return false;
  *kymo_print_put_symbol(out, &symbol) = 0;
  return true;
}

/* Different names in different traces: it is not known which was meant. */
static bool find_symbol(const struct query_source *source, uint64_t address, int64_t wanted, char *out) {
  char other[KYMO_SYMBOL_TEXT + 1];
  bool is_found = *out;
  for (size_t i = 0; i < kymo_trace_part_count(source->first->trace); i++) {
    if ((wanted >= 0 && (uint64_t)wanted != i) || !find_in_part(source, i, address, is_found ? other : out))
      continue;
    if (is_found && strcmp(other, out) != 0)
      return false;
    is_found = true;
  }
  return true;
}

void query_symbol(sqlite3_context *context, int count, sqlite3_value **values) {
  const struct query_database *database = sqlite3_user_data(context);
  struct query_source *source;
  char name[KYMO_SYMBOL_TEXT + 1] = "";
  uint64_t address;
  int64_t wanted =
      count > 1 && sqlite3_value_type(values[1]) == SQLITE_INTEGER ? sqlite3_value_int64(values[1]) : -1;
  if (!read_address(values[0], &address))
    return;
  for (size_t i = 0; (source = query_database_source(database, i)); i++)
    if (!find_symbol(source, address, wanted, name))
      return;
  if (*name)
    sqlite3_result_text(context, name, -1, SQLITE_TRANSIENT);
}
