/* SPDX-License-Identifier: MIT */
/* Tables as VPP's cpelatency and cpelstate print them. */
#include "stat/vpp.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *order_text(const struct kymo_report *report, bool is_state) {
  switch (report->order) {
  case KYMO_ORDER_COUNT: return "max occurrences of state.";
  case KYMO_ORDER_NAME: return is_state ? "process-id/name/thread ID" : "process name, thread ID, PID";
  case KYMO_ORDER_MEAN: return "mean time in state.";
  case KYMO_ORDER_MOST: return "longest time in state.";
  default: return "max time in state.";
  }
}

static void put_row(const struct kymo_report *report, const struct kymo_stat_group *group, int width) {
  const struct kymo_samples *samples = &group->samples;
  kymo_report_put(report, "%-*s %10.3f +- %10.3f%12.3f%8" PRIu64 "\n", width, group->name,
                  samples->mean / 1000, kymo_samples_deviation(samples) / 1000, samples->total / 1000,
                  samples->count);
}

static void put_sum(const struct kymo_report *report, const struct kymo_vpp *vpp, double total,
                    uint64_t count) {
  kymo_report_put(report, "\nNote: the following statistics %s kernel-thread activity.\n",
                  report->with_kernel ? "include" : "exclude");
  if (report->prefix)
    kymo_report_put(report, "Note: only pid/proc/threads matching '%s' are included.\n", report->prefix);
  kymo_report_put(
      report, "%s: %10.3f (us), Total state %s: %" PRIu64 "\nAverage time in state: %10.3f (us)\n",
      vpp->is_state ? "Total runtime" : "Total time in state", total / 1000,
      vpp->is_state ? "switches" : "occurrences", count, count ? total / (double)count / 1000 : 0);
  if (!vpp->is_state)
    kymo_report_put(report, "State start event: %s, state end event: %s\n", vpp->from, vpp->to);
}

int kymo_report_vpp(const struct kymo_report *report, const struct kymo_groups *groups,
                    const struct kymo_samples *all, const struct kymo_vpp *vpp) {
  size_t count;
  struct kymo_stat_group **list = kymo_report_list(report, groups, &count);
  int width = vpp->is_state ? 18 : 20;
  if (!list)
    return KYMO_E_MEMORY;
  count = kymo_report_rows(report, count, groups->merged);
  for (size_t i = 0; i < count; i++)
    width = (int)strlen(list[i]->name) > width ? (int)strlen(list[i]->name) : width;
  kymo_report_put(report, "Results sorted by %s\n%s%-*s   Mean(us)     Stdev(us)   Total(us)      N\n",
                  order_text(report, vpp->is_state), vpp->is_state ? "" : "\n", width,
                  vpp->is_state ? "ProcThread" : "ProcName Thread(PID)");
  for (size_t i = 0; i < count; i++)
    put_row(report, list[i], width);
  put_sum(report, vpp, all->total, all->count);
  free(list);
  return KYMO_OK;
}
