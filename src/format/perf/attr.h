/* SPDX-License-Identifier: MIT */
/* The events of perf.data, as struct perf_event_attr describes them. */
#ifndef KYMO_FORMAT_PERF_ATTR_H
#define KYMO_FORMAT_PERF_ATTR_H

#include "format/perf/file.h"

#define PERF_ATTR_BYTES 64 /* of its first version, the least */
#define PERF_TRACEPOINT 2  /* perf_attr.type */

/* Adds an event; `at` is where the attr is in the file. */
int kymo_perf_add_attr(struct perf_file *file, const uint8_t *bytes, size_t size, uint64_t at,
                       struct kymo_error *error);
/* Adds ids, of 64 bits each, of an event. */
int kymo_perf_add_ids(struct perf_file *file, uint32_t attr, const uint8_t *bytes, size_t size,
                      struct kymo_error *error);
/* Adds the CPUs of ids, as a record has them. */
int kymo_perf_add_cpus(struct perf_file *file, const uint8_t *record, size_t size, struct kymo_error *error);
/* Names the event of an id, or if there is none, of this index. */
void kymo_perf_name_attr(struct perf_file *file, bool has_id, uint64_t id, uint32_t index, const char *name);
/* Bytes as hexadecimal digits; NULL: out of memory. */
const char *kymo_perf_hex(struct kymo_arena *arena, const uint8_t *bytes, size_t size);

#endif
