/* SPDX-License-Identifier: MIT */
/* longer: clang++ */
/* 13 lines: the name of the function is pasted, so clang prints the macro and the pasted name */
/* expect: incompatible|cannot convert|invalid conversion|no matching function|cannot initialize */
#include <kymo/trace.h>

KYMO_EVENT(net, rx, KYMO_ARGS(const char *ifname), ifname);
void record(const int *a);

void record(const int *a) { kymo_net_rx(a); }
