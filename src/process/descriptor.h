/* SPDX-License-Identifier: MIT */
/* What the descriptors of a process are. */
#ifndef KYMO_PROCESS_DESCRIPTOR_H
#define KYMO_PROCESS_DESCRIPTOR_H

#include "process/model.h"

/* Threads may have descriptors of their own (unshare(2)). */
struct process_descriptor {
  int tid, number;
};

/* " <pipe:[12]>", " <TCP 10.0.0.1:5000 to 10.0.0.2:80, established>", " </path>"; "" if it is unknown. */
const char *process_descriptor_text(struct process *process, const struct process_descriptor *descriptor);
/* "whose other end is open in process 12 (cat), …"; NULL: it is no pipe. */
const char *process_pipe_peers(struct process *process, const struct process_descriptor *descriptor,
                               bool for_writing);
/* "whose child is process 12 (cat)" of a thread that started processes; NULL: none is there. */
const char *process_children(struct process *process, int tid);
/* Whether calls of this socket have a timeout (SO_RCVTIMEO, SO_SNDTIMEO), or might have one. */
bool process_socket_has_timeout(struct process *process, const struct process_descriptor *descriptor);

#endif
