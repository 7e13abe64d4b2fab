/* SPDX-License-Identifier: MIT */
/* Replaces unpack.c where no library for unpacking is available. */
#include "plan/unpack.h"

#define WHY "packed data, which this kymo was built without means for"

const char *kymo_plan_unpack_bytes(struct kymo_unpacked *out, enum kymo_plan_method method,
                                   const uint8_t *from, size_t size) {
  (void)out;
  (void)method;
  (void)from;
  (void)size;
  return WHY;
}

struct kymo_unzstd {
  char nothing;
};

struct kymo_unzstd *kymo_unzstd_new(void) {
  static struct kymo_unzstd stream;
  return &stream;
}

const char *kymo_unzstd_add(struct kymo_unzstd *stream, struct kymo_unpacked *out, const uint8_t *from,
                            size_t size) {
  (void)stream;
  (void)out;
  (void)from;
  (void)size;
  return WHY;
}

void kymo_unzstd_free(struct kymo_unzstd *stream) { (void)stream; }
