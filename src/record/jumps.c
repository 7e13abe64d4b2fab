/* SPDX-License-Identifier: MIT */
/*
 * A call site compiled with KYMO_PATCH is a nop while it is off and a jump while it is on. One aligned store
 * turns one into the other, under threads that run there:
 *
 *   x86-64    five bytes within an aligned word of eight: every processor fetches the old five or the new
 *             five. Prefixes align the five bytes, and stay
 *   aarch64   one instruction; nop and b are among those that may be changed while they are executed
 *
 * A memory barrier on all threads (membarrier) before the store makes id and description visible to all
 * threads that jump; another one after it makes all processors drop fetched instructions, so that
 * kymo_tracepoint_disable is effective when it returns. Pages are writable only between both. They stay
 * executable, since others run there; systems that forbid pages that are both (SELinux,
 * MemoryDenyWriteExecute) refuse.
 */
#include "record/jumps.h"
#include "record/session.h"
#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* An entry of kymo_jumps: each number is a distance from itself to its target. */
struct jump {
  int32_t code, target, point;
};

static struct table {
  struct table *next;
  const struct jump *begin, *end;
} * tables;

static inline void *at(const int32_t *offset) {
  return (void *)((uintptr_t)offset + (uintptr_t)(intptr_t)*offset);
}

/* ---- instructions ---- */

#if defined(__x86_64__)

enum { JUMP_BYTES = 5 };
typedef uint64_t word; /* what one store changes */
static const uint8_t nop[JUMP_BYTES] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

static word *word_of(const struct jump *jump) { return (word *)((uintptr_t)at(&jump->code) & ~(uintptr_t)7); }

static word with_code(const struct jump *jump, word before, bool on) {
  uint8_t code[JUMP_BYTES] = {0xe9}, bytes[sizeof before];
  int32_t distance = (int32_t)((intptr_t)at(&jump->target) - (intptr_t)at(&jump->code) - JUMP_BYTES);
  memcpy(code + 1, &distance, sizeof distance);
  memcpy(bytes, &before, sizeof before);
  memcpy(bytes + ((uintptr_t)at(&jump->code) & 7), on ? code : nop, JUMP_BYTES);
  memcpy(&before, bytes, sizeof before);
  return before;
}

static bool is_jump(const struct jump *jump) { return *(const uint8_t *)at(&jump->code) == 0xe9; }

#elif defined(__aarch64__)

typedef uint32_t word;

static word *word_of(const struct jump *jump) { return at(&jump->code); }

static word with_code(const struct jump *jump, word before, bool on) {
  (void)before;
  intptr_t distance = (intptr_t)at(&jump->target) - (intptr_t)at(&jump->code);
  return on ? 0x14000000u | ((uint32_t)(distance >> 2) & 0x3ffffffu) : 0xd503201fu;
}

static bool is_jump(const struct jump *jump) { return *word_of(jump) >> 26 == 5; }

#endif

/* ---- changing them ---- */

#if defined(__x86_64__) || defined(__aarch64__)

/* A page of code that is writable now. */
struct opened {
  uintptr_t page; /* 0: none */
  size_t page_size;
};

static void close_page(struct opened *opened) {
  if (opened->page)
    mprotect((void *)opened->page, opened->page_size, PROT_READ | PROT_EXEC);
  opened->page = 0;
}

static bool open_page(struct opened *opened, const word *at) {
  uintptr_t page = (uintptr_t)at & ~(uintptr_t)(opened->page_size - 1);
  if (page == opened->page)
    return true;
  close_page(opened);
  if (mprotect((void *)page, opened->page_size, PROT_READ | PROT_WRITE | PROT_EXEC))
    return false;
  opened->page = page;
  return true;
}

static void barrier(bool of_code) {
  static const int commands[][2] = {
      {MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, MEMBARRIER_CMD_PRIVATE_EXPEDITED},
      {MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE}};
  /* without it (kernels before 4.16) processors see the change sooner or later */
  for (int i = 0; i < 2; i++)
    syscall(SYS_membarrier, commands[of_code][i], 0, 0);
}

static bool change(struct opened *opened, const struct jump *jump, bool on) {
  word *where = word_of(jump);
  if (!open_page(opened, where))
    return false;
  /* partner: the processors that fetch the instruction */
  __atomic_store_n(where, with_code(jump, *where, on), __ATOMIC_RELEASE);
  __builtin___clear_cache((char *)where, (char *)(where + 1));
  return true;
}

bool kymo_jumps_follow(void) {
  struct opened opened = {0, (size_t)sysconf(_SC_PAGESIZE)};
  bool any = false;
  int reason = 0;
  for (const struct table *table = tables; table; table = table->next)
    for (const struct jump *jump = table->begin; jump < table->end; jump++) {
      struct kymo_tracepoint *point = at(&jump->point);
      if (is_jump(jump) == (point->enabled != 0))
        continue;
      if (!any)
        barrier(false);
      any = true;
      if (change(&opened, jump, point->enabled))
        continue;
      reason = errno;
      __atomic_store_n(&point->enabled, !point->enabled, __ATOMIC_RELAXED);
    }
  close_page(&opened);
  if (any)
    barrier(true);
  if (reason)
    kymo_warn("cannot change the code of tracepoints built with KYMO_PATCH, which stay as they are: ",
              strerrordesc_np(reason), NULL);
  errno = reason;
  return !reason;
}

#else

bool kymo_jumps_follow(void) { return true; }

#endif

/* ---- tables ---- */

void kymo_register_jumps_(const int32_t *begin, const int32_t *end) {
  kymo_lock();
  struct table *table = tables;
  while (table && (const void *)table->begin != begin)
    table = table->next; /* each source file of a DSO calls this */
  if (!table && (table = malloc(sizeof *table))) {
    *table = (struct table){tables, (const void *)begin, (const void *)end};
    tables = table;
  } else if (!table) {
    kymo_warn("cannot register tracepoints built with KYMO_PATCH, which stay off: ", strerrordesc_np(ENOMEM),
              NULL);
  }
  kymo_unlock();
}

void kymo_unregister_jumps_(const int32_t *begin) {
  kymo_lock();
  struct table **link = &tables;
  while (*link && (const void *)(*link)->begin != begin)
    link = &(*link)->next;
  struct table *table = *link;
  if (table)
    *link = table->next;
  free(table);
  kymo_unlock();
}
