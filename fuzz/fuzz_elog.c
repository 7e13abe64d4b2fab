/* SPDX-License-Identifier: MIT */
/* The reader of clib's event logs over any file. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz_file file = fuzz_file_make(data, size);
  fuzz_print(file.path, (struct kymo_trace_options){.format = "elog"}, "json");
  close(file.fd);
  return 0;
}
