/* SPDX-License-Identifier: MIT */
/*
 * Groups that do not fit into memory: the measurements are written to a temporary file, ordered by key, and
 * begin again. At the end all such runs are merged, so each group is complete, and the first ones in the
 * report's order are kept.
 *
 *   groups ── full ──► run 1, run 2, … ── merge by key ──► whole groups ──► the `top` first ones, and the sum
 *   of all
 */
#ifndef KYMO_STAT_SPILL_H
#define KYMO_STAT_SPILL_H

#include "span/spans.h"
#include "stat/report.h"

#define KYMO_SPILL_BYTES ((size_t)256 << 20) /* of groups, by default */
#define KYMO_SPILL_TOP 10000                 /* default number of kept groups among those that were spilled */

/* Visits all pointers to groups that the owner has. */
typedef void kymo_group_visit(struct kymo_stat_group **group);
typedef void kymo_groups_owner(void *user, kymo_group_visit *visit);
/* Visits the groups that own open spans. */
void kymo_groups_visit_spans(const struct kymo_spans *spans, kymo_group_visit *visit);

/* Whether the groups exceed their memory limit. */
static inline bool kymo_groups_are_full(const struct kymo_groups *groups) {
  return groups->bytes_limit && groups->bytes > groups->bytes_limit;
}
/* Writes a run. Groups that the owner points to stay, without measurements, at another place: its pointers
 * are replaced. KYMO_E_MEMORY, KYMO_E_SYSTEM with the error. */
int kymo_groups_spill(struct kymo_groups *groups, kymo_groups_owner *owner, void *user,
                      struct kymo_error *error);
/* Nothing more is measured: completes the groups, if there are runs, and sums up in `all` (to be freed by
 * kymo_samples_free) those that the report wants. Then the owner's pointers are only valid for names. */
int kymo_groups_settle(struct kymo_groups *groups, const struct kymo_report *report, struct kymo_samples *all,
                       struct kymo_error *error);

#endif
