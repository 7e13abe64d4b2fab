/* SPDX-License-Identifier: MIT */
/* languages: c */
/* expect: incomplete type|kymo: a field is an array of unknown size: use KYMO_ARRAY */
#include <kymo/trace.h>

struct packet {
  int length;
  char data[];
};
void record(struct packet *packet);
void record(struct packet *packet) { KYMO(net, rx, packet->data); }
