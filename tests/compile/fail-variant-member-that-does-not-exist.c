/* SPDX-License-Identifier: MIT */
/* longer: clang */
/* C finds out by the mistake alone, at each use of the member: clang needs 80 lines and more */
/* expect: no member named .other.|kymo: a member is not one of the type */
#include <kymo/types.h>

union word {
  int number;
  float real;
};
KYMO_VARIANT_TYPE(union word, (1, number), (2, other))
