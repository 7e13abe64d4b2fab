/* SPDX-License-Identifier: MIT */
/* The reader of framed logs over any files: the first byte is their number, the next two of each its
 * length. */
#include "reader.h"

enum { FILES_MAX = 4 };

/* Prints all, goes to the middle and back, and follows for a round. */
static void read_all(const char *const *paths, size_t count, struct kymo_trace_options options) {
  const struct kymo_event *event;
  struct kymo_trace *trace;
  struct kymo_error error;
  uint64_t events = 0;
  options.format = "frames";
  if (kymo_trace_open(&trace, paths, count, &options, &error) != KYMO_OK)
    return;
  while (kymo_trace_next(trace, &event, &error) == KYMO_OK)
    events++;
  fuzz_reached += events;
  if (!options.follow && kymo_trace_goto_event(trace, events / 2, &event, &error) == KYMO_OK)
    for (int i = 0; i < 8 && kymo_trace_previous(trace, &event, &error) == KYMO_OK; i++)
      ;
  kymo_trace_stop_following(trace);
  while (options.follow && kymo_trace_next(trace, &event, &error) == KYMO_OK)
    ;
  kymo_trace_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz_file files[FILES_MAX];
  const char *paths[FILES_MAX];
  size_t wanted = size ? 1u + data[0] % FILES_MAX : 0, at = 1, count = 0;
  for (; count < wanted && size - at >= 2; count++) {
    size_t rest = size - at - 2, length = (size_t)data[at] | (size_t)data[at + 1] << 8;
    length = length < rest && count + 1 < wanted ? length : rest;
    files[count] = fuzz_file_make(data + at + 2, length);
    paths[count] = files[count].path;
    at += 2 + length;
  }
  if (count) {
    fuzz_print(paths[0], (struct kymo_trace_options){.format = "frames"}, "text");
    read_all(paths, count, (struct kymo_trace_options){.all_classes = true});
    read_all(paths, count, (struct kymo_trace_options){.follow = true});
  }
  for (size_t i = 0; i < count; i++)
    close(files[i].fd);
  return 0;
}
