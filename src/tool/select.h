/* SPDX-License-Identifier: MIT */
/* Which event classes of a trace are wanted, by patterns on their names (see base/pattern.h). */
#ifndef KYMO_TOOL_SELECT_H
#define KYMO_TOOL_SELECT_H

#include "base/nearest.h"
#include "tool/input.h"

/* Makes the trace deliver only events whose classes the patterns want; no patterns: all. A pattern that no
 * class matches is a mistake, unless the trace `may_grow`. An exit status, after telling why not. */
int tool_select(struct kymo_trace *trace, const struct tool_texts *patterns, bool may_grow);

#endif
