/* SPDX-License-Identifier: MIT */
/* Every kind of field that LTTng-UST has. LTTng reads this file several times, each time with other
 * macros. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER kinds
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./points.h"

#if !defined(KYMO_TEST_POINTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define KYMO_TEST_POINTS_H

#include "values.h"
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(
    kinds, integers, LTTNG_UST_TP_ARGS(const struct values *, v),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(int8_t, s8, v->s8) lttng_ust_field_integer(uint8_t, u8, v->u8)
            lttng_ust_field_integer(int16_t, s16, v->s16) lttng_ust_field_integer(uint16_t, u16, v->u16)
                lttng_ust_field_integer(int32_t, s32, v->s32) lttng_ust_field_integer(uint32_t, u32, v->u32)
                    lttng_ust_field_integer(int64_t, s64, v->s64)
                        lttng_ust_field_integer(uint64_t, u64, v->u64)
                            lttng_ust_field_integer(long, word, v->s64) lttng_ust_field_integer(char, letter,
                                                                                                v->text[0])
                                lttng_ust_field_integer(_Bool, truth, v->u8 & 1) lttng_ust_field_unused(v->u8)
                                    lttng_ust_field_integer_nowrite(uint32_t, hidden, v->u32)))

LTTNG_UST_TRACEPOINT_EVENT(
    kinds, hexadecimals, LTTNG_UST_TP_ARGS(const struct values *, v),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer_hex(int8_t, s8, v->s8) lttng_ust_field_integer_hex(uint8_t, u8, v->u8)
            lttng_ust_field_integer_hex(int16_t, s16, v->s16)
                lttng_ust_field_integer_hex(uint16_t, u16, v->u16)
                    lttng_ust_field_integer_hex(int32_t, s32, v->s32)
                        lttng_ust_field_integer_hex(uint32_t, u32, v->u32)
                            lttng_ust_field_integer_hex(int64_t, s64, v->s64)
                                lttng_ust_field_integer_hex(uint64_t, u64, v->u64)
                                    lttng_ust_field_integer_hex(void *, pointer, (void *)(uintptr_t)v->u64)))

LTTNG_UST_TRACEPOINT_EVENT(
    kinds, network, LTTNG_UST_TP_ARGS(const struct values *, v),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer_network(int16_t, s16, v->s16) lttng_ust_field_integer_network(uint16_t, u16,
                                                                                              v->u16)
            lttng_ust_field_integer_network(int32_t, s32, v->s32) lttng_ust_field_integer_network(uint64_t,
                                                                                                  u64, v->u64)
                lttng_ust_field_integer_network_hex(uint32_t, x32, v->u32)
                    lttng_ust_field_integer_network_hex(int64_t, x64, v->s64)
                        lttng_ust_field_array_network(uint16_t, list, v->list, 4)
                            lttng_ust_field_array_network_hex(uint16_t, xlist, v->list, 3)
                                lttng_ust_field_sequence_network(uint16_t, some, v->list, uint32_t, v->count)
                                    lttng_ust_field_sequence_network_hex(uint16_t, xsome, v->list, uint8_t,
                                                                         v->count)))

LTTNG_UST_TRACEPOINT_EVENT(kinds, floats, LTTNG_UST_TP_ARGS(const struct values *, v),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_float(float, single, v->f)
                                                   lttng_ust_field_float(double, twofold, v->d)
                                                       lttng_ust_field_integer(uint8_t, between, v->u8)
                                                           lttng_ust_field_float(float, again, v->f)))

LTTNG_UST_TRACEPOINT_EVENT(
    kinds, texts, LTTNG_UST_TP_ARGS(const struct values *, v),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_string(text, v->text)
                            lttng_ust_field_array_text(char, fixed, v->name, 8)
                                lttng_ust_field_sequence_text(char, counted, v->text, uint16_t, v->length)
                                    lttng_ust_field_string(last, v->text)
                                        lttng_ust_field_string_nowrite(hidden, v->text)))

LTTNG_UST_TRACEPOINT_EVENT(
    kinds, lists, LTTNG_UST_TP_ARGS(const struct values *, v),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_array(int8_t, bytes, v->name, 3) lttng_ust_field_array(uint16_t, words, v->list, 4)
            lttng_ust_field_array_hex(uint16_t, xwords, v->list, 2)
                lttng_ust_field_array(int64_t, longs, v->longs, 2)
                    lttng_ust_field_sequence(uint16_t, some, v->list, uint8_t, v->count)
                        lttng_ust_field_sequence_hex(int64_t, xsome, v->longs, uint64_t, v->count / 2)
                            lttng_ust_field_sequence(int32_t, none, v->list, uint16_t, 0)))

LTTNG_UST_TRACEPOINT_ENUM(
    kinds, colour,
    LTTNG_UST_TP_ENUM_VALUES(lttng_ust_field_enum_value("red", 0) lttng_ust_field_enum_auto("green")
                                 lttng_ust_field_enum_range("many shades", 5, 9)
                                     lttng_ust_field_enum_value("seven", 7)
                                         lttng_ust_field_enum_range("below", -4, -1)))
LTTNG_UST_TRACEPOINT_ENUM(
    kinds, wide,
    LTTNG_UST_TP_ENUM_VALUES(lttng_ust_field_enum_value("zero", 0ULL)
                                 lttng_ust_field_enum_range("most", 1ULL, 0xfffffffffffffffeULL)
                                     lttng_ust_field_enum_value("all", 0xffffffffffffffffULL)))

LTTNG_UST_TRACEPOINT_EVENT(
    kinds, enumerations, LTTNG_UST_TP_ARGS(const struct values *, v),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_enum(kinds, colour, int, colour, v->colour)
                            lttng_ust_field_enum(kinds, colour, int8_t, small, (int8_t)v->colour)
                                lttng_ust_field_enum(kinds, wide, uint64_t, wide, v->u64)))

LTTNG_UST_TRACEPOINT_EVENT(kinds, nothing, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())

LTTNG_UST_TRACEPOINT_EVENT_CLASS(kinds, report, LTTNG_UST_TP_ARGS(int, turn, const char *, text),
                                 LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, turn, turn)
                                                         lttng_ust_field_string(text, text)))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(kinds, report, kinds, alarm,
                                    LTTNG_UST_TP_ARGS(int, turn, const char *, text))
LTTNG_UST_TRACEPOINT_LOGLEVEL(kinds, alarm, LTTNG_UST_TRACEPOINT_LOGLEVEL_CRIT)
LTTNG_UST_TRACEPOINT_MODEL_EMF_URI(kinds, alarm, "https://example.org/alarm?of=turn&why=%s")
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(kinds, report, kinds, chatter,
                                    LTTNG_UST_TP_ARGS(int, turn, const char *, text))
LTTNG_UST_TRACEPOINT_LOGLEVEL(kinds, chatter, LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_LINE)

#endif
#include <lttng/tracepoint-event.h>
