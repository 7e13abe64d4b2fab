/* SPDX-License-Identifier: MIT */
#include "stat/tally.h"
#include "stat/spill.h"

/* There are no pointers to its groups. */
static void visit_none(void *user, kymo_group_visit *visit) {
  (void)user;
  (void)visit;
}

static int find(struct kymo_tally *tally, const struct kymo_event *event, struct kymo_stat_group **group) {
  int status = kymo_groups_are_full(&tally->groups)
                   ? kymo_groups_spill(&tally->groups, visit_none, NULL, tally->error)
                   : KYMO_OK;
  return status == KYMO_OK ? kymo_grouping_find(&tally->by, &tally->groups, event, group) : status;
}

int kymo_tally_count(struct kymo_tally *tally, const struct kymo_event *event) {
  struct kymo_stat_group *group;
  int status = find(tally, event, &group);
  if (status != KYMO_OK)
    return status == KYMO_E_ABSENT ? KYMO_OK : status;
  if (event->has_time) {
    tally->first_ns = tally->has_time && tally->first_ns < event->time_ns ? tally->first_ns : event->time_ns;
    tally->last_ns = tally->has_time && tally->last_ns > event->time_ns ? tally->last_ns : event->time_ns;
    tally->has_time = true;
  }
  group->samples.count++;
  return KYMO_OK;
}

int kymo_tally_value(struct kymo_tally *tally, const struct kymo_event *event) {
  struct kymo_stat_group *group;
  int64_t value;
  double real;
  if (tally->is_float ? !kymo_grouping_float(&tally->value, event, &real)
                      : !kymo_grouping_integer(&tally->value, event, &value))
    return KYMO_OK;
  int status = find(tally, event, &group);
  if (status != KYMO_OK)
    return status == KYMO_E_ABSENT ? KYMO_OK : status;
  size_t bytes = kymo_samples_bytes(&group->samples);
  bool is_added = tally->is_float ? kymo_samples_add_float(&group->samples, real)
                                  : kymo_samples_add(&group->samples, value);
  tally->groups.bytes += kymo_samples_bytes(&group->samples) - bytes;
  return is_added ? KYMO_OK : KYMO_E_MEMORY;
}

int kymo_tally_begin_values(struct kymo_tally *tally, const char *field, struct kymo_trace *trace,
                            struct kymo_whos *whos, struct kymo_error *error) {
  int status = kymo_grouping_begin(&tally->value, field, trace, whos, error);
  tally->is_float = status == KYMO_OK && kymo_grouping_is_float(&tally->value);
  return status;
}

void kymo_tally_free(struct kymo_tally *tally) {
  kymo_groups_free(&tally->groups);
  kymo_grouping_end(&tally->by);
  kymo_grouping_end(&tally->value);
}
