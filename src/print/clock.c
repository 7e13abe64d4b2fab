/* SPDX-License-Identifier: MIT */
/* Times as text. */
#include "print/clock.h"

bool kymo_clock_text_set(struct kymo_clock_text *clock, int64_t time_ns) {
  time_t second = (time_t)(time_ns / 1000000000);
  clock->is_set = false;
  if (time_ns < 0 || !(clock->is_gmt ? gmtime_r(&second, &clock->day) : localtime_r(&second, &clock->day)))
    return false;
  clock->is_set = true;
  clock->second_ns = (int64_t)second * 1000000000;
  char *at = kymo_put_pair(clock->text, (uint32_t)clock->day.tm_hour);
  *at++ = ':';
  at = kymo_put_pair(at, (uint32_t)clock->day.tm_min);
  *at++ = ':';
  at = kymo_put_pair(at, (uint32_t)clock->day.tm_sec);
  *at++ = '.';
  clock->length = (uint8_t)(at - clock->text);
  return true;
}

void kymo_clock_text_set_seconds(struct kymo_clock_text *clock, int64_t time_ns) {
  char text[KYMO_DECIMAL_ROOM];
  clock->is_set = time_ns >= 0;
  if (!clock->is_set)
    return;
  uint64_t second = (uint64_t)time_ns / 1000000000;
  char *at = kymo_put_u64(text, second);
  *at++ = '.';
  clock->second_ns = (int64_t)second * 1000000000;
  clock->length = (uint8_t)(at - text);
  memcpy(clock->text, text, clock->length);
}

char *kymo_put_date(char *at, const struct tm *day) {
  int year = day->tm_year + 1900;
  at = kymo_put_u64(at, (uint64_t)(year > 0 ? year : 0));
  *at++ = '-';
  at = kymo_put_pair(at, (uint32_t)day->tm_mon + 1);
  *at++ = '-';
  at = kymo_put_pair(at, (uint32_t)day->tm_mday);
  *at++ = ' ';
  return at;
}

char *kymo_put_seconds(char *at, int64_t time_ns) {
  uint64_t size = time_ns < 0 ? 0 - (uint64_t)time_ns : (uint64_t)time_ns;
  if (time_ns < 0)
    *at++ = '-';
  at = kymo_put_u64(at, size / 1000000000);
  *at++ = '.';
  return kymo_put_nanoseconds(at, (uint32_t)(size % 1000000000));
}
