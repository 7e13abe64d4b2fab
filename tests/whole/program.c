/* SPDX-License-Identifier: MIT */
/* Many events, so that its stream has several packets. */
#include <kymo/trace.h>

int main(void) {
  for (int i = 0; i < 20000; i++)
    KYMO(whole, number, i);
  return 0;
}
