/* SPDX-License-Identifier: MIT */
/* Anchors of the conversion from cycles to nanoseconds. */
#include "decode/clock.h"
#include <float.h>

#define NS_PER_S UINT64_C(1000000000)
/* distance × 10^9 + rest stays below 2^64 for distances below REACH and frequencies up to it. */
#define REACH UINT64_C(18000000000)
/* Further out, sums might leave 64 bits, and kymo_clock_ns saturates: no short cut there. */
#define FAR_NS (INT64_C(1) << 62)
/* Events never have the latest time of all: it is the place of streams that are over. */
#define LATEST_NS (INT64_MAX - 1)

static int64_t before_last(int64_t time_ns) { return time_ns < LATEST_NS ? time_ns : LATEST_NS; }

_Static_assert(FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 1,
               "double is rounded to 53 bits at each operation");

static uint64_t double_ns(uint64_t cycles, double frequency) {
  double ns = 1e9 * (double)cycles / frequency;
  return ns >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)ns;
}

/* The time of cycle 0; false if it does not fit 64 bits. */
static bool find_zero(const struct kymo_clock *clock, int64_t shift_ns, int64_t *zero_ns) {
  uint64_t part_ns = double_ns(clock->offset_cycles % clock->frequency, (double)clock->frequency);
  int64_t seconds;
  return clock->offset_cycles / clock->frequency <= INT64_MAX &&
         !__builtin_add_overflow(clock->offset_seconds, (int64_t)(clock->offset_cycles / clock->frequency),
                                 &seconds) &&
         !__builtin_mul_overflow(seconds, (int64_t)NS_PER_S, zero_ns) &&
         !__builtin_add_overflow(*zero_ns, (int64_t)part_ns, zero_ns) &&
         !__builtin_add_overflow(*zero_ns, shift_ns, zero_ns);
}

void kymo_ns_begin(struct kymo_ns *ns, const struct kymo_clock *clock, int64_t shift_ns, bool is_rounded) {
  *ns = (struct kymo_ns){.clock = clock, .shift_ns = shift_ns};
  if (!clock)
    return;
  ns->frequency = clock->frequency;
  ns->reciprocal = UINT64_MAX / clock->frequency;
  ns->is_rounded = is_rounded && clock->frequency != NS_PER_S && find_zero(clock, shift_ns, &ns->anchor_ns);
}

static int64_t rounded_ns(struct kymo_ns *ns, uint64_t cycles) {
  uint64_t value_ns = double_ns(cycles, (double)ns->frequency);
  int64_t time_ns;
  bool is_beyond = value_ns > INT64_MAX || __builtin_add_overflow(ns->anchor_ns, (int64_t)value_ns, &time_ns);
  ns->is_beyond |= is_beyond;
  return is_beyond ? INT64_MAX : time_ns;
}

int64_t kymo_ns_anchor(struct kymo_ns *ns, uint64_t cycles) {
  const struct kymo_clock *clock = ns->clock;
  if (ns->is_rounded)
    return before_last(rounded_ns(ns, cycles));
  int64_t time_ns = kymo_clock_ns(clock, cycles);
  if (__builtin_add_overflow(time_ns, ns->shift_ns, &time_ns))
    time_ns = ns->shift_ns < 0 ? INT64_MIN : INT64_MAX;
  ns->is_beyond |= time_ns == INT64_MAX || time_ns == INT64_MIN;
  time_ns = before_last(time_ns);
  ns->reach = 0;
  if (clock->frequency > REACH || time_ns > FAR_NS || time_ns < -FAR_NS)
    return time_ns;
  uint64_t part = (clock->offset_cycles % clock->frequency + cycles % clock->frequency) % clock->frequency;
  ns->rest = part * NS_PER_S % clock->frequency;
  ns->anchor_cycles = cycles;
  ns->anchor_ns = time_ns;
  ns->reach = REACH;
  return time_ns;
}
