/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a registry, or as the text of one. A registry that was read can be written, and its bytes and
 * its text are read again and written the same. All other forms of it can be written. Before binary ones are
 * read, checksums are corrected and the hashes of event classes removed, since they would reject every
 * mutation.
 */
#include "base/bytes.h"
#include "lang/c/declare.h"
#include "lang/ctf2/write.h"
#include "lang/registry/text.h"
#include "lang/tsdl/write.h"
#include "reached.h"
#include "schema/registry.h"
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds, const char *what, const struct kymo_error *error) {
  char message[2048];
  if (holds)
    return;
  fprintf(stderr, "%s: %s\n", what, error ? kymo_error_text(error, message, sizeof message) : "");
  abort();
}

/* ---- repairing ---- */

enum { HASHES_AT = 28, HASHES_BYTES = 32 }; /* in the content of an event record */

static void put_word(uint8_t *at, uint32_t value, bool is_big) {
  for (int i = 0; i < 4; i++)
    at[i] = (uint8_t)(value >> 8 * (is_big ? 3 - i : i));
}

static void repair(uint8_t *bytes, size_t size) {
  bool is_big = size >= 12 && kymo_load_be32(bytes) == KYMO_REGISTRY_MAGIC;
  struct kymo_bytes in = {.data = bytes, .size = size, .at = 8, .is_big = is_big};
  size_t header = size >= 12 ? kymo_bytes_u32(&in) : 0;
  if (header < KYMO_REGISTRY_HEADER_BYTES || header > size)
    return;
  put_word(bytes + header - 4, kymo_registry_checksum(bytes, header - 4), is_big);
  for (in.at = header;;) {
    uint8_t *record = bytes + in.at;
    uint32_t kind = kymo_bytes_u32(&in), length = kymo_bytes_u32(&in);
    if (!kymo_bytes_take(&in, length) || !kymo_bytes_take(&in, 4))
      return;
    size_t hashed = KYMO_REGISTRY_HEAD_BYTES + (size_t)length;
    if (kind == KYMO_RECORD_EVENT && length >= HASHES_AT + HASHES_BYTES)
      memset(record + KYMO_REGISTRY_HEAD_BYTES + HASHES_AT, 0, HASHES_BYTES);
    put_word(record + hashed, kymo_registry_checksum(record, hashed), is_big);
  }
}

/* ---- round trips ---- */

struct registry {
  uint8_t *bytes;
  size_t size;
};

static struct registry write_schema(struct kymo_schema *schema) {
  struct registry out = {0};
  struct kymo_error error;
  must(kymo_registry_write(schema, &out.bytes, &out.size, &error) == KYMO_OK, "cannot be written", &error);
  kymo_schema_release(schema);
  return out;
}

/* Writes the schema and releases it; the output must equal `like`, and is freed. */
static void must_be_like(struct kymo_schema *schema, const struct registry *like, const char *what) {
  struct registry again = write_schema(schema);
  must(again.size == like->size && memcmp(again.bytes, like->bytes, again.size) == 0, what, NULL);
  free(again.bytes);
}

static void write_forms(const struct kymo_schema *schema) {
  static void (*const forms[])(struct kymo_strbuf *,
                               const struct kymo_schema *) = {kymo_c_print, kymo_tsdl_write, kymo_ctf2_write};
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    struct kymo_strbuf out = {0};
    forms[i](&out, schema);
    must(out.length > 0 && !out.failed, "nothing written", NULL);
    kymo_strbuf_free(&out);
  }
}

static void go_round(struct kymo_schema *schema) {
  struct kymo_strbuf text = {0};
  struct kymo_schema *again = NULL;
  struct kymo_error error;
  kymo_registry_print(&text, schema);
  write_forms(schema);
  struct registry first = write_schema(schema);
  must(kymo_registry_read(&again, first.bytes, first.size, "written", &error) == KYMO_OK, "cannot be read",
       &error);
  must_be_like(again, &first, "another registry");
  again = kymo_registry_compile(text.text, text.length, "printed", &error);
  must(again != NULL, text.text, &error);
  must_be_like(again, &first, "another registry by text");
  fuzz_reached += first.size > KYMO_REGISTRY_HEADER_BYTES;
  kymo_strbuf_free(&text);
  free(first.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct kymo_error error = {0};
  struct kymo_schema *schema = NULL;
  uint8_t *bytes = malloc(size ? size : 1);
  size_t used;
  memcpy(bytes, data, size);
  if (kymo_registry_is(data, size)) {
    if (kymo_registry_read_sound(&schema, data, size, &used, "input", &error) == KYMO_OK)
      kymo_schema_release(schema);
    repair(bytes, size);
    kymo_registry_read(&schema, bytes, size, "input", &error);
  } else
    schema = kymo_registry_compile((const char *)bytes, size, "input", &error);
  free(bytes);
  if (schema)
    go_round(schema);
  else
    must(error.code < 0 && error.message[0], "no error", NULL);
  return 0;
}
