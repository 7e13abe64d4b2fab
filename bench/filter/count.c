/* SPDX-License-Identifier: MIT */
/* Counts the events of a trace that a filter selects, or all: count [--key KEY] TRACE [EXPRESSION]. What
 * bench/filter/run measures. */
#include <inttypes.h>
#include <kymo/filter.h>
#include <stdio.h>
#include <string.h>

static int attach(struct kymo_trace *trace, const char *text, struct kymo_error *error) {
  const struct kymo_schema *schema = kymo_trace_part(trace, 0)->schema;
  struct kymo_filter_options options = {.schemas = &schema, .schema_count = 1};
  struct kymo_filter *filter;
  int status = kymo_filter_compile(&filter, text, strlen(text), &options, error);
  if (status == KYMO_OK)
    status = kymo_filter_attach(trace, filter, error);
  kymo_filter_release(filter);
  return status;
}

int main(int argc, char **argv) {
  struct kymo_trace_options options = {0};
  struct kymo_error error;
  int status = KYMO_OK;
  struct kymo_trace *trace = NULL;
  const struct kymo_event *event;
  uint64_t count = 0;
  char text[2048];
  if (argc > 2 && strcmp(argv[1], "--key") == 0) {
    status = kymo_description_load(&options.description, argv[2], &error);
    argc -= 2;
    argv += 2;
  }
  if (argc < 2)
    return 2;
  if (status == KYMO_OK)
    status = kymo_trace_open(&trace, (const char *const *)argv + 1, 1, &options, &error);
  if (status == KYMO_OK && argc > 2)
    status = attach(trace, argv[2], &error);
  while (status == KYMO_OK)
    if ((status = (argc > 2 ? kymo_trace_next_filtered : kymo_trace_next)(trace, &event, &error)) == KYMO_OK)
      count++;
  printf("%" PRIu64 "\n", count);
  if (status < 0)
    fprintf(stderr, "%s\n", kymo_error_text(&error, text, sizeof text));
  kymo_trace_close(trace);
  kymo_description_release(options.description);
  return status == KYMO_END ? 0 : 1;
}
