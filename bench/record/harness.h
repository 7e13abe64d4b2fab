/* SPDX-License-Identifier: MIT */
/*
 * The common part of all recorders' benchmarks. A driver fills a struct bench_driver with loops over its
 * tracepoints and calls bench_main; bench/run starts the drivers in turn and does the statistics.
 *
 * Absolute times mean little on a machine that others use, so each batch of events is compared with batches
 * of a floor loop, on the same processor, at the same moment:
 *
 *   floor │ events │ floor │ events │ floor …      one line of output a batch:
 *      f0    e0       f1      e1      f2           CASE  ns of an event  ns of the floor ((f0+f1)/2)
 *
 * Floors: for a disabled tracepoint a load and a branch; for an enabled one the least work that stores a
 * time stamp and 8 bytes: a read of the clock and a 16-byte store, the position in a register. All loops have
 * four events a turn, with a compiler barrier after each.
 */
#ifndef KYMO_BENCH_HARNESS_H
#define KYMO_BENCH_HARNESS_H

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define BENCH_EVENTS 2048 /* a batch */
#define BENCH_EVENTS_DISABLED 32768
#define BENCH_BATCHES 60      /* a case, in one run of a driver */
#define BENCH_WARM_BATCHES 30 /* enough to touch a ring of 1 MiB everywhere */

#define BENCH_BARRIER() __asm__ volatile("" ::: "memory")
/* The event may use `i`, its number. */
#define BENCH_LOOP(count, ...)             \
  for (uint64_t i = 0; i < (count); i++) { \
    __VA_ARGS__;                           \
    BENCH_BARRIER();                       \
    i++;                                   \
    __VA_ARGS__;                           \
    BENCH_BARRIER();                       \
    i++;                                   \
    __VA_ARGS__;                           \
    BENCH_BARRIER();                       \
    i++;                                   \
    __VA_ARGS__;                           \
    BENCH_BARRIER();                       \
  }

struct bench_driver {
  void (*enable)(void);       /* called between the disabled case and the others, or NULL */
  void (*thread_begin)(void); /* in each thread that records, or NULL */
  void (*disabled)(void);     /* BENCH_EVENTS_DISABLED times one u64, switched off */
  void (*u64)(void);          /* BENCH_EVENTS times each */
  void (*int4)(void);
  void (*str16)(void);    /* bench_text */
  void (*same)(void);     /* one u64 at the time of the event before it, or NULL */
  void (*declared)(void); /* one u64 through a function that a header declares, or NULL */
};

/* 15 characters and a zero, in memory that the compiler knows nothing about. */
static char bench_text[64] __attribute__((used)) = "abcdefghijklmno";

/* ---- time ---- */

#if defined(__x86_64__)
static inline uint64_t bench_clock(void) { return __rdtsc(); }
/* begins when everything before is done, ends before anything after it begins */
static inline uint64_t bench_edge(void) {
  _mm_lfence();
  uint64_t ticks = __rdtsc();
  _mm_lfence();
  return ticks;
}
#elif defined(__aarch64__)
static inline uint64_t bench_clock(void) {
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}
static inline uint64_t bench_edge(void) {
  __asm__ volatile("isb");
  return bench_clock();
}
#else
#error "no counter known for this machine"
#endif

static uint64_t bench_monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static double bench_ns_per_tick(void) {
  uint64_t ns = bench_monotonic_ns(), ticks = bench_clock();
  while (bench_monotonic_ns() - ns < 20000000)
    ;
  return (double)(bench_monotonic_ns() - ns) / (double)(bench_clock() - ticks);
}

/* ---- floors ---- */

static uint32_t bench_switch;
static unsigned char bench_memory[2][64 << 10] __attribute__((aligned(4096)));

static __attribute__((noinline, cold)) void bench_never(void) { bench_switch++; }

static __attribute__((noinline)) void bench_floor_disabled(unsigned char *memory) {
  (void)memory;
  BENCH_LOOP(BENCH_EVENTS_DISABLED, if (__builtin_expect(bench_switch != 0, 0)) bench_never())
}

static __attribute__((noinline)) void bench_floor_enabled(unsigned char *memory) {
  size_t at = 0;
  BENCH_LOOP(BENCH_EVENTS, {
    uint64_t event[2] = {bench_clock(), i};
    memcpy(memory + at, event, sizeof event);
    at = (at + sizeof event) & (sizeof bench_memory[0] - 1);
  })
}

/* ---- cases ---- */

struct bench_samples {
  double events[BENCH_BATCHES], floor[BENCH_BATCHES];
};

