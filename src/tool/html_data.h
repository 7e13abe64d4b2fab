/* SPDX-License-Identifier: MIT */
/* The data of the page that kymo view --html writes. */
#ifndef KYMO_TOOL_HTML_DATA_H
#define KYMO_TOOL_HTML_DATA_H

#include "view/view.h"
#include <stdio.h>

/* More events than this are refused, and more spans. */
enum { HTML_EVENTS_MAX = 200000 };

struct html_data {
  const struct view_options *options;
  size_t file_count;
  const char *title, *command;
  bool is_quiet;
  struct view *view;
  struct kymo_trace *trace; /* at its first event */
  uint64_t events;          /* those that are wanted */
  uint64_t spans;           /* of all events in the window, whether they are wanted or not */
};

/* Builds the index, and counts the events and spans. Negative with the error. To be ended also after a
 * failure. */
int html_data_begin(struct html_data *data, struct kymo_error *error);
/* Writes the data, as a text that can be inside of a page. Negative: it failed, for a reason that is printed
 * unless it is the file's. */
int html_data_write(const struct html_data *data, FILE *file);
void html_data_end(struct html_data *data);

#endif
