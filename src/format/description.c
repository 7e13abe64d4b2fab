/* SPDX-License-Identifier: MIT */
#include "format/description.h"
#include "base/fail.h"
#include "base/file.h"
#include "format/metadata.h"
#include "schema/registry.h"
#include "schema/registry_metadata.h"
#include "source/format.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Far more than the types of any program take. */
#define REGISTRY_LIMIT (UINT64_C(1) << 30)

struct bytes {
  uint8_t *data;
  size_t size;
};

static void report_damage(struct kymo_trace *trace, const char *path, const struct kymo_error *error) {
  kymo_trace_add_damage(
      trace, &(struct kymo_damage){
                 .path = path, .offset = error->offset, .code = error->code, .message = error->message});
}

/* The registry is read first: a writer appends to the metadata before it appends to the registry, so the
 * metadata read later contains at least what the registry covers. */
static int read_registry(struct kymo_trace *trace, const char *path, struct bytes *registry,
                         struct kymo_error *error) {
  struct kymo_error wrong = {.offset = KYMO_ERROR_NO_OFFSET};
  int status = kymo_file_read_if_there(path, REGISTRY_LIMIT, &registry->data, &registry->size, &wrong);
  if (status == KYMO_E_MEMORY)
    return kymo_fail(error, status, "out of memory");
  if (status != KYMO_OK)
    report_damage(trace, path, &wrong);
  return KYMO_OK;
}

/* The schema of the registry if it describes the whole text (`is_complete`) or the begin of one that grows.
 * NULL: neither, or it is corrupt, which is reported; or there is no memory: error->code. */
static struct kymo_schema *from_registry(struct kymo_trace *trace, const char *path,
                                         const struct bytes *registry, bool is_begin, bool is_complete,
                                         struct kymo_error *error) {
  struct kymo_schema *schema = NULL;
  size_t used = 0;
  kymo_registry_read_sound(&schema, registry->data, registry->size, &used, path, error);
  bool is_sound = schema && used == registry->size;
  if (is_complete && schema)
    return schema; /* after it there is at most the part that was being written when the process died */
  if (is_begin && is_sound)
    return schema;
  if (!is_sound && error->code != KYMO_E_MEMORY)
    report_damage(trace, path, error);
  kymo_schema_release(schema);
  return NULL;
}

struct kymo_schema *kymo_metadata_load(struct kymo_trace *trace, const char *directory, bool is_growing,
                                       struct kymo_error *error) {
  char metadata[4096], hidden[4096];
  struct bytes text = {0}, registry = {0};
  struct kymo_error wrong = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_schema *schema = NULL;
  size_t covered = 0;
  const char *slash = directory[0] && directory[strlen(directory) - 1] == '/' ? "" : "/";
  snprintf(metadata, sizeof metadata, "%s%smetadata", directory, slash);
  snprintf(hidden, sizeof hidden, "%s%s.kymo/registry", directory, slash);
  if (!kymo_trace_options(trace)->as_babeltrace2 && read_registry(trace, hidden, &registry, error) != KYMO_OK)
    return NULL;
  if (kymo_metadata_read(metadata, &text.data, &text.size, error) == KYMO_OK) {
    if (registry.data) {
      covered = kymo_registry_covers(registry.data, registry.size, (const char *)text.data, text.size);
      schema = from_registry(trace, hidden, &registry, is_growing && covered > 0,
                             covered > 0 && covered == text.size, &wrong);
    }
    if (wrong.code == KYMO_E_MEMORY)
      kymo_fail(error, KYMO_E_MEMORY, "out of memory");
    else if (!schema)
      schema = kymo_metadata_compile(text.data, text.size, metadata, error);
    if (!schema && wrong.code != KYMO_E_MEMORY && is_growing && covered > 0 && covered < text.size)
      schema = kymo_metadata_compile(text.data, covered, metadata, error);
  }
  free(text.data);
  free(registry.data);
  return schema;
}
