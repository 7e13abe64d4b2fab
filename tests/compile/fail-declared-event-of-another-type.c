/* SPDX-License-Identifier: MIT */
/* longer: clang++ */
/* clang++ lists the candidates of a call; the tracepoint is a function */
/* expect: incompatible|cannot convert|invalid conversion|no matching function|cannot initialize */
#include <kymo/trace.h>

KYMO_EVENT(net, rx, KYMO_ARGS(const char *ifname), ifname);
void record(const int *a);

void record(const int *a) { kymo_net_rx(a); }
