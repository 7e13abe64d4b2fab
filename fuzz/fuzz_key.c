/* SPDX-License-Identifier: MIT */
/* Plans that anybody wrote, over files that anybody wrote: the verifier refuses, or reading is safe. An input
 * is the plan's size (32 bits, little-endian), the plan, the file. */
#include "base/bytes.h"
#include "plan/classes.h"
#include "reader.h"
#include "schema/build.h"

/* The schema of a plan, or NULL. */
static struct kymo_schema *make_schema(const uint8_t *bytes, size_t size) {
  struct kymo_builder *builder = kymo_builder_new();
  uint8_t *copy = builder ? kymo_builder_alloc(builder, size + 1) : NULL;
  struct kymo_error error;
  if (!copy)
    abort();
  memcpy(copy, bytes, size);
  kymo_builder_schema(builder)->plan = copy;
  kymo_builder_schema(builder)->plan_size = size;
  struct kymo_plan *plan = kymo_plan_open(kymo_builder_schema(builder), "key", &error);
  if (!plan) {
    kymo_builder_free(builder);
    return NULL;
  }
  struct kymo_schema *schema = kymo_plan_schema(plan, builder, NULL, &error);
  kymo_plan_close(plan);
  return schema;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t plan = size >= 4 ? kymo_load_le32(data) : 0;
  if (size < 4 || plan > size - 4)
    return 0;
  struct kymo_schema *description = make_schema(data + 4, plan);
  if (!description)
    return 0;
  struct fuzz_file file = fuzz_file_make(data + 4 + plan, size - 4 - plan);
  fuzz_print(file.path, (struct kymo_trace_options){.description = description, .all_classes = true}, "text");
  fuzz_print(file.path, (struct kymo_trace_options){.description = description}, "json");
  close(file.fd);
  kymo_schema_release(description);
  return 0;
}
