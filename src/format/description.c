/* SPDX-License-Identifier: MIT */
#include "format/description.h"
#include "base/file.h"
#include "format/metadata.h"
#include "read/trace.h"
#include "schema/registry.h"
#include "schema/registry_text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Far above what any program's types make. */
#define REGISTRY_LIMIT (UINT64_C(1) << 30)

struct bytes { uint8_t *data; size_t size; };

static void tell_damage(struct kymo_trace *trace, const char *path, const struct kymo_error *error) {
  kymo_trace_add_damage(trace, &(struct kymo_damage){.path = path, .offset = error->offset, .code = error->code,
                                                     .message = error->message});
}

/* The schema of a registry that belongs to the text. NULL: there is none, and what is wrong with it is told. */
static struct kymo_schema *from_registry(struct kymo_trace *trace, const char *path, const struct bytes *registry,
                                         bool is_sound) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_schema *schema = NULL;
  size_t used = 0;
  if (is_sound)
    kymo_registry_read_sound(&schema, registry->data, registry->size, &used, path, &error);
  else
    kymo_registry_read(&schema, registry->data, registry->size, path, &error);
  if (!schema)
    tell_damage(trace, path, &error);
  if (is_sound || !schema)
    return schema;
  kymo_schema_release(schema); /* sound, but of another text: that one counts */
  return NULL;
}

struct kymo_schema *kymo_description_load(struct kymo_trace *trace, const char *directory, bool is_growing,
                                          struct kymo_error *error) {
  char metadata[4096], hidden[4096];
  struct bytes text = {0}, registry = {0};
  struct kymo_schema *schema = NULL;
  const char *slash = directory[0] && directory[strlen(directory) - 1] == '/' ? "" : "/";
  snprintf(metadata, sizeof metadata, "%s%smetadata", directory, slash);
  snprintf(hidden, sizeof hidden, "%s%s.kymo/registry", directory, slash);
  if (kymo_metadata_read(metadata, &text.data, &text.size, error) == KYMO_OK) {
    bool has_registry = access(hidden, F_OK) == 0 &&
                        kymo_file_read(hidden, REGISTRY_LIMIT, &registry.data, &registry.size, NULL) == KYMO_OK;
    size_t covered = 0;
    if (has_registry)
      covered = kymo_registry_covers(registry.data, registry.size, (const char *)text.data, text.size);
    if (is_growing && covered > 0)
      text.size = covered;
    if (has_registry && !trace->options.as_babeltrace2)
      schema = from_registry(trace, hidden, &registry, covered > 0 && covered == text.size);
    if (!schema)
      schema = kymo_metadata_compile(text.data, text.size, metadata, error);
  }
  free(text.data);
  free(registry.data);
  return schema;
}
