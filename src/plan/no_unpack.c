/* SPDX-License-Identifier: MIT */
/* Replaces unpack.c where no library for unpacking is available. */
#include "plan/unpack.h"

const char *kymo_plan_unpack_bytes(struct kymo_unpacked *out, enum kymo_plan_method method,
                                   const uint8_t *from, size_t size) {
  (void)out;
  (void)method;
  (void)from;
  (void)size;
  return "packed data, which this kymo was built without means for";
}
