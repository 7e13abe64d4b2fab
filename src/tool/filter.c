/* SPDX-License-Identifier: MIT */
#include "tool/filter.h"
#include "base/file.h"
#include "filter/program.h"
#include <stdlib.h>
#include <string.h>

#define SIZE_LIMIT (UINT64_C(64) << 20)

static void print_warning(void *user, const struct kymo_error *warning) {
  (void)user;
  tool_say_error(warning);
}

static int load(struct kymo_filter **filter, const char *path, const struct kymo_filter_options *options,
                struct kymo_error *error) {
  uint8_t *bytes;
  size_t size;
  int status = kymo_input_read(path, SIZE_LIMIT, &bytes, &size, error);
  if (status < 0)
    return status;
  status = kymo_filter_is(bytes, size)
               ? kymo_filter_load(filter, bytes, size, path, error)
               : kymo_filter_compile(filter, (const char *)bytes, size, options, error);
  free(bytes);
  return status;
}

int tool_filter_make(struct kymo_filter **filter, const char *expression, const char *path,
                     const struct kymo_filter_options *options) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_filter_options own = *options;
  *filter = NULL;
  own.warn = print_warning;
  own.file = path ? path : "--filter";
  int status = path ? load(filter, path, &own, &error)
                    : kymo_filter_compile(filter, expression, strlen(expression), &own, &error);
  if (status >= 0)
    return TOOL_OK;
  tool_say_error(&error);
  if (!path && tool_filter_is_name(expression))
    tool_say("a filter in a file is --filter-file %s", expression);
  return status == KYMO_E_SYNTAX ? TOOL_USAGE : TOOL_FAILED;
}

bool tool_filter_is_over_all(const struct tool_input *input) {
  struct kymo_error error;
  struct kymo_filter *filter;
  uint8_t *bytes;
  size_t size;
  if (input->filter)
    return kymo_filter_is_over_all(input->filter, strlen(input->filter));
  if (!input->filter_file || kymo_input_read(input->filter_file, SIZE_LIMIT, &bytes, &size, &error) < 0)
    return false;
  bool is_over_all = kymo_filter_is_over_all((const char *)bytes, size);
  if (kymo_filter_is(bytes, size) &&
      kymo_filter_load(&filter, bytes, size, input->filter_file, &error) == KYMO_OK) {
    is_over_all = filter->over_all;
    kymo_filter_release(filter);
  }
  free(bytes);
  return is_over_all;
}

bool tool_filter_is_name(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && (strcmp(dot, ".fdl") == 0 || strcmp(dot, ".filter") == 0);
}

void tool_filter_refuse_letter(const char *word, struct argp_state *state) {
  if (tool_filter_is_name(word))
    argp_error(state, "-f is a format; a filter in a file is --filter-file %s", word);
}

int tool_filter_attach(struct kymo_trace *trace, const struct tool_input *input) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  if (!input->filter && !input->filter_file)
    return TOOL_OK;
  size_t count = kymo_trace_part_count(trace);
  const struct kymo_schema **schemas = calloc(count + 1, sizeof *schemas);
  if (!schemas) {
    tool_say("out of memory");
    return TOOL_FAILED;
  }
  for (size_t i = 0; i < count; i++)
    schemas[i] = kymo_trace_part(trace, i)->schema;
  struct kymo_filter_options options = {.schemas = schemas, .schema_count = count};
  struct kymo_filter *filter;
  int status = tool_filter_make(&filter, input->filter, input->filter_file, &options);
  free(schemas);
  if (status != TOOL_OK)
    return status;
  status = kymo_filter_attach(trace, filter, &error);
  kymo_filter_release(filter);
  if (status >= 0)
    return TOOL_OK;
  tool_say("%s: %s", input->filter_file ? input->filter_file : "--filter", error.message);
  return status == KYMO_E_USAGE ? TOOL_USAGE : TOOL_FAILED;
}

void tool_filter_print_counts(const struct kymo_trace *trace, const struct tool_input *input) {
  struct kymo_filter_result counts;
  kymo_filter_counts(trace, &counts);
  if (input->quiet)
    return;
  if (counts.failed)
    tool_say("the filter: %llu calculations have no result (rule R10)", (unsigned long long)counts.failed);
  if (counts.replaced)
    tool_say("the filter: %llu activities began again before they ended",
             (unsigned long long)counts.replaced);
  if (counts.dropped)
    tool_say("the filter: %llu activities lasted longer than WITHIN allows",
             (unsigned long long)counts.dropped);
}
