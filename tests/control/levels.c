/* SPDX-License-Identifier: MIT */
/* levels: tracepoints of several levels and one without; waits for the end of its input. */
#include <kymo/trace.h>
#include <stdio.h>

int main(void) {
  KYMO(levels, bad, KYMO_LEVEL(error), 1);
  KYMO(levels, odd, KYMO_LEVEL(notice), 2);
  KYMO(levels, step, KYMO_LEVEL(debug_system), 3);
  KYMO(levels, plain, 4);
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF) {
  }
  return 0;
}
