/* SPDX-License-Identifier: MIT */
/*
 * The text of an event of the Linux kernel, by the print fmt of its format file (lang/ftrace/print.h).
 *
 * The kernel prints by its own types. trace-cmd computes all numbers without sign in 64 bits and knows less
 * of C; who compares texts with its texts needs the same.
 */
#ifndef KYMO_DECODE_KERNEL_MESSAGE_H
#define KYMO_DECODE_KERNEL_MESSAGE_H

#include "base/arena.h"
#include "base/strbuf.h"
#include <kymo/read.h>

struct kymo_kernel_message;

enum kymo_kernel_style { KYMO_KERNEL_AS_KERNEL, KYMO_KERNEL_AS_TRACE_CMD };

/* A class's parsed print fmt, in the arena. NULL: it has none, or one that cannot be parsed (by trace-cmd, if
 * that is the style); or there is no memory. */
const struct kymo_kernel_message *kymo_kernel_message_new(struct kymo_arena *arena,
                                                          const struct kymo_event_class *class_,
                                                          enum kymo_kernel_style style);
/* Adds the text of an event of that class to `out`. False: there is no memory (out->failed). */
bool kymo_kernel_message_add(const struct kymo_kernel_message *message, const struct kymo_event *event,
                             struct kymo_strbuf *out);

/* The same without print fmt, for kymo_kernel_message_add_fields. NULL: the class has none of the kernel. */
const struct kymo_kernel_message *kymo_kernel_fields_new(struct kymo_arena *arena,
                                                         const struct kymo_event_class *class_);
/* Adds " NAME=VALUE" for each field, as trace-cmd does where it cannot parse the print fmt. */
bool kymo_kernel_message_add_fields(const struct kymo_kernel_message *message, const struct kymo_event *event,
                                    struct kymo_strbuf *out);

#endif
