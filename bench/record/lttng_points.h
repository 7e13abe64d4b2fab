/* SPDX-License-Identifier: MIT */
/* LTTng-UST reads this file several times, each time with other macros. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_points.h"

#if !defined(KYMO_BENCH_LTTNG_POINTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define KYMO_BENCH_LTTNG_POINTS_H

#include <lttng/tracepoint.h>
#include <stdint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(bench, idle, LTTNG_UST_TP_ARGS(uint64_t, v),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, v, v)))
LTTNG_UST_TRACEPOINT_EVENT(bench, u64, LTTNG_UST_TP_ARGS(uint64_t, v),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, v, v)))
LTTNG_UST_TRACEPOINT_EVENT(bench, int4, LTTNG_UST_TP_ARGS(int, a, int, b, int, c, int, d),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, a, a)
                                               lttng_ust_field_integer(int, b, b)
                                               lttng_ust_field_integer(int, c, c)
                                               lttng_ust_field_integer(int, d, d)))
LTTNG_UST_TRACEPOINT_EVENT(bench, str16, LTTNG_UST_TP_ARGS(const char *, text),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_string(text, text)))
/* clang-format on */

#endif
#include <lttng/tracepoint-event.h>
