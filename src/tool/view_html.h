/* SPDX-License-Identifier: MIT */
/* kymo view --html: one file that has the page and the events. */
#ifndef KYMO_TOOL_VIEW_HTML_H
#define KYMO_TOOL_VIEW_HTML_H

#include "tool/view_traces.h"

/* Writes the file, completely or not at all, of traces that are prepared: they are opened at the first wanted
 * event, with the filter. Returns an exit status; reports the reason on failure. */
int tool_view_html(const char *path, const struct tool_traces *traces, bool is_quiet);

#endif
