/* SPDX-License-Identifier: MIT */
/* Traced by DPDK:  program THREADS TURNS EAL-OPTIONS… records in each thread that many turns of every kind of
 *                  event. */
#include "points.h"
#include <math.h>
#include <pthread.h>
#include <rte_eal.h>
#include <rte_trace.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS_MAX 16

static const char *const texts[] = {
    "", "a", "with \"quotes\"", "caf\xc3\xa9", "exactly as long as the field of 31.", "back\\slash"};
static unsigned turns;

static void *work(void *thread) {
  uint64_t begin = (uintptr_t)thread * 1000;
  for (uint64_t turn = begin; turn < begin + turns; turn++) {
    uint64_t bits = (turn + 1) * UINT64_C(0x9e3779b97f4a7c15) >> turn % 64;
    double number = turn % 5 == 0 ? (double)INFINITY : (double)(int64_t)bits / 3;
    kinds_unsigned(turn % 7 == 0 ? UINT64_MAX : bits);
    kinds_signed((int64_t)(turn % 2 ? bits : ~bits));
    kinds_floats((float)number, number);
    kinds_text(texts[turn % (sizeof texts / sizeof *texts)], (void *)(uintptr_t)bits);
    kinds_nothing();
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS_MAX];
  uintptr_t count = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
  if (count < 1 || count > THREADS_MAX)
    return 2;
  turns = (unsigned)strtoul(argv[2], NULL, 10);
  argv[2] = argv[0];
  if (rte_eal_init(argc - 2, argv + 2) < 0)
    return 3;
  for (uintptr_t i = 1; i < count; i++)
    if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
      return 4;
  work(NULL);
  for (uintptr_t i = 1; i < count; i++)
    pthread_join(threads[i], NULL);
  return rte_trace_save() < 0 || rte_eal_cleanup() < 0 ? 5 : 0;
}
