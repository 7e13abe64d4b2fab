/* SPDX-License-Identifier: MIT */
/* Shared by the files of merging by a description. */
#ifndef KYMO_RECORDS_DESCRIBED_H
#define KYMO_RECORDS_DESCRIBED_H

#include "plan/fast.h"

/* Sort keys of records, the first one first: a field, the record's time, its number. */
enum records_by { RECORDS_BY_FIELD, RECORDS_BY_TIME, RECORDS_BY_SEQUENCE };
struct records_field {
  enum records_by by;
  const char *name;
  size_t length;
};

struct records_description {
  const char *name; /* the file, or its name */
  struct kymo_plan *plan;
  uint32_t step; /* of the layout: whose records are merged; those before it make up the head */
  struct records_field *fields;
  size_t field_count;
  uint32_t *columns;           /* [kind × field_count + field]: a column, or NONE */
  bool has_low;                /* only the lowest bits of times are stored, relative to the last time */
  struct kymo_fast_path *fast; /* fast path, for records of one plain kind ordered by numbers; or NULL */
  uint32_t *slots;             /* by field, in the fast path */
  const struct kymo_plan_machine *first; /* of the first file that has a head, after it */
};

/* Finds description->step. KYMO_OK, or negative with the error: what would be lost if records of such files
 * were moved to another place. */
int kymo_records_can_move(struct records_description *description, struct kymo_error *error);

#endif
