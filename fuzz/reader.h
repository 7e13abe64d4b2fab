/* SPDX-License-Identifier: MIT */
/* What the targets of readers of files share. The readers map files, so an input becomes one in memory. */
#ifndef KYMO_FUZZ_READER_H
#define KYMO_FUZZ_READER_H

#include "reached.h"
#include <kymo/sink.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_file {
  int fd;
  char path[64];
};

static inline struct fuzz_file fuzz_file_make(const uint8_t *data, size_t size) {
  struct fuzz_file file = {.fd = memfd_create("input", MFD_CLOEXEC)};
  if (file.fd < 0 || (size && write(file.fd, data, size) != (ssize_t)size))
    abort();
  snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.fd);
  return file;
}

/* Reads a file as options->format and prints it by a sink, from its start and once more from the middle of
 * its times. */
static inline void fuzz_print(const char *path, struct kymo_trace_options options, const char *sink_name) {
  const struct kymo_sink *sink = kymo_sink_find(sink_name);
  struct kymo_sink_state *state = NULL;
  const struct kymo_event *event;
  struct kymo_trace *trace;
  struct kymo_error error;
  options.unmerged = sink->unmerged;
  options.force_correlate = true;
  if (kymo_trace_open(&trace, &path, 1, &options, &error) != KYMO_OK)
    return;
  FILE *out = fopen("/dev/null", "w");
  if (!out)
    abort();
  int status =
      sink->begin(&state, trace,
                  &(struct kymo_sink_options){.size = sizeof(struct kymo_sink_options), .out = out}, &error);
  int64_t first_ns = 0, last_ns = 0;
  while (status == KYMO_OK && kymo_trace_next(trace, &event, &error) == KYMO_OK) {
    first_ns = event->number == 1 ? event->time_ns : first_ns;
    last_ns = event->time_ns;
    fuzz_reached++;
    status = sink->event(state, event, &error);
  }
  sink->end(state, &error);
  fclose(out);
  if (!options.unmerged && kymo_trace_goto_time(trace, first_ns / 2 + last_ns / 2, &error) == KYMO_OK)
    while (kymo_trace_next(trace, &event, &error) == KYMO_OK)
      ;
  kymo_trace_close(trace);
}

#endif
