/* SPDX-License-Identifier: MIT */
/* Addresses of IPv4 in texts, and how descriptions write them. */
#include "lang/tdl/address.h"
#include "base/bytes.h"
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool kymo_tdl_ipv4(struct tdl_bytes text, uint32_t *number) {
  char dotted[INET_ADDRSTRLEN];
  uint8_t bytes[4];
  if (text.length >= sizeof dotted || memchr(text.data, 0, text.length))
    return false;
  memcpy(dotted, text.data, text.length);
  dotted[text.length] = '\0';
  if (inet_pton(AF_INET, dotted, bytes) != 1)
    return false;
  *number = kymo_load_be32(bytes);
  return true;
}

struct kymo_hint kymo_tdl_address_hint(const struct tdl_expr *expr) {
  struct kymo_hint hint = {""};
  uint32_t n;
  if (expr->operation == TDL_CONSTANT && expr->value.type == TDL_BYTES &&
      kymo_tdl_ipv4(expr->value.bytes, &n))
    snprintf(hint.text, sizeof hint.text,
             "; this address is x\"%02" PRIx32 " %02" PRIx32 " %02" PRIx32 " %02" PRIx32
             "\" in BYTES 4, 0x%08" PRIx32 " in UNSIGNED 32 BIG",
             n >> 24, n >> 16 & 255, n >> 8 & 255, n & 255, n);
  return hint;
}
