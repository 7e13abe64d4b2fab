/* SPDX-License-Identifier: MIT */
/*
 * A thread that waits for a lock waits for a futex, a word in the lock. What the lock is, its other words
 * say, as the C libraries lay them out, and names of functions in the stack:
 *
 *   glibc mutex          0 lock (the futex: 2)   4 count   8 owner   12 users   16 kind
 *   glibc rwlock         0 readers   4 writers   8 wrphase (a futex)   12 writers (a futex)   24 writer
 *   glibc stdio lock     0 lock (the futex: 2)   4 count   8 owner (its thread pointer)
 *   robust, PI, musl     the futex is the owner, with bits 31 and 30
 *   the end of a thread  the futex is its number; the kernel clears it
 *
 * An owner counts only if it is a thread, so a futex of another sort has none. Locks of other languages are
 * words without an owner. Events of libkymo-calls name holders that the memory does not, as readers.
 */
#include "process/locks.h"
#include "process/threads.h"
#include "base/strbuf.h"
#include <linux/futex.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LIBC_FRAMES_MAX = 8, KINDS_MAX = 0x200, READER_SHIFT = 3 };

/* ---- words ---- */

/* The 32-bit word at an offset from the futex; false: it was not read. */
static bool word_at(const struct process_thread *thread, int offset, uint32_t *word) {
  if (!thread->has_words || offset < -(int)thread->words_before || offset + 4 > (int)thread->words_after)
    return false;
  memcpy(word, thread->words + PROCESS_WORD_BEFORE + offset, sizeof *word);
  return true;
}

static void add_holder(struct process_wait *wait, int thread) {
  for (unsigned i = 0; i < wait->holder_count; i++)
    if (wait->holders[i] == thread)
      return;
  if (wait->holder_count < PROCESS_HOLDERS_MAX)
    wait->holders[wait->holder_count++] = thread;
}

/* The owner is a number of a thread. False: the process has no such thread. */
static bool take_owner(const struct process *process, struct process_wait *wait, uint32_t owner) {
  int index = process_thread_of(process, (int)owner);
  if (index < 0)
    return false;
  add_holder(wait, index);
  return true;
}

/* ---- functions ---- */

struct function_kind {
  const char *begin; /* of the name, after underscores */
  enum process_lock_kind kind;
};
static const struct function_kind function_kinds[] = {
    {"pthread_mutex_", PROCESS_LOCK_MUTEX},    {"pthread_rwlock_", PROCESS_LOCK_RWLOCK},
    {"pthread_cond_", PROCESS_LOCK_CONDITION}, {"sem_wait", PROCESS_LOCK_SEMAPHORE},
    {"sem_timedwait", PROCESS_LOCK_SEMAPHORE}, {"sem_clockwait", PROCESS_LOCK_SEMAPHORE},
    {"new_sem_", PROCESS_LOCK_SEMAPHORE},      {"pthread_barrier_wait", PROCESS_LOCK_BARRIER},
    {"pthread_join", PROCESS_LOCK_JOIN},       {"pthread_timedjoin", PROCESS_LOCK_JOIN},
    {"pthread_clockjoin", PROCESS_LOCK_JOIN},
};

static enum process_lock_kind kind_of_function(const char *name) {
  if (strncmp(name, "__GI_", 5) == 0)
    name += 5;
  name += strspn(name, "_");
  for (size_t i = 0; i < sizeof function_kinds / sizeof *function_kinds; i++)
    if (strncmp(name, function_kinds[i].begin, strlen(function_kinds[i].begin)) == 0)
      return function_kinds[i].kind;
  return PROCESS_LOCK_NONE;
}

/* What the innermost frames say, which are those of the C library. *have_names: they have names, so that a
 * lock of the C library would be known. */
static enum process_lock_kind kind_by_frames(const struct process_thread *thread, bool *have_names) {
  enum process_lock_kind kind = PROCESS_LOCK_NONE;
  *have_names = false;
  for (unsigned i = 0; i < thread->frame_count && i < LIBC_FRAMES_MAX && kind == PROCESS_LOCK_NONE; i++) {
    const char *function = thread->frames[i].function;
    *have_names |= function != NULL;
    kind = function ? kind_of_function(function) : PROCESS_LOCK_NONE;
  }
  return kind;
}

/* ---- kinds of locks ---- */

/* What is known before the words are read. */
struct evidence {
  enum process_lock_kind by_frames;
  bool have_names;
};

/* Words of locks of other languages may look like owners: in a container, numbers of threads are small. So
 * the frames have to be those of a mutex, or unknown while all words fit. */
static bool may_be_mutex(const struct evidence *evidence) {
  return evidence->by_frames == PROCESS_LOCK_MUTEX ||
         (evidence->by_frames == PROCESS_LOCK_NONE && !evidence->have_names);
}

