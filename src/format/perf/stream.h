/* SPDX-License-Identifier: MIT */
/* The records of perf.data as a stream. */
#ifndef KYMO_FORMAT_PERF_STREAM_H
#define KYMO_FORMAT_PERF_STREAM_H

#include "format/perf/kernel.h"
#include "format/perf/order.h"
#include "format/perf/schema.h"
#include "source/format.h"

/* What the part and its stream share; the last user frees it. */
struct perf_shared {
  struct perf_file file;
  struct perf_tasks tasks;
  struct perf_kernel kernel;
  struct perf_classes classes;
  struct perf_round *rounds;
  uint32_t round_count, round_capacity;
  bool was_packed; /* it has compressed records */
  struct kymo_kernel functions;
  struct kymo_load_map map;
  struct perf_view *views; /* of the load map, those that were asked for recently */
  uint64_t view_count;
  uint32_t users;
};
void kymo_perf_give_up(struct perf_shared *shared);

extern const struct kymo_source_operations kymo_perf_operations, kymo_perf_packed_operations;

#endif
