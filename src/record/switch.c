/* SPDX-License-Identifier: MIT */
/* Functions by which a program itself switches tracepoints at run time; request.c serves other processes. */
#include "record/switch.h"
#include "record/registry.h"
#include "record/session.h"
#include <errno.h>
#include <string.h>

/* ---- on and off ---- */

static void count(void *user, struct kymo_tracepoint *point, const struct kymo_point_text *text) {
  (void)point;
  *(int *)user += kymo_rules_newest_matches(text->name, text->level);
}

int kymo_switch(const struct kymo_choice *choice, bool on, const char **wrong) {
  int matched = 0;
  kymo_pool_retry();
  if (!kymo_rules_add(choice, on, wrong))
    return -1;
  if (!kymo_registry_apply()) {
    int reason = errno;
    *wrong = strerrordesc_np(reason);
    errno = reason;
    return -1;
  }
  kymo_registry_visit(count, &matched);
  return matched;
}

static int switch_locked(const char *pattern, bool on) {
  const char *wrong;
  kymo_session_init();
  if (!pattern) {
    errno = EINVAL;
    return -1;
  }
  kymo_lock();
  int matched = kymo_switch(&(struct kymo_choice){pattern, KYMO_LEVEL_ANY}, on, &wrong), reason = errno;
  kymo_unlock();
  errno = reason;
  return matched;
}

int kymo_tracepoint_enable(const char *pattern) { return switch_locked(pattern, true); }

int kymo_tracepoint_disable(const char *pattern) { return switch_locked(pattern, false); }

/* ---- looking up ---- */

struct search {
  const char *name;
  const struct kymo_tracepoint *first;
  bool on; /* one of this name is enabled */
};

static void compare(void *user, struct kymo_tracepoint *point, const struct kymo_point_text *text) {
  struct search *search = user;
  if (strcmp(text->name, search->name) != 0)
    return;
  if (!search->first)
    search->first = point;
  search->on |= __atomic_load_n(&point->enabled, __ATOMIC_RELAXED) != 0;
}

static struct search search_for(const char *name) {
  struct search search = {.name = name ? name : ""};
  kymo_session_init();
  kymo_lock();
  kymo_registry_visit(compare, &search);
  kymo_unlock();
  return search;
}

const struct kymo_tracepoint *kymo_tracepoint_lookup(const char *name) { return search_for(name).first; }

int kymo_tracepoint_is_enabled(const char *name) {
  struct search search = search_for(name);
  if (search.first)
    return search.on;
  errno = ENOENT;
  return -1;
}

/* ---- mode ---- */

void kymo_switch_mode(uint32_t mode) {
  if (kymo_pool_is_ours()) /* partner: open_packet */
    __atomic_store_n(&kymo_session_.pool.header->mode, mode, __ATOMIC_RELAXED);
}

int kymo_mode_set(enum kymo_mode mode) {
  if (mode != KYMO_DISCARD && mode != KYMO_OVERWRITE) {
    errno = EINVAL;
    return -1;
  }
  kymo_session_init();
  kymo_lock();
  bool is_taken = kymo_session_.is_recorded;
  if (!is_taken) {
    kymo_session_.options.mode = mode == KYMO_DISCARD ? KYMO_MODE_DISCARD : KYMO_MODE_OVERWRITE;
    kymo_switch_mode(kymo_session_.options.mode);
  }
  kymo_unlock();
  errno = EBUSY;
  return is_taken ? -1 : 0;
}
