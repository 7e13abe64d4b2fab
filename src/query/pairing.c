/* SPDX-License-Identifier: MIT */
#include "query/pairing.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/list.h"
#include "query/json.h"
#include "stat/opened.h"
#include "stat/pairs.h"
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* ---- what is kept of begins ---- */

static uint32_t new_begun(struct query_pairing *pairing) {
  uint32_t index = pairing->free_begun;
  if (index != NONE) {
    pairing->free_begun = pairing->begun[index].next_free;
  } else {
    if (!KYMO_LIST_ROOM(pairing->begun, pairing->begun_capacity, pairing->begun_count))
      return NONE;
    index = pairing->begun_count++;
    pairing->begun[index] = (struct query_begun){0};
  }
  struct query_begun *begun = &pairing->begun[index];
  *begun = (struct query_begun){.fields = begun->fields, .room = begun->room, .next_free = NONE};
  return index;
}

/* The space of the fields is used again. */
static void clear_begun(struct query_begun *begun) {
  free(begun->key_text);
  begun->key_text = NULL;
}

static bool keep_fields(struct query_pairing *pairing, struct query_begun *begun,
                        const struct kymo_event *event) {
  struct kymo_strbuf *text = &pairing->reader->text;
  if (!pairing->wants_fields)
    return true;
  query_json_scope(pairing->reader, event, KYMO_SCOPE_PAYLOAD);
  if (text->failed)
    return false;
  if (begun->room < text->length) {
    free(begun->fields);
    begun->fields = malloc(text->length);
    begun->room = begun->fields ? text->length : 0;
  }
  begun->length = text->length;
  if (begun->fields)
    memcpy(begun->fields, text->text, text->length);
  return begun->fields;
}

static bool keep_key(struct query_pairing *pairing, struct query_begun *begun,
                     const struct kymo_event *event) {
  char text[512];
  size_t length;
  if (!pairing->has_key)
    return true;
  begun->has_key = true;
  if (kymo_grouping_integer(&pairing->key, event, &begun->key))
    return true;
  uint32_t field = kymo_field_id(pairing->reader->trace, event->class_, pairing->key.by);
  begun->is_text_key = true;
  int status = kymo_event_format_field(event, field, text, sizeof text, &length);
  begun->has_key = status == KYMO_OK || status == KYMO_E_RANGE;
  begun->key_text = begun->has_key ? strdup(text) : NULL;
  return begun->key_text || !begun->has_key;
}

/* ---- begins and ends ---- */

/* The key of an edge: its thread and kind, and the value of the key. KYMO_E_ABSENT: it belongs to no pair. */
static int key_of(struct query_pairing *pairing, const struct kymo_event *event, struct kymo_span_key *key) {
  uint64_t number;
  key->key = pairing->edges.kinds[kymo_kind_of(event)];
  int status = event->has_time ? kymo_grouping_number(&pairing->thread, event, &key->thread) : KYMO_E_ABSENT;
  if (status == KYMO_OK && pairing->is_apart)
    key->thread = kymo_keyed_pair(key->thread, event->packet->stream->part->index);
  if (status != KYMO_OK || !pairing->has_key)
    return status;
  status = kymo_grouping_number(&pairing->key, event, &number);
  key->key = kymo_keyed_pair(key->key, number);
  return status;
}

static const struct query_span_name *name_of(struct query_pairing *pairing, const struct kymo_event *event) {
  struct query_span_name *name = &pairing->names[kymo_kind_of(event)];
  if (!name->name)
    name->name = kymo_edges_kind_name(event->class_, &name->length);
  return name;
}

static int begin_span(struct query_pairing *pairing, struct kymo_span_key key, const struct kymo_event *event,
                      struct kymo_error *error) {
  uint32_t index = new_begun(pairing);
  struct kymo_span *span = index == NONE ? NULL : kymo_spans_begin(&pairing->spans, key);
  if (!span)
    return no_memory(error);
  struct query_begun *begun = &pairing->begun[index];
  span->begin_ns = event->time_ns;
  span->begin_number = event->number;
  span->track = index;
  kymo_opened_note(span, &pairing->reader->whos, event);
  span->stream = kymo_gaps_slot(&pairing->gaps, event);
  span->loss = pairing->gaps.counts[span->stream];
  begun->depth = span->outer ? pairing->begun[span->outer->track].depth + 1 : 0;
  begun->part = event->packet->stream->part->index;
  begun->name = name_of(pairing, event)->name;
  begun->name_length = name_of(pairing, event)->length;
  return keep_fields(pairing, begun, event) && keep_key(pairing, begun, event) ? KYMO_OK : no_memory(error);
}

/* Takes one event: whether a span has ended. */
static int take_event(struct query_pairing *pairing, const struct kymo_event *event, bool *has_ended,
                      struct kymo_error *error) {
  uint32_t number = kymo_kind_of(event);
  struct kymo_span_key key;
  if (event->is_damaged)
    kymo_gaps_damage(&pairing->gaps, event);
  if (!pairing->edges.kinds[number])
    return KYMO_OK;
  int status = key_of(pairing, event, &key);
  if (status != KYMO_OK)
    return status == KYMO_E_ABSENT ? KYMO_OK : no_memory(error);
  if (!(pairing->edges.roles[number] & KYMO_PAIR_ENDS))
    return begin_span(pairing, key, event, error);
  struct kymo_span *span = kymo_spans_find(&pairing->spans, key);
  if (!span && pairing->has_key)
    span = kymo_spans_find_elsewhere(&pairing->spans, key.key);
  if (!span)
    return KYMO_OK;
  pairing->span = span;
  pairing->end_ns = event->time_ns;
  pairing->state = pairing->gaps.counts[span->stream] == span->loss ? QUERY_SPAN_COMPLETE : QUERY_SPAN_LOST;
  *has_ended = true;
  return KYMO_OK;
}

