/* SPDX-License-Identifier: MIT */
/* Which event classes of a trace are wanted, by patterns for their names (see base/pattern.h). */
#ifndef KYMO_TOOL_SELECT_H
#define KYMO_TOOL_SELECT_H

#include "base/nearest.h"
#include "tool/input.h"

/* Makes the trace deliver only events whose classes the patterns match; no patterns: all. A pattern that
 * matches no class is an error, unless the trace `may_grow`. Returns an exit status; reports the reason on
 * failure. */
int tool_select(struct kymo_trace *trace, const struct tool_texts *patterns, bool may_grow);

#endif
