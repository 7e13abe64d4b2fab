/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints that are switched by changing their code.
 *
 *   patched points           the same as one statement, in a loop, in a template or inlined function, in a
 *                            span, declared
 *   patched switching N      four threads record at full speed while they are switched on and off N times;
 *                            prints how many events were recorded
 *   patched refused          the system allows no code to be changed
 */
#include <kymo/trace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

KYMO_EVENT(patched, declared, KYMO_ARGS(int n), n);

static inline int inlined(int n) {
  KYMO(patched, inlined, n);
  return n;
}

static void points(void) {
  for (int i = 0; i < 2; i++)
    KYMO(patched, loop, i);
  inlined(1);
  inlined(2);
  kymo_patched_declared(3);
  kymo_patched_declared(4);
  KYMO_SPAN(patched, span);
  KYMO_SAME(patched, same, KYMO_AS(text, "five"));
}

enum { THREADS = 4 };
static bool done;
static unsigned long recorded[THREADS];

static void *work(void *argument) {
  unsigned long *mine = (unsigned long *)argument, count = 0, other = 0;
  while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
    if (count && !*mine)
      __atomic_store_n(mine, 1, __ATOMIC_RELAXED);
    KYMO(patched, work, KYMO_AS(number, count++));
    KYMO(patched, more, KYMO_AS(number, count++), KYMO_AS(text, "of some length"));
    other++;
    KYMO(patched, third, KYMO_AS(number, count++), other);
  }
  *mine = count;
  return NULL;
}

static bool has_recorded(void) {
  for (int i = 0; i < THREADS; i++)
    if (__atomic_load_n(&recorded[i], __ATOMIC_RELAXED))
      return true;
  return false;
}

static void switching(int times) {
  pthread_t thread[THREADS];
  unsigned long sum = 0;
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&thread[i], NULL, work, &recorded[i]))
      exit(2);
  for (int i = 0; i < times || (!has_recorded() && i < 100000);
       i++) { /* on a busy machine no thread may run in between */
    kymo_tracepoint_enable("patched:*");
    kymo_tracepoint_disable("patched:more");
    kymo_tracepoint_disable("patched");
  }
  __atomic_store_n(&done, true, __ATOMIC_RELAXED);
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
    sum += recorded[i];
  }
  printf("%lu\n", sum);
}

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  if (!strcmp(argv[1], "points"))
    points();
  else if (!strcmp(argv[1], "switching") && argc == 3)
    switching((int)strtol(argv[2], NULL, 10));
  else {
#ifdef PR_SET_MDWE
    if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0))
      return 77;
#elif 1
    if (prctl(65, 1, 0, 0, 0))
      return 77; /* PR_SET_MDWE, which older headers do not know */
#endif
    printf("%d\n", kymo_tracepoint_enable("patched:*"));
    points();
  }
  return 0;
}
