/* SPDX-License-Identifier: MIT */
#include "query/traces.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/nearest.h"
#include <kymo/time.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option {
  OPTION_BEGIN,
  OPTION_DAMAGE,
  OPTION_DESCRIPTION,
  OPTION_END,
  OPTION_FILTER,
  OPTION_FORMAT,
  OPTIONS
};
static const char *const names[OPTIONS] = {"begin", "damage", "description", "end", "filter", "format"};

struct option_value {
  bool is_set;
  char *text; /* NULL: the number is it */
  int64_t number;
};

struct query_traces {
  char **paths;
  size_t count, capacity;
  struct option_value options[OPTIONS];
  struct kymo_schema *description; /* once opened, if there is one */
};

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

struct query_traces *query_traces_new(void) {
  return calloc(1, sizeof(struct query_traces));
}

void query_traces_free(struct query_traces *traces) {
  if (!traces)
    return;
  for (size_t i = 0; i < traces->count; i++)
    free(traces->paths[i]);
  for (size_t i = 0; i < OPTIONS; i++)
    free(traces->options[i].text);
  kymo_description_release(traces->description);
  free(traces->paths);
  free(traces);
}

/* ---- what is wanted ---- */

int query_traces_add(struct query_traces *traces, const char *path, struct kymo_error *error) {
  char *copy = strdup(path);
  if (!copy || !KYMO_LIST_ROOM(traces->paths, traces->capacity, traces->count)) {
    free(copy);
    return no_memory(error);
  }
  traces->paths[traces->count++] = copy;
  return KYMO_OK;
}

size_t query_traces_count(const struct query_traces *traces) { return traces->count; }

static int check_value(enum option option, const struct query_value *value, struct kymo_error *error) {
  if (!value->text && option != OPTION_BEGIN && option != OPTION_END)
    return kymo_fail(error, KYMO_E_USAGE, "%s is a text, not a number", names[option]);
  if (option == OPTION_DAMAGE && strcmp(value->text, "skip") != 0 && strcmp(value->text, "fail") != 0)
    return kymo_fail(error, KYMO_E_USAGE, "damage is 'fail' or 'skip', not '%s'", value->text);
  return KYMO_OK;
}

int query_traces_set(struct query_traces *traces, const char *name, const struct query_value *value,
                     struct kymo_error *error) {
  enum option option = 0;
  while (option < OPTIONS && strcmp(names[option], name) != 0)
    option++;
  if (option == OPTIONS)
    return kymo_fail(error, KYMO_E_USAGE, "kymo has no option \"%s\"%s", name,
                     kymo_hint_among(name, names, OPTIONS).text);
  struct option_value *kept = &traces->options[option];
  if (kept->is_set)
    return kymo_fail(error, KYMO_E_USAGE, "the option %s is given twice", name);
  int status = check_value(option, value, error);
  if (status < 0)
    return status;
  *kept = (struct option_value){true, value->text ? strdup(value->text) : NULL, value->number};
  return value->text && !kept->text ? no_memory(error) : KYMO_OK;
}

bool query_traces_skips_damage(const struct query_traces *traces) {
  const struct option_value *damage = &traces->options[OPTION_DAMAGE];
  return damage->is_set && strcmp(damage->text, "skip") == 0;
}

/* ---- opening ---- */

static int attach_filter(struct kymo_trace *trace, const char *text, struct kymo_error *error) {
  size_t count = kymo_trace_part_count(trace);
  const struct kymo_schema **schemas = calloc(count + 1, sizeof *schemas);
  struct kymo_filter *filter;
  if (!schemas)
    return no_memory(error);
  for (size_t i = 0; i < count; i++)
    schemas[i] = kymo_trace_part(trace, i)->schema;
  struct kymo_filter_options options = {.file = "filter", .schemas = schemas, .schema_count = count};
  int status = kymo_filter_compile(&filter, text, strlen(text), &options, error);
  if (status == KYMO_OK) {
    status = kymo_filter_attach(trace, filter, error);
    kymo_filter_release(filter);
  }
  free(schemas);
  return status;
}

static int resolve(struct kymo_trace *trace, const struct query_traces *traces, enum option option,
                   int64_t *ns, struct kymo_error *error) {
  const struct option_value *limit = &traces->options[option];
  *ns = limit->number;
  int status = limit->text ? kymo_trace_parse_time(trace, limit->text, ns, error) : KYMO_OK;
  if (status == KYMO_E_SYNTAX) /* its line and column are those of the option */
    snprintf(error->file, sizeof error->file, "%s", names[option]);
  return status;
}

static int set_window(struct kymo_trace *trace, const struct query_traces *traces, struct kymo_error *error) {
  int64_t begin_ns, end_ns;
  int status = resolve(trace, traces, OPTION_BEGIN, &begin_ns, error);
  if (status >= 0)
    status = resolve(trace, traces, OPTION_END, &end_ns, error);
  if (status >= 0 && traces->options[OPTION_END].is_set)
    kymo_trace_set_end_time(trace, end_ns);
  if (status >= 0 && traces->options[OPTION_BEGIN].is_set)
    status = kymo_trace_goto_time(trace, begin_ns, error);
  return status < 0 ? status : KYMO_OK;
}

static int open_traces(void *user, struct kymo_trace **trace, struct kymo_error *error) {
  struct query_traces *traces = user;
  const struct option_value *options = traces->options;
  const char *filter = options[OPTION_FILTER].text, *description = options[OPTION_DESCRIPTION].text;
  int status = KYMO_OK;
  *trace = NULL;
  if (description && !traces->description)
    status = kymo_description_load(&traces->description, description, error);
  struct kymo_trace_options opening = {.format = options[OPTION_FORMAT].text,
                                       .description = traces->description,
                                       .all_classes =
                                           filter && kymo_filter_is_over_all(filter, strlen(filter))};
  if (status >= 0)
    status = kymo_trace_open(trace, (const char *const *)traces->paths, traces->count, &opening, error);
  if (status >= 0 && filter)
    status = attach_filter(*trace, filter, error);
  return status >= 0 ? set_window(*trace, traces, error) : status;
}

static void free_traces(void *user) { query_traces_free(user); }

int query_traces_open(struct query_source **source, struct query_traces *traces, struct kymo_error *error) {
  struct query_opening opening = {.open = open_traces,
                                  .free = free_traces,
                                  .user = traces,
                                  .has_filter = traces->options[OPTION_FILTER].is_set};
  return query_source_new(source, &opening, error);
}
