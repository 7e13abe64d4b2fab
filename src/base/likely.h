/* SPDX-License-Identifier: MIT */
/* Hints for the compiler about the usual direction of a branch: only where measurements show a gain. */
#ifndef KYMO_BASE_LIKELY_H
#define KYMO_BASE_LIKELY_H

#define KYMO_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define KYMO_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#endif
