/* SPDX-License-Identifier: MIT */
/*
 * sink-gnuplot: draws a graph of one field over another, or over time, a colour for each event class that has
 * both.
 *
 *   kymo cat TRACE --sink ./sink-gnuplot.so:y=FIELD[,x=FIELD][,out=graph.svg][,with=STYLE][,script]
 *
 *   events ──► graph.svg.data: "X Y CLASS" a line ──┐
 *              graph.svg.gnuplot: the script ───────┴──► gnuplot ──► graph.svg
 *
 * CLASS is a number, by which the script distinguishes the classes. With `script` it is not run.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <kymo/sink.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

/* One kind of events (kymo_event_get_class_number). */
struct kind {
  bool is_known;
  uint32_t x, y; /* fields */
  int class_;    /* index in names; -1: it lacks a field */
};

struct kymo_sink_state {
  struct kymo_trace *trace;
  char *options; /* which those below point into */
  const char *x, *y, *out, *with;
  bool is_script;
  char *data_path, *script_path;
  FILE *data;
  struct kind *kinds;
  uint32_t kind_count;
  char **names; /* of the classes that are drawn */
  int name_count;
  bool has_begun;
  int64_t begin_ns; /* time 0 of the graph */
  uint64_t points;
};

/* ---- errors ---- */

static int fail(struct kymo_error *error, int code, const char *file, const char *message) {
  error->code = code;
  snprintf(error->file, sizeof error->file, "%s", file);
  snprintf(error->message, sizeof error->message, "%s", message);
  return code;
}

static int fail_about(struct kymo_error *error, int code, const char *format, const char *what) {
  error->code = code;
  snprintf(error->message, sizeof error->message, format, what);
  return code;
}

/* ---- options ---- */

static int read_option(struct kymo_sink_state *state, char *option, struct kymo_error *error) {
  char *value = strchr(option, '=');
  if (value)
    *value++ = '\0';
  const char **into = strcmp(option, "x") == 0      ? &state->x
                      : strcmp(option, "y") == 0    ? &state->y
                      : strcmp(option, "out") == 0  ? &state->out
                      : strcmp(option, "with") == 0 ? &state->with
                                                    : NULL;
  if (into && value && *value)
    *into = value;
  else if (strcmp(option, "script") == 0 && !value)
    state->is_script = true;
  else
    return fail_about(error, KYMO_E_USAGE, "gnuplot: expected x=, y=, out=, with= or script, found \"%s\"",
                      option);
  return KYMO_OK;
}

static bool is_style(const char *with) {
  static const char *const styles[] = {"points", "dots", "lines", "linespoints", "steps", "impulses"};
  for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++)
    if (strcmp(with, styles[i]) == 0)
      return true;
  return false;
}

/* What gnuplot calls the output's format; NULL: its name ends in none that we know. */
static const char *terminal(const char *path) {
  const char *ending = strrchr(path, '.');
  return !ending                       ? NULL
         : strcmp(ending, ".svg") == 0 ? "svg size 1000,600"
         : strcmp(ending, ".png") == 0 ? "png size 1000,600"
                                       : NULL;
}

static int read_options(struct kymo_sink_state *state, const char *text, struct kymo_error *error) {
  state->x = "time";
  state->out = "graph.svg";
  state->with = "points";
  state->options = strdup(text ? text : "");
  if (!state->options)
    return KYMO_E_MEMORY;
  char *rest = NULL;
  for (char *option = strtok_r(state->options, ",", &rest); option; option = strtok_r(NULL, ",", &rest)) {
    int status = read_option(state, option, error);
    if (status != KYMO_OK)
      return status;
  }
  if (!state->y)
    return fail_about(error, KYMO_E_USAGE, "gnuplot: which field? --sink %s:y=FIELD", "./sink-gnuplot.so");
  if (!is_style(state->with))
    return fail_about(error, KYMO_E_USAGE,
                      "gnuplot: expected points, dots, lines, linespoints, steps or impulses, found \"%s\"",
                      state->with);
  if (!terminal(state->out))
    return fail_about(error, KYMO_E_USAGE, "gnuplot: expected out=NAME.svg or NAME.png, found \"%s\"",
                      state->out);
  return KYMO_OK;
}

/* ---- events ---- */

