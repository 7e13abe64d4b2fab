/* SPDX-License-Identifier: MIT */
/* kymo explain: shows how the bytes of one record are read: the plan of its description, and the field of
 * each byte. */
#include "plan/dump.h"
#include "tool/hex.h"
#include "tool/input.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct explain {
  struct tool_input input;
  uint64_t record;               /* number of the event, from 1 */
  struct kymo_plan_place offset; /* if has_offset: a byte, and the record that contains it, of any class */
  bool has_offset, with_plan;
};

enum { OPTION_OFFSET = 0x200, OPTION_PLAN };

static const struct argp_option options[] = {
    {"record", 'r', "N", 0, "Explain the record that is the event with this number (default: 1)", 0},
    {"offset", OPTION_OFFSET, "BYTE", 0,
     "Explain the record that contains this byte of a described file; A+B is byte B of what is unpacked from "
     "the container at byte A",
     0},
    {"plan", OPTION_PLAN, NULL, 0,
     "Also print the plan of the description, which lists what is done for each record", 0},
    {0},
};

static uint64_t parse_number(const char *text, const char *name, struct argp_state *state) {
  char *end;
  errno = 0;
  uint64_t number = strtoull(text, &end, 0);
  if (*text < '0' || *text > '9' || *end || errno)
    argp_error(state, "--%s is a number, not \"%s\"", name, text);
  return number;
}

/* BYTE, or CONTAINER+BYTE, and so on. */
static struct kymo_plan_place parse_place(const char *text, struct argp_state *state) {
  struct kymo_plan_place place = {0};
  char *end;
  errno = 0;
  place.offset = strtoull(text, &end, 0);
  bool is_good = *text >= '0' && *text <= '9';
  while (is_good && *end == '+' && place.depth < KYMO_PLAN_BOXES) {
    const char *next = end + 1;
    place.within[place.depth++] = strtoull(next, &end, 0);
    is_good = *next >= '0' && *next <= '9';
  }
  if (!is_good || *end || errno)
    argp_error(state, "--offset is a number, or several with \"+\" between them, not \"%s\"", text);
  return place;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct explain *explain = state->input;
  switch (key) {
  case ARGP_KEY_INIT: state->child_inputs[0] = &explain->input; return 0;
  case 'r':
    explain->record = parse_number(argument, "record", state);
    if (explain->record == 0)
      argp_error(state, "events are counted from 1, found --record 0");
    return 0;
  case OPTION_OFFSET:
    explain->offset = parse_place(argument, state);
    explain->has_offset = true;
    return 0;
  case OPTION_PLAN: explain->with_plan = true; return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_child children[] = {{&tool_input_options, 0, NULL, 0}, {0}};
static const struct argp parser = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "FILE",
    .doc = "Show how one event, or one record of a described file, is read, byte by byte.",
};

/* ---- described files ---- */

static bool is_wanted(const struct explain *explain, const struct kymo_look *look, uint64_t *events) {
  const struct kymo_plan_machine *machine = look->machine;
  uint64_t at;
  if (explain->has_offset)
    return kymo_plan_place_find(&machine->state, machine->box, &explain->offset, &at) &&
           at >= machine->start && at - machine->start < machine->length;
  return look->plan->kinds[machine->kind].class_ == KYMO_CLASS_EVENT && ++*events == explain->record;
}

/* Faults of the record, if there are any. */
static void print_notes(const struct kymo_look *look) {
  for (uint32_t i = 0; i < look->machine->note_count; i++) {
    char text[KYMO_PLAN_NOTE_BYTES];
    kymo_plan_note_text(&look->machine->notes[i], text);
    printf("byte %" PRIu64 ": %s\n", look->machine->notes[i].offset, text);
  }
}

static void print_plan(const struct kymo_schema *schema) {
  struct kymo_strbuf plan = {0};
  kymo_plan_print_plan(&plan, schema);
  if (!plan.failed && plan.text)
    fputs(plan.text, stdout);
  kymo_strbuf_free(&plan);
}

static int explain_described(const struct explain *explain, const struct kymo_trace *trace,
                             const struct kymo_stream *stream) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_look look;
  uint64_t events = 0;
  if (stream->part->path_count > 1 || kymo_trace_part_count(trace) > 1) {
    tool_say(stream->part->path_count > 1
                 ? "%s: expected one of the files that are merged by sequence, found all of them"
                 : "%s: expected one file, found others beside it",
             stream->path);
    return TOOL_USAGE;
  }
  int status = kymo_look_begin(&look, stream, 0, &error);
  bool is_found = false;
  if (status == KYMO_OK && explain->with_plan)
    print_plan(stream->part->schema);
  while (!is_found && (status == KYMO_OK || status == KYMO_AGAIN)) {
    status = kymo_look_next(&look, &error);
    is_found = status == KYMO_OK && is_wanted(explain, &look, &events);
  }
  if (is_found) {
    tool_hex_record(&look);
    print_notes(&look);
  } else if (status < 0) {
    tool_say_error(&error);
  } else {
    tool_say(explain->has_offset ? "%s: no record contains this byte" : "%s: the trace has fewer events",
             stream->path);
  }
  kymo_look_end(&look);
  return is_found ? TOOL_OK : TOOL_FAILED;
}

/* ---- other traces ---- */

static int explain_event(const struct explain *explain, struct kymo_trace *trace) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  const struct kymo_event *event = NULL;
  if (explain->has_offset || explain->with_plan) {
    tool_say("%s: --%s is for files that are read with a description", explain->input.paths[0],
             explain->has_offset ? "offset" : "plan");
    return TOOL_USAGE;
  }
  int status = kymo_trace_goto_event(trace, explain->record, &event, &error);
  if (status < 0)
    tool_say_error(&error);
  else if (!event)
    tool_say("%s: the trace has fewer events", explain->input.paths[0]);
  else
    tool_hex_event(event);
  return event ? TOOL_OK : TOOL_FAILED;
}

static int run(int argc, char **argv) {
  struct explain explain = {.record = 1};
  struct kymo_trace *trace;
  tool_parse(&parser, argc, argv, 0, NULL, &explain);
  int status = tool_open(&trace, &explain.input);
  if (status == TOOL_OK) {
    const struct kymo_part *part = kymo_trace_part(trace, 0);
    const struct kymo_stream *stream = part && part->stream_count ? kymo_part_stream(trace, part, 0) : NULL;
    bool is_described = stream && strcmp(part->format, "described") == 0;
    status = is_described ? explain_described(&explain, trace, stream) : explain_event(&explain, trace);
    kymo_trace_close(trace);
  }
  tool_input_free(&explain.input);
  int closed = tool_close_output();
  return status == TOOL_OK ? closed : status;
}

const struct tool_command tool_explain = {
    .name = "explain",
    .summary = "show how the bytes of one event or record are read",
    .run = run,
};
