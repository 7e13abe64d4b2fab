/* SPDX-License-Identifier: MIT */
/* kymo explain: shows how the bytes of one record are read: the plan of its description, and the field of
 * each byte. */
#include "plan/dump.h"
#include "tool/hex.h"
#include "tool/input.h"
#include "tool/page_file.h"
#include "tool/workbench.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct explain {
  struct tool_input input;
  uint64_t record;               /* number of the event, from 1 */
  struct kymo_plan_place offset; /* if has_offset: a byte, and the record that contains it, of any class */
  bool has_record, has_offset, with_plan, as_html;
  const char *page; /* --html: the file, or NULL */
  uint64_t limit;   /* … and the most records in it */
  bool has_limit;
};

enum { OPTION_OFFSET = 0x200, OPTION_PLAN, OPTION_HTML, OPTION_LIMIT };
enum { LIMIT_USUAL = 50, LIMIT_MAX = 10000 };

static const struct argp_option options[] = {
    {"record", 'r', "N", 0, "Explain the record that is the event with this number (default: 1)", 0},
    {"offset", OPTION_OFFSET, "BYTE", 0,
     "Explain the record that contains this byte of a described file; A+B is byte B of what is unpacked from "
     "the container at byte A",
     0},
    {"plan", OPTION_PLAN, NULL, 0,
     "Also print the plan of the description, which lists what is done for each record", 0},
    {"format", 'f', "FORMAT", 0, "How the record is shown: text (the default), or html, for a document", 0},
    {"html", OPTION_HTML, "OUT", 0,
     "Write a page with records of a described file to OUT: bytes, fields and lines of the description, "
     "which find each other, and what does not fit; from the first record, or from that of --record, "
     "--offset or --begin",
     0},
    {"limit", OPTION_LIMIT, "N", 0, "With --html: at most N records, up to 10000 (default: 50)", 0},
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
    explain->has_record = true;
    if (explain->record == 0)
      argp_error(state, "events are counted from 1, found --record 0");
    return 0;
  case OPTION_OFFSET:
    explain->offset = parse_place(argument, state);
    explain->has_offset = true;
    return 0;
  case OPTION_PLAN: explain->with_plan = true; return 0;
  case 'f':
    explain->as_html = strcmp(argument, "html") == 0;
    if (!explain->as_html && strcmp(argument, "text") != 0)
      argp_error(state, "--format is text or html, not \"%s\"", argument);
    return 0;
  case OPTION_HTML: explain->page = argument; return 0;
  case OPTION_LIMIT:
    explain->limit = parse_number(argument, "limit", state);
    explain->has_limit = true;
    if (explain->limit == 0 || explain->limit > LIMIT_MAX)
      argp_error(state, "--limit is a number from 1 to %d, found %s", LIMIT_MAX, argument);
    return 0;
  case ARGP_KEY_END:
    if (explain->has_limit && !explain->page)
      argp_error(state, "--limit is for --html");
    if (explain->page && (explain->with_plan || explain->as_html))
      argp_error(state, "--html is without --%s", explain->with_plan ? "plan" : "format html");
    return 0;
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

/* One file that is read with a description. */
static bool is_one_file(const struct kymo_trace *trace, const struct kymo_stream *stream) {
  bool is_merged = stream->part->path_count > 1;
  if (!is_merged && kymo_trace_part_count(trace) == 1)
    return true;
  tool_say(is_merged ? "%s: expected one of the files that are merged by sequence, found all of them"
                     : "%s: expected one file, found others beside it",
           stream->path);
  return false;
}

static void print_record(const struct explain *explain, struct kymo_look *look) {
  struct workbench bench = {.is_picture = true};
  if (!explain->as_html) {
    tool_hex_record(look);
    print_notes(look);
    return;
  }
  workbench_begin(&bench, look);
  workbench_add_record(&bench);
  workbench_print(&bench);
  workbench_end(&bench);
}

static int say_not_found(const struct explain *explain, const struct kymo_stream *stream, int status,
                         const struct kymo_error *error) {
  if (status < 0)
    tool_say_error(error);
  else
    tool_say(explain->has_offset ? "%s: no record contains this byte" : "%s: the trace has fewer events",
             stream->path);
  return TOOL_FAILED;
}

static int explain_record(const struct explain *explain, struct kymo_look *look,
                          const struct kymo_stream *stream) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  uint64_t events = 0;
  int status = KYMO_OK;
  bool is_found = false;
  if (explain->with_plan)
    print_plan(stream->part->schema);
  while (!is_found && (status == KYMO_OK || status == KYMO_AGAIN)) {
    status = kymo_look_next(look, &error);
    is_found = status == KYMO_OK && is_wanted(explain, look, &events);
  }
  if (!is_found)
    return say_not_found(explain, stream, status, &error);
  print_record(explain, look);
  return TOOL_OK;
}

