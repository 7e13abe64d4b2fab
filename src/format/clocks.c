/* SPDX-License-Identifier: MIT */
#include "format/clocks.h"
#include "base/file.h"
#include "base/path.h"
#include "ring/clocks.h"
#include "ring/layout.h"
#include <stdlib.h>
#include <string.h>

/* A hundred days, one snapshot per second. */
#define CLOCKS_LIMIT (UINT64_C(1) << 30)

int kymo_clocks_load(struct kymo_trace *trace, struct kymo_part *part, const char *directory,
                     struct kymo_error *error) {
  char path[4096];
  struct kymo_error wrong = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_clocks clocks = {0};
  uint8_t *text = NULL;
  size_t size = 0;
  if (!kymo_path_join(path, sizeof path, directory, KYMO_HIDDEN_CLOCKS))
    return KYMO_OK;
  int status = kymo_file_read_if_there(path, CLOCKS_LIMIT, &text, &size, &wrong);
  if (!status && !text)
    return KYMO_OK;
  if (!status)
    status = kymo_clocks_parse(&clocks, (const char *)text, size, path, &wrong);
  if (status)
    kymo_trace_add_damage(
        trace, &(struct kymo_damage){
                   .path = path, .offset = wrong.offset, .code = wrong.code, .message = wrong.message});
  status =
      clocks.count
          ? kymo_part_add_clock_snapshots(trace, part,
                                          &(struct kymo_clock_snapshots){clocks.head.boot, clocks.head.host,
                                                                         clocks.snapshots, clocks.count},
                                          error)
          : KYMO_OK;
  kymo_clocks_free(&clocks);
  free(text);
  return status;
}
