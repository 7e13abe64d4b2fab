/* SPDX-License-Identifier: MIT */
/* Records EVENTS events with LTTng-UST, half of them in each of two threads, for bench/ctf/run. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_points.h"

#include <pthread.h>
#include <stdlib.h>

static void *work(void *count) {
  for (uint64_t i = 0; i < *(const uint64_t *)count; i += 4) {
    lttng_ust_tracepoint(bench, u64, i);
    lttng_ust_tracepoint(bench, str16, "fifteen letters");
    lttng_ust_tracepoint(bench, u64, i << 20);
    lttng_ust_tracepoint(bench, int4, (int)i, 2, -3, 4);
  }
  return NULL;
}

int main(int argc, char **argv) {
  uint64_t half = argc == 2 ? strtoull(argv[1], NULL, 10) / 2 : 0;
  pthread_t thread;
  if (half == 0 || pthread_create(&thread, NULL, work, &half) != 0)
    return 2;
  work(&half);
  return pthread_join(thread, NULL) != 0;
}
