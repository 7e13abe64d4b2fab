/* SPDX-License-Identifier: MIT */
/* DPDK wants its tracepoints declared; dpdk_points.c registers them. */
#ifndef KYMO_BENCH_DPDK_POINTS_H
#define KYMO_BENCH_DPDK_POINTS_H

#include <rte_trace_point.h>

RTE_TRACE_POINT(bench_idle, RTE_TRACE_POINT_ARGS(uint64_t v), rte_trace_point_emit_u64(v);)
RTE_TRACE_POINT(bench_u64, RTE_TRACE_POINT_ARGS(uint64_t v), rte_trace_point_emit_u64(v);)
RTE_TRACE_POINT(bench_int4, RTE_TRACE_POINT_ARGS(int a, int b, int c, int d), rte_trace_point_emit_int(a);
                rte_trace_point_emit_int(b); rte_trace_point_emit_int(c); rte_trace_point_emit_int(d);)
RTE_TRACE_POINT(bench_str16, RTE_TRACE_POINT_ARGS(const char *text), rte_trace_point_emit_string(text);)

#endif
