/* SPDX-License-Identifier: MIT */
/* long_names: tracepoints whose names are wider than a column of a table; waits for the end of its input. */
#include <kymo/trace.h>
#include <stdio.h>

int main(void) {
  KYMO(frontend_connection_pool, connection_was_returned_to_the_pool, KYMO_LEVEL(debug_function), 1);
  KYMO(frontend_connection_pool, connection_was_removed_from_the_pool, KYMO_LEVEL(warning), 2);
  KYMO(net, rx, 3);
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF) {
  }
  return 0;
}