/* The number of a class that is drawn, by its name; -1: out of memory. */
static int add_name(struct kymo_sink_state *state, const char *name) {
  for (int i = 0; i < state->name_count; i++)
    if (strcmp(state->names[i], name) == 0)
      return i;
  char **names = realloc(state->names, ((size_t)state->name_count + 1) * sizeof *names);
  state->names = names ? names : state->names;
  char *copy = names ? strdup(name) : NULL;
  if (!copy)
    return -1;
  names[state->name_count] = copy;
  return state->name_count++;
}

static uint32_t find_field(struct kymo_sink_state *state, const struct kymo_event *event, const char *name) {
  return strcmp(name, "time") == 0 ? KYMO_FIELD_ACQUISITION
                                   : kymo_field_id(state->trace, event->class_, name);
}

static int get_kind(struct kymo_sink_state *state, const struct kymo_event *event, struct kind **out) {
  uint32_t index = kymo_event_get_class_number(event);
  if (index >= state->kind_count) {
    struct kind *kinds = realloc(state->kinds, ((size_t)index + 1) * sizeof *kinds);
    if (!kinds)
      return KYMO_E_MEMORY;
    memset(kinds + state->kind_count, 0, (index + 1 - state->kind_count) * sizeof *kinds);
    state->kinds = kinds;
    state->kind_count = index + 1;
  }
  struct kind *kind = *out = &state->kinds[index];
  if (kind->is_known)
    return KYMO_OK;
  *kind = (struct kind){.is_known = true, .class_ = -1};
  kind->x = find_field(state, event, state->x);
  kind->y = find_field(state, event, state->y);
  if (kind->x != KYMO_FIELD_NONE && kind->y != KYMO_FIELD_NONE &&
      (kind->class_ = add_name(state, event->class_->name ? event->class_->name : "")) < 0)
    return KYMO_E_MEMORY;
  return KYMO_OK;
}

/* Writes seconds since the first event, exact to the nanosecond. */
static void put_time(struct kymo_sink_state *state, int64_t ns) {
  if (!state->has_begun)
    state->begin_ns = ns;
  state->has_begun = true;
  bool is_before = ns < state->begin_ns;
  uint64_t distance =
      is_before ? (uint64_t)state->begin_ns - (uint64_t)ns : (uint64_t)ns - (uint64_t)state->begin_ns;
  fprintf(state->data, "%s%" PRIu64 ".%09" PRIu64 " ", is_before ? "-" : "", distance / 1000000000,
          distance % 1000000000);
}

/* Whether the field is a number in this event. */
static bool is_number(const struct kymo_event *event, uint32_t field) {
  struct kymo_value value;
  enum kymo_token token;
  return kymo_event_get_value(event, field, &value, &token) == KYMO_OK &&
         (token == KYMO_TOKEN_INTEGER || (token == KYMO_TOKEN_FLOAT && value.f - value.f == 0));
}

static void put_number(struct kymo_sink_state *state, const struct kymo_event *event, uint32_t field) {
  struct kymo_value value;
  enum kymo_token token;
  if (field == KYMO_FIELD_ACQUISITION) {
    put_time(state, event->time_ns);
    return;
  }
  kymo_event_get_value(event, field, &value, &token);
  if (token == KYMO_TOKEN_FLOAT)
    fprintf(state->data, "%.17g ", value.f);
  else if (value.type && value.type->is_signed)
    fprintf(state->data, "%" PRId64 " ", value.i);
  else
    fprintf(state->data, "%" PRIu64 " ", value.u);
}

static int gnuplot_event(struct kymo_sink_state *state, const struct kymo_event *event,
                         struct kymo_error *error) {
  struct kind *kind;
  if (get_kind(state, event, &kind) != KYMO_OK)
    return fail(error, KYMO_E_MEMORY, "", "out of memory");
  if (kind->class_ < 0 || !is_number(event, kind->x) || !is_number(event, kind->y))
    return KYMO_OK;
  put_number(state, event, kind->x);
  put_number(state, event, kind->y);
  fprintf(state->data, "%d\n", kind->class_);
  state->points++;
  return KYMO_OK;
}

/* ---- the graph ---- */

/* A text of gnuplot in single quotes, in which nothing has a meaning. */
static void put_text(FILE *out, const char *text) {
  fputc('\'', out);
  for (; *text; text++)
    fputs(*text == '\'' ? "''" : (unsigned char)*text < ' ' ? " " : (char[]){*text, 0}, out);
  fputc('\'', out);
}

