/* SPDX-License-Identifier: MIT */
/*
 * Call sites. Those of a DSO are registered when it is loaded; one that is to be on gets an event class, the class is
 * written to the pool, and only then the call site's enable word is set: no event is ever older than its
 * description. Descriptions are copies, so they outlive dlclose.
 */
#include "record/pattern.h"
#include "record/point.h"
#include "record/session.h"
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dso {
  struct dso *next;
  const int32_t *begin, *end;
};

static struct {
  int32_t owner; /* pid of the process that holds the lock */
  struct dso *dsos;
} registry;

/* ---- lock ---- */

bool kymo_try_lock(void) {
  int32_t self = getpid(), seen = 0;
  if (__atomic_compare_exchange_n(&registry.owner, &seen, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return true;
  /* the holder was a thread of our parent, which we do not have */
  return seen != self &&
         __atomic_compare_exchange_n(&registry.owner, &seen, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void kymo_lock(void) {
  while (!kymo_try_lock())
    sched_yield();
}

void kymo_unlock(void) {
  __atomic_store_n(&registry.owner, 0, __ATOMIC_RELEASE);
}

/* ---- call sites ---- */

static struct kymo_tracepoint *point_of(const int32_t *entry) {
  return (struct kymo_tracepoint *)((uintptr_t)entry + (intptr_t)entry[0]);
}

static bool read_point(const int32_t *entry, struct kymo_point_text *out) {
  const struct kymo_tracepoint *point = point_of(entry);
  const char *text = (const char *)((uintptr_t)&entry[1] + (intptr_t)entry[1]);
  const uint64_t *codes = (const uint64_t *)(point + 1) + 1;
  size_t written = strlen(text) + 1;
  if (!kymo_point_parse(out, point, codes, text, written + strlen(text + written) + 1))
    return false;
  const struct kymo_listing *const *listing = (const struct kymo_listing *const *)(codes + point->count);
  for (uint32_t i = 0; i < point->count; i++)
    if ((codes[i] & 255) == KYMO_TYPE_LISTED_)
      out->listing[i] = *listing++;
  return true;
}

/* Call sites that wait for their classes to be written. */
struct waiting {
  struct site {
    struct kymo_tracepoint *point;
    const struct kymo_event_class *class_;
  } * site;
  size_t count;
};

/* Switches a call site off now, or adds it to those that are to be on. */
static void sort_site(const int32_t *entry, const struct kymo_patterns *patterns, struct waiting *waiting) {
  struct kymo_tracepoint *point = point_of(entry);
  struct kymo_point_text text;
  if (!read_point(entry, &text))
    return;
  if (!kymo_patterns_match(patterns, text.name)) {
    __atomic_store_n(&point->enabled, 0, __ATOMIC_RELAXED);
    return;
  }
  const struct kymo_event_class *class_ = point->enabled || !kymo_pool_make(false) ? NULL : kymo_description_class(&text);
  if (class_)
    waiting->site[waiting->count++] = (struct site){point, class_};
}

static void switch_on(const struct waiting *waiting) {
  if (!kymo_description_commit())
    kymo_warn("cannot describe all tracepoints, some are not recorded: ", strerrordesc_np(errno), NULL);
  for (size_t i = 0; i < waiting->count; i++) {
    const struct site *site = &waiting->site[i];
    site->point->id = (uint32_t)site->class_->id;
    /* release: id and description come first; partner: the test in KYMO_POINT_ */
    __atomic_store_n(&site->point->enabled, kymo_description_holds(site->class_), __ATOMIC_RELEASE);
  }
}

static struct kymo_patterns *compile_patterns(void) {
  const char *wrong = "";
  if (!kymo_session_.options.enable)
    return NULL;
  struct kymo_patterns *patterns = kymo_patterns_new(kymo_session_.options.enable, &wrong);
  if (!patterns)
    kymo_warn("cannot enable tracepoints: ", wrong, NULL);
  return patterns;
}

static void apply_to(const struct dso *dso, const struct kymo_patterns *patterns) {
  struct waiting waiting = {calloc((size_t)(dso->end - dso->begin) / 2 + 1, sizeof *waiting.site), 0};
  for (const int32_t *entry = dso->begin; waiting.site && entry < dso->end; entry += 2)
    sort_site(entry, patterns, &waiting);
  if (waiting.count)
    switch_on(&waiting);
  free(waiting.site);
}

static void apply(const struct dso *dso) {
  struct kymo_patterns *patterns = compile_patterns();
  for (; patterns && dso; dso = dso->next)
    apply_to(dso, patterns);
  kymo_patterns_free(patterns);
}

void kymo_registry_apply(void) {
  kymo_lock();
  apply(registry.dsos);
  kymo_unlock();
}

void kymo_register_(const int32_t *begin, const int32_t *end) {
  kymo_session_init();
  kymo_lock();
  struct dso *dso = registry.dsos;
  while (dso && dso->begin != begin)
    dso = dso->next; /* each of its source files comes here */
  if (!dso && (dso = calloc(1, sizeof *dso))) {
    *dso = (struct dso){NULL, begin, end};
    apply(dso);
    dso->next = registry.dsos;
    registry.dsos = dso;
  }
  kymo_unlock();
}

void kymo_unregister_(const int32_t *begin) {
  kymo_lock();
  struct dso **at = &registry.dsos;
  while (*at && (*at)->begin != begin)
    at = &(*at)->next;
  struct dso *dso = *at;
  if (dso)
    *at = dso->next;
  free(dso);
  kymo_unlock();
}
