/* SPDX-License-Identifier: MIT */
/* Which events of a kernel say what, by their names: those of ftrace and perf, "sched:sched_switch", and of
 * LTTng, "sched_switch". */
#ifndef KYMO_STAT_SCHEDULE_CLASS_H
#define KYMO_STAT_SCHEDULE_CLASS_H

#include "stat/schedule.h"

enum kymo_sched_role {
  KYMO_SCHED_NONE,
  KYMO_SCHED_SWITCH,
  KYMO_SCHED_WAKING,
  KYMO_SCHED_WAKEUP,
  KYMO_SCHED_WAKEUP_NEW,
  KYMO_SCHED_FORK,
  KYMO_SCHED_EXIT,
  KYMO_SCHED_RENAME,
  KYMO_SCHED_ENTER, /* a system call */
  KYMO_SCHED_LEAVE,
};

struct kymo_sched_class {
  bool is_met;
  enum kymo_sched_role role;
  const char *call;     /* of system calls, or NULL: its number is in the field `tid` */
  uint32_t tid, name;   /* fields: of the switch, the next thread; of others, the thread that it is about */
  uint32_t prev, state; /* of the switch */
  uint32_t prev_name;
  uint32_t flags; /* common_flags of ftrace */
};

/* The role of an event class by its name; *call becomes the name of the system call. */
enum kymo_sched_role kymo_sched_role_of(const struct kymo_event_class *class_, const char **call);
/* Why a thread blocks: in this system call (NULL: unknown, "": none), left with this prev_state. */
enum kymo_block_cause kymo_sched_cause(const char *call, uint64_t state);
/* What the thread does that was switched out with this prev_state. */
enum kymo_thread_state kymo_sched_state(uint64_t state);

#endif
