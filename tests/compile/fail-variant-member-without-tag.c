/* SPDX-License-Identifier: MIT */
/* expect: kymo: (type union word of member w|a member's type) is a variant: write KYMO_VARIANT */
#include <kymo/types.h>

union word {
  int number;
  float real;
};
KYMO_VARIANT_TYPE(union word, (1, number), (2, real))
struct holder {
  int tag;
  union word w;
};
KYMO_STRUCT_TYPE(struct holder, tag, (union word)w)
