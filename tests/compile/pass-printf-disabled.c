/* SPDX-License-Identifier: MIT */
/* Left out, its arguments still count as used, and the format is still checked. */
#define KYMO_DISABLE
#include <kymo/trace.h>

void note(int only_traced) {
  KYMO_PRINTF(log, note, "%d", only_traced, KYMO_LEVEL(info));
  KYMO_PRINTF(log, note, "text");
}
