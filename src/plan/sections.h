/* SPDX-License-Identifier: MIT */
/* Sections as arrays of words, for the files of this folder. */
#ifndef KYMO_PLAN_SECTIONS_H
#define KYMO_PLAN_SECTIONS_H

#include "base/strbuf.h"
#include "plan/plan.h"

/* Words of one item of each section. */
extern const uint32_t kymo_plan_words[KYMO_SECTION_COUNT];
/* The array of a section in a plan, as words. */
const uint32_t *kymo_plan_array(const struct kymo_plan *plan, enum kymo_plan_section section);
void kymo_plan_set_array(struct kymo_plan *plan, enum kymo_plan_section section, const uint32_t *words);

/* The plan as bytes. out->failed is set when memory runs out. */
void kymo_plan_write(const struct kymo_plan *plan, struct kymo_strbuf *out);
/* Bytes → plan, not verified yet. KYMO_E_FORMAT, KYMO_E_UNKNOWN (another major version), KYMO_E_MEMORY. */
int kymo_plan_read(struct kymo_plan **out, const uint8_t *bytes, size_t size, const char *file,
                   struct kymo_error *error);
/* Verifies everything that the machine relies on. Linear in the plan's size. KYMO_E_FORMAT or
 * KYMO_E_LIMIT. */
int kymo_plan_verify(const struct kymo_plan *plan, const char *file, struct kymo_error *error);

#define KYMO_PLAN_COUNT(plan, name) ((plan)->counts[KYMO_SECTION_##name])

static inline uint64_t kymo_plan_wide(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }

/* The bytes of a text; NULL for NONE. Not terminated by a zero. */
static inline const uint8_t *kymo_plan_text(const struct kymo_plan *plan, uint32_t text, uint32_t *size) {
  *size = text == KYMO_PLAN_NONE ? 0 : plan->texts[text].size;
  return text == KYMO_PLAN_NONE ? NULL : plan->bytes + plan->texts[text].offset;
}

#endif
