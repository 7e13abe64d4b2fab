/* SPDX-License-Identifier: MIT */
/* expect: kymo: (type union word of member w|a member's type) is not listed by KYMO_VARIANT_TYPE before */
#include <kymo/types.h>

union word {
  int number;
  float real;
};
struct holder {
  int tag;
  union word w;
};
KYMO_STRUCT_TYPE(struct holder, tag, KYMO_VARIANT((union word)w, tag))
