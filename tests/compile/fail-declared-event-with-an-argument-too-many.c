/* SPDX-License-Identifier: MIT */
/* longer: clang clang++ */
/* 13 lines: the name of the function is pasted, so clang prints the macro and the pasted name */
/* expect: too many arguments|no matching function */
#include <kymo/trace.h>

KYMO_EVENT(net, start, KYMO_ARGS());
void record(int a);

void record(int a) { kymo_net_start(a); }
