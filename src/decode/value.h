/* SPDX-License-Identifier: MIT */
/* Decodes the value of one field. */
#ifndef KYMO_DECODE_VALUE_H
#define KYMO_DECODE_VALUE_H

#include <kymo/read.h>

/*
 * Reads a scalar, text or blob that begins (aligned) at bit *at, before `end`, and moves *at after it.
 * `length`: value of the length field, for sequences. Fills the value, except member and option.
 * KYMO_TOKEN_ERROR if it does not fit.
 */
enum kymo_token kymo_value_read(const struct kymo_type *type, const uint8_t *data, uint64_t *at, uint64_t end,
                                uint64_t length, struct kymo_value *value);

/* The first mapping of an enumeration that has the value, or NULL. */
const struct kymo_mapping *kymo_mapping_find(const struct kymo_type *type, uint64_t value);

/* Index of the option of a variant that a tag chooses, or -1. */
int64_t kymo_variant_choose(const struct kymo_type *variant, uint64_t tag);
/* Whether an optional is there, by its selector's value. */
bool kymo_optional_is_present(const struct kymo_type *optional, uint64_t selector);

#endif
