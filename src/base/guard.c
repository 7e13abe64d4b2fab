/* SPDX-License-Identifier: MIT */
/*
 * The table of guarded mappings: blocks that are never freed, so that the handler can walk over it while
 * other threads change it.
 *
 *   block ──► block ──► …      each with ENTRIES guards: begin 0 is free, CLAIMED is being filled
 *
 * A thread that faults reads a mapping that is guarded at that time, so its own guard stays as it is while
 * the handler looks. Partners: `begin` is stored with release when the other members are set, and loaded with
 * acquire; `missing` is lowered in the handler and read by the thread that faulted, or by one that it is
 * synchronized with.
 */
#include "base/guard.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ENTRIES = 128 };
#define CLAIMED ((uintptr_t)1)

struct kymo_guard {
  _Atomic uintptr_t begin;
  size_t size;
  int protection;
  _Atomic size_t missing;
};

struct block {
  struct block *next;
  struct kymo_guard guards[ENTRIES];
};

static struct block first;
static _Atomic(struct block *) blocks = &first;
static _Atomic uint64_t faults;
static pthread_mutex_t installing = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction previous;

static struct kymo_guard *find(uintptr_t address) {
  for (struct block *block = atomic_load_explicit(&blocks, memory_order_acquire); block; block = block->next)
    for (size_t i = 0; i < ENTRIES; i++) {
      uintptr_t begin = atomic_load_explicit(&block->guards[i].begin, memory_order_acquire);
      if (begin > CLAIMED && address >= begin && address - begin < block->guards[i].size)
        return &block->guards[i];
    }
  return NULL;
}

/* Maps a page of zeros in place of the missing one. */
static bool replace(struct kymo_guard *guard, uintptr_t address) {
  uintptr_t page = address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
  if (mmap((void *)page, 1, guard->protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
    return false;
  size_t at = page - atomic_load_explicit(&guard->begin, memory_order_relaxed);
  size_t missing = atomic_load_explicit(&guard->missing, memory_order_relaxed);
  while (at < missing && !atomic_compare_exchange_weak(&guard->missing, &missing, at))
    ;
  atomic_fetch_add(&faults, 1);
  return true;
}

/* Does what would have happened without this handler. */
static void pass_on(int number, siginfo_t *info, void *context) {
  if (previous.sa_flags & SA_SIGINFO && previous.sa_sigaction) {
    previous.sa_sigaction(number, info, context);
  } else if (previous.sa_handler == SIG_DFL || (previous.sa_handler == SIG_IGN && info->si_code > 0)) {
    /* the faulting instruction runs again and ends the process; a signal that was sent is sent again */
    signal(number, SIG_DFL);
    if (info->si_code <= 0)
      raise(number);
  } else if (previous.sa_handler != SIG_IGN) {
    previous.sa_handler(number);
  }
}

static void on_bus_error(int number, siginfo_t *info, void *context) {
  int saved = errno;
  struct kymo_guard *guard = info->si_code == BUS_ADRERR ? find((uintptr_t)info->si_addr) : NULL;
  if (!guard || !replace(guard, (uintptr_t)info->si_addr))
    pass_on(number, info, context);
  errno = saved;
}

static void install(void) {
  struct sigaction ours = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER},
                   now;
  sigemptyset(&ours.sa_mask);
  pthread_mutex_lock(&installing);
  if (sigaction(SIGBUS, NULL, &now) == 0 &&
      !(now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_bus_error)) {
    previous = now;
    sigaction(SIGBUS, &ours, NULL);
  }
  pthread_mutex_unlock(&installing);
}

static struct kymo_guard *claim(void) {
  for (struct block *block = atomic_load_explicit(&blocks, memory_order_acquire); block; block = block->next)
    for (size_t i = 0; i < ENTRIES; i++) {
      uintptr_t nothing = 0;
      if (atomic_load_explicit(&block->guards[i].begin, memory_order_relaxed) == 0 &&
          atomic_compare_exchange_strong(&block->guards[i].begin, &nothing, CLAIMED))
        return &block->guards[i];
    }
  struct block *more = calloc(1, sizeof *more);
  if (!more)
    return NULL;
  atomic_store_explicit(&more->guards[0].begin, CLAIMED, memory_order_relaxed);
  struct block *head = atomic_load_explicit(&blocks, memory_order_relaxed);
  do
    more->next = head;
  while (!atomic_compare_exchange_weak_explicit(&blocks, &head, more, memory_order_release,
                                                memory_order_relaxed));
  return &more->guards[0];
}

struct kymo_guard *kymo_guard_begin(const void *begin, size_t size, int protection) {
  struct kymo_guard *guard = claim();
  if (!guard)
    return NULL;
  guard->size = size;
  guard->protection = protection;
  atomic_store_explicit(&guard->missing, SIZE_MAX, memory_order_relaxed);
  atomic_store_explicit(&guard->begin, (uintptr_t)begin, memory_order_release);
  install();
  return guard;
}

void kymo_guard_end(struct kymo_guard *guard) {
  if (guard)
    atomic_store_explicit(&guard->begin, 0, memory_order_release);
}

size_t kymo_guard_missing(const struct kymo_guard *guard) {
  return guard ? atomic_load_explicit(&guard->missing, memory_order_relaxed) : SIZE_MAX;
}

uint64_t kymo_guard_faults(void) { return atomic_load_explicit(&faults, memory_order_relaxed); }

size_t kymo_guard_missing_in(const void *bytes, size_t size) {
  const struct kymo_guard *guard = find((uintptr_t)bytes);
  size_t missing = kymo_guard_missing(guard);
  if (missing == SIZE_MAX)
    return SIZE_MAX;
  size_t at = (uintptr_t)bytes - guard->begin;
  size_t in = missing > at ? missing - at : 0;
  return in < size ? in : SIZE_MAX;
}
