/* SPDX-License-Identifier: MIT */
/* Replaces choose.c, listing.c, struct.c and dwarf.c where kymo is built without libdw. */
#include "base/fail.h"
#include "infer/skeleton.h"
#include "infer/types.h"

static int refuse(const char *path, struct kymo_error *error) {
  return kymo_fail_at(error, KYMO_E_UNKNOWN, path, KYMO_ERROR_NO_OFFSET,
                      "this kymo was built without libdw (elfutils), which reads debug information");
}

int kymo_types_make(struct kymo_types_made *made, const struct kymo_types_wanted *wanted,
                    struct kymo_error *error) {
  (void)made;
  return refuse(wanted->path, error);
}

int tool_infer_struct(struct kymo_strbuf *out, const char *path, const char *name, struct kymo_error *error) {
  (void)out;
  (void)name;
  return refuse(path, error);
}
