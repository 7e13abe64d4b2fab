/* SPDX-License-Identifier: MIT */
/* expect: kymo: a tracepoint has at most 16 fields: store a struct */
#include <kymo/trace.h>

void note(int a);
void note(int a) {
  KYMO_PRINTF(log, note, "%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d", a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a,
              a);
}
