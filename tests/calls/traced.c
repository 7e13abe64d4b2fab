/* SPDX-License-Identifier: MIT */
/* A program with tracepoints, which it mixes with calls of libc. */
#include <kymo/trace.h>
#include <stdlib.h>

int main(void) {
  for (int i = 0; i < 100; i++) {
    void *volatile memory = malloc(1000 + (size_t)i);
    KYMO(app, between, i);
    free(memory);
  }
  return 0;
}
