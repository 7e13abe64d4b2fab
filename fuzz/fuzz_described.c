/* SPDX-License-Identifier: MIT */
/* Descriptions in TDL that anybody wrote, compiled, over files that anybody wrote. An input is the
 * description's length (16 bits, little-endian), the description, the file. Mutations of a text come past the
 * compiler more often than those of a compiled plan come past its verifier, and what is compiled must always
 * be taken by it. */
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
