/* SPDX-License-Identifier: MIT */
/* The verifier's two halves: sections (verify.c) and code (verify_code.c). */
#ifndef KYMO_KEY_VERIFY_H
#define KYMO_KEY_VERIFY_H

#include "key/sections.h"

/* How a jump reaches an instruction. */
struct kymo_key_label {
  bool is_set;
  int depth;
  uint32_t nest;
};

struct kymo_key_verify {
  const struct kymo_key *key;
  const char *file;
  struct kymo_error *error;
  struct kymo_key_label *labels; /* by instruction, and one after the last */
  uint64_t spent, budget;        /* instructions looked at, and how many may be */
  uint32_t *prefix_slots;        /* how many slots there are for a prefix, whatever kind has it */
};

/* What code may do. */
struct kymo_key_verify_code {
  bool is_expression; /* leaves one value, does nothing else */
  uint32_t slots;
  const struct kymo_key_kind *kind; /* whose lists it may use; NULL: none */
};

bool kymo_key_verify_fail(struct kymo_key_verify *v, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool kymo_key_verify_block(struct kymo_key_verify *v, uint32_t block,
                           const struct kymo_key_verify_code *owner);

#endif
