/* SPDX-License-Identifier: MIT */
/* LTTng-UST. bench/run makes a snapshot session, in which events overwrite the oldest, before this starts;
 * with LTTNG_UST_REGISTER_TIMEOUT=-1 main begins when the daemon has enabled them. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_points.h"

#include "harness.h"

static void disabled(void) { BENCH_LOOP(BENCH_EVENTS_DISABLED, lttng_ust_tracepoint(bench, idle, i)) }
static void u64(void) { BENCH_LOOP(BENCH_EVENTS, lttng_ust_tracepoint(bench, u64, i)) }
static void int4(void) { BENCH_LOOP(BENCH_EVENTS, lttng_ust_tracepoint(bench, int4, (int)i, 2, 3, 4)) }
static void str16(void) { BENCH_LOOP(BENCH_EVENTS, lttng_ust_tracepoint(bench, str16, bench_text)) }

int main(void) {
  bench_main(&(struct bench_driver){.disabled = disabled, .u64 = u64, .int4 = int4, .str16 = str16});
  return 0;
}
