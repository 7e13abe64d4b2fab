/* SPDX-License-Identifier: MIT */
/*
 * Call sites. Those of a DSO are registered when it is loaded; to enable one, an event class is created and
 * written to the pool, and only then the call site's enable word is set: no event is older than its
 * description. Descriptions are copies, so they outlive dlclose.
 */
#include "record/registry.h"
#include "record/jumps.h"
#include "record/point.h"
#include "record/rules.h"
#include "record/session.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dso {
  struct dso *next;
  const int32_t *begin, *end;
};

static struct {
  int32_t owner;    /* pid of the process that holds the lock */
  sigset_t signals; /* mask of the thread before the lock blocked them */
  struct dso *dsos;
} registry;

/* ---- lock ---- */

static bool take_lock(void) {
  int32_t self = getpid(), seen = 0;
  bool locked =
      __atomic_compare_exchange_n(&registry.owner, &seen, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED) ||
      /* the holder was a thread of our parent, which does not exist here */
      (seen != self &&
       __atomic_compare_exchange_n(&registry.owner, &seen, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
  kymo_self_.own_work += locked;
  return locked;
}

bool kymo_try_lock(void) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool taken = take_lock();
  if (taken)
    registry.signals = before;
  else
    pthread_sigmask(SIG_SETMASK, &before, NULL);
  return taken;
}

void kymo_lock(void) {
  while (!kymo_try_lock())
    sched_yield();
}

void kymo_unlock(void) {
  kymo_self_.own_work--;
  sigset_t before = registry.signals;
  __atomic_store_n(&registry.owner, 0, __ATOMIC_RELEASE);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- call sites ---- */

static struct kymo_tracepoint *point_of(const int32_t *entry) {
  return (struct kymo_tracepoint *)((uintptr_t)entry + (intptr_t)entry[0]);
}

static bool read_point(const int32_t *entry, struct kymo_point_text *out) {
  const struct kymo_tracepoint *point = point_of(entry);
  const char *text = (const char *)((uintptr_t)&entry[1] + (intptr_t)entry[1]);
  const uint64_t *codes = (const uint64_t *)(point + 1) + 1;
  size_t size = strlen(text) + 1;
  for (int texts = point->flags & KYMO_POINT_PRINTF_ ? 2 : 1; texts; texts--)
    size += strlen(text + size) + 1;
  if (!kymo_point_parse(out, point, codes, text, size))
    return false;
  const struct kymo_listing *const *listing = (const struct kymo_listing *const *)(codes + point->count);
  for (uint32_t i = 0; i < out->count; i++)
    if ((out->code[i] & 255) == KYMO_TYPE_LISTED_)
      out->listing[i] = *listing++;
  return true;
}

/* Call sites that wait until their classes are written. */
struct waiting {
  struct site {
    struct kymo_tracepoint *point;
    const struct kymo_event_class *class_;
  } * site;
  size_t count;
};

/* Sets the text limits of the format in the call site's codes. The call site is off. */
static void warn_limits(struct kymo_tracepoint *point, const struct kymo_point_text *text) {
  uint64_t *codes = (uint64_t *)(point + 1) + 1;
  for (uint32_t i = 0, field = 0; i < point->count; i++) {
    uint32_t kind = codes[i] >> 8 & 255;
    if (kind == KYMO_KIND_LEVEL_ || kind == KYMO_KIND_ABOUT_)
      continue;
    codes[i] = (codes[i] & UINT32_MAX) | text->code[field++] >> 32 << 32;
  }
  point->flags |= text->has_errno ? KYMO_POINT_ERRNO_ : 0;
}

/* Disables a call site now, or adds it to those that are to be enabled. False with errno: it should be
 * enabled and cannot be. */
static bool sort_site(struct kymo_tracepoint *point, const struct kymo_point_text *text,
                      struct waiting *waiting) {
  if (point->flags & KYMO_POINT_LOG_) {
    __atomic_store_n(&point->enabled, kymo_rules_leave_on(text->name), __ATOMIC_RELAXED);
    return true;
  }
  if (!kymo_rules_decide(text->name, text->level)) {
    __atomic_store_n(&point->enabled, 0, __ATOMIC_RELAXED);
    return true;
  }
  if (point->enabled)
    return true;
  if (!kymo_pool_make(false))
    return false;
  const struct kymo_event_class *class_ = kymo_description_class(text);
  if (class_ && text->format)
    warn_limits(point, text);
  if (class_)
    waiting->site[waiting->count++] = (struct site){point, class_};
  errno = EINVAL;
  return class_;
}

static bool switch_on(const struct waiting *waiting) {
  bool described = kymo_description_commit();
  int reason = errno;
  if (!described)
    kymo_warn("cannot describe all tracepoints, some are not recorded: ", strerrordesc_np(reason), NULL);
  for (size_t i = 0; i < waiting->count; i++) {
    const struct site *site = &waiting->site[i];
    site->point->id = (uint32_t)site->class_->id;
    /* release: id and description come first; partner: KYMO_IS_ON_ */
    __atomic_store_n(&site->point->enabled, kymo_description_holds(site->class_), __ATOMIC_RELEASE);
  }
  errno = reason;
  return described;
}

static bool apply_to(const struct dso *dso) {
  struct waiting waiting = {calloc((size_t)(dso->end - dso->begin) / 2 + 1, sizeof *waiting.site), 0};
  struct kymo_point_text text;
  bool all = waiting.site;
  int reason = ENOMEM;
  if (!all)
    kymo_warn("cannot switch tracepoints, which stay as they are: ", strerrordesc_np(reason), NULL);
  for (const int32_t *entry = dso->begin; waiting.site && entry < dso->end; entry += 2)
    if (read_point(entry, &text) && !sort_site(point_of(entry), &text, &waiting))
      all = false, reason = errno;
  if (waiting.count && !switch_on(&waiting))
    all = false, reason = errno;
  free(waiting.site);
  errno = reason;
  return all;
}

bool kymo_registry_apply(void) {
  bool all = true;
  int reason = 0;
  for (const struct dso *dso = registry.dsos; dso; dso = dso->next)
    if (!apply_to(dso))
      all = false, reason = errno;
  if (!kymo_jumps_follow())
    all = false, reason = errno;
  errno = reason;
  return all;
}

/* ---- looking at call sites ---- */

static int by_address(const void *a, const void *b) {
  const int32_t *x = *(const int32_t *const *)a, *y = *(const int32_t *const *)b;
  uintptr_t p = (uintptr_t)point_of(x), q = (uintptr_t)point_of(y);
  return (p > q) - (p < q);
}

/* Copies of an inlined function have an entry each, and one descriptor. */
static bool visit(const struct dso *dso, kymo_site_visitor *visitor, void *user) {
  size_t count = (size_t)(dso->end - dso->begin) / 2;
  const int32_t **entry = calloc(count + 1, sizeof *entry);
  struct kymo_point_text text;
  if (!entry)
    return false;
  for (size_t i = 0; i < count; i++)
    entry[i] = dso->begin + 2 * i;
  qsort(entry, count, sizeof *entry, by_address);
  for (size_t i = 0; i < count; i++)
    if ((!i || point_of(entry[i]) != point_of(entry[i - 1])) && read_point(entry[i], &text))
      visitor(user, point_of(entry[i]), &text);
  free(entry);
  return true;
}

bool kymo_registry_visit(kymo_site_visitor *visitor, void *user) {
  for (const struct dso *dso = registry.dsos; dso; dso = dso->next)
    if (!visit(dso, visitor, user))
      return false;
  return true;
}

/* ---- registering ---- */

void kymo_register_(const int32_t *begin, const int32_t *end) {
  kymo_session_init();
  kymo_lock();
  struct dso *dso = registry.dsos;
  while (dso && dso->begin != begin)
    dso = dso->next; /* each of its source files calls this */
  if (!dso && (dso = calloc(1, sizeof *dso))) {
    *dso = (struct dso){NULL, begin, end};
    if (kymo_rules_are_there()) {
      apply_to(dso);
      kymo_jumps_follow();
      kymo_modules_follow();
    }
    dso->next = registry.dsos;
    registry.dsos = dso;
  } else if (!dso) {
    kymo_warn("cannot register tracepoints, which stay as they are: ", strerrordesc_np(ENOMEM), NULL);
  }
  kymo_unlock();
  kymo_service_start(KYMO_SERVICE_CONTROL);
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
