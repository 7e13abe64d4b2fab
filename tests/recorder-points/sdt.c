/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints that are probes for other tracers as well. With an argument the program "attaches" to one of
 * them, as the kernel does for other tracers: by incrementing the semaphore. Prints the number of evaluated
 * arguments.
 */
#include <kymo/trace.h>
#include <stdio.h>

struct point {
  int x, y;
};
KYMO_STRUCT_TYPE(struct point, x, y)
KYMO_EVENT(probes, declared, KYMO_ARGS(unsigned short port, const char *ifname), port, KYMO_LEVEL(debug),
           ifname);

static int evaluated;
static int evaluate(int n) { return evaluated++, n; }

static void points(const char *text) {
  struct point p = {1, 2};
  KYMO(probes, all, KYMO_AS(n, evaluate(-1)), KYMO_AS(text, text), KYMO_AS(byte, (signed char)-2),
       KYMO_AS(ratio, 0.5), KYMO_STRUCT(p, struct point, &p), KYMO_BLOB(data, text, 2),
       KYMO_STRN(part, text, 2), KYMO_TYPED(size, size_t, sizeof p), KYMO_OPTIONAL(maybe, text, evaluated));
  KYMO(probes, other, KYMO_AS(n, evaluate(3)));
  kymo_probes_declared(80, text);
  KYMO(probes, thirteen, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13);
  KYMO_SPAN(probes, span);
  KYMO_SAME(probes, same, KYMO_HEX(n, 7u));
  KYMO_NAMED(app.name, evaluate(4));
}

int main(int argc, char **argv) {
  if (argc > 1)
    ((struct kymo_tracepoint *)(size_t)kymo_tracepoint_lookup("probes:all"))->watched++;
  points(argv[0]);
  printf("%d\n", evaluated);
  return 0;
}
