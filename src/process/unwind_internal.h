/* SPDX-License-Identifier: MIT */
/* What unwind.c and core.c share. */
#ifndef KYMO_PROCESS_UNWIND_INTERNAL_H
#define KYMO_PROCESS_UNWIND_INTERNAL_H

#include "process/unwind.h"
#include <elfutils/libdwfl.h>

struct process_unwinder {
  struct process *process;
  Dwfl *dwfl;
  struct process_thread *thread; /* the one that is unwound */
  bool is_attached;
};

/* Frames while they are found. */
struct process_frames {
  struct process_unwinder *unwinder;
  struct process_frame list[PROCESS_FRAMES_MAX];
  unsigned count;
};

/* For dwfl_getthread_frames and the like; its user is a struct process_frames. */
int process_take_frame(Dwfl_Frame *state, void *user);
/* Gives the frames to the thread, with names. `status` is what dwfl_getthread_frames returned. */
void process_give_frames(struct process_frames *frames, struct process_thread *thread, int status);

#endif
