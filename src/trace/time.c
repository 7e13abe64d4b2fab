/* SPDX-License-Identifier: MIT */
/* Times of traces: from and to text, and to other clocks. */
#include "base/fail.h"
#include "base/wide.h"
#include "trace/trace.h"
#include <inttypes.h>
#include <stdio.h>

#define NS_PER_S INT64_C(1000000000)

/* ---- text ---- */

int kymo_trace_parse_time(struct kymo_trace *trace, const char *text, int64_t *ns, struct kymo_error *error) {
  struct timespec now;
  struct kymo_time time;
  struct kymo_time_mistake mistake;
  clock_gettime(CLOCK_REALTIME, &now);
  struct kymo_time_world world = {.is_gmt = true, .now_ns = (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec};
  int64_t begin_ns = 0, end_ns = 0;
  if (!kymo_time_parse(&time, text, &world, &mistake)) {
    int status = kymo_fail(error, KYMO_E_SYNTAX, "\"%.*s\": %s; %s", mistake.length, mistake.at, mistake.why,
                           kymo_time_forms());
    if (error) {
      error->line = 1;
      error->column = (uint32_t)(mistake.at - text) + 1;
    }
    return status;
  }
  int status = kymo_time_is_relative(&time) ? kymo_trace_range(trace, &begin_ns, &end_ns, error) : KYMO_OK;
  if (status == KYMO_OK && !kymo_time_resolve(&time, begin_ns, end_ns, ns))
    status = kymo_fail(error, KYMO_E_RANGE, "\"%s\": the time does not fit a 64-bit clock", text);
  return status;
}

/* Whole seconds, rounded down, and the remainder. */
struct seconds {
  int64_t whole;
  uint32_t ns;
};

static struct seconds split(int64_t ns) {
  int64_t whole = ns / NS_PER_S - (ns % NS_PER_S < 0);
  return (struct seconds){whole, (uint32_t)(ns - whole * NS_PER_S)};
}

static char *put_seconds(int64_t ns, char out[KYMO_TIME_TEXT]) {
  uint64_t distance = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
  snprintf(out, KYMO_TIME_TEXT, "%s%" PRIu64 ".%09" PRIu64, ns < 0 ? "-" : "", distance / (uint64_t)NS_PER_S,
           distance % (uint64_t)NS_PER_S);
  return out;
}

char *kymo_time_to_text(int64_t ns, enum kymo_time_form form, char out[KYMO_TIME_TEXT]) {
  struct seconds seconds = split(ns);
  time_t whole = (time_t)seconds.whole;
  struct tm day;
  char date[KYMO_TIME_TEXT];
  if (form == KYMO_TIME_SECONDS || whole != seconds.whole || /* time_t has 32 bits on some machines */
      !(form == KYMO_TIME_UTC ? gmtime_r(&whole, &day) : localtime_r(&whole, &day)) ||
      !strftime(date, sizeof date, form == KYMO_TIME_UTC ? "%Y-%m-%dT%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &day))
    return put_seconds(ns, out);
  snprintf(out, KYMO_TIME_TEXT, "%.26s.%09" PRIu32 "%s", date, seconds.ns, form == KYMO_TIME_UTC ? "Z" : "");
  return out;
}

/* ---- clocks ---- */

static int64_t shown(const struct kymo_clock_snapshot *snapshot, enum kymo_system_clock clock) {
  return clock == KYMO_TO_MONOTONIC ? snapshot->monotonic_ns : snapshot->realtime_ns;
}

/* base + distance × scale ÷ by, rounded toward the base. */
static bool advance(int64_t base, uint64_t distance, bool is_back, uint64_t scale, uint64_t by,
                    int64_t *out) {
  struct kymo_wide product, quotient, sum, start = kymo_wide_of_i64(base);
  if (by == 0 || !kymo_wide_multiply(kymo_wide_of_u64(distance), kymo_wide_of_u64(scale), &product) ||
      !kymo_wide_divide(product, kymo_wide_of_u64(by), &quotient, NULL) ||
      !(is_back ? kymo_wide_subtract(start, quotient, &sum) : kymo_wide_add(start, quotient, &sum)))
    return false;
  if (!kymo_wide_fits(sum) || (sum.high == 0 && sum.low > INT64_MAX))
    return false;
  *out = (int64_t)sum.low;
  return true;
}

/* The frequency of the snapshots' clock: that of the part's first stream class that has one. */
static uint64_t frequency_of(const struct kymo_part *part) {
  for (uint32_t i = 0; i < part->schema->stream_count; i++)
    if (part->schema->streams[i]->clock)
      return part->schema->streams[i]->clock->frequency;
  return 0;
}

static uint64_t error_between(const struct kymo_clock_snapshot *a, const struct kymo_clock_snapshot *b,
                              uint64_t frequency) {
  uint64_t worst = a->error_ns > b->error_ns ? a->error_ns : b->error_ns,
           span = a->span > b->span ? a->span : b->span;
  int64_t span_ns;
  if (worst == UINT64_MAX || !advance(0, span, false, (uint64_t)NS_PER_S, frequency, &span_ns))
    return UINT64_MAX;
  return worst + (uint64_t)span_ns / 2 + 1;
}

int kymo_part_convert_time(const struct kymo_part *part, uint64_t cycles, enum kymo_system_clock clock,
                           int64_t *ns, uint64_t *error_ns) {
  const struct kymo_clock_snapshots *all = kymo_part_clock_snapshots(part);
  uint64_t frequency = frequency_of(part);
  size_t next = 0;
  if (all->count == 0)
    return KYMO_E_ABSENT;
  while (next < all->count && all->list[next].cycles <= cycles)
    next++;
  const struct kymo_clock_snapshot *from = &all->list[next ? next - 1 : 0],
                                   *to = next < all->count ? &all->list[next] : NULL;
  bool is_between = next > 0 && to && shown(to, clock) >= shown(from, clock);
  bool is_back = cycles < from->cycles, fits;
  uint64_t distance = is_back ? from->cycles - cycles : cycles - from->cycles;
  if (is_between)
    fits = advance(shown(from, clock), distance, false,
                   (uint64_t)shown(to, clock) - (uint64_t)shown(from, clock), to->cycles - from->cycles, ns);
  else
    fits = advance(shown(from, clock), distance, is_back, (uint64_t)NS_PER_S, frequency, ns);
  if (error_ns)
    *error_ns = is_between && clock == KYMO_TO_REALTIME ? error_between(from, to, frequency) : UINT64_MAX;
  return fits ? KYMO_OK : KYMO_E_RANGE;
}
