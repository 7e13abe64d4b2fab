/* SPDX-License-Identifier: MIT */
/*
 * The writers of CPEL files over any file: their output has the same number of events, and none of the
 * damage. The copy keeps the file's other contents, also invalid definitions; the new file drops them.
 */
#include "reader.h"

/* Runs all events of a file through the writer. How many came; -1 if it cannot be read, or is refused. */
static int64_t convert(const char *from, const char *to, const char *text) {
  struct kymo_trace_options options = {.format = "cpel", .force_correlate = true};
  const struct kymo_sink *sink = kymo_sink_find_files("cpel");
  struct kymo_sink_state *state = NULL;
  const struct kymo_event *event;
  struct kymo_trace *trace;
  struct kymo_error error;
  int64_t count = 0;
  if (kymo_trace_open(&trace, &from, 1, &options, &error) != KYMO_OK)
    return -1;
  unlink(to);
  struct kymo_sink_options told = {.size = sizeof told, .text = text, .path = to};
  int status = sink->begin(&state, trace, &told, &error);
  for (; status == KYMO_OK && kymo_trace_next(trace, &event, &error) == KYMO_OK; count++)
    status = sink->event(state, event, &error);
  int ended = sink->end(state, &error);
  kymo_trace_close(trace);
  return status == KYMO_OK && ended == KYMO_OK ? count : -1;
}

/* How many events a file has; *damage: in how many places it is damaged. */
static int64_t count_events(const char *path, size_t *damage) {
  struct kymo_trace_options options = {.format = "cpel", .force_correlate = true};
  const struct kymo_event *event;
  struct kymo_trace *trace;
  struct kymo_error error;
  int64_t count = 0;
  if (kymo_trace_open(&trace, &path, 1, &options, &error) != KYMO_OK)
    return -1;
  while (kymo_trace_next(trace, &event, &error) == KYMO_OK)
    count++;
  *damage = kymo_trace_damage_count(trace);
  kymo_trace_close(trace);
  return count;
}

static void hold(const char *from, const char *to, const char *text, bool is_copy) {
  size_t damage = 0;
  int64_t written = convert(from, to, text), read = written < 0 ? -1 : count_events(to, &damage);
  if (written != read || (damage && !is_copy)) {
    fprintf(stderr, "%s: wrote %lld events, read %lld, damage in %zu places\n", text ? text : "copy",
            (long long)written, (long long)read, damage);
    abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char directory[] = "/tmp/kymo-fuzz.XXXXXX", path[64];
  struct fuzz_file file = fuzz_file_make(data, size);
  if (!*path && !mkdtemp(directory))
    abort();
  snprintf(path, sizeof path, "%s/out.cpel", directory);
  hold(file.path, path, NULL, true);
  hold(file.path, path, size & 1 ? "endian=big" : "endian=little", true);
  hold(file.path, path, "track=track", false);
  hold(file.path, path, "section=600", false);
  hold(file.path, path, "for-vpp", false);
  unlink(path);
  close(file.fd);
  return 0;
}
