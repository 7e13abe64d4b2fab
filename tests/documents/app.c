/* SPDX-License-Identifier: MIT */
/* The program of a reader of the pages of reference. "stay": it runs until it is killed. "die": a fault kills
 * it. */
#include <kymo/trace.h>
#include <kymo/types.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum state { CLOSED, OPEN, BUSY, READY };
KYMO_ENUM_TYPE(enum state, CLOSED, OPEN, BUSY, READY)

static void serve(int id) {
  KYMO_SPAN(net, request, id);
  int port = id % 2 ? 80 : 443;
  enum state state = (enum state)(id % 4);
  const char *iface = id % 3 ? "eth0" : "lo";
  KYMO(net, rx, port, KYMO_ENUM(state, enum state, state), iface);
  KYMO(net, tx, port, iface);
  if (id % 50 == 0)
    KYMO(net, error, port);
}

int main(int argc, char **argv) {
  for (int id = 0; id < 200; id++)
    serve(id);
  while (argc > 1 && strcmp(argv[1], "stay") == 0) {
    serve(1);
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
  if (argc > 1 && strcmp(argv[1], "die") == 0)
    raise(SIGSEGV);
  return 0;
}
