/* SPDX-License-Identifier: MIT */
/*
 * Recordings of the kernel as CTF 1.8 with the names of LTTng, by which other readers know what they mean:
 *
 *   sched:sched_switch { prev_pid … }      sched_switch { prev_tid … }
 *   syscalls:sys_enter_write               syscall_entry_write
 *   the CPU of a stream                    cpu_id in the context of its packets
 *   what the trace is of                   domain = "kernel"
 *
 * Only names change: the bytes of events are copied as they are. Events that LTTng does not have keep their
 * names, without their groups.
 */
#ifndef KYMO_SINK_CTF_KERNEL_H
#define KYMO_SINK_CTF_KERNEL_H

#include "schema/copy.h"
#include <kymo/read.h>

/* Whether a part is such a recording. */
bool kymo_ctf_is_kernel(const struct kymo_part *part);
/* Renames an event class, and its fields, before it is created. False: out of memory. */
bool kymo_ctf_rename_kernel(struct kymo_schema_copy *copy, struct kymo_event_class *event);

#endif
