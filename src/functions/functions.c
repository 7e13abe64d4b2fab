/* SPDX-License-Identifier: MIT */
/*
 * libkymo-functions: a library for LD_PRELOAD that traces the functions of programs compiled with
 * -finstrument-functions. The addresses get names when the trace is read, by the load map beside it; so each
 * page of code that is entered first makes sure that its library is in the load map.
 */
#include <dlfcn.h>
#include <kymo/trace.h>

#define EXPORT __attribute__((visibility("default")))

enum { PAGE_BITS = 12, SEEN_BITS = 12 };
/* Pages that were entered, at the index that their number hashes to; two with one index replace each
 * other. */
static uintptr_t seen[1 << SEEN_BITS];

static void see_page(uintptr_t page) {
  size_t at = (size_t)(page * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SEEN_BITS));
  if (KYMO_LIKELY_(__atomic_load_n(&seen[at], __ATOMIC_RELAXED) == page))
    return;
  if (kymo_modules_note_())
    __atomic_store_n(&seen[at], page, __ATOMIC_RELAXED);
}

EXPORT void __cyg_profile_func_enter(void *function, void *caller);
EXPORT void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller) {
  if (kymo_self_.own_work)
    return;
  see_page((uintptr_t)function >> PAGE_BITS);
  KYMO(functions, enter, function, caller);
}

void __cyg_profile_func_exit(void *function, void *caller) {
  if (!kymo_self_.own_work)
    KYMO(functions, exit, function, caller);
}

/* Other code may be loaded to where this one was. */
EXPORT int dlclose(void *handle) {
  static int (*next)(void *handle);
  if (!next)
    next = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
  int result = next ? next(handle) : -1;
  for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
    __atomic_store_n(&seen[i], 0, __ATOMIC_RELAXED);
  kymo_modules_note_();
  return result;
}
