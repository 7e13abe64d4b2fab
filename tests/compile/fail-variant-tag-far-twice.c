/* SPDX-License-Identifier: MIT */
/* expect: kymo: a tag is used twice in KYMO_VARIANT_TYPE|duplicate case value */
/* in C the compiler compares tags that are far from the first one */
#include <kymo/types.h>

union word {
  int number;
  float real;
};
KYMO_VARIANT_TYPE(union word, (1000000, number), (-1000000, real), (-1000000, number))
