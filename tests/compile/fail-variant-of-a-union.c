/* SPDX-License-Identifier: MIT */
/* expect: kymo: (field v: type union word is not listed by KYMO_VARIANT_TYPE|a field's type is not listed by the word's own list) */
#include <kymo/trace.h>

union word {
  int number;
  float real;
};
KYMO_UNION_TYPE(union word, number, real)
void record(const union word *w, int tag);

void record(const union word *w, int tag) { KYMO(group, name, KYMO_VARIANT(v, union word, tag, w)); }
