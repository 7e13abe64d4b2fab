/* SPDX-License-Identifier: MIT */
/*
 * The language of the kernel's format files: any text is an event class or refused with a place, and any
 * print fmt over its fields is parsed by both rules or refused. An input that begins with "print fmt:" is
 * only the latter, over the fields a to z.
 */
#include "lang/ftrace/ftrace.h"
#include "lang/ftrace/print.h"
#include "reached.h"
#include "schema/build.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PRINT "print fmt:"

static uint32_t find_letter(const void *user, const char *name, size_t length) {
  (void)user;
  return length == 1 && *name >= 'a' && *name <= 'z' ? (uint32_t)(*name - 'a') : UINT32_MAX;
}

static void must_say_why(int status, const struct kymo_error *error) {
  if (status != KYMO_OK && !error->message[0])
    abort();
}

static void parse_print(const char *text) {
  for (int rules = KYMO_FTRACE_OF_KERNEL; rules <= KYMO_FTRACE_OF_TRACE_CMD; rules++) {
    struct kymo_arena arena = {0};
    struct kymo_ftrace_print print;
    struct kymo_error error = {0};
    int status = kymo_ftrace_print_parse(&print, &arena, text, (enum kymo_ftrace_rules)rules, find_letter,
                                         NULL, &error);
    must_say_why(status, &error);
    fuzz_reached += status == KYMO_OK;
    kymo_arena_free(&arena);
  }
}

static void compile(const char *text, size_t size, bool is_big) {
  const struct kymo_ftrace_machine machine = {is_big, is_big ? 4 : 8};
  struct kymo_builder *builder = kymo_builder_new();
  struct kymo_stream_class *stream;
  struct kymo_ftrace_format format;
  struct kymo_ftrace_class class_;
  struct kymo_error error = {0};
  int status = kymo_builder_stream(builder, &(struct kymo_stream_class){0}, &stream, &error);
  if (status == KYMO_OK)
    status = kymo_ftrace_parse(&format, kymo_builder_arena(builder), &machine, text, size, "input", &error);
  if (status == KYMO_OK)
    status = kymo_ftrace_add_class(&class_, builder, stream, &machine, "group", &format, &error);
  must_say_why(status, &error);
  if (status != KYMO_OK) {
    kymo_builder_free(builder);
    return;
  }
  fuzz_reached++;
  struct kymo_schema *schema = kymo_builder_finish(builder, &error);
  must_say_why(schema ? KYMO_OK : error.code, &error);
  if (schema)
    kymo_schema_release(schema);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (!text)
    return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  if (strncmp(text, PRINT, strlen(PRINT)) == 0) {
    parse_print(text + strlen(PRINT));
  } else {
    compile(text, size, false);
    compile(text, size, true);
  }
  free(text);
  return 0;
}
