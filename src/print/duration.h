/* SPDX-License-Identifier: MIT */
/* Durations as people read them, in the same form everywhere: "105 ns", "1.400 us", "12.35 ms", "86400 s". */
#ifndef KYMO_PRINT_DURATION_H
#define KYMO_PRINT_DURATION_H

#include <stdint.h>

/* Bytes that any duration needs, with the NUL. */
#define KYMO_DURATION_TEXT 32

enum { KYMO_DURATION_DIGITS = 4 };

/* In the largest unit that is not greater, with at most this many significant digits, and at most those of
 * nanoseconds unless it is less than one. Returns `out`. */
char *kymo_duration_text(double ns, unsigned digits, char out[KYMO_DURATION_TEXT]);
/* The same to the nanosecond: "86399.999999900 s". */
char *kymo_duration_exact(uint64_t ns, char out[KYMO_DURATION_TEXT]);

#endif
