/* SPDX-License-Identifier: MIT */
/* longer: clang clang++ */
/* clang points to the macro that made the function */
/* expect: too many arguments|no matching function */
#include <kymo/trace.h>

KYMO_EVENT(net, start, KYMO_ARGS());
void record(int a);

void record(int a) { kymo_net_start(a); }
