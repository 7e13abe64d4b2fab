/* SPDX-License-Identifier: MIT */
/* Records EVENTS events of one number, in bursts that its ring holds, for bench/ctf/run. */
#include <kymo/trace.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  long count = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
  for (long i = 0; i < count; i++) {
    KYMO(bench, number, i);
    if (i % 20000 == 0)
      usleep(500); /* so that the recorder keeps up on a busy machine */
  }
  return count <= 0;
}
