/* SPDX-License-Identifier: MIT */
/*
 * Times between events. All of them are one thing:
 *
 *               begins and ends            by key        belongs to
 *   latency     --from, --to               --key         the group of the event that ends it
 *   state       one event, the next one    all           the group of the event that begins it
 *   distance    one event, the next one    each group    its group
 *
 * One pass, and memory by the number of keys and groups. What begins twice begins at the second time.
 */
#ifndef KYMO_STAT_PAIRS_H
#define KYMO_STAT_PAIRS_H

#include "stat/groups.h"
#include <stdio.h>

enum { KYMO_PAIR_BEGINS = 1, KYMO_PAIR_ENDS = 2 };

/* One of the longest. */
struct kymo_worst {
  int64_t duration_ns, begin_ns;
  uint64_t begin_number, end_number; /* of the events, as kymo cat counts them, from 1 */
  const struct kymo_stat_group *group;
};
#define KYMO_WORST_MAX 100

/* Called for each time between events. */
typedef void kymo_pair_handler(void *user, const struct kymo_worst *pair);

struct kymo_pairs {
  /* set by the owner */
  const uint8_t *roles;          /* by class number: KYMO_PAIR_BEGINS, KYMO_PAIR_ENDS */
  struct kymo_grouping key, by;
  bool keys_are_groups;          /* they go by the same: then `keys` stays empty */
  bool is_charged_to_begin;
  unsigned worst_wanted;
  const char *prefix;            /* only groups whose names begin so are told one by one; NULL: all */
  kymo_pair_handler *handler;    /* or NULL */
  void *user;
  /* what came of it */
  struct kymo_groups keys, groups;
  struct kymo_worst worst[KYMO_WORST_MAX]; /* the longest first */
  unsigned worst_count;
  uint64_t without_begin, without_key;
};

/* Takes one event. KYMO_OK or KYMO_E_MEMORY. */
int kymo_pairs_event(struct kymo_pairs *pairs, const struct kymo_event *event);
/* How many have begun and not ended. */
uint64_t kymo_pairs_open(const struct kymo_pairs *pairs);
void kymo_pairs_free(struct kymo_pairs *pairs);

#endif
