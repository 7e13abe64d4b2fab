/* SPDX-License-Identifier: MIT */
#include "objects.h"

void other_file() {
  inline_in_both(2);
  in_a_template(3);
}
