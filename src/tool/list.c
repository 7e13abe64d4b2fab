/* SPDX-License-Identifier: MIT */
/*
 * kymo list: lists events. For a trace: its event classes, from the description alone (print/class.h). For a
 * program or shared library: its tracepoints, with types by name. For processes: those that can be traced,
 * and the tracepoints of one.
 *
 *       PID  TRACEPOINTS      ON  PROGRAM  MODE
 *      1234           12       3  server   overwrite, recorded by 1240
 *
 *   on   info     net:rx  src/net.c:120
 *   off  -        net:tx  src/net.c:150
 */
#include "base/pattern.h"
#include "base/strbuf.h"
#include "infer/probe.h"
#include "infer/program.h"
#include "live/client.h"
#include "print/class.h"
#include "print/level.h"
#include "record/fields.h"
#include "tool/grid.h"
#include "tool/input.h"
#include "tool/rings.h"
#include <kymo/live.h>
#include <stdlib.h>
#include <string.h>

struct list {
  struct tool_input input;
  bool brief, with_dead, functions;
};

/* ---- command line ---- */

enum { OPTION_DEAD = 256, OPTION_FUNCTIONS };

static const struct argp_option options[] = {
    {"brief", 'b', NULL, 0, "Names only", 0},
    {"dead", OPTION_DEAD, NULL, 0,
     "Also dead processes that left rings: since when, how large, how they ended; with PID or NAME (or "
     "a glob): only these",
     0},
    {"functions", OPTION_FUNCTIONS, NULL, 0,
     "The functions of programs and shared libraries, with arguments as kymo record --probe takes them", 0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct list *list = state->input;
  (void)argument;
  switch (key) {
  case 'b': list->brief = true; return 0;
  case OPTION_DEAD: list->with_dead = true; return 0;
  case OPTION_FUNCTIONS: list->functions = true; return 0;
  case ARGP_KEY_END:
    if (list->functions && !list->input.count)
      argp_error(state, "--functions needs a program");
    return 0;
  case ARGP_KEY_ARGS:
    list->input.paths = (const char **)state->argv + state->next;
    list->input.count = (size_t)(state->argc - state->next);
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "[PID|NAME|TRACE|PROGRAM...]",
    .doc = "List the processes that can be traced; the tracepoints of a process, with state, level, source "
           "line; the "
           "event classes of traces; or the tracepoints of programs and shared libraries (without running "
           "them).\v"
           "A number is a process ID. For a file with such a name write ./NUMBER.",
};

/* ---- processes ---- */

static const struct kymo_column living_columns[] = {
    {"PID", 9, 0, KYMO_CELL_NUMBER},
    {"TRACEPOINTS", 11, 1, KYMO_CELL_NUMBER},
    {"ON", 6, 2, KYMO_CELL_NUMBER},
    {.title = "PROGRAM", .kind = KYMO_CELL_NAME},
    {.title = "MODE", .kind = KYMO_CELL_TEXT},
};
static const struct kymo_column dead_columns[] = {
    {"PID", 9, 0, KYMO_CELL_NUMBER},          {"AGE", 7, 0, KYMO_CELL_NUMBER},
    {"SIZE", 9, 1, KYMO_CELL_NUMBER},         {.title = "PROGRAM", .kind = KYMO_CELL_NAME},
    {.title = "END", .kind = KYMO_CELL_TEXT}, {.title = "RINGS", .rank = 2, .kind = KYMO_CELL_TEXT},
};

/* A process or program that was named. */
struct wanted {
  const char *word;
  int pid;
  struct kymo_patterns *programs;
  bool is_met;
};

struct listing {
  bool brief;
  struct wanted *wanted;
  size_t wanted_count;
  struct tool_grid grid;
};

/* The words of the command line, to be freed; false after reporting an error. */
static bool read_wanted(const struct list *list, struct wanted **wanted) {
  const char *wrong = NULL;
  *wanted = calloc(list->input.count + 1, sizeof **wanted);
  if (!*wanted)
    tool_end_without_memory();
  for (size_t i = 0; i < list->input.count; i++) {
    struct wanted *one = &(*wanted)[i];
    *one = (struct wanted){.word = list->input.paths[i], .pid = kymo_pid_of(list->input.paths[i])};
    if (one->pid <= 0 && !(one->programs = kymo_pattern_new(one->word, &wrong))) {
      tool_say("%s: %s", one->word, wrong);
      return false;
    }
  }
  return true;
}

static void free_wanted(struct wanted *wanted, size_t count) {
  for (size_t i = 0; i < count; i++)
    kymo_patterns_free(wanted[i].programs);
  free(wanted);
}

static int say_not_met(const struct wanted *wanted, size_t count) {
  int status = TOOL_OK;
  for (size_t i = 0; i < count; i++)
    if (!wanted[i].is_met) {
      tool_say("no running process, and no process that left rings, is called \"%s\"", wanted[i].word);
      status = TOOL_FAILED;
    }
  return status;
}

static bool is_wanted(const struct listing *listing, int pid, const char *program) {
  bool is = !listing->wanted_count;
  for (size_t i = 0; i < listing->wanted_count; i++) {
    struct wanted *wanted = &listing->wanted[i];
    bool matches = wanted->programs ? kymo_patterns_match(wanted->programs, program) : wanted->pid == pid;
    wanted->is_met = wanted->is_met || matches;
    is = is || matches;
  }
  return is;
}

static void add_number(struct listing *listing, int pid, long long tracepoints, long long on,
                       const char *program, const char *mode) {
  char numbers[3][24];
  if (!is_wanted(listing, pid, program))
    return;
  snprintf(numbers[0], sizeof numbers[0], "%d", pid);
  snprintf(numbers[1], sizeof numbers[1], "%lld", tracepoints);
  snprintf(numbers[2], sizeof numbers[2], "%lld", on);
  tool_grid_add(&listing->grid, (const char *const[]){numbers[0], tracepoints < 0 ? "-" : numbers[1],
                                                      on < 0 ? "-" : numbers[2], program, mode});
}

static void list_living(struct listing *listing, const struct kymo_processes *all, size_t i) {
  char state[160];
  int pid = (int)kymo_processes_number(all, i, KYMO_PROCESS_PID),
      inner = (int)kymo_processes_number(all, i, KYMO_PROCESS_INNER_PID);
  const char *program = kymo_processes_text(all, i, KYMO_PROCESS_PROGRAM),
             *mode = kymo_processes_text(all, i, KYMO_PROCESS_MODE);
  int64_t tracepoints = kymo_processes_number(all, i, KYMO_PROCESS_TRACEPOINTS),
          recorder = kymo_processes_number(all, i, KYMO_PROCESS_RECORDER);
  int length = snprintf(state, sizeof state, "%s%s",
                        tracepoints < 0 ? "does not answer"
                        : mode          ? mode
                                        : "",
                        tracepoints >= 0 && recorder ? ", recorded" : "");
  if (recorder > 0)
    length += snprintf(state + length, sizeof state - (size_t)length, " by %lld", (long long)recorder);
  if (inner != pid)
    snprintf(state + length, sizeof state - (size_t)length, ", %d in its PID namespace", inner);
  add_number(listing, pid, tracepoints, kymo_processes_number(all, i, KYMO_PROCESS_ON),
             program ? program : "", state);
}

/* Only the number of each row. */
static void print(const struct listing *listing) {
  if (!listing->brief)
    tool_grid_print(&listing->grid);
  for (size_t i = 0; listing->brief && i < listing->grid.rows; i++)
    puts(listing->grid.cells[i * listing->grid.count]);
}

/* ---- dead ones ---- */

static void add_dead(struct listing *listing, const struct kymo_processes *all, size_t i) {
  char number[16], age[TOOL_AGE_MAX], size[TOOL_SIZE_MAX];
  int pid = (int)kymo_processes_number(all, i, KYMO_PROCESS_PID);
  const char *program = kymo_processes_text(all, i, KYMO_PROCESS_PROGRAM);
  if (!is_wanted(listing, pid, program))
    return;
  snprintf(number, sizeof number, "%d", pid);
  tool_grid_add(
      &listing->grid,
      (const char *const[]){number, tool_age_text(kymo_processes_number(all, i, KYMO_PROCESS_AGE_NS), age),
                            tool_size_text((uint64_t)kymo_processes_number(all, i, KYMO_PROCESS_BYTES), size),
                            program, kymo_processes_text(all, i, KYMO_PROCESS_END),
                            kymo_processes_text(all, i, KYMO_PROCESS_RINGS)});
}

/* All processes: live ones have no end, rings do. */
static void list_all(struct listing *living, struct listing *dead) {
  struct kymo_processes *all;
  struct kymo_error error;
  if (kymo_processes_find(&all, KYMO_PROCESSES_LIVING | KYMO_PROCESSES_RINGS, &error) < 0)
    tool_end_without_memory();
  for (size_t i = 0; i < kymo_processes_count(all); i++)
    if (!kymo_processes_text(all, i, KYMO_PROCESS_END))
      list_living(living, all, i);
    else if (kymo_processes_number(all, i, KYMO_PROCESS_IS_DEAD))
      add_dead(dead, all, i);
  kymo_processes_free(all);
}

static void print_all(const struct list *list, const struct listing *living, const struct listing *dead) {
  print(living);
  if (!living->grid.rows && !(list->with_dead && dead->grid.rows) && !list->input.count)
    tool_say("no process can be traced: none of your processes has tracepoints");
  if (list->with_dead && living->grid.rows && dead->grid.rows && !list->brief)
    putchar('\n');
  if (list->with_dead)
    print(dead);
  else if (dead->grid.rows && !list->brief)
    tool_say("%zu dead process%s left rings: kymo list --dead lists them", dead->grid.rows,
             dead->grid.rows == 1 ? " has" : "es have");
}

static int list_processes(const struct list *list) {
  struct wanted *wanted;
  if (!read_wanted(list, &wanted)) {
    free_wanted(wanted, list->input.count);
    return TOOL_USAGE;
  }
  struct listing living = {
      .brief = list->brief,
      .wanted = wanted,
      .wanted_count = list->input.count,
      .grid = {.columns = living_columns, .count = sizeof living_columns / sizeof *living_columns}};
  struct listing dead = {
      .brief = list->brief,
      .wanted = wanted,
      .wanted_count = list->input.count,
      .grid = {.columns = dead_columns, .count = sizeof dead_columns / sizeof *dead_columns}};
  list_all(&living, &dead);
  print_all(list, &living, &dead);
  tool_grid_free(&living.grid);
  tool_grid_free(&dead.grid);
  int status = say_not_met(wanted, list->input.count);
  free_wanted(wanted, list->input.count);
  return status;
}

/* ---- tracepoints of a process ---- */

/* Names are what other commands need, so sources are left out before a name is cut to less than 40. */
static const struct kymo_column point_columns[] = {
    {.width = 3, .kind = KYMO_CELL_TEXT},
    {.width = 8, .rank = 1, .kind = KYMO_CELL_TEXT},
    {.width = 40, .kind = KYMO_CELL_NAME},
    {.rank = 2, .kind = KYMO_CELL_TEXT},
};

static void add_point(struct tool_grid *grid, const struct kymo_points *points, size_t i) {
  char number[KYMO_LEVEL_MAX], *source;
  int32_t level = (int32_t)kymo_points_number(points, i, KYMO_POINT_LEVEL);
  if (asprintf(&source, "%s:%d", kymo_points_file(points, i),
               (int)kymo_points_number(points, i, KYMO_POINT_LINE)) < 0)
    tool_end_without_memory();
  tool_grid_add(grid, (const char *const[]){kymo_points_number(points, i, KYMO_POINT_IS_ON) ? "on" : "off",
                                            level >= 0 ? kymo_level_text(level, number) : "-",
                                            kymo_points_name(points, i), source});
  free(source);
}

static void print_points(const struct kymo_points *points) {
  struct tool_grid grid = {.columns = point_columns, .count = sizeof point_columns / sizeof *point_columns};
  for (size_t i = 0; i < kymo_points_count(points); i++)
    add_point(&grid, points, i);
  tool_grid_print(&grid);
  tool_grid_free(&grid);
}

static void print_names(const struct kymo_points *points) {
  for (size_t i = 0; i < kymo_points_count(points); i++)
    if (!i || strcmp(kymo_points_name(points, i), kymo_points_name(points, i - 1)) != 0) {
      tool_print_safe(kymo_points_name(points, i));
      putchar('\n');
    }
}

static int list_process(int pid, bool brief) {
  struct kymo_points *points;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  if (kymo_points_find(&points, pid, &error)) {
    tool_say_error(&error);
    return TOOL_FAILED;
  }
  if (brief)
    print_names(points);
  else
    print_points(points);
  kymo_points_free(points);
  return TOOL_OK;
}

/* ---- event classes ---- */

static void print_class(const struct list *list, const struct kymo_schema *schema,
                        const struct kymo_event_class *class_) {
  struct kymo_strbuf text = {0};
  kymo_class_print(&text, schema, class_, list->brief);
  if (text.failed)
    tool_end_without_memory();
  tool_print_safe(text.text);
  kymo_strbuf_free(&text);
}

static int list_trace(const struct list *list, const char *path) {
  struct tool_input input = {.paths = &path, .count = 1, .force_correlate = true};
  struct kymo_trace *trace;
  int status = tool_open(&trace, &input);
  if (status != TOOL_OK)
    return status;
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++) {
    const struct kymo_schema *schema = kymo_trace_part(trace, i)->schema;
    for (uint32_t j = 0; j < schema->stream_count; j++)
      for (uint32_t k = 0; k < schema->streams[j]->event_count; k++)
        print_class(list, schema, schema->streams[j]->events[k]);
  }
  kymo_trace_close(trace);
  return TOOL_OK;
}

/* The call sites of a program become event classes of a temporary schema. */
struct program_listing {
  const struct list *list;
  struct kymo_builder *builder;
  struct kymo_stream_class *stream;
  uint64_t count;
};

static void list_point(void *user, const struct kymo_point_text *point) {
  struct program_listing *listing = user;
  const struct kymo_type *payload = kymo_point_payload(listing->builder, point);
  const struct kymo_event_class *class_ =
      payload ? kymo_point_describe(listing->builder, listing->stream, point, payload, listing->count++)
              : NULL;
  if (!class_ && kymo_builder_has_failed(listing->builder))
    tool_end_without_memory();
  if (class_)
    print_class(listing->list, kymo_builder_schema(listing->builder), class_);
}

static int list_program(const struct list *list, const char *path) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct program_listing listing = {.list = list, .builder = kymo_builder_new()};
  int status = KYMO_E_MEMORY;
  if (listing.builder)
    status = kymo_builder_stream(listing.builder, &(struct kymo_stream_class){0}, &listing.stream, &error);
  if (status == KYMO_OK)
    status = kymo_program_points(path, list_point, &listing, &error);
  kymo_builder_free(listing.builder);
  if (status < 0)
    tool_say_error(&error);
  else if (!listing.count)
    tool_say("%s has no tracepoints", path);
  return status < 0 ? TOOL_FAILED : TOOL_OK;
}

