/* SPDX-License-Identifier: MIT */
/* longer: g++ */
/* expect: kymo: KYMO_PRINTF takes a format in quotes */
#include <kymo/trace.h>

void note(const char *format) {
  KYMO_PRINTF(log, note, format, 1);
}
