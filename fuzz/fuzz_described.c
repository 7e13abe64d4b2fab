/* SPDX-License-Identifier: MIT */
/* Untrusted descriptions in TDL, compiled, over untrusted files. An input is the description's length (16
 * bits, little-endian), the description, the file. The compiler accepts mutations of a text more often than
 * the verifier accepts those of a compiled plan, and the verifier must accept every compiled plan. */
#include "base/bytes.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct kymo_schema *description = NULL;
  struct kymo_error error = {0};
  size_t text = size >= 2 ? kymo_load_le16(data) : 0;
  if (size < 2 || text > size - 2)
    return 0;
  if (kymo_description_compile(&description, (const char *)data + 2, text, "input", "tdl", &error) !=
      KYMO_OK) {
    if (!error.message[0])
      abort();
    return 0;
  }
  struct fuzz_file file = fuzz_file_make(data + 2 + text, size - 2 - text);
  fuzz_print(file.path, (struct kymo_trace_options){.description = description, .all_classes = true}, "text");
  fuzz_print(file.path, (struct kymo_trace_options){.description = description}, "json");
  close(file.fd);
  kymo_description_release(description);
  return 0;
}
