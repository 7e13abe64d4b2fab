/* SPDX-License-Identifier: MIT */
#include "live/ctf2.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "lang/ctf2/write.h"
#include "ring/layout.h"
#include "schema/registry.h"
#include "schema/registry_metadata.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { REGISTRY_MAX = 1 << 30 };

static int read_schema(struct kymo_schema **schema, const char *path, struct kymo_error *error) {
  uint8_t *bytes;
  size_t size;
  int status = kymo_file_read(path, REGISTRY_MAX, &bytes, &size, error);
  if (status < 0)
    return status;
  status = kymo_registry_read(schema, bytes, size, path, error);
  free(bytes);
  return status;
}

/* Replaces `path` by a file at once. */
static int replace(const char *path, const struct kymo_strbuf *content, struct kymo_error *error) {
  char made[4096];
  if (content->failed)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if ((size_t)snprintf(made, sizeof made, "%s.new", path) >= sizeof made)
    return kymo_fail(error, KYMO_E_LIMIT, "the path is too long: %s", path);
  FILE *out = fopen(made, "we");
  if (!out)
    return kymo_fail_errno(error, made, "cannot write");
  bool whole = fwrite(content->text, 1, content->length, out) == content->length;
  whole = !fclose(out) && whole;
  if (whole && !rename(made, path))
    return KYMO_OK;
  int status = kymo_fail_errno(error, made, "cannot write");
  unlink(made);
  return status;
}

/* The registry of the same schema that describes another text. */
static int write_registry(const char *path, const struct kymo_schema *schema,
                          const struct kymo_strbuf *metadata, struct kymo_error *error) {
  struct kymo_strbuf registry = {0};
  uint8_t *bytes;
  size_t size;
  int status = kymo_registry_write(schema, &bytes, &size, error);
  if (status < 0)
    return status;
  kymo_strbuf_add(&registry, (const char *)bytes, size);
  kymo_registry_append_text(&registry, metadata->text, metadata->length);
  free(bytes);
  status = replace(path, &registry, error);
  kymo_strbuf_free(&registry);
  return status;
}

int kymo_trace_to_ctf2(const char *directory, struct kymo_error *error) {
  char metadata[4096], registry[4096];
  struct kymo_schema *schema;
  struct kymo_strbuf text = {0};
  kymo_path_join(metadata, sizeof metadata, directory, KYMO_POOL_METADATA);
  kymo_path_join(registry, sizeof registry, directory, KYMO_HIDDEN_REGISTRY);
  int status = read_schema(&schema, registry, error);
  if (status < 0)
    return status;
  kymo_ctf2_write(&text, schema);
  status = replace(metadata, &text, error);
  if (!status) /* in between, the old one shows that it does not match this text */
    status = write_registry(registry, schema, &text, error);
  kymo_strbuf_free(&text);
  kymo_schema_release(schema);
  return status;
}
