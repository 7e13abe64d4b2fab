/* SPDX-License-Identifier: MIT */
/* The reader of perf's files over any file, as text and as JSON. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz_file file = fuzz_file_make(data, size);
  fuzz_print(file.path, (struct kymo_trace_options){.format = "perf"}, "text");
  fuzz_print(file.path, (struct kymo_trace_options){.format = "perf"}, "json");
  close(file.fd);
  return 0;
}
