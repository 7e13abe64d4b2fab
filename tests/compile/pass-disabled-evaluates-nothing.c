/* SPDX-License-Identifier: MIT */
/* With KYMO_DISABLE arguments are not evaluated, but count as used. */
#define KYMO_DISABLE
#include <kymo/trace.h>

int never(int a) __attribute__((error("evaluated")));
int record(int a, int only_traced);

int record(int a, int only_traced) {
  KYMO(none, one, a, never(a), only_traced);
  KYMO(none, two, KYMO_HEX(flags, never(a)), KYMO_ARRAY(values, &a, (unsigned)never(a)));
  KYMO_NAMED(none.three, never(a));
  if (kymo_thread_init() != 0)
    return 1;
  return kymo_rings_save("directory");
}
