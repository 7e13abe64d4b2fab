/* SPDX-License-Identifier: MIT */
/* CPEL: the event files of VPP's tools. file.c finds their sections, schema.c describes them, stream.c reads
 * their events. */
#include "base/file.h"
#include "format/cpel/stream.h"
#include "format/formats.h"
#include <string.h>

static bool has_ending(const char *path) {
  size_t length = strlen(path);
  return length > 5 && strcmp(path + length - 5, ".cpel") == 0;
}

/* The format has no magic number: it is recognised by version 1, no other bits, and a known first section. A
 * file called *.cpel is always accepted, so that users see what is wrong with it. */
static int cpel_probe(const char *path, struct kymo_error *error) {
  uint8_t head[12];
  size_t size;
  int status = kymo_file_peek(path, head, sizeof head, &size, NULL, error);
  if (status != KYMO_OK || has_ending(path))
    return status;
  if (size < sizeof head || (head[0] & 0x7f) != 1 || head[1] != 0 || (head[2] == 0 && head[3] == 0))
    return KYMO_E_UNKNOWN;
  uint32_t type = cpel_load(head + 8, !(head[0] & 0x80));
  return type >= CPEL_STRINGS && type <= CPEL_EVENTS ? KYMO_OK : KYMO_E_UNKNOWN;
}

static int open_one(struct kymo_trace *trace, const char *path, struct kymo_error *error) {
  struct cpel_file file;
  struct kymo_part *part;
  int status = kymo_cpel_open(&file, trace, path, error);
  if (status == KYMO_OK)
    return kymo_cpel_add(trace, &file, &part, error);
  kymo_cpel_close(&file);
  return status;
}

static int cpel_open_all(struct kymo_trace *trace, const char *const *paths, size_t count,
                         struct kymo_error *error) {
  return kymo_open_each(trace, paths, count, open_one, error);
}

const struct kymo_format kymo_format_cpel = {
    .name = "cpel",
    .summary = "CPEL, the event files of VPP's performance tools",
    .probe = cpel_probe,
    .open = cpel_open_all,
};
