/* SPDX-License-Identifier: MIT */
/* The payload of an event from a record of the kernel, by the steps of its class (lang/ftrace/ftrace.h). */
#ifndef KYMO_FORMAT_FTRACE_PAYLOAD_H
#define KYMO_FORMAT_FTRACE_PAYLOAD_H

#include "lang/ftrace/ftrace.h"
#include "source/block.h"

#define FTRACE_PAYLOAD_MAX ((size_t)256 << 20)

/* The value of a field that is not in its record. */
struct ftrace_missing {
  const struct kymo_ftrace_step *step; /* NULL: the values are more than FTRACE_PAYLOAD_MAX */
  size_t from, length;
};

/* Adds the payload. The record has at least class_->least_bytes. KYMO_OK, KYMO_E_FORMAT with `missing`, or
 * KYMO_E_MEMORY; after a failure the packet has some bytes of it. */
int kymo_ftrace_put_payload(struct kymo_block *packet, const struct kymo_ftrace_class *class_,
                            const uint8_t *record, size_t size, bool is_big, struct ftrace_missing *missing);

#endif
