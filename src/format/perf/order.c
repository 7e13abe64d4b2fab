/* SPDX-License-Identifier: MIT */
#include "format/perf/order.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/search.h"
#include <stdlib.h>
#include <string.h>

void kymo_perf_order_begin(struct perf_order *order, const struct perf_file *file, const uint8_t *data) {
  *order = (struct perf_order){.file = file};
  kymo_perf_records_begin(&order->records, file, data);
}

void kymo_perf_order_end(struct perf_order *order) {
  kymo_perf_records_end(&order->records);
  free(order->entries);
  free(order->spare);
}

/* ---- sorting ---- */

/* The end of the run of entries in order that begins at `at`. */
static size_t run_end(const struct perf_order *order, size_t at) {
  const struct perf_entry *entries = order->entries;
  for (at++; at < order->count && entries[at - 1].time <= entries[at].time;)
    at++;
  return at < order->count ? at : order->count;
}

/* Merges two neighbouring runs to `to`; of equal times, those of the first one come first. */
static void merge(const struct perf_entry *from, size_t begin, size_t middle, size_t end,
                  struct perf_entry *to) {
  size_t a = begin, b = middle;
  for (size_t i = begin; i < end; i++)
    to[i] = b == end || (a < middle && from[a].time <= from[b].time) ? from[a++] : from[b++];
}

/* Merges pairs of runs until there is one: there are few, since each CPU's records are in order. */
static bool sort(struct perf_order *order) {
  for (size_t first; order->count && (first = run_end(order, 0)) < order->count;) {
    if (!KYMO_LIST_RESERVE(order->spare, order->spare_capacity, order->count))
      return false;
    for (size_t begin = 0; begin < order->count;) {
      size_t middle = begin ? run_end(order, begin) : first;
      size_t end = middle < order->count ? run_end(order, middle) : middle;
      merge(order->entries, begin, middle, end, order->spare);
      begin = end;
    }
    struct perf_entry *entries = order->entries;
    size_t capacity = order->capacity;
    order->entries = order->spare;
    order->capacity = order->spare_capacity;
    order->spare = entries;
    order->spare_capacity = capacity;
  }
  return true;
}

/* ---- windows ---- */

static bool add(struct perf_order *order, const struct perf_record *record) {
  struct perf_place place;
  if (!KYMO_LIST_ROOM(order->entries, order->capacity, order->count))
    return false;
  kymo_perf_locate(order->file, record, &place);
  order->entries[order->count++] = (struct perf_entry){.time = place.time ? place.time : order->limit,
                                                       .data = record->data,
                                                       .at = record->at,
                                                       .attr = place.attr,
                                                       .is_timed = place.time != 0};
  order->latest = place.time > order->latest ? place.time : order->latest;
  return true;
}

/* Records up to the limit are ready. */
static bool end_round(struct perf_order *order, uint64_t limit) {
  if (!sort(order))
    return false;
  order->limit = limit;
  order->ready = KYMO_COUNT_BEFORE(order->count, i, order->entries[i].time <= limit);
  order->before = order->latest;
  order->records.round++;
  return true;
}

static void forget_taken(struct perf_order *order) {
  size_t rest = order->count - order->next;
  if (order->next && rest)
    memmove(order->entries, order->entries + order->next, rest * sizeof *order->entries);
  order->count = rest;
  order->next = order->ready = 0;
}

int kymo_perf_order_fill(struct perf_order *order, struct kymo_error *error) {
  forget_taken(order);
  if (order->records.round)
    kymo_perf_records_forget(&order->records, order->records.round - 1);
  while (order->ready == 0 && !order->is_at_end) {
    struct perf_record record;
    int status = kymo_perf_records_next(&order->records, &record, error);
    bool is_good = true;
    if (status == KYMO_END) {
      order->is_at_end = true;
      is_good = end_round(order, UINT64_MAX);
    } else if (status != KYMO_OK) {
      return status;
    } else if (record.type == PERF_FINISHED_ROUND) {
      is_good = end_round(order, order->before);
    } else if (record.type < PERF_USER || record.type >= PERF_TYPES) {
      is_good = add(order, &record);
    }
    if (!is_good)
      return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  return order->ready ? KYMO_OK : KYMO_END;
}

/* ---- going back ---- */

static bool take_at(struct perf_order *order, uint64_t at) {
  for (size_t i = 0; i < order->ready; i++)
    if (order->entries[i].at == at) {
      order->next = i;
      return true;
    }
  return false;
}

/* The record is in the window that ends with its round, or in the next one. What waits for the first of them
 * is of the round before. */
void kymo_perf_order_seek(struct perf_order *order, const struct perf_round *rounds, uint32_t round_count,
                          uint64_t at) {
  if (take_at(order, at))
    return;
  uint32_t round = KYMO_COUNT_BEFORE(round_count, i, rounds[i].at <= at);
  uint32_t first = round >= 2 ? round - 2 : 0;
  order->count = order->next = order->ready = 0;
  order->is_at_end = false;
  kymo_perf_records_seek(&order->records, rounds[first].at);
  order->latest = order->before = rounds[first].latest;
  order->limit = first > 0 ? rounds[first - 1].latest : 0;
  struct kymo_error error;
  for (int status = KYMO_OK; status == KYMO_OK || status == KYMO_E_FORMAT;) {
    status = kymo_perf_order_fill(order, &error);
    if (status == KYMO_OK && take_at(order, at))
      return;
    order->next = order->ready;
  }
}