/* ---- the end of the trace ---- */

static bool list_open(void *user, struct kymo_span *span) {
  struct query_pairing *pairing = user;
  pairing->has_failed = !KYMO_LIST_ROOM(pairing->open, pairing->open_capacity, pairing->open_count);
  if (!pairing->has_failed)
    pairing->open[pairing->open_count++] = span;
  return !pairing->has_failed;
}

static int by_begin(const void *a, const void *b) {
  const struct kymo_span *one = *(struct kymo_span *const *)a, *other = *(struct kymo_span *const *)b;
  return one->begin_number < other->begin_number ? -1 : one->begin_number > other->begin_number;
}

static int find_open(struct query_pairing *pairing, struct kymo_error *error) {
  kymo_spans_each(&pairing->spans, list_open, pairing);
  if (pairing->open_count)
    qsort(pairing->open, pairing->open_count, sizeof *pairing->open, by_begin);
  return pairing->has_failed ? no_memory(error) : KYMO_OK;
}

static void next_open(struct query_pairing *pairing) {
  bool is_more = pairing->open_next < pairing->open_count;
  pairing->span = is_more ? pairing->open[pairing->open_next++] : NULL;
  if (is_more)
    pairing->state = pairing->gaps.counts[pairing->span->stream] == pairing->span->loss ? QUERY_SPAN_OPEN
                                                                                        : QUERY_SPAN_LOST;
}

/* ---- spans ---- */

/* The span that was returned is over. */
static void drop_span(struct query_pairing *pairing) {
  struct query_begun *begun = &pairing->begun[pairing->span->track];
  clear_begun(begun);
  begun->next_free = pairing->free_begun;
  pairing->free_begun = pairing->span->track;
  kymo_spans_end(&pairing->spans, pairing->span);
  pairing->span = NULL;
}

int query_pairing_next(struct query_pairing *pairing, struct kymo_error *error) {
  const struct kymo_event *event;
  bool has_ended = false;
  int status = KYMO_OK;
  if (pairing->is_through) {
    next_open(pairing);
    return KYMO_OK;
  }
  if (pairing->span)
    drop_span(pairing);
  while (!has_ended && (status = query_reader_next(pairing->reader, &event, error)) == KYMO_OK) {
    status = take_event(pairing, event, &has_ended, error);
    if (status < 0)
      return status;
  }
  if (has_ended || status < 0)
    return status < 0 ? status : KYMO_OK;
  pairing->is_through = true;
  status = find_open(pairing, error);
  if (status == KYMO_OK)
    next_open(pairing);
  return status;
}

/* ---- life ---- */

int query_pairing_begin(struct query_pairing *pairing, struct query_source *source,
                        const struct query_pairing_options *options, struct kymo_error *error) {
  struct query_window all = {.begin_ns = INT64_MIN, .end_ns = INT64_MAX};
  size_t count;
  *pairing = (struct query_pairing){.free_begun = NONE,
                                    .wants_fields = options->wants_fields,
                                    .has_key = options->key,
                                    .is_apart = options->is_apart};
  int status = query_reader_take(&pairing->reader, source, error);
  if (status < 0)
    return status;
  struct kymo_whos *whos = &pairing->reader->whos;
  struct kymo_trace *trace = pairing->reader->trace;
  pairing->spans.is_nested = true;
  pairing->spans.crosses_threads = pairing->has_key;
  status = kymo_edges_begin(&pairing->edges, trace, &whos->numbers, error);
  if (status == KYMO_OK && kymo_edges_add_spans(&pairing->edges, &count) != KYMO_OK)
    status = no_memory(error);
  pairing->names = calloc(whos->numbers.class_count + 1u, sizeof *pairing->names);
  if (status == KYMO_OK && !pairing->names)
    status = no_memory(error);
  if (status == KYMO_OK)
    status = kymo_gaps_begin(&pairing->gaps, trace, whos, error);
  if (status == KYMO_OK)
    status = kymo_grouping_begin(&pairing->thread, "track", trace, whos, error);
  if (status == KYMO_OK && pairing->has_key)
    status = kymo_grouping_begin(&pairing->key, options->key, trace, whos, error);
  if (status == KYMO_OK)
    kymo_trace_set_loss_handler(trace, kymo_gaps_take, &pairing->gaps);
  if (status == KYMO_OK)
    status = query_reader_begin(pairing->reader, &all, error);
  return status == KYMO_OK ? query_pairing_next(pairing, error) : status;
}

void query_pairing_end(struct query_pairing *pairing) {
  if (pairing->reader)
    kymo_trace_set_loss_handler(pairing->reader->trace, NULL, NULL);
  kymo_edges_end(&pairing->edges);
  kymo_gaps_end(&pairing->gaps);
  kymo_grouping_end(&pairing->thread);
  kymo_grouping_end(&pairing->key);
  kymo_spans_free(&pairing->spans);
  for (uint32_t i = 0; i < pairing->begun_count; i++) {
    clear_begun(&pairing->begun[i]);
    free(pairing->begun[i].fields);
  }
  free(pairing->names);
  free(pairing->begun);
  free(pairing->open);
  query_reader_give_back(pairing->reader);
  *pairing = (struct query_pairing){.free_begun = NONE};
}
