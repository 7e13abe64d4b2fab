/* SPDX-License-Identifier: MIT */
/* A walk reports what a variant chose and what an optional holds as themselves. Sinks that show
 * the variants and optionals around a value count them here. */
#ifndef KYMO_PRINT_WRAP_H
#define KYMO_PRINT_WRAP_H

#include <kymo/read.h>

/* How many variants and optionals lie between a declared type and the value that came. */
unsigned kymo_wrap_count(const struct kymo_type *declared, const struct kymo_value *value);

#endif