/* Where two threads wait for each other, without sleeping: waking up takes as long as a batch. */
struct bench_meeting {
  uint32_t arrived;
};

struct bench_case {
  void (*run)(void);
  void (*floor)(unsigned char *memory);
  unsigned char *memory;
  struct bench_meeting *meeting; /* both threads begin each batch together; or NULL */
};

static void bench_meet(struct bench_meeting *meeting) {
  /* acq_rel and acquire: nothing that is timed crosses the meeting */
  uint32_t mine = __atomic_fetch_add(&meeting->arrived, 1, __ATOMIC_ACQ_REL);
  uint32_t both = (mine | 1) + 1;
  while ((int32_t)(__atomic_load_n(&meeting->arrived, __ATOMIC_ACQUIRE) - both) < 0)
    sched_yield();
}

static uint64_t bench_time_floor(const struct bench_case *c) {
  if (c->meeting)
    bench_meet(c->meeting);
  uint64_t begin = bench_edge();
  c->floor(c->memory);
  return bench_edge() - begin;
}

static uint64_t bench_time_events(const struct bench_case *c) {
  if (c->meeting)
    bench_meet(c->meeting);
  uint64_t begin = bench_edge();
  c->run();
  return bench_edge() - begin;
}

static void bench_measure(const struct bench_case *c, struct bench_samples *samples) {
  for (int i = 0; i < BENCH_WARM_BATCHES; i++)
    c->run();
  uint64_t before = bench_time_floor(c);
  for (int i = 0; i < BENCH_BATCHES; i++) {
    uint64_t events = bench_time_events(c), after = bench_time_floor(c);
    samples->events[i] = (double)events;
    samples->floor[i] = (double)(before + after) / 2;
    before = after;
  }
}

static void bench_print(const char *name, const struct bench_samples *samples, double ns) {
  for (int i = 0; i < BENCH_BATCHES; i++)
    printf("%s\t%.4f\t%.4f\n", name, samples->events[i] * ns, samples->floor[i] * ns);
}

/* ---- threads ---- */

/* The n-th processor, from the last, of those that this process may use. */
static int bench_processor(int n) {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
    if (CPU_ISSET(cpu, &set) && n-- == 0)
      return cpu;
  return -1;
}

static void bench_pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

struct bench_thread {
  const struct bench_driver *driver;
  struct bench_case c;
  struct bench_samples samples;
  int cpu;
};

static void *bench_thread_main(void *argument) {
  struct bench_thread *thread = argument;
  bench_pin(thread->cpu);
  if (thread->driver->thread_begin)
    thread->driver->thread_begin();
  bench_measure(&thread->c, &thread->samples);
  return NULL;
}

static void bench_two_threads(const struct bench_driver *driver, const int cpus[2], double ns) {
  static struct bench_thread threads[2];
  struct bench_meeting meeting = {0};
  pthread_t ids[2];
  for (int i = 0; i < 2; i++) {
    threads[i].driver = driver;
    threads[i].c = (struct bench_case){driver->u64, bench_floor_enabled, bench_memory[i], &meeting};
    threads[i].cpu = cpus[i];
    if (pthread_create(&ids[i], NULL, bench_thread_main, &threads[i]) != 0)
      exit(1);
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(ids[i], NULL);
    bench_print("two threads", &threads[i].samples, ns / BENCH_EVENTS);
  }
}

static void bench_main(const struct bench_driver *driver) {
  static struct bench_samples samples;
  int cpus[2] = {bench_processor(0), bench_processor(1)};
  double ns = bench_ns_per_tick();
  bench_pin(cpus[0]);
  memset(bench_memory, 1, sizeof bench_memory);
  if (driver->thread_begin)
    driver->thread_begin();
  bench_measure(&(struct bench_case){driver->disabled, bench_floor_disabled, NULL, NULL}, &samples);
  bench_print("disabled", &samples, ns / BENCH_EVENTS_DISABLED);
  if (driver->enable)
    driver->enable();
  const struct {
    const char *name;
    void (*run)(void);
  } cases[] = {{"one u64", driver->u64},
               {"four ints", driver->int4},
               {"16-byte string", driver->str16},
               {"same time, one u64", driver->same},
               {"declared, one u64", driver->declared}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    if (!cases[i].run)
      continue;
    bench_measure(&(struct bench_case){cases[i].run, bench_floor_enabled, bench_memory[0], NULL}, &samples);
    bench_print(cases[i].name, &samples, ns / BENCH_EVENTS);
  }
  if (cpus[1] >= 0)
    bench_two_threads(driver, cpus, ns);
}

#endif
