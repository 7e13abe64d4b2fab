/* SPDX-License-Identifier: MIT */
#ifndef KYMO_LANG_TDL_ADDRESS_H
#define KYMO_LANG_TDL_ADDRESS_H

#include "base/nearest.h"
#include "lang/tdl/tree.h"

/* Whether a text is an address of IPv4, as "127.0.0.1"; *number: its first byte is the highest. */
bool kymo_tdl_ipv4(struct tdl_bytes text, uint32_t *number);
/* How a description writes the address that is this text; "" if it is none. */
struct kymo_hint kymo_tdl_address_hint(const struct tdl_expr *expr);

#endif
