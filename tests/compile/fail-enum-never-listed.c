/* SPDX-License-Identifier: MIT */
/* expect: kymo: (type enum state of member now|a member's type) has no listing before this one: write KYMO_STRUCT_TYPE */
#include <kymo/types.h>

enum state { IDLE, BUSY };
struct machine {
  enum state now;
};
KYMO_STRUCT_TYPE(struct machine, (enum state)now)