/* The word is the owner: priority inheritance, which the kernel knows, robust mutexes, musl. */
static bool try_owner_word(const struct process *process, struct process_thread *thread, uint32_t word,
                           const struct evidence *evidence) {
  struct process_wait *wait = &thread->wait;
  unsigned command = (unsigned)thread->call.arguments[1] & FUTEX_CMD_MASK;
  bool is_pi = command == FUTEX_LOCK_PI || command == 13;
  uint32_t owner = word & FUTEX_TID_MASK;
  if (!owner || !(is_pi || (word & FUTEX_WAITERS && evidence->by_frames == PROCESS_LOCK_MUTEX)))
    return false;
  wait->kind = PROCESS_LOCK_MUTEX;
  if (!take_owner(process, wait, owner))
    wait->stranger = (int)owner;
  return true;
}

/* The word is the number of a thread, in the memory that the C library has for this thread. */
static bool try_join(const struct process *process, struct process_thread *thread, uint32_t word,
                     const struct evidence *evidence) {
  enum { DESCRIPTOR_MAX = 4096 };
  int index = word & ~(uint32_t)FUTEX_TID_MASK ? -1 : process_thread_of(process, (int)word);
  uint64_t pointer = index >= 0 ? process->threads[index].registers.thread_pointer : 0;
  bool is_its = pointer && thread->call.arguments[0] - pointer < DESCRIPTOR_MAX;
  if (index < 0 || !(evidence->by_frames == PROCESS_LOCK_JOIN || is_its))
    return false;
  add_holder(&thread->wait, index);
  thread->wait.kind = PROCESS_LOCK_JOIN;
  return true;
}

static bool try_mutex(const struct process *process, struct process_thread *thread, uint32_t word,
                      const struct evidence *evidence) {
  uint32_t owner, users, kind;
  struct process_wait *wait = &thread->wait;
  if (!may_be_mutex(evidence) || (word != 1 && word != 2) || !word_at(thread, 8, &owner) ||
      !word_at(thread, 12, &users) || !word_at(thread, 16, &kind))
    return false;
  if (kind >= KINDS_MAX || !owner || !users)
    return false;
  bool is_thread = take_owner(process, wait, owner);
  if (!is_thread && evidence->by_frames != PROCESS_LOCK_MUTEX)
    return false;
  wait->kind = PROCESS_LOCK_MUTEX;
  wait->stranger = is_thread ? 0 : (int)owner;
  return true;
}

static bool try_stream(const struct process *process, struct process_thread *thread, uint32_t word) {
  uint32_t low, high;
  if (word != 2 || !word_at(thread, 8, &low) || !word_at(thread, 12, &high))
    return false;
  uint64_t owner = (uint64_t)high << 32 | low;
  for (size_t i = 0; owner && i < process->count; i++)
    if (process->threads[i].registers.thread_pointer == owner) {
      add_holder(&thread->wait, (int)i);
      thread->wait.kind = PROCESS_LOCK_FILE;
      return true;
    }
  return false;
}

/* The lock begins 8 or 12 bytes before the futex, at a multiple of 8. */
static void try_rwlock(const struct process *process, struct process_thread *thread) {
  uint64_t futex = thread->call.arguments[0];
  int begin = futex % 8 ? -12 : -8;
  uint32_t readers, writer;
  if (!word_at(thread, begin, &readers) || !word_at(thread, begin + 24, &writer))
    return;
  thread->wait.address = futex + (uint64_t)(int64_t)begin;
  if (!writer)
    thread->wait.readers = readers >> READER_SHIFT;
  else if (!take_owner(process, &thread->wait, writer))
    thread->wait.stranger = (int)writer;
}

static void find_by_memory(const struct process *process, struct process_thread *thread) {
  struct evidence evidence;
  uint32_t word;
  evidence.by_frames = kind_by_frames(thread, &evidence.have_names);
  bool is_known = evidence.by_frames != PROCESS_LOCK_NONE;
  thread->wait = (struct process_wait){.kind = is_known ? evidence.by_frames : PROCESS_LOCK_OTHER,
                                       .address = thread->call.arguments[0]};
  if (!word_at(thread, 0, &word))
    return;
  if (evidence.by_frames == PROCESS_LOCK_RWLOCK)
    try_rwlock(process, thread);
  else if (evidence.by_frames == PROCESS_LOCK_JOIN)
    try_join(process, thread, word, &evidence);
  else if (!is_known || evidence.by_frames == PROCESS_LOCK_MUTEX)
    (void)(try_owner_word(process, thread, word, &evidence) || try_mutex(process, thread, word, &evidence) ||
           try_stream(process, thread, word) || (!is_known && try_join(process, thread, word, &evidence)));
}

/* ---- events ---- */

/* A thread that waits for a condition has released its mutex, and no event says which one that was. */
static bool may_have_released(const struct process_thread *thread) {
  return thread->wait_on && thread->wait.kind != PROCESS_LOCK_MUTEX &&
         thread->wait.kind != PROCESS_LOCK_RWLOCK;
}

