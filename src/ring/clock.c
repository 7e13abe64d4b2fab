/* SPDX-License-Identifier: MIT */
#include "ring/clock.h"
#include "ring/clocks.h"
#include <fcntl.h>
#include <inttypes.h>
#include <kymo/counter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

enum { NS = 1000000000, CALIBRATION_NS = 50 * 1000000 };
static const uint64_t REFINE_NS =
    UINT64_C(10) * NS; /* a calibration over less than this is repeated when it can be longer */

static uint64_t nanoseconds(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

#if defined(__x86_64__) || defined(__i386__)
/* Whether the kernel trusts the counter. This also covers virtual machines, where the processor itself may
 * not report it. */
static bool kernel_uses_counter(void) {
  char name[32] = "";
  int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  ssize_t n = read(fd, name, sizeof name - 1);
  close(fd);
  return n > 0 && !strncmp(name, "tsc", 3);
}
#endif

static bool counter_is_usable(void) {
#if defined(__x86_64__) || defined(__i386__)
  unsigned a, b, c, d;
  bool invariant = __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
  return invariant || kernel_uses_counter();
#elif defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

/* A counter value and a clock value of the same instant: the closest of several tries. */
static void read_pair(clockid_t id, uint64_t *counter, uint64_t *ns) {
  uint64_t best = UINT64_MAX;
  *counter = *ns = 0;
  for (int i = 0; i < 10; i++) {
    uint64_t before = kymo_clock_(), value = nanoseconds(id), after = kymo_clock_();
    if (after - before >= best)
      continue;
    best = after - before;
    *counter = before + (after - before) / 2;
    *ns = value;
  }
}

/* Contents of the calibration file, as text. CLOCK_MONOTONIC_RAW is not adjusted by NTP, so the ratio is
 * constant. */
struct calibration {
  char boot[KYMO_BOOT_ID_SIZE];
  uint64_t counter, raw; /* the first pair */
  uint64_t baseline;     /* ns over which the frequency was measured */
  uint64_t frequency;
};

static bool load(const char *path, struct calibration *c) {
  char text[256] = "", boot[KYMO_BOOT_ID_SIZE];
  unsigned long long counter, raw, baseline, frequency;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0)
    return false;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0 || sscanf(text, "%39s %llu %llu %llu %llu", c->boot, &counter, &raw, &baseline, &frequency) != 5)
    return false;
  kymo_boot_id(boot);
  if (!boot[0] || strcmp(boot, c->boot) || frequency < 1000)
    return false;
  c->counter = counter, c->raw = raw, c->baseline = baseline, c->frequency = frequency;
  return true;
}

static void store(const char *path, const struct calibration *c) {
  char text[256], temporary[4200];
  if (!c->boot[0])
    return;
  int length =
      snprintf(text, sizeof text, "%s %llu %llu %llu %llu\n", c->boot, (unsigned long long)c->counter,
               (unsigned long long)c->raw, (unsigned long long)c->baseline, (unsigned long long)c->frequency);
  snprintf(temporary, sizeof temporary, "%s.%d", path, (int)getpid());
  int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0)
    return;
  bool whole = write(fd, text, (size_t)length) == length;
  if (close(fd) || !whole || rename(temporary, path))
    unlink(temporary);
}

static void measure(struct calibration *c) {
  uint64_t counter, raw;
  read_pair(CLOCK_MONOTONIC_RAW, &counter, &raw);
  if (raw - c->raw < CALIBRATION_NS) {
    struct timespec pause = {0, (long)(CALIBRATION_NS - (raw - c->raw))};
    nanosleep(&pause, NULL);
    read_pair(CLOCK_MONOTONIC_RAW, &counter, &raw);
  }
  c->baseline = raw - c->raw;
  c->frequency = (uint64_t)((double)(counter - c->counter) * NS / (double)c->baseline + 0.5);
}

static uint64_t counter_frequency(const char *directory) {
#if defined(__aarch64__)
  uint64_t frequency;
  __asm__ __volatile__("mrs %0, cntfrq_el0" : "=r"(frequency));
  if (frequency)
    return frequency;
#endif
  char path[4160];
  struct calibration c = {0};
  if (directory)
    snprintf(path, sizeof path, "%s/clock", directory);
  if (directory && load(path, &c)) {
    if (c.baseline >= REFINE_NS || nanoseconds(CLOCK_MONOTONIC_RAW) - c.raw < REFINE_NS)
      return c.frequency;
  } else {
    kymo_boot_id(c.boot);
    read_pair(CLOCK_MONOTONIC_RAW, &c.counter, &c.raw);
  }
  measure(&c);
  if (directory)
    store(path, &c);
  return c.frequency;
}

void kymo_session_clock_start(struct kymo_session_clock *clock, enum kymo_clock_choice choice,
                              const char *directory) {
  uint64_t value, real;
  clock->is_none = choice == KYMO_CLOCK_NONE;
  clock->is_counter = choice == KYMO_CLOCK_COUNTER && counter_is_usable();
  if (clock->is_counter) {
    clock->frequency = counter_frequency(directory);
    read_pair(CLOCK_REALTIME, &value, &real);
  } else {
    clock->frequency = NS;
    value = nanoseconds(CLOCK_MONOTONIC);
    real = nanoseconds(CLOCK_REALTIME);
  }
  /* real = offset + value / frequency, in whole seconds and the rest */
  int64_t f = (int64_t)clock->frequency;
  int64_t cycles = (int64_t)(real % NS) * (f / 1000) / (NS / 1000) - (int64_t)(value % clock->frequency);
  clock->offset_seconds = (int64_t)(real / NS) - (int64_t)(value / clock->frequency);
  while (cycles < 0)
    cycles += f, clock->offset_seconds--;
  clock->offset_cycles = (uint64_t)cycles;
}

size_t kymo_session_clock_put_origin(const struct kymo_session_clock *clock,
                                     char out[KYMO_CLOCK_ORIGIN_MAX]) {
  char boot[KYMO_BOOT_ID_SIZE];
  kymo_boot_id(boot);
  int length = snprintf(out, KYMO_CLOCK_ORIGIN_MAX, "%s %" PRIu64 " %" PRId64 " %" PRIu64 " %s",
                        clock->is_counter ? "counter" : "monotonic", clock->frequency, clock->offset_seconds,
                        clock->offset_cycles, boot[0] ? boot : "-");
  return length > 0 ? (size_t)length : 0;
}

bool kymo_session_clock_take_origin(struct kymo_session_clock *clock, const char *text, bool any_boot) {
  char name[16], boot[KYMO_BOOT_ID_SIZE], here[KYMO_BOOT_ID_SIZE];
  uint64_t frequency, cycles;
  int64_t seconds;
  if (clock->is_none || sscanf(text, "%15s %" SCNu64 " %" SCNd64 " %" SCNu64 " %39s", name, &frequency,
                               &seconds, &cycles, boot) != 5)
    return false;
  kymo_boot_id(here);
  bool is_counter = strcmp(name, "counter") == 0;
  if ((!is_counter && strcmp(name, "monotonic") != 0) || is_counter != clock->is_counter ||
      frequency < 1000 || cycles >= frequency || (!any_boot && strcmp(boot, here) != 0))
    return false;
  clock->frequency = frequency;
  clock->offset_seconds = seconds;
  clock->offset_cycles = cycles;
  return true;
}

uint64_t kymo_session_clock_read(const struct kymo_session_clock *clock) {
  if (clock->is_none)
    return 0;
  return clock->is_counter ? kymo_clock_() : nanoseconds(CLOCK_MONOTONIC);
}
