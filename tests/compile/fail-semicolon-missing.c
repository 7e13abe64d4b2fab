/* SPDX-License-Identifier: MIT */
/* expect: expected */
#include <kymo/trace.h>

void record(int a);
void record(int a) {
  KYMO(net, rx, a)
  a++;
}
