/* SPDX-License-Identifier: MIT */
/* The arithmetic of whole numbers, exact in 128 bits (expr/operate.h says what each operation means). */
#ifndef KYMO_EXPR_ARITHMETIC_H
#define KYMO_EXPR_ARITHMETIC_H

#include "expr/operate.h"

/* KYMO_OP_ADD … KYMO_OP_MAXIMUM. x[0] … are the operands, whole numbers; *out may be one of theirs. NULL; or
 * what is wrong, a literal: then *out is undefined. */
const char *kymo_calculate(enum kymo_operation what, const struct kymo_expr_value *x, struct kymo_wide *out);

#endif
