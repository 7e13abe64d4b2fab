/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as an ELF file: its symbols, its call sites, and its debug information as listings of all types
 * and as the skeleton of a description. Seeds have no build id, or BUILD_ID: no other file is believed to be
 * that of a trace.
 */
#include "reader.h"
#include "infer/skeleton.h"
#include "infer/types.h"
#include "infer/program.h"
#include "record/describe.h"
#include "symbols/file.h"
#include <string.h>

#define BUILD_ID "0123456789abcdef"
enum { LOOKED_AT_MAX = 4096 };

static void read_symbols(const char *path, const char *build_id) {
  const struct kymo_module module = {.path = path, .build_id = build_id, .is_by_offset = true};
  struct kymo_symbol_table table;
  struct kymo_error error;
  if (kymo_symbol_table_read(&table, &module, &error) == KYMO_OK) {
    fuzz_reached += kymo_symbol_table_address(&table, 0) != UINT64_MAX;
    for (size_t i = 1; i < table.count; i++)
      if (table.list[i].start < table.list[i - 1].start)
        abort();
    for (size_t i = 0; i < table.count && i < LOOKED_AT_MAX; i++)
      fuzz_reached += strlen(table.list[i].name) > 0;
  }
  kymo_symbol_table_free(&table);
}

static void see_point(void *user, const struct kymo_point_text *point) {
  (void)user;
  (void)point;
  fuzz_reached++;
}

static void see_text(void *user, const char *text, size_t size) {
  *(unsigned *)user += size ? (unsigned char)text[size - 1] : 0;
}

static void lacks(void *user, const char *name, const char *why) {
  *(size_t *)user += strlen(name) + strlen(why);
}

static void list_types(const char *path, const char *name) {
  size_t said = 0;
  char text[64];
  struct kymo_error error;
  snprintf(text, sizeof text, "%s", name);
  struct kymo_types_name names[] = {{.text = text}};
  struct kymo_types_made made = {.lacks = lacks, .user = &said};
  if (kymo_types_make(&made, &(struct kymo_types_wanted){.path = path, .names = names, .count = 1}, &error) ==
      KYMO_OK)
    fuzz_reached += made.listed;
  kymo_strbuf_free(&made.listings);
}

static void infer(const char *path, const char *name) {
  struct kymo_strbuf out = {0};
  struct kymo_error error;
  if (tool_infer_struct(&out, path, name, &error) == KYMO_OK)
    fuzz_reached++;
  kymo_strbuf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct kymo_error error;
  unsigned sum = 0;
  setenv("DEBUGINFOD_URLS", "", 1); /* libdwfl would ask servers for files that it misses */
  struct fuzz_file file = fuzz_file_make(data, size);
  read_symbols(file.path, "-");
  read_symbols(file.path, BUILD_ID);
  if (kymo_is_program(file.path)) {
    kymo_program_points(file.path, see_point, NULL, &error);
    kymo_program_texts(file.path, see_text, &sum, &error);
    list_types(file.path, "*");
    list_types(file.path, "struct seed");
    infer(file.path, "seed");
  }
  close(file.fd);
  return 0;
}
