/* SPDX-License-Identifier: MIT */
/*
 * Mutexes, read-write locks, conditions. Each lock is tried first: a free lock is taken by the try, and no
 * clock is read. `wait_ns` is the time for which the caller was blocked.
 */
#include "calls/calls.h"
#include <pthread.h>

/* Whether the try has the final result. A mutex whose owner died is taken, and the result says so to its new
 * owner. */
static bool is_decided(int result) { return !result || result == EOWNERDEAD; }

/* libc checks the clock first, also if the lock is free. */
static bool is_clock(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC; }

/* The event of a call is recorded when it returns. An endless wait shows as a wait that has begun. */
static void begin_wait(const void *on) { KYMO_SPAN_BEGIN(libc, wait, on); }

static void end_wait(void) { KYMO_SPAN_END(libc, wait); }

/* The body of a function that waits for a lock. */
#define TAKEN(lock, attempt, call, name)                                    \
  if (kymo_calls_own())                                                     \
    return call;                                                            \
  bool contended = false;                                                   \
  uint64_t wait_ns = 0;                                                     \
  int result = attempt;                                                     \
  if (!is_decided(result)) {                                                \
    uint64_t begin_ns = kymo_calls_now_ns();                                \
    contended = result == EBUSY;                                            \
    begin_wait(lock);                                                       \
    result = call;                                                          \
    end_wait();                                                             \
    wait_ns = kymo_calls_now_ns() - begin_ns;                               \
  }                                                                         \
  KYMO(libc, name, KYMO_ADDRESS(lock, (uintptr_t)lock), contended, wait_ns, \
       KYMO_ENUM(result, libc_error, result));                              \
  return result

/* … that tries */
#define TRIED(lock, call, name)                                                                   \
  int result = call;                                                                              \
  if (!kymo_calls_own())                                                                          \
    KYMO(libc, name, KYMO_ADDRESS(lock, (uintptr_t)lock), KYMO_ENUM(result, libc_error, result)); \
  return result

/* … that ends something which others wait for: recorded before they go on */
#define RELEASED(lock, call, name)                         \
  if (!kymo_calls_own())                                   \
    KYMO(libc, name, KYMO_ADDRESS(lock, (uintptr_t)lock)); \
  return call

/* … that waits for a condition */
#define AWAITED(call, name)                                                                              \
  if (kymo_calls_own())                                                                                  \
    return call;                                                                                         \
  uint64_t begin_ns = kymo_calls_now_ns();                                                               \
  begin_wait(condition);                                                                                 \
  int result = call;                                                                                     \
  end_wait();                                                                                            \
  uint64_t wait_ns = kymo_calls_now_ns() - begin_ns;                                                     \
  KYMO(libc, name, KYMO_ADDRESS(condition, (uintptr_t)condition), KYMO_ADDRESS(mutex, (uintptr_t)mutex), \
       wait_ns, KYMO_ENUM(result, libc_error, result));                                                  \
  return result

/* ---- mutexes ---- */

EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex) {
  TAKEN(mutex, REAL(pthread_mutex_trylock)(mutex), REAL(pthread_mutex_lock)(mutex), pthread_mutex_lock);
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex) {
  TRIED(mutex, REAL(pthread_mutex_trylock)(mutex), pthread_mutex_trylock);
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until) {
  TAKEN(mutex, REAL(pthread_mutex_trylock)(mutex), REAL(pthread_mutex_timedlock)(mutex, until),
        pthread_mutex_timedlock);
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until) {
  TAKEN(mutex, is_clock(clock) ? REAL(pthread_mutex_trylock)(mutex) : EINVAL,
        REAL(pthread_mutex_clocklock)(mutex, clock, until), pthread_mutex_clocklock);
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex) {
  RELEASED(mutex, REAL(pthread_mutex_unlock)(mutex), pthread_mutex_unlock);
}

/* ---- read-write locks ---- */

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
  TAKEN(lock, REAL(pthread_rwlock_tryrdlock)(lock), REAL(pthread_rwlock_rdlock)(lock), pthread_rwlock_rdlock);
}

EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock) {
  TRIED(lock, REAL(pthread_rwlock_tryrdlock)(lock), pthread_rwlock_tryrdlock);
}

EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until) {
  TAKEN(lock, REAL(pthread_rwlock_tryrdlock)(lock), REAL(pthread_rwlock_timedrdlock)(lock, until),
        pthread_rwlock_timedrdlock);
}

EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until) {
  TAKEN(lock, is_clock(clock) ? REAL(pthread_rwlock_tryrdlock)(lock) : EINVAL,
        REAL(pthread_rwlock_clockrdlock)(lock, clock, until), pthread_rwlock_clockrdlock);
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
  TAKEN(lock, REAL(pthread_rwlock_trywrlock)(lock), REAL(pthread_rwlock_wrlock)(lock), pthread_rwlock_wrlock);
}

EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *lock) {
  TRIED(lock, REAL(pthread_rwlock_trywrlock)(lock), pthread_rwlock_trywrlock);
}

EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until) {
  TAKEN(lock, REAL(pthread_rwlock_trywrlock)(lock), REAL(pthread_rwlock_timedwrlock)(lock, until),
        pthread_rwlock_timedwrlock);
}

EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until) {
  TAKEN(lock, is_clock(clock) ? REAL(pthread_rwlock_trywrlock)(lock) : EINVAL,
        REAL(pthread_rwlock_clockwrlock)(lock, clock, until), pthread_rwlock_clockwrlock);
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
  RELEASED(lock, REAL(pthread_rwlock_unlock)(lock), pthread_rwlock_unlock);
}

/* ---- conditions ---- */

EXPORT int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  AWAITED(REAL(pthread_cond_wait)(condition, mutex), pthread_cond_wait);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until) {
  AWAITED(REAL(pthread_cond_timedwait)(condition, mutex, until), pthread_cond_timedwait);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                                  const struct timespec *until) {
  AWAITED(REAL(pthread_cond_clockwait)(condition, mutex, clock, until), pthread_cond_clockwait);
}

EXPORT int pthread_cond_signal(pthread_cond_t *condition) {
  RELEASED(condition, REAL(pthread_cond_signal)(condition), pthread_cond_signal);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *condition) {
  RELEASED(condition, REAL(pthread_cond_broadcast)(condition), pthread_cond_broadcast);
}
