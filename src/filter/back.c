/* SPDX-License-Identifier: MIT */
/*
 * Going back by a filter. One without a memory asks about each event on the way back. One with a memory goes
 * over all events from the start once, and notes which ones it selects, so that it knows where to go:
 *
 *   events     1   2   3   4   5   6          a comes after the event that closed the activity
 *   selected       x       x a         x
 *   backwards  ───────────────────────────►  6, a, 4, 2
 *
 * An added event is made again by going over the events up to the one that closed the activity.
 */
#include "base/fail.h"
#include "base/list.h"
#include "base/search.h"
#include "filter/activity.h"
#include "filter/machine.h"
#include <stdlib.h>

struct added {
  uint64_t number, count;
};

struct filter_record {
  uint8_t *bits; /* by number, for numbers up to `known` */
  uint64_t known;
  uint64_t capacity;   /* the numbers that have bits */
  struct added *added; /* events that have added selected events, in order */
  size_t added_count, added_capacity;
};

/* ---- what was selected ---- */

void kymo_filter_record_free(struct filter_record *record) {
  if (!record)
    return;
  free(record->bits);
  free(record->added);
  free(record);
}

bool kymo_filter_record_note(struct filter_record *record, uint64_t number, bool is_selected,
                             uint64_t added) {
  if (number <= record->known || number >= record->capacity)
    return true;
  if (is_selected)
    record->bits[number / 8] |= (uint8_t)(1 << number % 8);
  if (!added)
    return true;
  if (!KYMO_LIST_ROOM(record->added, record->added_capacity, record->added_count))
    return false;
  record->added[record->added_count++] = (struct added){number, added};
  return true;
}

static bool is_selected(const struct filter_record *record, uint64_t number) {
  return record->bits[number / 8] >> number % 8 & 1;
}

/* The number of selected events that this one has added. */
static uint64_t added_by(const struct filter_record *record, uint64_t number) {
  size_t at = KYMO_COUNT_BEFORE(record->added_count, i, record->added[i].number < number);
  return at < record->added_count && record->added[at].number == number ? record->added[at].count : 0;
}

/* The last event up to `last` that is selected or has added a selected one; 0: none. */
static uint64_t find_last(const struct filter_record *record, uint64_t last) {
  while (last > 0) {
    if (last % 8 == 7 && !record->bits[last / 8] && (!record->added_count || record->added[0].number > last))
      last = last >= 8 ? last - 8 : 0;
    else if (is_selected(record, last) || added_by(record, last))
      return last;
    else
      last--;
  }
  return 0;
}

/* Determines which events up to `last` are selected. */
static int know(struct filter_machine *machine, uint64_t last, struct kymo_error *error) {
  struct filter_record *record = machine->record ? machine->record : calloc(1, sizeof *record);
  machine->record = record;
  if (record && last <= record->known)
    return KYMO_OK;
  size_t size = (size_t)(last / 8 + 1), had = record ? (size_t)((record->capacity + 7) / 8) : 0;
  uint8_t *bits = record ? realloc(record->bits, size) : NULL;
  if (!bits)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (size > had)
    memset(bits + had, 0, size - had);
  record->bits = bits;
  record->capacity = last + 1;
  int status = kymo_filter_replay(machine, last, false, error);
  if (status == KYMO_OK)
    record->known = last;
  return status;
}

/* ---- moving ---- */

/* Where to look from: the last event that may be returned, and how many of those that it has added. */
struct from {
  uint64_t number, added;
};

static int find_from(struct filter_machine *machine, struct from *from, struct kymo_error *error) {
  struct kymo_trace *trace = machine->trace;
  bool is_here = kymo_filter_is_here(machine);
  *from = (struct from){trace->number - (trace->number > 0 && !trace->is_at_end), UINT64_MAX};
  if (trace->number >= KYMO_NUMBER_RELATIVE) {
    const struct kymo_event *event;
    int status = kymo_trace_previous(trace, &event, error);
    return status == KYMO_OK ? kymo_trace_get_number(trace, event, &from->number, error) : status;
  }
  if (is_here && !trace->is_at_end && (machine->is_ended || machine->added_given))
    *from = (struct from){trace->number, machine->added_given - !machine->is_ended};
  return KYMO_OK;
}

/* Moves to the event with this number. Those that it has added are made again; `wanted` of them are
 * returned. */
static int go(struct filter_machine *machine, uint64_t number, uint64_t wanted,
              const struct kymo_event **event, struct kymo_error *error) {
  struct kymo_trace *trace = machine->trace;
  int64_t distance = (int64_t)(number - trace->number) - trace->is_at_end;
  int status = kymo_trace_skip(trace, distance, event, error);
  if (status != KYMO_OK || !added_by(machine->record, number))
    return status;
  status = kymo_filter_replay(machine, number, true, error);
  kymo_filter_leave(machine, status == KYMO_OK);
  for (uint64_t i = 0; i < wanted && status == KYMO_OK; i++)
    if (!kymo_filter_give_added(machine, event))
      status = machine->failed ? kymo_filter_failure(machine, error) : KYMO_E_FORMAT;
  return status;
}

static int previous_with_memory(struct filter_machine *machine, const struct kymo_event **event,
                                struct kymo_error *error) {
  struct from from;
  int status = find_from(machine, &from, error);
  machine->is_ended = false;
  if (status == KYMO_OK)
    status = know(machine, from.number, error);
  if (status != KYMO_OK)
    return status;
  const struct filter_record *record = machine->record;
  uint64_t number = find_last(record, from.number);
  uint64_t added = number ? added_by(record, number) : 0;
  if (number == from.number && number && added > from.added)
    added = from.added;
  /* all events that it has added come after the current place */
  if (number && !added && !is_selected(record, number)) {
    number = find_last(record, number - 1);
    added = number ? added_by(record, number) : 0;
  }
  if (number)
    return go(machine, number, added, event, error);
  return kymo_trace_rewind(machine->trace), KYMO_END;
}

static int previous_alone(struct filter_machine *machine, const struct kymo_event **event,
                          struct kymo_error *error) {
  uint64_t number;
  for (;;) {
    int status = kymo_trace_previous(machine->trace, event, error);
    if (status == KYMO_OK && machine->filter->counts)
      status = kymo_trace_get_number(machine->trace, *event, &number, error);
    machine->stamp++;
    if (status != KYMO_OK || kymo_filter_selects(machine, *event))
      return status;
    if (machine->failed)
      return kymo_filter_failure(machine, error);
  }
}

int kymo_trace_previous_filtered(struct kymo_trace *trace, const struct kymo_event **event,
                                 struct kymo_error *error) {
  struct filter_machine *machine = trace->filter;
  if (!machine || trace->follow)
    return kymo_trace_previous(trace, event, error);
  *event = NULL;
  int status = kymo_filter_prepare(machine, error);
  if (status == KYMO_OK)
    status = machine->filter->remembers || machine->filter->first
                 ? previous_with_memory(machine, event, error)
                 : previous_alone(machine, event, error);
  if (status != KYMO_OK)
    *event = NULL;
  return status;
}
