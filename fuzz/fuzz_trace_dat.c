/* SPDX-License-Identifier: MIT */
/* The reader of trace-cmd's files over any file, and both texts of its events. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz_file file = fuzz_file_make(data, size);
  fuzz_print(file.path, (struct kymo_trace_options){.format = "trace-cmd"}, "trace-cmd");
  fuzz_print(file.path, (struct kymo_trace_options){.format = "trace-cmd"}, "json");
  close(file.fd);
  return 0;
}
