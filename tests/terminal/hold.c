/* SPDX-License-Identifier: MIT */
/* A process whose thread has the name that is its argument: emits an event, says so, and waits for the end of
 * its input. */
#include <kymo/trace.h>
#include <stdio.h>
#include <sys/prctl.h>

int main(int argc, char **argv) {
  int number = argc;
  prctl(PR_SET_NAME, argv[1]);
  KYMO(hold, began, number);
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF)
    KYMO(hold, more, number);
  return 0;
}
