/* SPDX-License-Identifier: MIT */
#include "schema/identity.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "schema/parts.h"
#include <string.h>

/* One walk computes two hashes: parts that only concern the layout are left out of the other one. */
struct canon {
  struct kymo_strbuf *out;
  bool with_layout;
};

/* Numbers are most of the hashed data: where there is space, they are stored at once. */
static void put_number(struct canon *canon, uint64_t value) {
  struct kymo_strbuf *out = canon->out;
  uint64_t little = kymo_load_le64(&value);
  if (out->capacity - out->length > sizeof little) {
    memcpy(out->text + out->length, &little, sizeof little);
    out->length += sizeof little;
  } else {
    kymo_strbuf_add(out, (const char *)&little, sizeof little);
  }
}

static void put_text(struct canon *canon, const char *text) {
  size_t length = text ? strlen(text) : 0;
  put_number(canon, text ? length : UINT64_MAX);
  if (length > 0)
    kymo_strbuf_add(canon->out, text, length);
}

static void put_type(struct canon *canon, const struct kymo_type *type) {
  static const struct kymo_hash none;
  const struct kymo_hash *hash = !type                ? &none
                                 : canon->with_layout ? &type->hashes.layout
                                                      : &type->hashes.content;
  put_number(canon, hash->low);
  put_number(canon, hash->high);
}

static void put_ranges(struct canon *canon, const struct kymo_range *ranges, uint32_t count) {
  put_number(canon, count);
  for (uint32_t i = 0; i < count; i++) {
    put_number(canon, ranges[i].low);
    put_number(canon, ranges[i].high);
  }
}

static void put_members(struct canon *canon, const struct kymo_type *type) {
  put_number(canon, type->member_count);
  for (uint32_t i = 0; i < type->member_count; i++) {
    const struct kymo_member *member = &type->members[i];
    put_text(canon, member->name);
    put_text(canon, member->attributes);
    put_ranges(canon, member->ranges, member->range_count);
    put_type(canon, member->type);
  }
}

static void put_mappings(struct canon *canon, const struct kymo_type *type) {
  put_number(canon, type->mapping_count);
  for (uint32_t i = 0; i < type->mapping_count; i++) {
    put_text(canon, type->mappings[i].name);
    put_number(canon, type->mappings[i].low);
    put_number(canon, type->mappings[i].high);
  }
}

static void put_selector(struct canon *canon, const struct kymo_type *type) {
  put_type(canon, type->selector_type);
  put_number(canon, type->selector.scope);
  put_number(canon, type->selector.depth);
  for (uint32_t i = 0; i < type->selector.depth; i++)
    put_number(canon, type->selector.steps[i]);
  put_ranges(canon, type->presence, type->presence_count);
}

static bool has_order(const struct kymo_type *type) {
  return type->kind <= KYMO_KIND_FLOAT && (type->size_bits > 8 || type->align_bits < 8);
}

static void put_whole(struct canon *canon, const struct kymo_type *type) {
  put_number(canon, type->kind);
  put_text(canon, type->name);
  put_number(canon, type->size_bits);
  put_number(canon, (uint64_t)type->is_signed | (uint64_t)type->is_address << 1 |
                        (uint64_t)type->is_enumeration << 2);
  put_number(canon, (uint64_t)type->base | (uint64_t)type->encoding << 8 | (uint64_t)type->roles << 16);
  put_text(canon, type->clock ? type->clock->name : NULL);
  put_text(canon, type->unit);
  put_text(canon, type->media_type);
  put_text(canon, type->attributes);
  put_number(canon, type->length);
  put_type(canon, type->element);
  put_mappings(canon, type);
  put_members(canon, type);
  put_selector(canon, type);
  if (!canon->with_layout)
    return;
  put_number(canon, type->align_bits);
  put_number(canon, type->bits_reversed);
  put_number(canon, has_order(type) ? type->order : 0); /* a single byte has none */
}

static struct kymo_hash hash_of(const struct kymo_strbuf *bytes) {
  struct kymo_hash128 hash = kymo_hash128(bytes->text, bytes->length, 0);
  return (struct kymo_hash){.low = hash.low, .high = hash.high};
}

bool kymo_identify_type(struct kymo_type *type, struct kymo_strbuf *scratch) {
  struct kymo_hash hashes[2];
  for (int i = 0; i < 2; i++) {
    struct canon canon = {.out = scratch, .with_layout = i == 1};
    scratch->length = 0;
    put_whole(&canon, type);
    if (scratch->failed)
      return false;
    hashes[i] = hash_of(scratch);
  }
  type->hashes = (struct kymo_hashes){.content = hashes[0], .layout = hashes[1]};
  return true;
}

bool kymo_identify_event(struct kymo_event_class *event, struct kymo_strbuf *scratch) {
  struct kymo_hash hashes[2];
  for (int i = 0; i < 2; i++) {
    struct canon canon = {.out = scratch, .with_layout = i == 1};
    scratch->length = 0;
    put_text(&canon, event->name);
    put_number(&canon, (uint64_t)(int64_t)event->level);
    put_type(&canon, event->specific_context);
    put_type(&canon, event->payload);
    if (scratch->failed)
      return false;
    hashes[i] = hash_of(scratch);
  }
  event->hashes = (struct kymo_hashes){.content = hashes[0], .layout = hashes[1]};
  return true;
}
