/* SPDX-License-Identifier: MIT */
/* expect: kymo: (member .struct loose. ?loose|a member) of a union must be bytes that all mean something */
#include <kymo/types.h>

struct loose {
  char letter;
  int number;
};
KYMO_STRUCT_TYPE(struct loose, letter, number)
union word {
  int number;
  struct loose loose;
};
KYMO_UNION_TYPE(union word, number, (struct loose)loose)
