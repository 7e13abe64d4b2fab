/* SPDX-License-Identifier: MIT */
/*
 * Rows of one table that wait until they are stored together. They are numbers alone, and their steady
 * columns are those of the row before them. So an event is a few loads and stores, whatever its class, and
 * each column is looked at once for many rows.
 */
#ifndef KYMO_FLEET_QUEUE_H
#define KYMO_FLEET_QUEUE_H

#include "decode/decoder.h"
#include "decode/field.h"
#include "decode/load.h"
#include "fleet/block.h"

enum { FLEET_QUEUE_ROWS = 64, FLEET_QUEUE_FIELDS = 8 };

/* The fields of an event class that may wait. */
struct fleet_quick {
  const struct kymo_event_plan *plan; /* of its events; NULL: they may not */
  uint32_t count;
  uint32_t columns[FLEET_QUEUE_FIELDS];
  struct near fields[FLEET_QUEUE_FIELDS + 1]; /* loaded in pairs: of an odd number, the last one twice */
};

struct fleet_queue {
  const struct fleet_quick *quick; /* of the rows */
  uint32_t count, room;            /* rows that wait, and how many may */
  int64_t begin_ns, end_ns;        /* … with times in the day of the row before them, both included */
  uint64_t seqs[FLEET_QUEUE_ROWS], times[FLEET_QUEUE_ROWS];
  uint64_t values[FLEET_QUEUE_FIELDS][FLEET_QUEUE_ROWS];
};

static inline uint64_t fleet_load_near(const struct kymo_event *event, const struct near *near) {
  uint64_t bits = kymo_fast_bits(event->packet->data, kymo_body_bits(event) + near->offset_bits,
                                 near->size_bits, near->is_big);
  return near->is_signed ? (uint64_t)kymo_sign_extend(bits, near->size_bits) : bits;
}

static inline bool fleet_queue_takes(const struct fleet_queue *queue, const struct kymo_event *event) {
  return queue->count < queue->room && queue->quick->plan == event->plan && event->has_time &&
         event->time_ns >= queue->begin_ns && event->time_ns <= queue->end_ns;
}

static inline void fleet_queue_add(struct fleet_queue *queue, const struct kymo_event *event, uint64_t seq) {
  const struct fleet_quick *quick = queue->quick;
  uint32_t row = queue->count++;
  queue->seqs[row] = seq;
  queue->times[row] = (uint64_t)event->time_ns;
  for (uint32_t i = 0; i < quick->count; i += 2) {
    queue->values[i][row] = fleet_load_near(event, &quick->fields[i]);
    queue->values[i + 1][row] = fleet_load_near(event, &quick->fields[i + 1]);
  }
}

#endif
