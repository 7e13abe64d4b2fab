/* SPDX-License-Identifier: MIT */
/* User attributes: JSON objects by namespace, as in CTF 2: {"cpel":{"event-width":7}}. */
#ifndef KYMO_DECODE_ATTRIBUTE_H
#define KYMO_DECODE_ATTRIBUTE_H

#include "base/strbuf.h"
#include <stdint.h>

/* The text `key` of a namespace, added to `out`; false if there is none. `attributes` may be NULL. */
bool kymo_attribute_text(const char *attributes, const char *space, const char *key, struct kymo_strbuf *out);
/* The integer `key` of a namespace; false if there is none that is 0 or more. */
bool kymo_attribute_uint(const char *attributes, const char *space, const char *key, uint64_t *out);

#endif
