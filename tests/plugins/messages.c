/* SPDX-License-Identifier: MIT */
/* A sink that prints the message of each event that has one, and nothing else. */
#include <kymo/sink.h>
#include <stdlib.h>

struct kymo_sink_state {
  FILE *out;
};

static int begin(struct kymo_sink_state **state, struct kymo_trace *trace,
                 const struct kymo_sink_options *options, struct kymo_error *error) {
  (void)trace;
  (void)error;
  *state = calloc(1, sizeof **state);
  if (*state)
    (*state)->out = options->out;
  return *state ? KYMO_OK : KYMO_E_MEMORY;
}

static int event(struct kymo_sink_state *state, const struct kymo_event *event, struct kymo_error *error) {
  char text[256];
  (void)error;
  int status = kymo_event_format_message(event, text, sizeof text, NULL);
  if (status == KYMO_OK)
    fprintf(state->out, "%s\n", text);
  return status == KYMO_E_ABSENT ? KYMO_OK : status;
}

static int end(struct kymo_sink_state *state, struct kymo_error *error) {
  (void)error;
  free(state);
  return KYMO_OK;
}

const struct kymo_sink kymo_sink_plugin = {
    KYMO_SINK_ABI,  .name = "messages", .summary = "the messages of events",
    .begin = begin, .event = event,     .end = end,
};
