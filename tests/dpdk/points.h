/* SPDX-License-Identifier: MIT */
/* Every kind of field that DPDK has. points.c registers them, which it wants in a file without calls. */
#ifndef KYMO_TEST_POINTS_H
#define KYMO_TEST_POINTS_H

#include <rte_trace_point.h>

RTE_TRACE_POINT(kinds_unsigned, RTE_TRACE_POINT_ARGS(uint64_t v), uint8_t u8 = (uint8_t)v;
                uint16_t u16 = (uint16_t)v; uint32_t u32 = (uint32_t)v; size_t size = (size_t)v;
                rte_trace_point_emit_u8(u8); rte_trace_point_emit_u16(u16); rte_trace_point_emit_u32(u32);
                rte_trace_point_emit_u64(v); rte_trace_point_emit_size_t(size);)
RTE_TRACE_POINT(kinds_signed, RTE_TRACE_POINT_ARGS(int64_t v), int8_t i8 = (int8_t)v;
                int16_t i16 = (int16_t)v; int32_t i32 = (int32_t)v; int number = (int)v; long word = (long)v;
                rte_trace_point_emit_i8(i8); rte_trace_point_emit_i16(i16); rte_trace_point_emit_i32(i32);
                rte_trace_point_emit_i64(v); rte_trace_point_emit_int(number);
                rte_trace_point_emit_long(word);)
RTE_TRACE_POINT(kinds_floats, RTE_TRACE_POINT_ARGS(float f, double d), rte_trace_point_emit_float(f);
                rte_trace_point_emit_double(d);)
RTE_TRACE_POINT(kinds_text, RTE_TRACE_POINT_ARGS(const char *text, void *pointer),
                rte_trace_point_emit_string(text);
                rte_trace_point_emit_ptr(pointer);)
RTE_TRACE_POINT(kinds_nothing, RTE_TRACE_POINT_ARGS(void), )

#endif
