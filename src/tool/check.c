/* SPDX-License-Identifier: MIT */
/*
 * kymo check: reports where a trace is damaged, and which of its bytes were not read. For a described file
 * these are bytes between records, and bytes of records that are in no field, summed up by record kind.
 */
#include "base/fail.h"
#include "tool/hex.h"
#include "tool/input.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static error_t parse(int key, char *argument, struct argp_state *state) {
  (void)argument;
  if (key == ARGP_KEY_INIT)
    state->child_inputs[0] = state->input;
  return key == ARGP_KEY_INIT ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {{&tool_input_options, 0, NULL, 0}, {0}};
static const struct argp parser = {
    .parser = parse,
    .children = children,
    .args_doc = "TRACE...",
    .doc = "Read traces completely; report where they are damaged, and which bytes of described files "
           "belong to no record.",
};

/* ---- described files ---- */

/* Of one record kind. */
struct covered {
  uint64_t records, bytes, uncovered_bits;
};

struct coverage {
  struct covered *kinds;
  uint64_t at; /* bytes before this are reported */
};

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

/* The bytes between two records, or at the end. */
static void print_gap(const struct coverage *coverage, const struct kymo_look *look, uint64_t to) {
  if (to > coverage->at)
    printf("%s: byte %" PRIu64 ": %" PRIu64 " byte%s of no record\n", look->path, coverage->at,
           to - coverage->at, plural(to - coverage->at));
}

static void count_record(struct coverage *coverage, const struct kymo_look *look) {
  const struct kymo_plan_machine *machine = look->machine;
  struct covered *kind = &coverage->kinds[machine->kind];
  uint64_t own = kymo_look_own_bytes(look), at = machine->start * 8, end = (machine->start + own) * 8;
  /* already read: steps with AT, regions of holders; or in unpacked bytes */
  bool is_inside = machine->box || machine->start < coverage->at, is_box = tool_hex_is_container(machine);
  if (!is_inside)
    print_gap(coverage, look, machine->start);
  uint64_t covered = is_box ? machine->start + machine->length : end / 8;
  coverage->at = !machine->box && covered > coverage->at ? covered : coverage->at;
  kind->records++;
  kind->bytes += own;
  for (size_t i = 0; i < look->field_count; i++) {
    const struct kymo_look_field *field = &look->fields[i];
    kind->uncovered_bits += field->begin_bits > at ? field->begin_bits - at : 0;
    at = field->end_bits > at ? field->end_bits : at;
  }
  kind->uncovered_bits += end > at ? end - at : 0;
}

static void print_kinds(const struct coverage *coverage, const struct kymo_look *look) {
  for (uint32_t i = 0; i < look->plan->counts[KYMO_SECTION_KIND]; i++) {
    const struct covered *kind = &coverage->kinds[i];
    const struct kymo_plan_text *name = &look->plan->texts[look->plan->kinds[i].name];
    if (kind->records)
      printf("%s: %" PRIu64 " record%s \"%.*s\" of %" PRIu64 " byte%s; %" PRIu64 " of them without a field\n",
             look->path, kind->records, plural(kind->records), (int)name->size,
             (const char *)look->plan->bytes + name->offset, kind->bytes, plural(kind->bytes),
             (kind->uncovered_bits + 7) / 8);
  }
}

static int check_described(const struct kymo_stream *stream, uint32_t file) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct coverage coverage = {0};
  struct kymo_look look;
  int status = kymo_look_begin(&look, stream, file, &error);
  if (status == KYMO_OK) {
    coverage.kinds = calloc((size_t)look.plan->counts[KYMO_SECTION_KIND] + 1, sizeof *coverage.kinds);
    status = coverage.kinds ? KYMO_OK : kymo_fail(&error, KYMO_E_MEMORY, "out of memory");
  }
  while (status == KYMO_OK || status == KYMO_AGAIN)
    if ((status = kymo_look_next(&look, &error)) == KYMO_OK)
      count_record(&coverage, &look);
  if (status == KYMO_END) {
    print_gap(&coverage, &look, look.machine->size);
    print_kinds(&coverage, &look);
  } else {
    tool_say_error(&error);
  }
  free(coverage.kinds);
  kymo_look_end(&look);
  return status == KYMO_END ? TOOL_OK : TOOL_FAILED;
}

static int check_files(const struct kymo_stream *stream) {
  int worst = TOOL_OK;
  for (uint32_t file = 0; file < stream->part->path_count; file++) {
    int status = check_described(stream, file);
    worst = status > worst ? status : worst;
  }
  return worst;
}

/* ---- other traces ---- */

static int check_stream(struct kymo_trace *trace, const struct kymo_stream *stream) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_stream_info info;
  if (kymo_stream_describe(trace, stream, &info, &error) < 0) {
    tool_say_error(&error);
    return TOOL_DAMAGED;
  }
  printf("%s: %" PRIu64 " packet%s of %" PRIu64 " bytes\n", stream->path, info.packets, plural(info.packets),
         info.bytes);
  return TOOL_OK;
}

static int check_streams(struct kymo_trace *trace) {
  int worst = TOOL_OK;
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++) {
    const struct kymo_part *part = kymo_trace_part(trace, i);
    bool is_described = strcmp(part->format, "described") == 0;
    for (uint32_t k = 0; k < part->stream_count; k++) {
      const struct kymo_stream *stream = kymo_part_stream(trace, part, k);
      int status = is_described ? check_files(stream) : check_stream(trace, stream);
      worst = status > worst ? status : worst;
    }
  }
  return worst;
}

/* Reads all events, so that damage is found. */
static int read_all(struct kymo_trace *trace, uint64_t *events) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  const struct kymo_event *event;
  int status;
  while ((status = kymo_trace_next(trace, &event, &error)) == KYMO_OK)
    ++*events;
  if (status < 0)
    tool_say_error(&error);
  return status < 0 ? tool_status_of(status) : TOOL_OK;
}

static int run(int argc, char **argv) {
  struct tool_input input = {0};
  struct kymo_trace *trace;
  uint64_t events = 0;
  tool_parse(&parser, argc, argv, 0, NULL, &input);
  int status = tool_open(&trace, &input);
  if (status == TOOL_OK) {
    int read = read_all(trace, &events), streams = check_streams(trace);
    status = read > streams ? read : streams;
    size_t places = kymo_trace_damage_total(trace);
    printf("%" PRIu64 " event%s, %zu damaged place%s\n", events, plural(events), places, plural(places));
    int end = tool_end_trace(trace, input.quiet, TOOL_LOSSES_SAY);
    status = end > status ? end : status;
    kymo_trace_close(trace);
  }
  tool_input_free(&input);
  return status;
}

const struct tool_command tool_check = {
    .name = "check",
    .summary = "report damage in traces, and bytes that belong to no record",
    .run = run,
};
