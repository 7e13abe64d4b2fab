/* SPDX-License-Identifier: MIT */
/* Times as text, of day or in seconds. The text of the second is kept, since most events share one. */
#ifndef KYMO_PRINT_CLOCK_H
#define KYMO_PRINT_CLOCK_H

#include "print/out.h"
#include <time.h>

struct kymo_clock_text {
  bool is_gmt; /* UTC instead of local time */
  bool is_set;
  uint8_t length;
  int64_t second_ns; /* begin of the second below */
  char text[16];     /* "hh:mm:ss.", or "seconds." */
  struct tm day;     /* its date, of a time of day */
};

/* Makes `text` show the second that contains `time_ns`, which is at least 0; false if the C library cannot
 * convert it. */
bool kymo_clock_text_set(struct kymo_clock_text *clock, int64_t time_ns);
/* The same as a number of seconds; not for negative times, which leave it without a second. */
void kymo_clock_text_set_seconds(struct kymo_clock_text *clock, int64_t time_ns);

static inline bool kymo_clock_text_has(const struct kymo_clock_text *clock, int64_t time_ns) {
  return clock->is_set && time_ns >= clock->second_ns && time_ns - clock->second_ns < 1000000000;
}

/* The text, and nine digits, of a time in the second that is set. */
static inline char *kymo_put_clock(char *at, const struct kymo_clock_text *clock, int64_t time_ns) {
  memcpy(at, clock->text, 16);
  return kymo_put_nanoseconds(at + clock->length, (uint32_t)(time_ns - clock->second_ns));
}

/* "yyyy-mm-dd ". */
char *kymo_put_date(char *at, const struct tm *day);
/* "[-]seconds.nnnnnnnnn" of any time. */
char *kymo_put_seconds(char *at, int64_t time_ns);

#endif