static int write_script(struct kymo_sink_state *state, struct kymo_error *error) {
  FILE *script = fopen(state->script_path, "w");
  if (!script)
    return fail(error, KYMO_E_SYSTEM, state->script_path, strerror(errno));
  fprintf(script, "set terminal %s noenhanced\nset output ", terminal(state->out));
  put_text(script, state->out);
  fputs("\nset xlabel ", script);
  put_text(script, strcmp(state->x, "time") == 0 ? "seconds" : state->x);
  fputs("\nset ylabel ", script);
  put_text(script, strcmp(state->y, "time") == 0 ? "seconds" : state->y);
  fputs("\nplot ", script);
  for (int i = 0; i < state->name_count; i++) {
    fputs(i > 0 ? ", \\\n     " : "", script);
    put_text(script, state->data_path);
    fprintf(script, " using 1:($3 == %d ? $2 : NaN) with %s title ", i, state->with);
    put_text(script, state->names[i]);
  }
  fputs("\n", script);
  bool is_bad = ferror(script);
  if (fclose(script) != 0 || is_bad)
    return fail(error, KYMO_E_SYSTEM, state->script_path, "cannot be written");
  return KYMO_OK;
}

static int run_gnuplot(struct kymo_sink_state *state, struct kymo_error *error) {
  char program[] = "gnuplot";
  char *const argv[] = {program, state->script_path, NULL};
  pid_t pid;
  int result, status = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
  if (status != 0)
    return fail(error, KYMO_E_SYSTEM, "gnuplot", strerror(status));
  while (waitpid(pid, &result, 0) < 0)
    if (errno != EINTR)
      return fail(error, KYMO_E_SYSTEM, "gnuplot", strerror(errno));
  if (!WIFEXITED(result) || WEXITSTATUS(result) != 0)
    return fail(error, KYMO_E_SYSTEM, state->script_path, "gnuplot failed on it");
  return KYMO_OK;
}

static int draw(struct kymo_sink_state *state, struct kymo_error *error) {
  bool is_bad = ferror(state->data);
  if ((fclose(state->data) != 0) | is_bad)
    return fail(error, KYMO_E_SYSTEM, state->data_path, "cannot be written");
  if (state->points == 0) {
    remove(state->data_path);
    error->code = KYMO_E_UNKNOWN;
    snprintf(error->message, sizeof error->message, "gnuplot: no event has numbers \"%.100s\" and \"%.100s\"",
             state->x, state->y);
    return KYMO_E_UNKNOWN;
  }
  int status = write_script(state, error);
  return status != KYMO_OK || state->is_script ? status : run_gnuplot(state, error);
}

/* ---- the sink ---- */

static char *join(const char *path, const char *ending) {
  size_t size = strlen(path) + strlen(ending) + 1;
  char *joined = malloc(size);
  if (joined)
    snprintf(joined, size, "%s%s", path, ending);
  return joined;
}

static int gnuplot_begin(struct kymo_sink_state **out, struct kymo_trace *trace,
                         const struct kymo_sink_options *options, struct kymo_error *error) {
  struct kymo_sink_state *state = *out = calloc(1, sizeof *state);
  if (!state)
    return KYMO_E_MEMORY;
  state->trace = trace;
  int status = read_options(state, options->text, error);
  if (status != KYMO_OK)
    return status;
  state->data_path = join(state->out, ".data");
  state->script_path = join(state->out, ".gnuplot");
  if (!state->data_path || !state->script_path)
    return KYMO_E_MEMORY;
  state->data = fopen(state->data_path, "w");
  return state->data ? KYMO_OK : fail(error, KYMO_E_SYSTEM, state->data_path, strerror(errno));
}

static int gnuplot_end(struct kymo_sink_state *state, struct kymo_error *error) {
  if (!state)
    return KYMO_OK;
  int status = state->data ? draw(state, error) : KYMO_OK;
  for (int i = 0; i < state->name_count; i++)
    free(state->names[i]);
  free(state->names);
  free(state->kinds);
  free(state->data_path);
  free(state->script_path);
  free(state->options);
  free(state);
  return status;
}

const struct kymo_sink kymo_sink_plugin = {
    KYMO_SINK_ABI,          .name = "gnuplot",      .summary = "a graph of one field over another",
    .begin = gnuplot_begin, .event = gnuplot_event, .end = gnuplot_end,
};
