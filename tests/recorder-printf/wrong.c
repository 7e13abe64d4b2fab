/* SPDX-License-Identifier: MIT */
/* Formats that compilers warn of. */
#include <kymo/trace.h>

int main(void) {
  KYMO_PRINTF(wrong, sound, "%d", 1);
  KYMO_PRINTF(wrong, too_few, "%d %d", 1);
  KYMO_PRINTF(wrong, integer, "%d", "text");
  KYMO_PRINTF(wrong, real, "%f", 1);
  KYMO_PRINTF(wrong, text, "%s", 1);
  KYMO_PRINTF(wrong, narrow, "%ls", "text");
  KYMO_PRINTF(wrong, wide_text, "%s", L"text");
  KYMO_PRINTF(wrong, no_text, "%ls", (void *)0);
  KYMO_PRINTF(wrong, address, "%p", 1);
  KYMO_PRINTF(wrong, star, "%*d", "text", 1);
  KYMO_PRINTF(wrong, count, "%n", (void *)0);
  KYMO_PRINTF(wrong, unfinished, "50%", 1);
  KYMO_PRINTF(wrong, numbered, "%1$d", 1); /* POSIX, not C */
  KYMO_PRINTF(wrong, wide, "%70000d", 1);
  return 0;
}
