/* SPDX-License-Identifier: MIT */
/* expect: kymo: (field p: type struct point is not a number|a field takes the name of an integer's, float's or pointer's type) */
#include <kymo/trace.h>

struct point {
  int x;
};
void record(struct kymo_build *build, void *room);

void record(struct kymo_build *build, void *room) {
  KYMO_BUILD(build, room, 100, net, rx, KYMO_LATER(p, struct point));
}
