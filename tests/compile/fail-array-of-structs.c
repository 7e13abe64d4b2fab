/* SPDX-License-Identifier: MIT */
/* expect: kymo: (KYMO_ARRAY takes numbers|a field is not a number, pointer or text: use KYMO_STRUCT) */
#include <kymo/trace.h>

struct triple {
  int a, b, c;
};
void record(const struct triple *triples, size_t count);

void record(const struct triple *triples, size_t count) {
  KYMO(array, triples, KYMO_ARRAY(triples, triples, count));
}
