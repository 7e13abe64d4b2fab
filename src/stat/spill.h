/* SPDX-License-Identifier: MIT */
/*
 * Groups that do not fit into memory: what was measured is written to a temporary file, ordered by key, and
 * starts anew. In the end all such runs are merged, so each group is whole, and the first ones in the
 * report's order are kept.
 *
 *   groups ── full ──► run 1, run 2, … ── merge by key ──► whole groups ──► the `top` first ones, and the sum
 *   of all
 */
#ifndef KYMO_STAT_SPILL_H
#define KYMO_STAT_SPILL_H

#include "span/spans.h"
#include "stat/report.h"

#define KYMO_SPILL_BYTES ((size_t)256 << 20) /* of groups, if nothing else is said */
#define KYMO_SPILL_TOP 10000                 /* groups that are kept of those that were spilled, likewise */

/* Shows all pointers to groups that the owner holds. */
typedef void kymo_group_visit(struct kymo_stat_group **group);
typedef void kymo_groups_owner(void *user, kymo_group_visit *visit);
/* Visits the groups that own open spans. */
void kymo_groups_visit_spans(const struct kymo_spans *spans, kymo_group_visit *visit);

/* Whether the groups take more memory than they may. */
static inline bool kymo_groups_are_full(const struct kymo_groups *groups) {
  return groups->bytes_limit && groups->bytes > groups->bytes_limit;
}
/* Writes a run. Groups that the owner points to stay, with nothing measured, at another place: its pointers
 * are replaced. KYMO_E_MEMORY, KYMO_E_SYSTEM with the error. */
int kymo_groups_spill(struct kymo_groups *groups, kymo_groups_owner *owner, void *user,
                      struct kymo_error *error);
/* Nothing more is measured: makes the groups whole, if there are runs, and sums up in `all` (to be freed by
 * kymo_samples_free) those that the report wants. Then the owner's pointers are for names only. */
int kymo_groups_settle(struct kymo_groups *groups, const struct kymo_report *report, struct kymo_samples *all,
                       struct kymo_error *error);

#endif
