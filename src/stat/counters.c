/* SPDX-License-Identifier: MIT */
#include "stat/counters.h"
#include "stat/table.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static struct kymo_counter_row row_of(const struct kymo_counts *counts, size_t thread) {
  struct kymo_counter_row row = {
      .events = (uint64_t)kymo_counts_number(counts, thread, KYMO_COUNT_EVENTS),
      .lost = (uint64_t)kymo_counts_number(counts, thread, KYMO_COUNT_LOST),
      .lost_large = (uint64_t)kymo_counts_number(counts, thread, KYMO_COUNT_LOST_LARGE),
      .lost_nested = (uint64_t)kymo_counts_number(counts, thread, KYMO_COUNT_LOST_NESTED),
      .overwritten = (uint64_t)kymo_counts_number(counts, thread, KYMO_COUNT_OVERWRITTEN),
      .used_bytes = (uint64_t)kymo_counts_number(counts, thread, KYMO_COUNT_USED_BYTES),
      .room_bytes = (uint64_t)kymo_counts_number(counts, thread, KYMO_COUNT_ROOM_BYTES),
      .tid = (int32_t)kymo_counts_number(counts, thread, KYMO_COUNT_TID)};
  snprintf(row.name, sizeof row.name, "%s", kymo_counts_name(counts, thread));
  return row;
}

bool kymo_ring_counters_read(struct kymo_ring_counters *counters, struct kymo_counts *counts) {
  struct kymo_error error;
  *counters = (struct kymo_ring_counters){0};
  int status = kymo_counts_read(counts, &error);
  if (status < 0)
    return false;
  counters->is_over = status == KYMO_END;
  counters->count = (uint32_t)kymo_counts_threads(counts);
  counters->rows = calloc((size_t)counters->count + 1, sizeof *counters->rows);
  if (!counters->rows)
    return false;
  clock_gettime(CLOCK_MONOTONIC, &counters->at);
  for (uint32_t i = 0; i < counters->count; i++)
    counters->rows[i] = row_of(counts, i);
  counters->sum = row_of(counts, KYMO_COUNTS_SUM);
  counters->refused_threads = (uint64_t)kymo_counts_number(counts, KYMO_COUNTS_SUM, KYMO_COUNT_REFUSED);
  return true;
}

void kymo_ring_counters_free(struct kymo_ring_counters *counters) {
  free(counters->rows);
  *counters = (struct kymo_ring_counters){0};
}

const char *kymo_ring_counters_mode(const struct kymo_counts *counts) {
  return kymo_counts_number(counts, KYMO_COUNTS_SUM, KYMO_COUNT_OVERWRITES) ? "overwrite" : "discard";
}

/* ---- between two readings ---- */

static double seconds_between(const struct kymo_ring_counters *before, const struct kymo_ring_counters *now) {
  double s =
      (double)(now->at.tv_sec - before->at.tv_sec) + (double)(now->at.tv_nsec - before->at.tv_nsec) / 1e9;
  return s > 0 ? s : 1e-9;
}

struct rates {
  double events, lost;
};

static struct rates rates_of(const struct kymo_counter_row *before, const struct kymo_counter_row *now,
                             double seconds) {
  return (struct rates){(double)(now->events - before->events) / seconds,
                        (double)(now->lost - before->lost) / seconds};
}

static const struct kymo_counter_row *row_before(const struct kymo_ring_counters *before, uint32_t index) {
  static const struct kymo_counter_row none;
  return index < before->count ? &before->rows[index] : &none;
}

static bool has_recorded(const struct kymo_counter_row *row) { return row->events || row->lost; }

/* ---- a table ---- */

static const struct kymo_column columns[] = {
    {"TID", 7, 0, KYMO_CELL_NUMBER},     {.title = "THREAD", .kind = KYMO_CELL_NAME},
    {"EVENTS", 12, 0, KYMO_CELL_NUMBER}, {"EVENTS/S", 10, 0, KYMO_CELL_NUMBER},
    {"LOST", 10, 0, KYMO_CELL_NUMBER},   {"LOST/S", 8, 1, KYMO_CELL_NUMBER},
    {"BUFFER", 6, 0, KYMO_CELL_NUMBER},
};
enum { COLUMNS = sizeof columns / sizeof *columns, THREAD_WIDTH = 15, CELL_MAX = 4 * 17 + 1 };

/* A thread's name without control characters that a terminal obeys. */
static void make_safe(const char *name, char out[CELL_MAX]) {
  size_t length = 0;
  for (out[0] = 0; *name && length + 4 < CELL_MAX; name++) {
    bool is_control = (unsigned char)*name < ' ' || *name == 127;
    length += (size_t)snprintf(out + length, CELL_MAX - length, is_control ? "\\x%02x" : "%c",
                               (unsigned char)*name);
  }
}

