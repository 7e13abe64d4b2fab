/* SPDX-License-Identifier: MIT */
/* In place of choose.c, listing.c and dwarf.c where kymo is built without libdw. */
#include "base/fail.h"
#include "tool/types.h"

int kymo_types_make(struct kymo_types_made *made, const struct kymo_types_wanted *wanted,
                    struct kymo_error *error) {
  (void)made;
  return kymo_fail_at(error, KYMO_E_UNKNOWN, wanted->path, KYMO_ERROR_NO_OFFSET,
                      "this kymo was built without libdw (elfutils), which reads debug information");
}
