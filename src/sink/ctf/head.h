/* SPDX-License-Identifier: MIT */
/* The head of a packet (header and context) that is copied: its bytes, and the places of the numbers in it
 * that a writer may have to change. */
#ifndef KYMO_SINK_CTF_HEAD_H
#define KYMO_SINK_CTF_HEAD_H

#include "sink/ctf/encode.h"
#include "trace/pass.h"

struct kymo_ctf_head {
  uint8_t *bytes; /* up to the first event, rounded up to bytes */
  size_t room;
  uint64_t size_bits;
  struct kymo_ctf_fields fields;
};

/* Copies the head of the packet of `pass`, and stores the schema's uuid in it. KYMO_E_MEMORY,
 * KYMO_E_LIMIT. */
int kymo_ctf_head_take(struct kymo_ctf_head *head, const struct kymo_pass *pass, struct kymo_error *error);
/* The same, encoded again with fields for the sizes; `is_plain`: as schema.h describes for CTF 1.8;
 * `is_kernel`: with the number of the stream's CPU (kernel.h). */
int kymo_ctf_head_encode(struct kymo_ctf_head *head, const struct kymo_pass *pass, bool is_plain,
                         bool is_kernel, struct kymo_error *error);
/* Whether a field of this role has `value`, which is truncated to its width if it is a counter or time. True
 * if there is none. */
bool kymo_ctf_head_fits(const struct kymo_ctf_head *head, uint32_t role, uint64_t value);
/* Changes all fields of this role. */
void kymo_ctf_head_put(struct kymo_ctf_head *head, uint32_t role, uint64_t value);
void kymo_ctf_head_free(struct kymo_ctf_head *head);

#endif
