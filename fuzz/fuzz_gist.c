/* SPDX-License-Identifier: MIT */
/* The reader of Gist logs over any log with any header of definitions: two bytes with the header's length,
 * the header, the log. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2)
    return 0;
  size_t length = (size_t)data[0] << 8 | data[1];
  length = length < size - 2 ? length : size - 2;
  struct fuzz_file header = fuzz_file_make(data + 2, length),
                   log = fuzz_file_make(data + 2 + length, size - 2 - length);
  struct kymo_trace_options options = {.format = "gist", .gist_header = header.path};
  fuzz_print(log.path, options, "cpel");
  fuzz_print(log.path, options, "json");
  close(header.fd);
  close(log.fd);
  return 0;
}
