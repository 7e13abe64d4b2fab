/* SPDX-License-Identifier: MIT */
#include "stat/pairs.h"

static void keep_worst(struct kymo_pairs *pairs, const struct kymo_worst *pair) {
  unsigned at = pairs->worst_count;
  if (pairs->worst_wanted == 0)
    return;
  if (at == pairs->worst_wanted && pairs->worst[at - 1].duration_ns >= pair->duration_ns)
    return;
  if (at < pairs->worst_wanted)
    pairs->worst_count++;
  else
    at--;
  for (; at > 0 && pairs->worst[at - 1].duration_ns < pair->duration_ns; at--)
    pairs->worst[at] = pairs->worst[at - 1];
  pairs->worst[at] = *pair;
}

static void tell_pair(struct kymo_pairs *pairs, const struct kymo_worst *pair) {
  keep_worst(pairs, pair);
  if (pairs->handler)
    pairs->handler(pairs->user, pair);
}

/* Among those that are looked at: from the begin of the window, if there is one. */
static uint64_t number_of(const struct kymo_event *event) {
  return event->number < KYMO_NUMBER_RELATIVE ? event->number : event->number - KYMO_NUMBER_LANDED;
}

static int end_pair(struct kymo_pairs *pairs, struct kymo_stat_group *key, const struct kymo_event *event,
                    struct kymo_stat_group *group) {
  if (!key->is_open) {
    pairs->without_begin++;
    return KYMO_OK;
  }
  key->is_open = false;
  if (pairs->is_charged_to_begin)
    group = key->charged;
  struct kymo_worst pair = {(int64_t)((uint64_t)event->time_ns - (uint64_t)key->begin_ns), key->begin_ns, key->begin_number,
                            number_of(event), group};
  if (!kymo_samples_add(&group->samples, pair.duration_ns))
    return KYMO_E_MEMORY;
  if (kymo_group_is_wanted(group, pairs->prefix))
    tell_pair(pairs, &pair);
  return KYMO_OK;
}

int kymo_pairs_event(struct kymo_pairs *pairs, const struct kymo_event *event) {
  struct kymo_stat_group *key, *group;
  unsigned role = pairs->roles[kymo_grouping_class(&pairs->by, event)];
  if (!role)
    return KYMO_OK;
  int status = kymo_grouping_find(&pairs->by, &pairs->groups, event, &group);
  key = group;
  if (status == KYMO_OK && !pairs->keys_are_groups)
    status = kymo_grouping_find(&pairs->key, &pairs->keys, event, &key);
  if (status == KYMO_E_ABSENT || !event->has_time) {
    pairs->without_key++;
    return KYMO_OK;
  }
  if (status == KYMO_OK && role & KYMO_PAIR_ENDS)
    status = end_pair(pairs, key, event, group);
  if (status == KYMO_OK && role & KYMO_PAIR_BEGINS) {
    key->is_open = true;
    key->begin_ns = event->time_ns;
    key->begin_number = number_of(event);
    key->charged = group;
  }
  return status;
}

uint64_t kymo_pairs_open(const struct kymo_pairs *pairs) {
  const struct kymo_groups *keys = pairs->keys_are_groups ? &pairs->groups : &pairs->keys;
  uint64_t count = 0;
  for (size_t i = 0; i < keys->slot_count; i++)
    count += keys->slots[i] && keys->slots[i]->is_open;
  return count;
}

void kymo_pairs_free(struct kymo_pairs *pairs) {
  kymo_groups_free(&pairs->keys);
  kymo_groups_free(&pairs->groups);
}
