/* SPDX-License-Identifier: MIT */
/*
 * The first call of any function, which may come long before the constructor, looks all of them up. dlsym is
 * not async-signal-safe, and it may allocate: meanwhile memory.c serves allocations from a reserve. Two
 * threads may do this at the same time, with the same result.
 */
#include "calls/calls.h"
#include <dlfcn.h>

void *kymo_calls_found[REAL_COUNT];
static __thread bool looking __attribute__((tls_model("initial-exec")));

/* Replaces a function that this libc does not have; no program linked with it can call that function. */
static long is_missing(void) {
  errno = ENOSYS;
  return -1;
}

static void find_all(void) {
  static const char *const names[] = {
#define CALL_NAME(function, family, event) #function,
      KYMO_LIBC_CALLS(CALL_NAME)
#undef CALL_NAME
  };
  for (int i = 0; i < REAL_COUNT; i++) {
    void *function = dlsym(RTLD_NEXT, names[i]);
    __atomic_store_n(&kymo_calls_found[i], function ? function : (void *)is_missing, __ATOMIC_RELAXED);
  }
}

void *kymo_calls_find(enum real which) {
  if (!looking) {
    int reason = errno;
    looking = true;
    kymo_self_.own_work++;
    find_all();
    kymo_self_.own_work--;
    looking = false;
    errno = reason;
  }
  return __atomic_load_n(&kymo_calls_found[which], __ATOMIC_RELAXED);
}

__attribute__((constructor)) static void find_before_any_handler(void) { kymo_calls_find(0); }