static void print_function(void *user, const char *function) {
  uint64_t *count = user;
  ++*count;
  tool_print_safe(function);
  tool_print_safe("\n");
}

static int list_functions(const char *path) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  uint64_t count = 0;
  int status = kymo_functions_list(path, print_function, &count, &error);
  if (status < 0)
    tool_say_error(&error);
  else if (!count)
    tool_say("%s has no functions with names", path);
  return status < 0 ? TOOL_FAILED : TOOL_OK;
}

/* ---- all ---- */

static int list_one(const struct list *list, const char *word) {
  struct kymo_hint hint;
  int pid = kymo_pid_of(word), found = TOOL_OK;
  if (list->functions)
    return list_functions(word);
  if (pid < 0 && tool_rings_may_name(word) && !kymo_is_program(word))
    found = tool_process_named(&pid, word, &hint);
  if (found == TOOL_USAGE)
    return found;
  if (pid > 0)
    return list_process(pid, list->brief);
  return kymo_is_program(word) ? list_program(list, word) : list_trace(list, word);
}

static int run(int argc, char **argv) {
  struct list list = {0};
  tool_parse(&parser, argc, argv, 0, NULL, &list);
  bool is_of_processes = list.with_dead || !list.input.count;
  int worst = is_of_processes ? list_processes(&list) : TOOL_OK;
  for (size_t i = 0; i < list.input.count && !is_of_processes; i++) {
    int status = list_one(&list, list.input.paths[i]);
    worst = status > worst ? status : worst;
  }
  int output = tool_close_output();
  return output != TOOL_OK ? output : worst;
}

const struct tool_command tool_list = {
    .name = "list",
    .summary = "list processes, tracepoints, and event classes of traces",
    .run = run,
};
