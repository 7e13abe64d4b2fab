/* SPDX-License-Identifier: MIT */
/* The reader of CPEL files over any file, printed as a dump and as text: all that formats, strings and
 * symbols can do. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const sinks[] = {"cpel", "cpeldump", "text"};
  struct fuzz_file file = fuzz_file_make(data, size);
  for (size_t i = 0; i < sizeof sinks / sizeof *sinks; i++)
    fuzz_print(file.path, (struct kymo_trace_options){.format = "cpel"}, sinks[i]);
  close(file.fd);
  return 0;
}
