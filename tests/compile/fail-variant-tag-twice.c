/* SPDX-License-Identifier: MIT */
/* expect: kymo: a tag is used twice in KYMO_VARIANT_TYPE */
#include <kymo/types.h>

union word {
  int number;
  float real;
};
KYMO_VARIANT_TYPE(union word, (1, number), (1, real))
