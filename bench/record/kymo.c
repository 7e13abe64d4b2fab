/* SPDX-License-Identifier: MIT */
/* kymo's own driver, and with -DKYMO_PATCH that of patched tracepoints. bench/run enables the group "bench",
 * and nothing of "idle", in overwrite mode. */
#include "harness.h"
#include <kymo/trace.h>

KYMO_EVENT(bench, declared, KYMO_ARGS(uint64_t i), i);

static void disabled(void) { BENCH_LOOP(BENCH_EVENTS_DISABLED, KYMO(idle, u64, i)) }
static void u64(void) { BENCH_LOOP(BENCH_EVENTS, KYMO(bench, u64, i)) }
static void int4(void) { BENCH_LOOP(BENCH_EVENTS, KYMO(bench, int4, (int)i, 2, 3, 4)) }
static void str16(void) { BENCH_LOOP(BENCH_EVENTS, KYMO(bench, str16, KYMO_AS(text, &bench_text[0]))) }
static void same(void) { BENCH_LOOP(BENCH_EVENTS, KYMO_SAME(bench, same, i)) }
static void declared(void) { BENCH_LOOP(BENCH_EVENTS, kymo_bench_declared(i)) }
static void thread_begin(void) { kymo_thread_init(); }

int main(void) {
  bench_main(&(struct bench_driver){.thread_begin = thread_begin,
                                    .disabled = disabled,
                                    .u64 = u64,
                                    .int4 = int4,
                                    .str16 = str16,
                                    .same = same,
                                    .declared = declared});
  return 0;
}
