/* SPDX-License-Identifier: MIT */
/* longer: clang */
/* languages: c */
/* expect: incomplete type|flexible */
#include <kymo/trace.h>

struct packet { int length; char data[]; };
void record(struct packet *packet);
void record(struct packet *packet) { KYMO(net, rx, packet->data); }
