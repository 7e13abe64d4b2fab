/* SPDX-License-Identifier: MIT */
/* The first header changes what the second one's macros mean. */
#include <rte_trace_point_register.h>

#include "points.h"

RTE_TRACE_POINT_REGISTER(kinds_unsigned, kinds.unsigned)
RTE_TRACE_POINT_REGISTER(kinds_signed, kinds.signed)
RTE_TRACE_POINT_REGISTER(kinds_floats, kinds.floats)
RTE_TRACE_POINT_REGISTER(kinds_text, kinds.text)
RTE_TRACE_POINT_REGISTER(kinds_nothing, kinds.nothing)
