/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a filter. A text is compiled or refused with a place; a compiled filter is written, read
 * again, and written the same. Any bytes after the header of a binary filter are verified, after the fuzzer
 * has corrected the checksum and the target; a valid filter is attached to a trace, and its events are
 * filtered.
 */
#include "base/bytes.h"
#include "base/hash.h"
#include "filter/machine.h"
#include "filter/program.h"
#include "lang/tsdl/tsdl.h"
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char metadata[] =
    "trace { major = 1; minor = 8; byte_order = le; };\n"
    "clock { name = c; freq = 1000000000; };\n"
    "stream { event.header := struct { integer { size = 8; } id; integer { size = 64; map = clock.c.value; } "
    "t; }; };\n"
    "event { name = \"net:rx\"; id = 0; fields := struct { integer { size = 16; } port; string text;\n"
    "  enum : integer { size = 8; } { \"OPEN\" = 1, \"HALF\" = 2 ... 3 } state; integer { size = 8; } n;\n"
    "  integer { size = 16; signed = true; } sizes[n]; floating_point { exp_dig = 11; mant_dig = 53; } "
    "ratio; integer { size = 8; } k;\n"
    "  struct { integer { size = 8; } a; integer { size = 8; } c; integer { size = 8; } x[c]; } m[k]; }; };\n"
    "event { name = \"mark\"; id = 1; fields := struct { integer { size = 32; signed = true; } port; }; };\n";

static void must(bool holds, const struct kymo_error *error) {
  char message[2048];
  if (holds)
    return;
  fprintf(stderr, "%s\n", kymo_error_text(error, message, sizeof message));
  abort();
}

/* ---- filtering ---- */

/* Twenty events of two classes, from memory. */
static const uint8_t bytes[] = {80, 0, 'a', 'b', 0, 2, 2, 255, 255, 7, 0, 0, 0, 0, 0, 0, 0, 240, 63, 2, 5,
                                1,  7, 6,   0,   0, 0, 0, 0,   0,   0, 0, 0, 0, 0, 0, 0, 0, 0,   0,  0};
struct kymo_cursor {
  uint64_t next;
  const struct kymo_schema *schema;
};

static int begin(struct kymo_cursor **cursor, void *source, struct kymo_error *error) {
  (void)error;
  *cursor = calloc(1, sizeof **cursor);
  (*cursor)->schema = source;
  return KYMO_OK;
}

static int next_event(struct kymo_cursor *cursor, struct kymo_raw_event *event, struct kymo_error *error) {
  (void)error;
  if (cursor->next == 20)
    return KYMO_END;
  uint32_t index = cursor->next % 3 == 2;
  *event = (struct kymo_raw_event){.class_ = cursor->schema->streams[0]->events[index],
                                   .data = bytes,
                                   .size_bits = (sizeof bytes - KYMO_SLACK) * 8,
                                   .cycles = cursor->next++ * 1000,
                                   .path = "memory"};
  return KYMO_OK;
}

static void end(struct kymo_cursor *cursor) { free(cursor); }

static void free_source(void *source) { (void)source; }

static const struct kymo_source_operations operations = {
    .begin = begin, .next_event = next_event, .end = end, .free = free_source};

static void filter_events(struct kymo_schema *schema, struct kymo_filter *filter) {
  struct kymo_error error = {0};
  struct kymo_trace *trace = kymo_trace_new();
  struct kymo_part *part;
  const struct kymo_event *event;
  const struct kymo_part_source part_source = {
      .format = "memory", .path = "memory", .schema = kymo_schema_retain(schema)};
  const struct kymo_stream_source source = {
      .operations = &operations, .source = schema, .path = "memory", .instance = 1};
  must(kymo_trace_add_part(trace, &part_source, &part, &error) == KYMO_OK, &error);
  must(kymo_part_add_stream(trace, part, &source, &error) == KYMO_OK, &error);
  must(kymo_trace_finish(trace, &error) == KYMO_OK, &error);
  int status = kymo_filter_attach(trace, filter, &error);
  while (status == KYMO_OK)
    if ((status = kymo_trace_next_filtered(trace, &event, &error)) == KYMO_OK)
      must(event->class_ != NULL, &error);
  kymo_trace_close(trace);
}

/* ---- forms ---- */

static void try_binary(struct kymo_schema *schema, const uint8_t *data, size_t size) {
  enum { TARGET_AT = 24, LEAST = 64 };
  struct kymo_filter *filter;
  struct kymo_error error = {0};
  if (size < LEAST)
    return;
  uint8_t *copy = malloc(size);
  memcpy(copy, data, size);
  const struct kymo_schema *one = schema;
  struct kymo_filter_target target = kymo_filter_target_of(&one, 1);
  for (unsigned i = 0; i < 8; i++) {
    copy[TARGET_AT + i] = (uint8_t)(target.low >> 8 * i);
    copy[TARGET_AT + 8 + i] = (uint8_t)(target.high >> 8 * i);
  }
  uint64_t sum = kymo_hash64(copy, size - 8, 0x4644);
  for (unsigned i = 0; i < 8; i++)
    copy[size - 8 + i] = (uint8_t)(sum >> 8 * i);
  if (kymo_filter_load(&filter, copy, size, "input", &error) == KYMO_OK) {
    filter_events(schema, filter);
    kymo_filter_release(filter);
  }
  free(copy);
}

static void try_text(struct kymo_schema *schema, const uint8_t *data, size_t size) {
  struct kymo_error error = {0};
  struct kymo_filter *filter, *again;
  uint8_t *first, *second;
  size_t first_size, second_size;
  const struct kymo_schema *one = schema;
  const struct kymo_filter_options options = {.schemas = &one, .schema_count = 1};
  kymo_filter_is_over_all((const char *)data, size);
  if (kymo_filter_compile(&filter, (const char *)data, size, &options, &error) != KYMO_OK) {
    must(error.code < 0 && error.message[0], &error);
    return;
  }
  must(kymo_filter_save(filter, &first, &first_size, &error) == KYMO_OK, &error);
  must(kymo_filter_load(&again, first, first_size, "saved", &error) == KYMO_OK, &error);
  must(kymo_filter_save(again, &second, &second_size, &error) == KYMO_OK, &error);
  must(first_size == second_size && memcmp(first, second, first_size) == 0, &error);
  filter_events(schema, again);
  kymo_filter_release(filter);
  kymo_filter_release(again);
  free(first);
  free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct kymo_schema *schema;
  struct kymo_error error = {0};
  if (!schema)
    schema = kymo_tsdl_compile(metadata, sizeof metadata - 1, "metadata", &error);
  must(schema != NULL, &error);
  if (kymo_filter_is(data, size))
    try_binary(schema, data, size);
  else
    try_text(schema, data, size);
  return 0;
}
