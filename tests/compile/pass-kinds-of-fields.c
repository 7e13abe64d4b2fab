/* SPDX-License-Identifier: MIT */
/* Every kind of field, in one tracepoint each and together. */
#include <kymo/trace.h>

enum state { CLOSED, OPEN };
struct packet {
  int port;
  unsigned flags : 3;
  char name[8];
};

void record(struct packet *p, const char *text, size_t size, const double *values, enum state state,
            long double wide);

void record(struct packet *p, const char *text, size_t size, const double *values, enum state state,
            long double wide) {
  bool yes = true;
  char letter = 'a';
  KYMO(kinds, none);
  KYMO(kinds, numbers, p->port, yes, letter, state, wide, (unsigned)p->flags, size);
  KYMO(kinds, texts, text, p->name, "literal");
  KYMO(kinds, pointer, p, (const void *)values);
  KYMO(kinds, bases, KYMO_AS(port, p->port), KYMO_HEX(a, p->port), KYMO_DEC(b, 1), KYMO_OCT(c, 2u),
       KYMO_BIN(d, 3));
  KYMO(kinds, sized, KYMO_STRN(text, text, size), KYMO_BLOB(blob, text, size),
       KYMO_BLOB_FIXED(fixed, text, size, 32), KYMO_ARRAY(values, values, size));
  KYMO_NAMED(kinds.dotted.name, p->port);
}
