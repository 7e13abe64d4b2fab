/* SPDX-License-Identifier: MIT */
#include "schema/registry_metadata.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "schema/registry.h"

enum { TEXT_BYTES = 16 }; /* length and hash, 64 bits each */

/* ---- writing ---- */

void kymo_registry_append_text(struct kymo_strbuf *out, const char *text, size_t size) {
  uint8_t record[KYMO_REGISTRY_HEAD_BYTES + TEXT_BYTES + 4];
  uint32_t kind = KYMO_RECORD_TEXT, bytes = TEXT_BYTES;
  uint64_t length = size, hash = kymo_hash64(text, size, 0);
  memcpy(record, &kind, sizeof kind);
  memcpy(record + 4, &bytes, sizeof bytes);
  memcpy(record + 8, &length, sizeof length);
  memcpy(record + 16, &hash, sizeof hash);
  uint32_t checksum = kymo_registry_checksum(record, sizeof record - 4);
  memcpy(record + 24, &checksum, sizeof checksum);
  kymo_strbuf_add(out, (const char *)record, sizeof record);
}

/* ---- finding them again ---- */

struct text_record {
  uint64_t length, hash;
};

/* Moves after the next text record. False: there is none in the valid part. */
static bool next_text(struct kymo_bytes *in, struct text_record *record) {
  for (;;) {
    const uint8_t *head = in->data + in->at;
    uint32_t kind = kymo_bytes_u32(in), bytes = kymo_bytes_u32(in);
    const uint8_t *content = kymo_bytes_take(in, bytes);
    uint32_t checksum = kymo_bytes_u32(in);
    if (in->failed || checksum != kymo_registry_checksum(head, KYMO_REGISTRY_HEAD_BYTES + (size_t)bytes))
      return false;
    if (kind != KYMO_RECORD_TEXT || bytes < TEXT_BYTES)
      continue;
    struct kymo_bytes of = {.data = content, .size = bytes, .is_big = in->is_big};
    record->length = kymo_bytes_u64(&of);
    record->hash = kymo_bytes_u64(&of);
    return true;
  }
}

/* Moves after the header. False: it is invalid. */
static bool begin(struct kymo_bytes *in) {
  if (!kymo_registry_is(in->data, in->size))
    return false;
  in->is_big = kymo_load_be32(in->data) == KYMO_REGISTRY_MAGIC;
  kymo_bytes_take(in, 8); /* magic, version */
  size_t header = kymo_bytes_u32(in);
  if (in->failed || header > in->size)
    return false;
  in->at = header;
  return true;
}

size_t kymo_registry_covers(const void *registry, size_t size, const char *text, size_t text_size) {
  struct kymo_bytes in = {.data = registry, .size = size};
  struct text_record record;
  size_t covered = 0;
  if (!begin(&in))
    return 0;
  while (next_text(&in, &record)) {
    if (record.length > text_size - covered || kymo_hash64(text + covered, record.length, 0) != record.hash)
      return 0;
    covered += record.length;
  }
  return covered;
}

void kymo_registry_extend(struct kymo_registry_extent *extent, const void *bytes, size_t size) {
  struct kymo_bytes in = {.data = bytes, .size = size, .is_big = KYMO_HOST_IS_BIG};
  struct text_record record;
  size_t from = extent->registry;
  if (!from && !begin(&in))
    return;
  while (next_text(&in, &record)) {
    extent->registry = from + in.at;
    extent->text += record.length;
  }
}