/* ---- the page ---- */

/* Whether the page begins with the record that was read, or with the place where none could be. */
static bool is_begin(const struct explain *explain, const struct kymo_look *look, int status,
                     uint64_t *events) {
  if (!explain->has_offset && !explain->has_record)
    return true;
  if (status == KYMO_OK)
    return is_wanted(explain, look, events);
  const struct kymo_plan_note *note = kymo_look_damage(look);
  return note && explain->has_offset && explain->offset.depth == 0 && note->place.depth == 0 &&
         explain->offset.offset >= note->start && explain->offset.offset < note->at + note->bytes_lost;
}

static int write_page(const struct explain *explain, struct workbench *bench,
                      const struct kymo_stream *stream, bool is_cut, bool is_late) {
  const struct kymo_plan *plan = bench->look->plan;
  const struct kymo_plan_text *name = &plan->texts[plan->root->name];
  char *trace = strndup((const char *)plan->bytes + name->offset, name->size);
  if (!trace)
    tool_end_without_memory();
  struct workbench_page page = {
      .bench = bench, .path = stream->path, .trace = trace, .is_cut = is_cut, .is_late = is_late};
  int result = tool_page_file(explain->page, workbench_put, &page);
  free(trace);
  return result;
}

static int explain_page(const struct explain *explain, struct kymo_look *look,
                        const struct kymo_stream *stream) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct workbench bench = {0};
  uint64_t events = 0, passed = 0;
  bool is_begun = false;
  int status, result;
  workbench_begin(&bench, look);
  while ((status = kymo_look_next(look, &error)) == KYMO_OK || status == KYMO_AGAIN) {
    is_begun = is_begun || is_begin(explain, look, status, &events);
    if (bench.records >= explain->limit || !workbench_has_space(&bench))
      break;
    if (!is_begun) {
      passed++;
      workbench_pass(&bench, status == KYMO_OK);
    } else if (status == KYMO_OK)
      workbench_add_record(&bench);
    else
      workbench_add_failure(&bench);
  }
  if (status < 0 || (!is_begun && passed)) {
    result = say_not_found(explain, stream, status, &error);
  } else {
    if (status == KYMO_END)
      workbench_add_gap(&bench, look->machine->size);
    result = write_page(explain, &bench, stream, status != KYMO_END, passed > 0);
  }
  workbench_end(&bench);
  return result;
}

static int explain_described(const struct explain *explain, const struct kymo_trace *trace,
                             const struct kymo_stream *stream) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_look look;
  int result = TOOL_FAILED;
  if (!is_one_file(trace, stream))
    return TOOL_USAGE;
  if (kymo_look_begin(&look, stream, 0, &error) != KYMO_OK)
    tool_say_error(&error);
  else
    result = explain->page ? explain_page(explain, &look, stream) : explain_record(explain, &look, stream);
  kymo_look_end(&look);
  return result;
}

/* ---- other traces ---- */

static int explain_event(const struct explain *explain, struct kymo_trace *trace) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  const struct kymo_event *event = NULL;
  const char *option = explain->has_offset  ? "offset"
                       : explain->with_plan ? "plan"
                       : explain->page      ? "html"
                       : explain->as_html   ? "format html"
                                            : NULL;
  if (option) {
    tool_say("%s: --%s is for files that are read with a description", explain->input.paths[0], option);
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

/* --begin: the number of the first event from this time on. */
static int find_begin(struct explain *explain, struct kymo_trace *trace) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  const struct kymo_event *event;
  if (!explain->page || !explain->input.begin || explain->has_record || explain->has_offset)
    return TOOL_OK;
  int status = kymo_trace_next(trace, &event, &error);
  if (status == KYMO_OK)
    status = kymo_trace_get_number(trace, event, &explain->record, &error);
  if (status == KYMO_OK) {
    explain->has_record = true;
    return TOOL_OK;
  }
  if (status < 0)
    tool_say_error(&error);
  else
    tool_say("%s: no event from --begin %s on", explain->input.paths[0], explain->input.begin);
  return TOOL_FAILED;
}

static int run(int argc, char **argv) {
  struct explain explain = {.record = 1, .limit = LIMIT_USUAL};
  struct kymo_trace *trace;
  tool_parse(&parser, argc, argv, 0, NULL, &explain);
  int status = tool_open(&trace, &explain.input);
  if (status == TOOL_OK) {
    const struct kymo_part *part = kymo_trace_part(trace, 0);
    const struct kymo_stream *stream = part && part->stream_count ? kymo_part_stream(trace, part, 0) : NULL;
    bool is_described = stream && strcmp(part->format, "described") == 0;
    status = find_begin(&explain, trace);
    if (status == TOOL_OK)
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
