/* SPDX-License-Identifier: MIT */
/* An enumeration may have a value that no enumerator has, and an integer may be given for it. */
#include <kymo/trace.h>

enum state { IDLE, BUSY = 7 };
KYMO_ENUM_TYPE(enum state, IDLE, BUSY)
void record(int state);

void record(int state) {
  KYMO(group, name, KYMO_ENUM(state, enum state, state), KYMO_ENUM(other, enum state, 99));
}
