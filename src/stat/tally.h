/* SPDX-License-Identifier: MIT */
/* Events counted by group (kymo stat counts), or values of a field by group (kymo stat histogram). */
#ifndef KYMO_STAT_TALLY_H
#define KYMO_STAT_TALLY_H

#include "base/strbuf.h"
#include "stat/groups.h"
#include <kymo/read.h>

struct kymo_tally {
  struct kymo_grouping by, value; /* begun by the owner; value: of values, which field */
  struct kymo_groups groups;      /* bytes_limit is set by the owner */
  bool is_float;                  /* of values: the field is one (kymo_grouping_is_float) */
  struct kymo_error *error;       /* filled if a temporary file fails */
  bool has_time;                  /* of counts: of all events … */
  int64_t first_ns, last_ns;      /* … the times from where to where */
};

/* Begins `value`; results as of kymo_grouping_begin. */
int kymo_tally_begin_values(struct kymo_tally *tally, const char *field, struct kymo_trace *trace,
                            struct kymo_whos *whos, struct kymo_error *error);
/* Take one event. KYMO_OK, KYMO_E_MEMORY, or KYMO_E_SYSTEM with the error. */
int kymo_tally_count(struct kymo_tally *tally, const struct kymo_event *event);
int kymo_tally_value(struct kymo_tally *tally, const struct kymo_event *event);
/* Counts as bytes, for another process of the same machine that began as this one (tally_bytes.c): adds
 * them to `out` (failure is out->failed), forgets them, and adds bytes to the counts. KYMO_E_MEMORY, or
 * KYMO_E_FORMAT for other bytes, or if the groups need more memory than they may have. */
void kymo_tally_save(const struct kymo_tally *tally, struct kymo_strbuf *out);
void kymo_tally_clear(struct kymo_tally *tally);
int kymo_tally_add(struct kymo_tally *tally, const uint8_t *bytes, size_t size);
/* Ends the groupings, too. */
void kymo_tally_free(struct kymo_tally *tally);

#endif
