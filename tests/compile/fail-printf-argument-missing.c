/* SPDX-License-Identifier: MIT */
/* longer: clang clang++ */
/* expect: W(error=)?format */
#include <kymo/trace.h>

void note(void) {
  KYMO_PRINTF(log, note, "%d %d", 1);
}
