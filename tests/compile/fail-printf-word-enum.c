/* SPDX-License-Identifier: MIT */
/* expect: kymo: KYMO_PRINTF takes what printf takes, and KYMO_AS, KYMO_LEVEL, KYMO_ABOUT: for a text */
#include <kymo/trace.h>

enum color { RED, GREEN };
KYMO_ENUM_TYPE(enum color, RED, GREEN)
void note(enum color color);
void note(enum color color) { KYMO_PRINTF(log, note, "%d", KYMO_ENUM(color, enum color, color)); }
