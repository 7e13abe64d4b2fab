/* SPDX-License-Identifier: MIT */
/* longer: gcc clang */
/* expect: error */
#include <kymo/trace.h>

void note(const char *format) {
  KYMO_PRINTF(log, note, format, 1);
}
