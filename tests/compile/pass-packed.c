/* SPDX-License-Identifier: MIT */
/* Members that are not aligned: the compiler has nothing to say of their addresses. */
#include <kymo/trace.h>

struct __attribute__((packed)) inner {
  char tag;
  int number;
};
struct __attribute__((packed)) packet {
  char kind;
  int length;
  double time;
  short ports[2];
  struct inner inner;
  const char *name;
};
KYMO_STRUCT_TYPE(struct inner, tag, number)
KYMO_STRUCT_TYPE(struct packet, kind, length, time, ports, (struct inner)inner, KYMO_TEXT(name))

void record(const struct packet *packet);
void record(const struct packet *packet) {
  KYMO(net, packet, packet->length, packet->time, KYMO_STRUCT(whole, struct packet, packet));
}
