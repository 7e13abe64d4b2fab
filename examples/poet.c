/* SPDX-License-Identifier: MIT */
/*
 * poet: steps once through a trace and prints number and interpretation of each event.
 *
 *   poet TRACE           any trace that kymo knows
 *   poet TRACE KEY       a file of any other format, by a compiled description or a description
 *
 * The field EVENT says what an event means. A description defines that field; for a format without it, kymo
 * uses the event's class. So this program depends on no format, and looks the field up once a class: after
 * that fields are numbers.
 */
#include <inttypes.h>
#include <kymo/read.h>
#include <stdio.h>
#include <stdlib.h>

/* The id of EVENT in each kind of record, once it was asked for; 0 is not yet. */
struct kinds {
  uint32_t *fields, count;
};

static void complain(const char *what, const struct kymo_error *error) {
  char text[1024];
  fprintf(stderr, "poet: %s%s\n", what, kymo_error_text(error, text, sizeof text));
}

static int open_trace(struct kymo_trace **trace, const char *path, const char *key_path) {
  struct kymo_trace_options options = {0};
  struct kymo_error error = {.code = KYMO_OK};
  int status = key_path ? kymo_description_load(&options.description, key_path, &error) : KYMO_OK;
  if (status == KYMO_OK)
    status = kymo_trace_open(trace, &path, 1, &options, &error);
  kymo_description_release(options.description); /* the trace has its own reference */
  if (status != KYMO_OK)
    complain("", &error);
  return status;
}

static int print_event(struct kymo_trace *trace, struct kinds *kinds, const struct kymo_event *event) {
  uint32_t kind = kymo_event_get_class_number(event);
  const char *meaning;
  uint64_t code;
  if (!kinds->fields[kind])
    kinds->fields[kind] = kymo_field_id(trace, event->class_, "EVENT") + 1;
  int status = kymo_event_get_token(event, kinds->fields[kind] - 1, &code, &meaning);
  if (status == KYMO_E_TYPE ||
      status == KYMO_E_ABSENT) { /* a field EVENT that is no token, or not there: the class will do */
    status = kymo_event_get_token(event, KYMO_FIELD_EVENT, &code, &meaning);
  }
  if (status != KYMO_OK) {
    fprintf(stderr, "poet: event %" PRIu64 " of kind %s: %s\n", event->number,
            kymo_trace_class_name(trace, kind), kymo_status_text(status));
    return status;
  }
  if (meaning)
    printf("%8" PRIu64 "  %s\n", event->number, meaning);
  else
    printf("%8" PRIu64 "  %" PRIu64 " (no interpretation)\n", event->number, code);
  return KYMO_OK;
}

static int print_all(struct kymo_trace *trace) {
  struct kinds kinds = {.count = kymo_trace_class_count(trace)};
  const struct kymo_event *event;
  struct kymo_error error = {.code = KYMO_OK};
  int status;
  kinds.fields = calloc(kinds.count + 1, sizeof *kinds.fields);
  if (!kinds.fields) {
    fputs("poet: out of memory\n", stderr);
    return KYMO_E_MEMORY;
  }
  while ((status = kymo_trace_next(trace, &event, &error)) == KYMO_OK)
    if ((status = print_event(trace, &kinds, event)) != KYMO_OK)
      break;
  if (status == error.code && status < 0)
    complain("", &error);
  free(kinds.fields);
  return status == KYMO_END ? KYMO_OK : status;
}

/* What could not be read; returns how many places. */
static size_t print_damage(const struct kymo_trace *trace) {
  size_t count = kymo_trace_damage_count(trace);
  for (size_t i = 0; i < count; i++) {
    const struct kymo_damage *damage = kymo_trace_damage(trace, i);
    fprintf(stderr, "poet: %s: byte %" PRIu64 ": %s (%" PRIu64 " bytes lost)\n", damage->path, damage->offset,
            damage->message, damage->bytes_lost);
  }
  return count;
}

int main(int argc, char **argv) {
  struct kymo_trace *trace;
  if (argc < 2 || argc > 3) {
    fputs("usage: poet TRACE [KEY]\n", stderr);
    return 2;
  }
  if (open_trace(&trace, argv[1], argc > 2 ? argv[2] : NULL) != KYMO_OK)
    return 3;
  int status = print_all(trace);
  size_t damaged = print_damage(trace);
  kymo_trace_close(trace);
  if (fclose(stdout) != 0) {
    perror("poet: standard output");
    return 3;
  }
  return status != KYMO_OK ? 3 : damaged ? 1 : 0;
}
