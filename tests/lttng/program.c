/* SPDX-License-Identifier: MIT */
/*
 * Traced by LTTng-UST:  program THREADS TURNS…
 *
 * In each of TURNS, all THREADS record that many turns of every kind of event at full speed. Between two of
 * them the program prints a line and waits for one from the standard input.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "points.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 16

static const char *const texts[] = {"",
                                    "a",
                                    "with \"quotes\"",
                                    "tab\tand\nline",
                                    "back\\slash",
                                    "caf\xc3\xa9 \xe2\x82\xac",
                                    "\xff\xfe no UTF-8",
                                    "percent %s %n",
                                    "a text that is somewhat longer than the others"};
static const double numbers[] = {0.0, -0.0, 1.0, -1.5, 0.1, 1e300, DBL_MIN, DBL_MAX, 5e-324, 1.0 / 3};

static void choose(struct values *values, unsigned turn) {
  uint64_t bits = (turn + 1) * UINT64_C(0x9e3779b97f4a7c15);
  unsigned shift = turn % 64;
  *values = (struct values){.u64 = turn % 8 == 0   ? UINT64_MAX
                                   : turn % 8 == 1 ? 0
                                                   : bits >> shift,
                            .count = turn % 9,
                            .colour = (int)(turn % 16) - 5};
  values->s64 = (int64_t)(turn % 2 ? values->u64 : ~values->u64);
  values->u32 = (uint32_t)(bits >> 32), values->s32 = (int32_t)values->u32;
  values->u16 = (uint16_t)(bits >> 20), values->s16 = (int16_t)values->u16;
  values->u8 = (uint8_t)(bits >> 12), values->s8 = (int8_t)values->u8;
  values->d = turn % 13 == 11 ? (double)INFINITY : turn % 13 == 12 ? (double)-NAN : numbers[turn % 13 % 10];
  values->f = (float)values->d;
  snprintf(values->text, sizeof values->text, "%s", texts[turn % (sizeof texts / sizeof *texts)]);
  values->length = strlen(values->text);
  memcpy(values->name, values->text, turn % 7);
  for (unsigned i = 0; i < 16; i++)
    values->list[i] = (uint16_t)(values->u16 + 257 * i);
  for (unsigned i = 0; i < 8; i++)
    values->longs[i] = values->s64 >> (8 * i);
}

static void record(unsigned turn) {
  struct values values;
  choose(&values, turn);
  lttng_ust_tracepoint(kinds, integers, &values);
  lttng_ust_tracepoint(kinds, hexadecimals, &values);
  lttng_ust_tracepoint(kinds, network, &values);
  lttng_ust_tracepoint(kinds, floats, &values);
  lttng_ust_tracepoint(kinds, texts, &values);
  lttng_ust_tracepoint(kinds, lists, &values);
  lttng_ust_tracepoint(kinds, enumerations, &values);
  lttng_ust_tracepoint(kinds, nothing);
  lttng_ust_tracepoint(kinds, alarm, (int)turn, values.text);
  lttng_ust_tracepoint(kinds, chatter, (int)turn, values.text);
}

static void *work(void *turns) {
  for (unsigned turn = 0; turn < *(const unsigned *)turns; turn++)
    record(turn);
  return NULL;
}

int main(int argc, char **argv) {
  int count = argc > 2 ? (int)strtoul(argv[1], NULL, 10) : 0;
  if (count < 1 || count > THREADS_MAX)
    return 2;
  for (int phase = 2; phase < argc; phase++) {
    unsigned turns = (unsigned)strtoul(argv[phase], NULL, 10);
    pthread_t threads[THREADS_MAX];
    if (phase > 2) {
      puts("waiting");
      fflush(stdout);
      if (getchar() == EOF)
        break;
    }
    for (int i = 1; i < count; i++)
      if (pthread_create(&threads[i], NULL, work, &turns) != 0)
        return 3;
    work(&turns);
    for (int i = 1; i < count; i++)
      pthread_join(threads[i], NULL);
  }
  return 0;
}
