/* SPDX-License-Identifier: MIT */
/* Declared tracepoints: with and without parameters, unused ones, and beside a program's macros of their
 * levels' names. */
#include <kymo/trace.h>

#define debug 1
#define net network
#define name renamed
#define first second

struct packet {
  uint16_t port;
  unsigned flags;
  char text[8];
};

KYMO_EVENT(net, rx, KYMO_ARGS(const struct packet *p, const char *ifname), KYMO_LEVEL(debug),
           KYMO_ABOUT("a \"packet\", "
                      "received"),
           KYMO_AS(port, p->port), KYMO_HEX(flags, p->flags), KYMO_AS(text, p->text), ifname);
KYMO_EVENT(net, start, KYMO_ARGS());
KYMO_EVENT(net, stop, KYMO_ARGS(void), KYMO_LEVEL(info));
KYMO_EVENT(net, blob, KYMO_ARGS(const void *data, int n), KYMO_BLOB(data, data, n), KYMO_ABOUT("bytes"));
KYMO_EVENT(net, unused, KYMO_ARGS(int a), a);
KYMO_EVENT_FP(net, fast, KYMO_ARGS(int a, const char *b), KYMO_OPTIONAL(a, a > 0, a), b);

int run(const struct packet *p);
int run(const struct packet *p) {
  if (p)
    kymo_net_rx(p, "eth0");
  else
    kymo_net_start();
  kymo_net_blob(p, 2);
  kymo_net_fast(1, "b");
  kymo_net_rx(p, "eth1");
  kymo_net_stop();
  KYMO(net, own, KYMO_LEVEL(debug), KYMO_ABOUT("said of it"));
  return debug;
}
