/* SPDX-License-Identifier: MIT */
#include "stat/schedule_class.h"
#include <stdlib.h>
#include <string.h>

/* ---- events ---- */

static const char *after(const char *name, const char *begin) {
  size_t length = strlen(begin);
  return strncmp(name, begin, length) == 0 ? name + length : NULL;
}

enum kymo_sched_role kymo_sched_role_of(const struct kymo_event_class *class_, const char **call) {
  static const struct {
    const char *name;
    enum kymo_sched_role role;
  } roles[] = {{"sched_switch", KYMO_SCHED_SWITCH},     {"sched_waking", KYMO_SCHED_WAKING},
               {"sched_wakeup", KYMO_SCHED_WAKEUP},     {"sched_wakeup_new", KYMO_SCHED_WAKEUP_NEW},
               {"sched_process_fork", KYMO_SCHED_FORK}, {"sched_process_exit", KYMO_SCHED_EXIT},
               {"task_rename", KYMO_SCHED_RENAME}};
  static const struct {
    const char *begin;
    enum kymo_sched_role role;
  } calls[] = {{"sys_enter_", KYMO_SCHED_ENTER},
               {"syscall_entry_", KYMO_SCHED_ENTER},
               {"sys_exit_", KYMO_SCHED_LEAVE},
               {"syscall_exit_", KYMO_SCHED_LEAVE}};
  const char *name = class_->name ? class_->name : "", *colon = strrchr(name, ':');
  name = colon ? colon + 1 : name;
  *call = NULL;
  for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
    if (strcmp(name, roles[i].name) == 0)
      return roles[i].role;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if ((*call = after(name, calls[i].begin)))
      return calls[i].role;
  if (strcmp(name, "sys_enter") == 0 || strcmp(name, "sys_exit") == 0) /* raw_syscalls: a number */
    return name[4] == 'e' && name[5] == 'n' ? KYMO_SCHED_ENTER : KYMO_SCHED_LEAVE;
  return KYMO_SCHED_NONE;
}

/* ---- causes ---- */

struct call_cause {
  const char *name;
  enum kymo_block_cause cause;
};

/* By name. Waits of others are for a disk if they are uninterruptible. */
static const struct call_cause call_causes[] = {
    {"accept", KYMO_BLOCK_SOCKET},
    {"accept4", KYMO_BLOCK_SOCKET},
    {"clock_nanosleep", KYMO_BLOCK_SLEEP},
    {"clock_nanosleep_time32", KYMO_BLOCK_SLEEP},
    {"clone", KYMO_BLOCK_OTHER},
    {"clone3", KYMO_BLOCK_OTHER},
    {"connect", KYMO_BLOCK_SOCKET},
    {"fdatasync", KYMO_BLOCK_DISK},
    {"fsync", KYMO_BLOCK_DISK},
    {"futex", KYMO_BLOCK_FUTEX},
    {"futex_time32", KYMO_BLOCK_FUTEX},
    {"futex_wait", KYMO_BLOCK_FUTEX},
    {"futex_waitv", KYMO_BLOCK_FUTEX},
    {"msync", KYMO_BLOCK_DISK},
    {"nanosleep", KYMO_BLOCK_SLEEP},
    {"nanosleep_time32", KYMO_BLOCK_SLEEP},
    {"recv", KYMO_BLOCK_SOCKET},
    {"recvfrom", KYMO_BLOCK_SOCKET},
    {"recvmmsg", KYMO_BLOCK_SOCKET},
    {"recvmsg", KYMO_BLOCK_SOCKET},
    {"send", KYMO_BLOCK_SOCKET},
    {"sendmmsg", KYMO_BLOCK_SOCKET},
    {"sendmsg", KYMO_BLOCK_SOCKET},
    {"sendto", KYMO_BLOCK_SOCKET},
    {"sync", KYMO_BLOCK_DISK},
    {"sync_file_range", KYMO_BLOCK_DISK},
    {"syncfs", KYMO_BLOCK_DISK},
    {"vfork", KYMO_BLOCK_OTHER},
};

static int by_name(const void *key, const void *item) {
  return strcmp(key, ((const struct call_cause *)item)->name);
}

/* Bits of prev_state, the same in all kernels. */
enum { STATE_SLEEP = 1, STATE_DISK = 2, STATE_STOPPED = 4, STATE_TRACED = 8, STATE_WAITS = 0xff };
enum { STATE_DEAD = 0x10, STATE_ZOMBIE = 0x20 };

enum kymo_block_cause kymo_sched_cause(const char *call, uint64_t state) {
  bool is_named = call && *call;
  const struct call_cause *found =
      is_named
          ? bsearch(call, call_causes, sizeof call_causes / sizeof *call_causes, sizeof *call_causes, by_name)
          : NULL;
  if (state & (STATE_STOPPED | STATE_TRACED))
    return KYMO_BLOCK_OTHER;
  if (found)
    return found->cause;
  if (state & STATE_DISK)
    return KYMO_BLOCK_DISK;
  return is_named ? KYMO_BLOCK_OTHER : KYMO_BLOCK_UNKNOWN;
}

/* A higher bit alone: it was preempted. Which bit it is depends on the kernel. */
enum kymo_thread_state kymo_sched_state(uint64_t state) {
  if (state & (STATE_DEAD | STATE_ZOMBIE))
    return KYMO_THREAD_ENDED;
  return state & STATE_WAITS ? KYMO_THREAD_BLOCKED : KYMO_THREAD_RUNNABLE;
}

/* ---- texts ---- */

const char *kymo_thread_state_text(enum kymo_thread_state state) {
  static const char *const texts[] = {[KYMO_THREAD_UNKNOWN] = "unknown",
                                      [KYMO_THREAD_RUNNING] = "running",
                                      [KYMO_THREAD_RUNNABLE] = "runnable",
                                      [KYMO_THREAD_BLOCKED] = "blocked",
                                      [KYMO_THREAD_ENDED] = "ended"};
  return texts[state];
}

const char *kymo_block_cause_text(enum kymo_block_cause cause) {
  static const char *const texts[] = {
      [KYMO_BLOCK_DISK] = "disk",   [KYMO_BLOCK_FUTEX] = "futex", [KYMO_BLOCK_SOCKET] = "socket",
      [KYMO_BLOCK_SLEEP] = "sleep", [KYMO_BLOCK_OTHER] = "other", [KYMO_BLOCK_UNKNOWN] = "unknown"};
  return texts[cause];
}
