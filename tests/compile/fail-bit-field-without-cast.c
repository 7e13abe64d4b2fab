/* SPDX-License-Identifier: MIT */
/* expect: bit-field */
/* languages: c */
#include <kymo/trace.h>

struct flags {
  unsigned a : 3;
};
void record(const struct flags *f);

void record(const struct flags *f) { KYMO(group, name, f->a); }
