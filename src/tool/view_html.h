/* SPDX-License-Identifier: MIT */
/* kymo view --html: one file that has the page and the events. */
#ifndef KYMO_TOOL_VIEW_HTML_H
#define KYMO_TOOL_VIEW_HTML_H

#include "view/view.h"

/* Writes the file, completely or not at all. `open` of the options opens the traces at the first wanted
 * event, with the filter. Returns an exit status; reports the reason on failure. */
int tool_view_html(const char *path, const struct view_options *options, size_t file_count, const char *title,
                   const char *command, bool is_quiet);

#endif
