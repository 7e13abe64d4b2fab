/* SPDX-License-Identifier: MIT */
/* Which way a branch usually goes, for the compiler: only where this is measured to matter. */
#ifndef KYMO_BASE_LIKELY_H
#define KYMO_BASE_LIKELY_H

#define KYMO_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define KYMO_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#endif
