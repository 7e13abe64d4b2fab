/* SPDX-License-Identifier: MIT */
/*
 * kymo/time.h: times as text, and conversion between clocks. See kymo/read.h.
 *
 *   2026-11-21 15:04:05.123456789     a date and time; "T" between them, and possibly a zone ("Z", "+0100")
 *   today 15:04    yesterday    now   by this machine's clock
 *   15:04:05.1                        that time on the day when the trace begins
 *   @1700000000.5  1700000000.5       seconds from the origin of the trace's clock (the epoch)
 *   1700000000500000000ns             the same with a unit
 *   +1.5s  +3min                      from the begin of the trace
 *   -10s                              from its end
 *
 * All is exact to the nanosecond.
 */
#ifndef KYMO_TIME_H
#define KYMO_TIME_H

#include <kymo/event.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- from text ---- */

/* A time as it was typed. */
struct kymo_time {
  enum kymo_time_sort { KYMO_TIME_ABSOLUTE, KYMO_TIME_OF_DAY, KYMO_TIME_FROM_BEGIN, KYMO_TIME_FROM_END } kind;
  int64_t ns;           /* from the origin; FROM_BEGIN, FROM_END: a distance, of either sign */
  struct tm of_day;     /* hour, minute, second; and `ns` within it */
  bool has_zone;        /* else local time */
  int32_t zone_seconds; /* east of Greenwich */
};

/* Parameters of parsing besides the text. */
struct kymo_time_world {
  bool is_gmt; /* times without zone are UTC, else local */
  int64_t now_ns;
};

struct kymo_time_mistake {
  const char *at; /* into the text */
  int length;
  const char *why; /* static */
};

/* Reads a time in one of the forms above. False: `mistake` has the place and the reason. */
bool kymo_time_parse(struct kymo_time *out, const char *text, const struct kymo_time_world *world,
                     struct kymo_time_mistake *mistake);
/* A signed duration: in seconds, or in the given unit. */
bool kymo_duration_parse(int64_t *ns, const char *text, struct kymo_time_mistake *mistake);
/* Whether the time depends on when the trace begins or ends. */
bool kymo_time_is_relative(const struct kymo_time *time);
/* The time in nanoseconds from the origin, for a trace with this range; false if it does not fit 64 bits. */
bool kymo_time_resolve(const struct kymo_time *time, int64_t begin_ns, int64_t end_ns, int64_t *out_ns);

/* The list of accepted forms, for the end of an error message. */
const char *kymo_time_forms(void);

/*
 * All of this at once, for an open trace: converts a text to a time in nanoseconds as in the trace's events;
 * without zone, UTC. Times from begin and end, and times of day, need kymo_trace_range. KYMO_E_SYNTAX with
 * the column; KYMO_E_RANGE: the time does not fit 64 bits; errors of kymo_trace_range.
 */
int kymo_trace_parse_time(struct kymo_trace *trace, const char *text, int64_t *ns, struct kymo_error *error);

/* ---- to text ---- */

enum kymo_time_form {
  KYMO_TIME_SECONDS, /* "1700000000.500000000" from the origin, for clocks that do not count from the epoch */
  KYMO_TIME_UTC,     /* "2026-11-21T15:04:05.123456789Z" */
  KYMO_TIME_LOCAL,   /* "2026-11-21 15:04:05.123456789", by this machine's time zone */
};
/* Bytes that any time needs as text, with the NUL. */
#define KYMO_TIME_TEXT 40
/* Writes a time; returns `out`. kymo_trace_parse_time reads it again. */
char *kymo_time_to_text(int64_t ns, enum kymo_time_form form, char out[KYMO_TIME_TEXT]);

/* ---- from clock to clock ---- */

enum kymo_system_clock { KYMO_TO_MONOTONIC, KYMO_TO_REALTIME };
/*
 * What another clock of the machine showed when that of a part had this value, by the snapshots that were
 * noted beside the trace (kymo_part_clock_snapshot): between two of them in a straight line, outside of them
 * by the clock's frequency. *error_ns, if not NULL, becomes the bound of the error as far as it is known,
 * else UINT64_MAX. KYMO_E_ABSENT: the part has no snapshots; KYMO_E_RANGE: 64 bits do not hold it.
 */
int kymo_part_convert_time(const struct kymo_part *part, uint64_t cycles, enum kymo_system_clock clock,
                           int64_t *ns, uint64_t *error_ns);

#ifdef __cplusplus
}
#endif
#endif
