/* SPDX-License-Identifier: MIT */
/*
 * Where the parts of a plan come from: places in the text of its description. A plan does not have them, but
 * it has its text, and the same text gives the same plan: the text is compiled again, and the places are
 * those of the plan if the result is the plan.
 */
#ifndef KYMO_LANG_TDL_ORIGIN_H
#define KYMO_LANG_TDL_ORIGIN_H

#include "plan/plan.h"
#include <stddef.h>

/* Bytes of the text. */
struct kymo_tdl_span {
  uint32_t at, length;
};

/* The parts of one section, from `first` on up to the next origin, come from `span`. */
struct kymo_tdl_origin {
  uint32_t first;
  struct kymo_tdl_span span;
};

/* By section: INSTRUCTION (the item, or the record's head or the layout's step of an expression), LOAD (the
 * item), KIND and PREFIX (the name), DISPATCH (the step, or the name of the record that HOLDS); empty for the
 * others. */
struct kymo_tdl_origins {
  struct kymo_tdl_origin_list {
    struct kymo_tdl_origin *list; /* ascending by `first` */
    size_t count, capacity;
  } sections[KYMO_SECTION_COUNT];
  bool failed; /* memory ran out */
};

/*
 * Finds the origins of the parts of a plan, for kymo_tdl_origins_free. KYMO_OK; KYMO_E_ABSENT if the plan has
 * no text, or if it is not what this version makes of its text (then there are none); KYMO_E_MEMORY.
 */
int kymo_tdl_origins_find(struct kymo_tdl_origins *origins, const struct kymo_plan *plan,
                          struct kymo_error *error);
/* The place of a part; false: it is unknown. */
bool kymo_tdl_origin_of(const struct kymo_tdl_origins *origins, enum kymo_plan_section section,
                        uint32_t index, struct kymo_tdl_span *span);
void kymo_tdl_origins_free(struct kymo_tdl_origins *origins);

#endif
