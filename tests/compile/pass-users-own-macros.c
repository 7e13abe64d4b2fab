/* SPDX-License-Identifier: MIT */
/* Macros of the program mean nothing to the tracepoint's. */
#include <kymo/trace.h>

#define SIZE 100
#define CODE x
#define PUT(a) a
#define TAKE
#define VALUE 7
#define BLOB 1
#define ARRAY 2
#define FIXED 3
#define STRN 4
#define M 5
#define OP 6
#define KIND 8
#define name renamed
#define end 9
#define i 10
#define x 11
#define w 12
#define _ 13
#define version "1-2"

int run(const char *text, int port);
int run(const char *text, int port) {
  KYMO(net, rx, port, text, VALUE, KYMO_HEX(size, SIZE), KYMO_STRN(part, text, 3), KYMO_BLOB(data, text, 2),
       KYMO_BLOB_FIXED(fixed, text, 2, 4), KYMO_ARRAY(array, text, 1), w, i, x);
  KYMO(linux, unix);
  KYMO(version, version, -port);
  KYMO_NAMED(net.version, -port);
  return SIZE;
}
