/* SPDX-License-Identifier: MIT */
/* Unpacking bytes, within a limit. */
#ifndef KYMO_PLAN_UNPACK_H
#define KYMO_PLAN_UNPACK_H

#include "expr/value.h"
#include "plan/plan.h"

#define KYMO_UNPACK_MAX ((size_t)64 << 20)

/* Output that grows during unpacking; the caller frees `bytes`. */
struct kymo_unpacked {
  uint8_t *bytes;
  size_t size, capacity;
  bool is_over, failed;
};

/* Unpacks by any method. Results as of kymo_plan_unpack_bytes. */
const char *kymo_plan_unpack_any(struct kymo_unpacked *out, enum kymo_plan_method method, const uint8_t *from,
                                 size_t size, const struct kymo_expr_value *key);
/* Unpacks by any method but XOR and PLAIN. Returns NULL, or what is wrong; out->is_over: the output would be
 * more than KYMO_UNPACK_MAX; out->failed: out of memory. */
const char *kymo_plan_unpack_bytes(struct kymo_unpacked *out, enum kymo_plan_method method,
                                   const uint8_t *from, size_t size);

/* A stream of zstd that comes in pieces. NULL: out of memory. */
struct kymo_unzstd;
struct kymo_unzstd *kymo_unzstd_new(void);
/* Unpacks the next piece to `out`, which is empty. Results as of kymo_plan_unpack_bytes. */
const char *kymo_unzstd_add(struct kymo_unzstd *stream, struct kymo_unpacked *out, const uint8_t *from,
                            size_t size);
void kymo_unzstd_free(struct kymo_unzstd *stream);

#endif
