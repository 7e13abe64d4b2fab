/* SPDX-License-Identifier: MIT */
/* DPDK's rte_trace in overwrite mode. It wants no huge pages, devices or other processes for this. */
#include "dpdk_points.h"
#include "harness.h"
#include <rte_eal.h>
#include <rte_trace.h>
#include <unistd.h>

static void disabled(void) { BENCH_LOOP(BENCH_EVENTS_DISABLED, bench_idle(i)) }
static void u64(void) { BENCH_LOOP(BENCH_EVENTS, bench_u64(i)) }
static void int4(void) { BENCH_LOOP(BENCH_EVENTS, bench_int4((int)i, 2, 3, 4)) }
static void str16(void) { BENCH_LOOP(BENCH_EVENTS, bench_str16(bench_text)) }
static void enable(void) {
  rte_trace_point_enable(&__bench_u64);
  rte_trace_point_enable(&__bench_int4);
  rte_trace_point_enable(&__bench_str16);
}

/* DPDK pins the thread that starts it; the harness wants to choose itself. */
static int start(char *directory) {
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  char trace[4096];
  snprintf(trace, sizeof trace, "--trace-dir=%s", directory);
  char *arguments[] = {"bench",
                       "--no-huge",
                       "--no-pci",
                       "--no-telemetry",
                       "--no-shconf",
                       "--log-level=4",
                       "-l",
                       "0",
                       "-m",
                       "64",
                       "--trace-mode=overwrite",
                       "--trace-bufsz=256K",
                       trace,
                       NULL};
  int status = rte_eal_init(sizeof arguments / sizeof arguments[0] - 1, arguments);
  sched_setaffinity(0, sizeof before, &before);
  return status;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]), 2;
  if (start(argv[1]) < 0)
    return 3;
  bench_main(&(struct bench_driver){
      .enable = enable, .disabled = disabled, .u64 = u64, .int4 = int4, .str16 = str16});
  fflush(stdout);
  _exit(0); /* without saving the trace */
}
