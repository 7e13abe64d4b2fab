/* SPDX-License-Identifier: MIT */
/* Fields of records of perf.data, and the steps that store them, in the same order. */
#ifndef KYMO_FORMAT_PERF_FIELDS_H
#define KYMO_FORMAT_PERF_FIELDS_H

#include "format/perf/schema.h"
#include "schema/build.h"

#define PERF_FIELDS_MAX 64

struct perf_fields {
  struct kymo_builder *builder;
  enum kymo_byte_order order;
  enum kymo_scope scope;
  struct kymo_member members[PERF_FIELDS_MAX];
  struct perf_step steps[PERF_FIELDS_MAX];
  uint32_t count, step_count;
};

/* The fields of a sample. is_trace: its raw data is the record of a tracepoint. */
void kymo_perf_sample_fields(struct perf_fields *fields, const struct perf_attr *attr, bool is_trace);
/* The fields of a record of the kernel of this kind, and its name; NULL: there is no such kind, or it is not
 * described. */
const char *kymo_perf_kind_fields(struct perf_fields *fields, unsigned kind);

#endif