static void add_row(struct kymo_strbuf *out, const struct kymo_table *table,
                    const struct kymo_counter_row *row, struct rates rates) {
  char texts[COLUMNS][CELL_MAX] = {""};
  const char *cells[COLUMNS];
  if (row->tid)
    snprintf(texts[0], sizeof texts[0], "%d", row->tid);
  make_safe(row->name, texts[1]);
  snprintf(texts[2], sizeof texts[2], "%" PRIu64, row->events);
  snprintf(texts[3], sizeof texts[3], "%.0f", rates.events);
  snprintf(texts[4], sizeof texts[4], "%" PRIu64, row->lost);
  snprintf(texts[5], sizeof texts[5], "%.0f", rates.lost);
  snprintf(texts[6], sizeof texts[6], "%.0f%%",
           row->room_bytes ? 100.0 * (double)row->used_bytes / (double)row->room_bytes : 0.0);
  for (size_t i = 0; i < COLUMNS; i++)
    cells[i] = texts[i];
  kymo_table_row(table, cells, out);
}

void kymo_ring_counters_table(struct kymo_strbuf *out, const struct kymo_ring_counters *before,
                              const struct kymo_ring_counters *now, int width, size_t rows) {
  struct kymo_table table;
  double seconds = seconds_between(before, now);
  size_t shown = 0;
  kymo_table_begin(&table, columns, COLUMNS, THREAD_WIDTH, width);
  kymo_table_head(&table, out);
  for (uint32_t i = 0; i < now->count && shown < rows; i++)
    if (has_recorded(&now->rows[i])) {
      add_row(out, &table, &now->rows[i], rates_of(row_before(before, i), &now->rows[i], seconds));
      shown++;
    }
  struct kymo_counter_row all = now->sum;
  memcpy(all.name, "all", sizeof "all");
  add_row(out, &table, &all, rates_of(&before->sum, &now->sum, seconds));
  if (now->refused_threads)
    kymo_strbuf_printf(out, "%" PRIu64 " threads have no ring\n", now->refused_threads);
}

/* ---- JSON ---- */

static void add_text(struct kymo_strbuf *out, const char *text) {
  kymo_strbuf_puts(out, "\"");
  for (; *text; text++) /* names are bytes; each one beyond ASCII counts as a character */
    if ((unsigned char)*text < ' ' || *text == '"' || *text == '\\' || (unsigned char)*text >= 127)
      kymo_strbuf_printf(out, "\\u%04x", (unsigned char)*text);
    else
      kymo_strbuf_add(out, text, 1);
  kymo_strbuf_puts(out, "\"");
}

static void add_numbers(struct kymo_strbuf *out, const struct kymo_counter_row *row, struct rates rates) {
  kymo_strbuf_printf(out,
                     "\"events\":%" PRIu64 ",\"events_per_second\":%.1f,\"lost\":%" PRIu64
                     ",\"lost_per_second\":%.1f,\"lost_large\":%" PRIu64 ",\"lost_nested\":%" PRIu64
                     ",\"overwritten\":%" PRIu64 ",\"buffer_used_bytes\":%" PRIu64
                     ",\"buffer_bytes\":%" PRIu64,
                     row->events, rates.events, row->lost, rates.lost, row->lost_large, row->lost_nested,
                     row->overwritten, row->used_bytes, row->room_bytes);
}

void kymo_ring_counters_json(struct kymo_strbuf *out, int pid, const struct kymo_counts *counts,
                             const struct kymo_ring_counters *before, const struct kymo_ring_counters *now) {
  double seconds = seconds_between(before, now);
  const char *gap = "";
  kymo_strbuf_printf(out, "{\"pid\":%d,\"program\":", pid);
  add_text(out, kymo_counts_name(counts, KYMO_COUNTS_SUM));
  kymo_strbuf_printf(out, ",\"mode\":\"%s\",\"seconds\":%.6f,", kymo_ring_counters_mode(counts), seconds);
  add_numbers(out, &now->sum, rates_of(&before->sum, &now->sum, seconds));
  kymo_strbuf_printf(out, ",\"threads_without_ring\":%" PRIu64 ",\"threads\":[", now->refused_threads);
  for (uint32_t i = 0; i < now->count; i++) {
    const struct kymo_counter_row *row = &now->rows[i];
    if (!has_recorded(row))
      continue;
    kymo_strbuf_printf(out, "%s{\"tid\":%d,\"name\":", gap, row->tid);
    add_text(out, row->name);
    kymo_strbuf_puts(out, ",");
    add_numbers(out, row, rates_of(row_before(before, i), row, seconds));
    kymo_strbuf_puts(out, "}");
    gap = ",";
  }
  kymo_strbuf_puts(out, "]}\n");
}
