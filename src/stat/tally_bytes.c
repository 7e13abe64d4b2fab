/* SPDX-License-Identifier: MIT */
/*
 * Counts that several processes have found, one after another in the order of the events: so groups are in
 * the order in which one process would meet them, and have the names that it would give them.
 *
 *   head: has_time, first_ns, last_ns, count ── groups: key, is_text, count, length of the name ── name
 */
#include "base/bytes.h"
#include "stat/spill.h"
#include "stat/tally.h"

struct head {
  uint64_t has_time;
  int64_t first_ns, last_ns;
  uint64_t count;
};

struct saved_group {
  uint64_t key, is_text, count, length;
};

void kymo_tally_save(const struct kymo_tally *tally, struct kymo_strbuf *out) {
  const struct kymo_groups *groups = &tally->groups;
  struct head head = {tally->has_time, tally->first_ns, tally->last_ns, groups->count};
  kymo_strbuf_add(out, (const char *)&head, sizeof head);
  for (size_t i = 0; i < groups->count; i++) {
    const struct kymo_stat_group *group = groups->list[i];
    struct saved_group saved = {group->key, group->is_text, group->samples.count, strlen(group->name)};
    kymo_strbuf_add(out, (const char *)&saved, sizeof saved);
    kymo_strbuf_add(out, group->name, saved.length);
  }
}

void kymo_tally_clear(struct kymo_tally *tally) {
  size_t limit = tally->groups.bytes_limit;
  kymo_groups_free(&tally->groups);
  tally->groups.bytes_limit = limit;
  tally->has_time = false;
}

static void widen(struct kymo_tally *tally, const struct head *head) {
  if (!head->has_time)
    return;
  tally->first_ns = tally->has_time && tally->first_ns < head->first_ns ? tally->first_ns : head->first_ns;
  tally->last_ns = tally->has_time && tally->last_ns > head->last_ns ? tally->last_ns : head->last_ns;
  tally->has_time = true;
}

static int add_head(struct kymo_tally *tally, struct kymo_bytes *bytes, uint64_t *count) {
  struct head head;
  const uint8_t *from = kymo_bytes_take(bytes, sizeof head);
  if (!from)
    return KYMO_E_FORMAT;
  memcpy(&head, from, sizeof head);
  widen(tally, &head);
  *count = head.count;
  return KYMO_OK;
}

static int add_group(struct kymo_tally *tally, struct kymo_bytes *bytes) {
  struct saved_group saved;
  const uint8_t *from = kymo_bytes_take(bytes, sizeof saved);
  if (!from)
    return KYMO_E_FORMAT;
  memcpy(&saved, from, sizeof saved);
  const uint8_t *name = saved.length <= SIZE_MAX ? kymo_bytes_take(bytes, (size_t)saved.length) : NULL;
  if (!name)
    return KYMO_E_FORMAT;
  struct kymo_stat_group *group =
      kymo_groups_add(&tally->groups, saved.key, saved.is_text, (const char *)name, (size_t)saved.length);
  if (!group)
    return KYMO_E_MEMORY;
  group->samples.count += saved.count;
  return kymo_groups_are_full(&tally->groups) ? KYMO_E_FORMAT : KYMO_OK;
}

int kymo_tally_add(struct kymo_tally *tally, const uint8_t *data, size_t size) {
  struct kymo_bytes bytes = {.data = data, .size = size};
  int status = KYMO_OK;
  while (status == KYMO_OK && bytes.at < bytes.size) {
    uint64_t count = 0;
    status = add_head(tally, &bytes, &count);
    for (uint64_t i = 0; i < count && status == KYMO_OK; i++)
      status = add_group(tally, &bytes);
  }
  return status;
}
