/* SPDX-License-Identifier: MIT */
/* The first header changes what the second one's macros mean: this file registers, dpdk.c calls. */
#include <rte_trace_point_register.h>

#include "dpdk_points.h"

RTE_TRACE_POINT_REGISTER(bench_idle, bench.idle)
RTE_TRACE_POINT_REGISTER(bench_u64, bench.u64)
RTE_TRACE_POINT_REGISTER(bench_int4, bench.int4)
RTE_TRACE_POINT_REGISTER(bench_str16, bench.str16)
