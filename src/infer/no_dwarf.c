/* SPDX-License-Identifier: MIT */
/* Replaces choose.c, listing.c, probe.c, struct.c and dwarf.c where kymo is built without libdw. */
#include "base/fail.h"
#include "infer/probe.h"
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

int kymo_probe_line(struct kymo_strbuf *out, const char *text, struct kymo_error *error) {
  (void)out;
  return refuse(text, error);
}

int kymo_functions_list(const char *path, kymo_function_each *each, void *user, struct kymo_error *error) {
  (void)each;
  (void)user;
  return refuse(path, error);
}
