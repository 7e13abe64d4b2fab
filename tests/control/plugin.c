/* SPDX-License-Identifier: MIT */
/* A library with one tracepoint. */
#include <kymo/trace.h>

void plugin_run(void);
void plugin_run(void) { KYMO(plugin, here, 1); }
