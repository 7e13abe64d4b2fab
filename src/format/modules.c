/* SPDX-License-Identifier: MIT */
#include "format/modules.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/path.h"
#include "ring/layout.h"
#include "source/modules.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULES_LIMIT (UINT64_C(1) << 28)
enum { MODULES_MAX = 100000, BUILD_ID_MAX = 129 };

struct reading {
  struct kymo_trace *trace;
  struct kymo_part *part;
  const char *file;
  const char *text;
  size_t size; /* up to the end of the last whole line */
  size_t modules;
};

/* "load CYCLES BIAS START END BUILD-ID PATH" */
static int read_load(struct reading *r, char *line, struct kymo_error *error) {
  char build_id[BUILD_ID_MAX];
  int path = 0;
  struct kymo_module module = {.unloaded = UINT64_MAX, .build_id = build_id};
  if (sscanf(line, "load %" SCNu64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %128s %n", &module.loaded,
             &module.bias, &module.start, &module.end, build_id, &path) != 5 ||
      !path || line[path] != '/' || module.start >= module.end || r->modules++ >= MODULES_MAX)
    return KYMO_E_FORMAT;
  module.path = line + path;
  return kymo_part_add_module(r->trace, r->part, &module, error);
}

static int read_line(struct reading *r, char *line, struct kymo_error *error) {
  uint64_t cycles, start;
  if (!strncmp(line, "load ", 5))
    return read_load(r, line, error);
  if (sscanf(line, "unload %" SCNu64 " %" SCNx64, &cycles, &start) != 2)
    return KYMO_E_FORMAT;
  kymo_part_unload_module(r->part, start, cycles);
  return KYMO_OK;
}

static void report(const struct reading *r, size_t offset, const char *expected) {
  struct kymo_error error = {0};
  kymo_fail_text(&error, r->file, r->text, r->size, offset, "expected %s", expected);
  kymo_trace_add_damage(
      r->trace, &(struct kymo_damage){
                    .path = r->file, .offset = offset, .code = KYMO_E_SYNTAX, .message = error.message});
}

static int read_all(struct reading *r, char *text, struct kymo_error *error) {
  static const char head[] = "kymo-modules 1\n";
  if (!r->size)
    return KYMO_OK;
  if (strncmp(text, head, sizeof head - 1) != 0) {
    report(r, 0, "kymo-modules 1");
    return KYMO_OK;
  }
  for (char *line = text + sizeof head - 1, *end; line < text + r->size; line = end + 1) {
    end = memchr(line, '\n', (size_t)(text + r->size - line));
    *end = 0;
    int status = read_line(r, line, error);
    *end = '\n';
    if (status == KYMO_E_FORMAT)
      report(r, (size_t)(line - text), "load or unload with times and addresses");
    if (status)
      return status == KYMO_E_FORMAT ? KYMO_OK : status;
  }
  return KYMO_OK;
}

int kymo_modules_load(struct kymo_trace *trace, struct kymo_part *part, const char *directory,
                      struct kymo_error *error) {
  char path[4096];
  struct kymo_error wrong = {.offset = KYMO_ERROR_NO_OFFSET};
  uint8_t *text = NULL;
  size_t size = 0;
  if (!kymo_path_join(path, sizeof path, directory, KYMO_HIDDEN_MODULES))
    return KYMO_OK;
  int status = kymo_file_read_if_there(path, MODULES_LIMIT, &text, &size, &wrong);
  if (!status && !text)
    return KYMO_OK;
  if (status) {
    kymo_trace_add_damage(
        trace, &(struct kymo_damage){
                   .path = path, .offset = wrong.offset, .code = wrong.code, .message = wrong.message});
    return KYMO_OK;
  }
  while (size && text[size - 1] != '\n') /* a line that is being written */
    size--;
  struct reading r = {.trace = trace, .part = part, .file = path, .text = (const char *)text, .size = size};
  status = read_all(&r, (char *)text, error);
  free(text);
  return status;
}
