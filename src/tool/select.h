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

/* The same patterns for a caller that asks by name, after tool_select has accepted them. NULL: there are
 * none. */
struct tool_selection *tool_selection_new(const struct tool_texts *patterns);
bool tool_selection_wants(struct tool_selection *selection, const char *name);
/* NULL is fine. */
void tool_selection_free(struct tool_selection *selection);

#endif
