/* SPDX-License-Identifier: MIT */
/* Records one event for each byte that it reads, and says so. */
#include <kymo/trace.h>
#include <stdio.h>

int main(void) {
  unsigned count = 0;
  puts("ready");
  fflush(stdout);
  for (int byte; (byte = getchar()) != EOF; count++) {
    KYMO(live, step, count);
    puts("done");
    fflush(stdout);
  }
  return 0;
}
