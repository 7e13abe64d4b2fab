/* SPDX-License-Identifier: MIT */
/* As many fields as there may be. */
#include <kymo/trace.h>

void record(int a);

void record(int a) {
  KYMO(many, sixteen, a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7, a + 8, a + 9, a + 10, a + 11, a + 12,
       a + 13, a + 14, a + 15, a + 16);
}
