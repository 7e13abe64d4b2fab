/* SPDX-License-Identifier: MIT */
/* The verifier's two halves: sections (verify.c) and code (verify_code.c). */
#ifndef KYMO_PLAN_VERIFY_H
#define KYMO_PLAN_VERIFY_H

#include "plan/sections.h"

/* The state with which a jump reaches an instruction. */
struct kymo_plan_label {
  bool is_set;
  int depth;
  uint32_t nest;
};

struct kymo_plan_verify {
  const struct kymo_plan *plan;
  const char *file;
  struct kymo_error *error;
  struct kymo_plan_label *labels; /* by instruction, and one after the last */
  uint64_t spent, budget;         /* instructions checked, and their limit */
  uint32_t *prefix_slots;         /* the number of slots for a prefix, for every kind that has it */
};

/* What a block of code may do. */
struct kymo_plan_verify_code {
  bool is_expression; /* leaves one value, has no other effect */
  uint32_t slots;
  const struct kymo_plan_kind *kind; /* the kind whose lists it may use; NULL: none */
};

bool kymo_plan_verify_fail(struct kymo_plan_verify *v, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool kymo_plan_verify_block(struct kymo_plan_verify *v, uint32_t block,
                            const struct kymo_plan_verify_code *owner);

#endif
