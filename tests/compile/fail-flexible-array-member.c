/* SPDX-License-Identifier: MIT */
/* languages: c */
/* expect: kymo: (member data|a member) is a flexible array: leave it out, and store its elements by the field KYMO_ARRAY */
#include <kymo/types.h>

struct packet {
  int length;
  char data[];
};
KYMO_STRUCT_TYPE(struct packet, length, data)
