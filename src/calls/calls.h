/* SPDX-License-Identifier: MIT */
/*
 * libkymo-calls: a library for LD_PRELOAD that traces an unmodified program's calls of libc.
 *
 *   program ── malloc(n) ──► our malloc ──► the next malloc (libc's, jemalloc's, …)
 *                               └─ KYMO(libc, malloc, …) ──► the recorder, shared with the program if it has
 *                               one
 *
 *   real.c    finds the functions that these replace
 *   memory.c  malloc and its family          sockets.c  sockets, and waiting for them
 *   files.c   files                          locks.c    mutexes, read-write locks, conditions
 *   address.c addresses of sockets as text   names.h    names of errors, flags, families
 *
 * Each function here calls the next one exactly as it was called, and changes neither its result nor errno.
 * No lock is taken and no state is kept around that call, so cancellation, signals, jumps, fork and exec work
 * as without this library. An event is recorded after the call (for unlocking before it, since another thread
 * has the lock after it). Calls by the recorder itself (kymo_self_.own_work) are not recorded.
 */
#ifndef KYMO_CALLS_CALLS_H
#define KYMO_CALLS_CALLS_H

#if defined(_FILE_OFFSET_BITS) || (defined(_FORTIFY_SOURCE) && _FORTIFY_SOURCE > 0)
#error "functions of libc must be called by their own names here: compile with -U_FILE_OFFSET_BITS "
"-U_FORTIFY_SOURCE"
#endif

#include "calls/list.h"
#include "calls/names.h"
#include <errno.h>
#include <kymo/trace.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

    enum real {
#define CALL_NUMBER(function, family, event) REAL_##function,
      KYMO_LIBC_CALLS(CALL_NUMBER)
#undef CALL_NUMBER
          REAL_COUNT,
    };

/* The next function of that name; NULL while this thread is looking for it. */
void *kymo_calls_find(enum real which);
/* Where kymo_calls_find stores its results. */
extern void *kymo_calls_found[REAL_COUNT];

static inline void *kymo_calls_real(enum real which) {
  void *function =
      __atomic_load_n(&kymo_calls_found[which], __ATOMIC_RELAXED); /* constant once it is there */
  return KYMO_LIKELY_(function) ? function : kymo_calls_find(which);
}
#define REAL(function) ((__typeof__(function) *)kymo_calls_real(REAL_##function))

/* Whether the caller is the recorder. */
static inline bool kymo_calls_own(void) { return kymo_self_.own_work; }

static inline uint64_t kymo_calls_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The body of a function that returns -1 with errno: calls, records, returns. The arguments after the call
 * are the event's name and the fields before the common ones. */
#define TRACED(type, call, ...)                                                      \
  if (kymo_calls_own())                                                              \
    return call;                                                                     \
  uint64_t begin_ns = kymo_calls_now_ns();                                           \
  type result = call;                                                                \
  int error = result < 0 ? errno : 0;                                                \
  uint64_t duration_ns = kymo_calls_now_ns() - begin_ns;                             \
  KYMO(libc, __VA_ARGS__, result, KYMO_ENUM(error, libc_error, error), duration_ns); \
  return result

#endif
