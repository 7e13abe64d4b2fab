/* SPDX-License-Identifier: MIT */
/* A walk reports the chosen option of a variant and the element of an optional as themselves. Sinks that show
 * the variants and optionals around a value count them here. */
#ifndef KYMO_PRINT_WRAP_H
#define KYMO_PRINT_WRAP_H

#include <kymo/read.h>

/* The number of variants and optionals between a declared type and the reported value. */
unsigned kymo_wrap_count(const struct kymo_type *declared, const struct kymo_value *value);

#endif
