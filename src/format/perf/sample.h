/* SPDX-License-Identifier: MIT */
/* Records of perf.data as events in a packet. */
#ifndef KYMO_FORMAT_PERF_SAMPLE_H
#define KYMO_FORMAT_PERF_SAMPLE_H

#include "format/perf/records.h"
#include "format/perf/schema.h"
#include "source/block.h"

/* Which event a record is of, when it was, and where its body ends. */
struct perf_place {
  uint32_t attr; /* PERF_NOWHERE: none, its id is unknown */
  uint32_t end;  /* of the body, in the record */
  uint64_t time; /* 0: none */
  uint64_t id;   /* by which the event was looked for */
};
void kymo_perf_locate(const struct perf_file *file, const struct perf_record *record, struct perf_place *out);

/* Adds the contexts but the common one, and the payload, of a record. KYMO_OK, KYMO_E_FORMAT, KYMO_E_MEMORY;
 * after a failure the packet has some bytes of it. */
int kymo_perf_put(struct kymo_block *packet, const struct perf_file *file, const struct perf_class *class_,
                  const struct perf_record *record, uint32_t end, struct kymo_error *error);

#endif
