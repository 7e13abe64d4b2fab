/* SPDX-License-Identifier: MIT */
/* Saves the process's own rings as a trace: at any time, and at its normal end. */
#include "base/fail.h"
#include "record/session.h"
#include "ring/collect.h"
#include "ring/pools.h"
#include <errno.h>
#include <string.h>

static int save(const char *directory, struct kymo_error *error) {
  struct kymo_pool_view view;
  struct kymo_collector collector;
  char target[KYMO_PATH_MAX];
  const struct kymo_pool *pool = &kymo_session_.pool;
  if (!kymo_trace_place(target, directory, kymo_session_.options.out, kymo_session_.program))
    return kymo_fail_errno(error, directory ? directory : target, "cannot make the directory");
  int status = kymo_pool_check(&view, pool->header, pool->size, pool->directory, error);
  if (!status)
    status = kymo_collect_begin(&collector, &view, pool->directory, target, error);
  if (status)
    return status;
  status = kymo_collect_end(&collector, error);
  int reason = errno;
  char text[1600];
  if (!status && collector.left_out.code)
    kymo_warn("the trace is saved, but not all of it: ",
              kymo_error_text(&collector.left_out, text, sizeof text), NULL);
  if (status) /* its loss is counted in the part that is written */
    kymo_collect_abandon(&collector);
  kymo_collect_free(&collector);
  errno = reason;
  return status;
}

static bool has_recorded(void) {
  return kymo_pool_is_ours() && __atomic_load_n(&kymo_session_.pool.header->slots_used, __ATOMIC_ACQUIRE);
}

int kymo_rings_save(const char *directory) {
  if (!has_recorded()) {
    errno = ENODATA;
    return -1;
  }
  kymo_self_.own_work++;
  int status = save(directory, NULL);
  kymo_self_.own_work--;
  /* a failed system call has left its errno */
  if (status == KYMO_E_MEMORY)
    errno = ENOMEM;
  else if (status && status != KYMO_E_SYSTEM)
    errno = EINVAL;
  return status ? -1 : 0;
}

void kymo_save_at_exit(void) {
  if (!kymo_pool_is_ours())
    return;
  __atomic_store_n(&kymo_session_.pool.header->finished, 1, __ATOMIC_RELEASE);
  if (!kymo_session_.options.save_at_exit || __atomic_load_n(&kymo_session_.is_recorded, __ATOMIC_RELAXED))
    return;
  kymo_self_.own_work++;
  struct kymo_error error = {0};
  char text[1600];
  if (!has_recorded() || !save(NULL, &error))
    kymo_pool_delete(kymo_session_.pool.directory);
  else
    kymo_warn("cannot save the trace: ", kymo_error_text(&error, text, sizeof text), "; the rings stay in ",
              kymo_session_.pool.directory, NULL);
  kymo_self_.own_work--;
}