/* Holders by events, where the memory does not have them, as readers of a lock. */
static void find_by_events(const struct process *process, struct process_thread *thread) {
  struct process_wait *wait = &thread->wait;
  if (thread->wait_on && wait->kind != PROCESS_LOCK_JOIN)
    wait->address = thread->wait_on;
  if (wait->holder_count || wait->stranger ||
      (wait->kind != PROCESS_LOCK_MUTEX && wait->kind != PROCESS_LOCK_RWLOCK &&
       wait->kind != PROCESS_LOCK_OTHER))
    return;
  for (size_t i = 0; i < process->hold_count; i++) {
    const struct process_hold *hold = &process->holds[i];
    int index = hold->address == wait->address ? process_thread_of(process, hold->tid) : -1;
    if (index < 0 || may_have_released(&process->threads[index]) ||
        (&process->threads[index] == thread && wait->kind != PROCESS_LOCK_MUTEX))
      continue;
    add_holder(wait, index);
    wait->is_by_events = true;
  }
}

void process_find_locks(struct process *process) {
  for (size_t i = 0; i < process->count; i++) {
    struct process_thread *thread = &process->threads[i];
    if (thread->call.is_futex)
      find_by_memory(process, thread);
  }
  for (size_t i = 0; i < process->count; i++)
    if (process->threads[i].call.is_futex)
      find_by_events(process, &process->threads[i]);
}

const char *process_lock_text(struct process *process, const struct process_thread *thread) {
  static const char *const names[] = {
      [PROCESS_LOCK_MUTEX] = "the mutex",           [PROCESS_LOCK_RWLOCK] = "the read-write lock",
      [PROCESS_LOCK_FILE] = "the lock of a stream", [PROCESS_LOCK_CONDITION] = "a condition",
      [PROCESS_LOCK_SEMAPHORE] = "a semaphore",     [PROCESS_LOCK_BARRIER] = "a barrier",
      [PROCESS_LOCK_JOIN] = "the end of a thread",  [PROCESS_LOCK_OTHER] = "a lock, condition or other futex",
  };
  const struct process_wait *wait = &thread->wait;
  const struct process_call *call = &thread->call;
  if (wait->kind == PROCESS_LOCK_NONE)
    return "";
  if (!call->futex_name)
    return process_board_text(process->board, "%s at 0x%" PRIx64, names[wait->kind], wait->address);
  return process_board_text(process->board, "%s at 0x%" PRIx64 " <%s+0x%" PRIx64 ">", names[wait->kind],
                            wait->address, call->futex_name,
                            call->futex_name_offset + wait->address - call->arguments[0]);
}

const char *process_wait_text(struct process *process, const struct process_thread *thread) {
  const struct process_wait *wait = &thread->wait;
  struct kymo_strbuf out = {0};
  bool is_join = wait->kind == PROCESS_LOCK_JOIN && wait->holder_count;
  kymo_strbuf_puts(&out, is_join ? "the end of" : process_lock_text(process, thread));
  for (unsigned i = 0; i < wait->holder_count; i++)
    kymo_strbuf_printf(&out, "%s %s",
                       is_join ? ""
                       : i     ? ","
                               : ", held by",
                       process_thread_text(process, &process->threads[wait->holders[i]]));
  if (wait->is_by_events)
    kymo_strbuf_puts(&out, " (by its events)");
  else if (wait->stranger)
    kymo_strbuf_printf(&out,
                       ", held by thread %d, which the process does not have: it has ended, or belongs to "
                       "another process",
                       wait->stranger);
  else if (wait->readers)
    kymo_strbuf_printf(&out, ", held by %u reader%s, whom it does not record", wait->readers,
                       wait->readers == 1 ? "" : "s");
  const char *text = out.failed ? "" : process_board_text(process->board, "%s", out.text);
  kymo_strbuf_free(&out);
  return text;
}

/* ---- cycles ---- */

struct search {
  const struct process *process;
  int goal;
  int *path;
  bool *is_seen;
  unsigned count;
};

/* All holders of a lock have to release it, so a cycle through any of them is one. */
static bool reaches_goal(struct search *search, int at, unsigned depth) {
  const struct process_thread *thread = &search->process->threads[at];
  search->path[depth] = at;
  search->is_seen[at] = true;
  if (!thread->call.is_futex || (!search->process->core && process_has_run(thread)))
    return false;
  for (unsigned i = 0; i < thread->wait.holder_count; i++) {
    int holder = thread->wait.holders[i];
    search->count = depth + 1;
    if (holder == search->goal || (!search->is_seen[holder] && reaches_goal(search, holder, depth + 1)))
      return true;
  }
  return false;
}

unsigned process_find_cycle(const struct process *process, int thread, int *path) {
  bool *is_seen = calloc(process->count, sizeof *is_seen);
  struct search search = {.process = process, .goal = thread, .path = path, .is_seen = is_seen};
  unsigned count = is_seen && reaches_goal(&search, thread, 0) ? search.count : 0;
  free(is_seen);
  return count;
}
