/* SPDX-License-Identifier: MIT */
/*
 * A filter as bytes, little-endian (docs/filters.md):
 *
 *   "KYMOFDL" 0 · u16 major, minor · u32 flags · u64 first · target 2 × u64 · 8 × u32: select and the count
 *   of each list · name · nodes · lists · texts · wides · floats · moments · activities · u64 hash of all
 *   before
 *
 * A text is u32 length and its bytes. Nothing is aligned.
 */
#include "base/bytes.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "filter/program.h"
#include <stdlib.h>
#include <string.h>

static const char magic[8] = "KYMOFDL";
enum { MAJOR = 1, MINOR = 1, OVER_ALL = 1, COUNTS = 8, HASH_SEED = 0x4644 };

bool kymo_filter_is(const uint8_t *bytes, size_t length) {
  return length >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

/* ---- saving ---- */

static void put(struct kymo_strbuf *out, uint64_t value, unsigned bytes) {
  char little[8];
  for (unsigned i = 0; i < bytes; i++)
    little[i] = (char)(value >> 8 * i);
  kymo_strbuf_add(out, little, bytes);
}

static void put_text(struct kymo_strbuf *out, const char *text, size_t length) {
  put(out, length, 4);
  kymo_strbuf_add(out, text, length);
}

static void put_wide(struct kymo_strbuf *out, struct kymo_wide wide) {
  put(out, wide.low, 8);
  put(out, (uint64_t)wide.high, 8);
}

static void put_lists(struct kymo_strbuf *out, const struct kymo_filter *filter) {
  for (uint32_t i = 0; i < filter->list_count; i++)
    put(out, filter->lists[i], 4);
  for (uint32_t i = 0; i < filter->text_count; i++)
    put_text(out, filter->texts[i].bytes, filter->texts[i].length);
  for (uint32_t i = 0; i < filter->wide_count; i++)
    put_wide(out, filter->wides[i]);
  for (uint32_t i = 0; i < filter->float_count; i++) {
    uint64_t bits;
    memcpy(&bits, &filter->floats[i], sizeof bits);
    put(out, bits, 8);
  }
  for (uint32_t i = 0; i < filter->moment_count; i++) {
    put(out, filter->moments[i].anchor, 4);
    put_wide(out, filter->moments[i].span);
  }
  for (uint32_t i = 0; i < filter->activity_count; i++) {
    const struct kymo_filter_activity *activity = &filter->activities[i];
    const uint32_t words[] = {activity->name,      activity->from,      activity->to,
                              activity->first_key, activity->key_count, activity->limit};
    for (size_t j = 0; j < sizeof words / sizeof *words; j++)
      put(out, words[j], 4);
  }
}

int kymo_filter_save(const struct kymo_filter *filter, uint8_t **bytes, size_t *size,
                     struct kymo_error *error) {
  struct kymo_strbuf out = {0};
  const uint32_t counts[COUNTS] = {filter->select,       filter->node_count,    filter->list_count,
                                   filter->text_count,   filter->wide_count,    filter->float_count,
                                   filter->moment_count, filter->activity_count};
  kymo_strbuf_add(&out, magic, sizeof magic);
  put(&out, MAJOR, 2);
  put(&out, MINOR, 2);
  put(&out, filter->over_all ? OVER_ALL : 0, 4);
  put(&out, filter->first, 8);
  put(&out, filter->target.low, 8);
  put(&out, filter->target.high, 8);
  for (size_t i = 0; i < COUNTS; i++)
    put(&out, counts[i], 4);
  put_text(&out, filter->name, strlen(filter->name));
  for (uint32_t i = 0; i < filter->node_count; i++) {
    const struct kymo_filter_node *node = &filter->nodes[i];
    const uint32_t words[] = {node->op | (uint32_t)node->detail << 8 | (uint32_t)node->is_shared << 16,
                              node->a, node->b, node->c, node->key};
    for (size_t j = 0; j < sizeof words / sizeof *words; j++)
      put(&out, words[j], 4);
  }
  put_lists(&out, filter);
  if (!out.failed)
    put(&out, kymo_hash64(out.text, out.length, HASH_SEED), 8);
  if (out.failed) {
    kymo_strbuf_free(&out);
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  *bytes = (uint8_t *)out.text;
  *size = out.length;
  return KYMO_OK;
}

/* ---- loading ---- */

static struct kymo_wide take_wide(struct kymo_bytes *in) {
  uint64_t low = kymo_bytes_u64(in);
  return (struct kymo_wide){low, (int64_t)kymo_bytes_u64(in)};
}

static void take_nodes(struct kymo_bytes *in, struct kymo_filter_builder *builder, uint32_t count) {
  for (uint32_t i = 0; i < count && !in->failed; i++) {
    uint32_t word = kymo_bytes_u32(in);
    struct kymo_filter_node node = {
        .op = (uint8_t)word, .detail = (uint8_t)(word >> 8), .is_shared = word >> 16 & 1};
    in->failed |= word >> 17 != 0;
    node.a = kymo_bytes_u32(in);
    node.b = kymo_bytes_u32(in);
    node.c = kymo_bytes_u32(in);
    node.key = kymo_bytes_u32(in);
    kymo_filter_add_node(builder, &node);
  }
}

static void take_texts(struct kymo_bytes *in, struct kymo_filter_builder *builder, uint32_t count) {
  for (uint32_t i = 0; i < count && !in->failed; i++) {
    uint32_t length = kymo_bytes_u32(in);
    const uint8_t *text = kymo_bytes_take(in, length);
    if (text)
      kymo_filter_append_text(builder, (const char *)text, length);
  }
}

static void take_lists(struct kymo_bytes *in, struct kymo_filter_builder *builder,
                       const uint32_t counts[COUNTS]) {
  take_nodes(in, builder, counts[1]);
  for (uint32_t i = 0; i < counts[2] && !in->failed; i++) {
    uint32_t item = kymo_bytes_u32(in);
    kymo_filter_add_list(builder, &item, 1);
  }
  take_texts(in, builder, counts[3]);
  for (uint32_t i = 0; i < counts[4] && !in->failed; i++)
    kymo_filter_add_wide(builder, take_wide(in));
  for (uint32_t i = 0; i < counts[5] && !in->failed; i++) {
    uint64_t bits = kymo_bytes_u64(in);
    double number;
    memcpy(&number, &bits, sizeof number);
    kymo_filter_add_float(builder, number);
  }
  for (uint32_t i = 0; i < counts[6] && !in->failed; i++) {
    uint32_t anchor = kymo_bytes_u32(in);
    kymo_filter_add_moment(builder, &(struct kymo_filter_moment){anchor, take_wide(in)});
  }
  for (uint32_t i = 0; i < counts[7] && !in->failed; i++) {
    uint32_t words[6];
    for (size_t j = 0; j < 6; j++)
      words[j] = kymo_bytes_u32(in);
    kymo_filter_add_activity(
        builder, &(struct kymo_filter_activity){words[0], words[1], words[2], words[3], words[4], words[5]});
  }
}

static void take_all(struct kymo_bytes *in, struct kymo_filter_builder *builder, uint32_t *select) {
  uint32_t counts[COUNTS], flags = kymo_bytes_u32(in);
  builder->over_all = flags & OVER_ALL;
  in->failed |= (flags & ~(uint32_t)OVER_ALL) != 0;
  builder->first = kymo_bytes_u64(in);
  builder->target.low = kymo_bytes_u64(in);
  builder->target.high = kymo_bytes_u64(in);
  for (size_t i = 0; i < COUNTS; i++)
    counts[i] = kymo_bytes_u32(in);
  *select = counts[0];
  uint32_t length = kymo_bytes_u32(in);
  const uint8_t *name = kymo_bytes_take(in, length);
  builder->name = name ? kymo_arena_copy(&builder->arena, (const char *)name, length) : NULL;
  take_lists(in, builder, counts);
}

int kymo_filter_load(struct kymo_filter **out, const void *bytes, size_t size, const char *file,
                     struct kymo_error *error) {
  struct kymo_bytes in = {.data = bytes, .size = size, .at = sizeof magic};
  struct kymo_filter_builder builder = {0};
  uint32_t select;
  *out = NULL;
  if (!kymo_filter_is(bytes, size))
    return kymo_fail_at(error, KYMO_E_UNKNOWN, file, 0, "this is no filter");
  unsigned major = kymo_bytes_u16(&in);
  kymo_bytes_u16(&in);
  if (major != MAJOR)
    return kymo_fail_at(error, KYMO_E_UNKNOWN, file, sizeof magic,
                        "R8 expected a filter of version %d, found %u; recompile it", MAJOR, major);
  if (size < sizeof magic + 12 ||
      kymo_hash64(bytes, size - 8, HASH_SEED) != kymo_load_le64((const uint8_t *)bytes + size - 8))
    return kymo_fail_at(error, KYMO_E_FORMAT, file, size < 8 ? 0 : size - 8,
                        "R8 the filter is damaged: its check sum is another one");
  in.size = size - 8;
  take_all(&in, &builder, &select);
  if (in.failed || in.at != in.size) {
    kymo_filter_builder_free(&builder);
    return kymo_fail_at(error, KYMO_E_FORMAT, file, in.at, "R8 the filter is damaged: its lists do not fit");
  }
  int status = kymo_filter_finish(out, &builder, select, error);
  if (status != KYMO_E_FORMAT || !error)
    return status;
  struct kymo_error what = *error;
  return kymo_fail_at(error, status, file, 0, "R8 the filter is damaged: %s", what.message);
}
