/* SPDX-License-Identifier: MIT */
/*
 * A plug-in with one fault, given by -D: what it exports (NAME, VERSION, SIZE, WITHOUT_EVENT, ONLY_FLUSH,
 * MAKES_FILES), or by its options which function fails (begin, event, loss, boundary, end, silent, usage). It
 * says that its constructor ran.
 */
#include <kymo/sink.h>
#include <stdlib.h>
#include <string.h>

#ifndef NAME
#define NAME kymo_sink_plugin
#endif
#ifndef VERSION
#define VERSION KYMO_SINK_ABI_VERSION
#endif
#ifndef SIZE
#define SIZE sizeof(struct kymo_sink)
#endif

struct kymo_sink_state {
  const char *fails;
  FILE *out;
  unsigned long events, losses, boundaries, flushes;
};

__attribute__((constructor)) static void say_hello(void) { fputs("loaded\n", stderr); }

static int fail_in(const struct kymo_sink_state *state, const char *where, struct kymo_error *error) {
  if (!state || !state->fails || strcmp(state->fails, where) != 0)
    return KYMO_OK;
  snprintf(error->message, sizeof error->message, "%s is out of order", where);
  snprintf(error->file, sizeof error->file, "machine");
  return KYMO_E_FORMAT;
}

static int faulty_begin(struct kymo_sink_state **state, struct kymo_trace *trace,
                        const struct kymo_sink_options *options, struct kymo_error *error) {
  (void)trace;
  if (options->text && strcmp(options->text, "usage") == 0) {
    snprintf(error->message, sizeof error->message, "usage is no option of the sink");
    return KYMO_E_USAGE;
  }
  *state = calloc(1, sizeof **state);
  if (!*state)
    return KYMO_E_MEMORY;
  (*state)->fails = options->text;
  (*state)->out = options->path ? fopen(options->path, "wx") : options->out;
  return (*state)->out ? fail_in(*state, "begin", error) : KYMO_E_SYSTEM;
}

static int faulty_event(struct kymo_sink_state *state, const struct kymo_event *event,
                        struct kymo_error *error) {
  (void)event;
  state->events++;
  if (state->fails && strcmp(state->fails, "silent") == 0)
    return KYMO_E_LIMIT;
  return fail_in(state, "event", error);
}

static int faulty_loss(struct kymo_sink_state *state, const struct kymo_loss *loss,
                       struct kymo_error *error) {
  (void)loss;
  state->losses++;
  return fail_in(state, "loss", error);
}

static int faulty_boundary(struct kymo_sink_state *state, const struct kymo_boundary *boundary,
                           struct kymo_error *error) {
  (void)boundary;
  state->boundaries++;
  return fail_in(state, "boundary", error);
}

static int faulty_end(struct kymo_sink_state *state, struct kymo_error *error) {
  int status = fail_in(state, "end", error);
  if (state)
    fprintf(state->out, "%lu events, %lu losses, %s boundaries, %s\n", state->events, state->losses,
            state->boundaries ? "some" : "no", state->flushes ? "flushed" : "not flushed");
#ifdef MAKES_FILES
  if (state && state->out)
    fclose(state->out);
#endif
  free(state);
  return status;
}

static int faulty_flush(struct kymo_sink_state *state, struct kymo_error *error) {
  (void)error;
  if (state->flushes++ == 0)
    fputs("flushed\n", stderr);
  return KYMO_OK;
}

#ifndef ONLY_FLUSH
static int faulty_grow(struct kymo_sink_state *state, struct kymo_error *error) {
  (void)state;
  (void)error;
  return KYMO_OK;
}
#endif

extern const struct kymo_sink NAME;
const struct kymo_sink NAME = {
    .abi_version = VERSION,
    .size_bytes = SIZE,
    .name = "faulty",
    .summary = "a sink with a fault",
    .begin = faulty_begin,
#ifndef WITHOUT_EVENT
    .event = faulty_event,
#endif
    .loss = faulty_loss,
    .boundary = faulty_boundary,
    .end = faulty_end,
    .flush = faulty_flush,
#ifndef ONLY_FLUSH
    .grow = faulty_grow,
#endif
#ifdef MAKES_FILES
    .makes_files = true,
#endif
};
#ifdef UNDEFINED
int kymo_of_the_future(void);
int (*const faulty_uses)(void) = kymo_of_the_future;
#endif
#ifdef WITHOUT_EVENT
int (*const faulty_unused)(struct kymo_sink_state *, const struct kymo_event *,
                           struct kymo_error *) = faulty_event;
#endif
