/* SPDX-License-Identifier: MIT */
/* A library that is loaded, records and is unloaded. Built twice, as PLUGIN 1 and 2, with different
 * tracepoints. */
#include <kymo/trace.h>

void plugin_run(int round);
void plugin_run(int round) {
#if PLUGIN == 1
  KYMO(plugin, one, round, KYMO_AS(text, "from the first"));
  KYMO(plugin, common, round);
#else
  KYMO(plugin, common, round);
  KYMO(plugin, two, KYMO_AS(text, "from the second"), round);
#endif
}
