/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a plan, all words little-endian:
 *
 *   magic | major | minor | sections n | n × (words of an item, items) | bytes of texts | arrays … | texts
 *
 * A later minor version may have longer items and more sections: longer items are cut, shorter ones are
 * filled with zeros, unknown sections are skipped.
 */
#include "base/bytes.h"
#include "base/fail.h"
#include "plan/sections.h"
#include <inttypes.h>
#include <stdlib.h>

#define SECTIONS_MAX 1024

const uint32_t kymo_plan_words[KYMO_SECTION_COUNT] = {
#define X(name, what, array) [KYMO_SECTION_##name] = sizeof(struct kymo_plan_##what) / sizeof(uint32_t),
    KYMO_PLAN_SECTIONS(X)
#undef X
};

const uint32_t *kymo_plan_array(const struct kymo_plan *plan, enum kymo_plan_section section) {
  switch (section) {
#define X(name, what, array) \
  case KYMO_SECTION_##name: return (const uint32_t *)plan->array;
    KYMO_PLAN_SECTIONS(X)
#undef X
  default: return NULL;
  }
}

void kymo_plan_set_array(struct kymo_plan *plan, enum kymo_plan_section section, const uint32_t *words) {
  switch (section) {
#define X(name, what, array) \
  case KYMO_SECTION_##name: plan->array = (const struct kymo_plan_##what *)words; break;
    KYMO_PLAN_SECTIONS(X)
#undef X
  default: break;
  }
}

/* ---- writing ---- */

static void put(struct kymo_strbuf *out, uint32_t word) {
  word = KYMO_HOST_IS_BIG ? __builtin_bswap32(word) : word;
  kymo_strbuf_add(out, (const char *)&word, sizeof word);
}

void kymo_plan_write(const struct kymo_plan *plan, struct kymo_strbuf *out) {
  put(out, KYMO_PLAN_MAGIC);
  put(out, KYMO_PLAN_MAJOR);
  put(out, KYMO_PLAN_MINOR);
  put(out, KYMO_SECTION_COUNT);
  for (uint32_t i = 0; i < KYMO_SECTION_COUNT; i++) {
    put(out, kymo_plan_words[i]);
    put(out, plan->counts[i]);
  }
  put(out, plan->byte_count);
  for (uint32_t i = 0; i < KYMO_SECTION_COUNT; i++) {
    const uint32_t *words = kymo_plan_array(plan, (enum kymo_plan_section)i);
    for (size_t k = 0; k < (size_t)plan->counts[i] * kymo_plan_words[i]; k++)
      put(out, words[k]);
  }
  kymo_strbuf_add(out, (const char *)plan->bytes, plan->byte_count);
}

/* ---- reading ---- */

/* Where the parts of the bytes are, once their sizes are known to fit. */
struct reading {
  struct kymo_bytes in;
  const char *file;
  struct kymo_error *error;
  uint32_t section_count, words[SECTIONS_MAX], counts[SECTIONS_MAX], byte_count;
  size_t total; /* words of the plan in memory */
};

static int damaged(struct reading *r, const char *what) {
  return kymo_fail_at(r->error, KYMO_E_FORMAT, r->file, KYMO_ERROR_NO_OFFSET,
                      "R8: the plan is damaged at its byte %zu: %s", r->in.at, what);
}

static int read_head(struct reading *r) {
  uint32_t magic = kymo_bytes_u32(&r->in), major = kymo_bytes_u32(&r->in), minor = kymo_bytes_u32(&r->in);
  if (magic != KYMO_PLAN_MAGIC)
    return damaged(r, "the magic number is missing");
  if (major != KYMO_PLAN_MAJOR)
    return kymo_fail_at(r->error, KYMO_E_UNKNOWN, r->file, KYMO_ERROR_NO_OFFSET,
                        "R8: a plan of version %" PRIu32 ".%" PRIu32
                        ", which this kymo does not know (it reads %d.x)",
                        major, minor, KYMO_PLAN_MAJOR);
  r->section_count = kymo_bytes_u32(&r->in);
  if (r->in.failed || r->section_count > SECTIONS_MAX)
    return damaged(r, "more sections than there can be");
  uint64_t need = 0;
  for (uint32_t i = 0; i < r->section_count; i++) {
    r->words[i] = kymo_bytes_u32(&r->in);
    r->counts[i] = kymo_bytes_u32(&r->in);
    if (r->counts[i] > 0 && (r->words[i] == 0 || r->words[i] > 4096))
      return damaged(r, "items of no size, or too large ones");
    need += (uint64_t)r->words[i] * r->counts[i] * 4;
    if (i < KYMO_SECTION_COUNT)
      r->total += (size_t)r->counts[i] * kymo_plan_words[i];
  }
  r->byte_count = kymo_bytes_u32(&r->in);
  if (r->in.failed || need + r->byte_count != r->in.size - r->in.at)
    return damaged(r, "the sizes of its sections do not add up to its own");
  return KYMO_OK;
}

int kymo_plan_read(struct kymo_plan **out, const uint8_t *bytes, size_t size, const char *file,
                   struct kymo_error *error) {
  struct reading r = {.in = {.data = bytes, .size = size}, .file = file, .error = error};
  int status = read_head(&r);
  *out = NULL;
  if (status != KYMO_OK)
    return status;
  size_t words_at = (sizeof **out + 15) & ~(size_t)15, bytes_at = words_at + r.total * sizeof(uint32_t);
  struct kymo_plan *plan = calloc(1, bytes_at + r.byte_count + 1);
  if (!plan)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  uint32_t *to = (uint32_t *)((uint8_t *)plan + words_at);
  for (uint32_t i = 0; i < r.section_count; i++) {
    uint32_t known = i < KYMO_SECTION_COUNT ? kymo_plan_words[i] : 0;
    if (known) {
      plan->counts[i] = r.counts[i];
      kymo_plan_set_array(plan, (enum kymo_plan_section)i, to);
    }
    for (uint32_t k = 0; k < r.counts[i]; k++, to += known)
      for (uint32_t w = 0; w < r.words[i]; w++) {
        uint32_t word = kymo_bytes_u32(&r.in);
        if (w < known)
          to[w] = word;
      }
  }
  plan->bytes = (uint8_t *)plan + bytes_at;
  plan->byte_count = r.byte_count;
  if (r.byte_count)
    memcpy((uint8_t *)plan + bytes_at, kymo_bytes_take(&r.in, r.byte_count), r.byte_count);
  *out = plan;
  return KYMO_OK;
}

struct kymo_plan *kymo_plan_open(const struct kymo_schema *schema, const char *file,
                                 struct kymo_error *error) {
  struct kymo_plan *plan = NULL;
  if (!schema->plan) {
    kymo_fail_at(
        error, KYMO_E_ABSENT, file, KYMO_ERROR_NO_OFFSET,
        "a description of events, but not of files: it has no plan, as kymo compile makes of a TDL text");
    return NULL;
  }
  if (kymo_plan_read(&plan, schema->plan, schema->plan_size, file, error) == KYMO_OK &&
      kymo_plan_verify(plan, file, error) == KYMO_OK)
    return plan;
  kymo_plan_close(plan);
  return NULL;
}

void kymo_plan_close(struct kymo_plan *plan) { free(plan); }
