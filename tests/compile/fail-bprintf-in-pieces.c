/* SPDX-License-Identifier: MIT */
/* expect: kymo_bprintf: %s, %S take a text */
#include <kymo/bprintf.h>

void put(struct kymo_bevent *event);
void put(struct kymo_bevent *event) { kymo_bevent_printf(event, "%s", 1); }
