/* SPDX-License-Identifier: MIT */
/* Moments as texts: YYYY-MM-DD[THH:MM[:SS[.digits]]][Z|±HH:MM], in UTC without a zone; a blank instead of T,
 * as tables print them. */
#include "lang/tdl/lexer.h"

#define PS_PER_S UINT64_C(1000000000000)

struct cursor {
  struct tdl_bytes text;
  uint32_t at;
};

static bool accept(struct cursor *cursor, char c) {
  bool is_there = cursor->at < cursor->text.length && cursor->text.data[cursor->at] == c;
  cursor->at += is_there;
  return is_there;
}

/* Exactly `count` digits, from `low` to `high`. */
static bool digits(struct cursor *cursor, int count, int high, int *number) {
  *number = 0;
  for (; count > 0; count--, cursor->at++) {
    if (cursor->at >= cursor->text.length)
      return false;
    int digit = cursor->text.data[cursor->at] - '0';
    if (digit < 0 || digit > 9)
      return false;
    *number = *number * 10 + digit;
  }
  return *number <= high;
}

static int days_of_month(int year, int month) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return days[month - 1] + (month == 2 && is_leap);
}

/* Days from 1970-01-01 to this date. */
static int64_t days_since_1970(int year, int month, int day) {
  int64_t days = 0;
  for (int m = 1; m < month; m++)
    days += days_of_month(year, m);
  int64_t before = year - 1; /* whole years since the year 1; year 0 counts as leap */
  int64_t leaps = year == 0 ? -1 : before / 4 - before / 100 + before / 400;
  return before * 365 + leaps + days + day - 1 - 719162;
}

static bool read_date(struct cursor *cursor, int64_t *days) {
  int year, month, day;
  if (!digits(cursor, 4, 9999, &year) || !accept(cursor, '-') || !digits(cursor, 2, 12, &month) ||
      month == 0 || !accept(cursor, '-') || !digits(cursor, 2, 31, &day) || day == 0 ||
      day > days_of_month(year, month))
    return false;
  *days = days_since_1970(year, month, day);
  return true;
}

/* The picoseconds of the digits after the point; further digits are cut. */
static bool read_fraction(struct cursor *cursor, uint64_t *ps) {
  uint64_t unit = PS_PER_S / 10;
  uint32_t start = cursor->at;
  for (int digit; digits(cursor, 1, 9, &digit); unit /= 10)
    *ps += (uint64_t)digit * unit;
  return cursor->at > start;
}

static bool read_time(struct cursor *cursor, int64_t *seconds, uint64_t *ps) {
  int hour, minute, second = 0;
  if (!digits(cursor, 2, 23, &hour) || !accept(cursor, ':') || !digits(cursor, 2, 59, &minute))
    return false;
  if (accept(cursor, ':') &&
      (!digits(cursor, 2, 59, &second) || (accept(cursor, '.') && !read_fraction(cursor, ps))))
    return false;
  *seconds += hour * 3600 + minute * 60 + second;
  return true;
}

static bool read_zone(struct cursor *cursor, int64_t *seconds) {
  int hour, minute;
  if (accept(cursor, 'Z'))
    return true;
  int sign = accept(cursor, '+') ? -1 : accept(cursor, '-') ? 1 : 0;
  if (sign == 0)
    return true;
  if (!digits(cursor, 2, 23, &hour) || !accept(cursor, ':') || !digits(cursor, 2, 59, &minute))
    return false;
  *seconds += sign * (hour * 3600 + minute * 60);
  return true;
}

static bool is_time_of_day(struct tdl_bytes text) {
  struct cursor cursor = {.text = text};
  int64_t seconds = 0;
  uint64_t ps = 0;
  return read_time(&cursor, &seconds, &ps) && cursor.at == text.length;
}

bool kymo_tdl_moment(struct tdl_session *session, struct tdl_bytes text, uint32_t at,
                     struct kymo_wide *since_ps) {
  struct cursor cursor = {.text = text};
  int64_t days, seconds = 0;
  uint64_t ps = 0;
  bool is_good = read_date(&cursor, &days) &&
                 (!(accept(&cursor, 'T') || accept(&cursor, ' ')) || read_time(&cursor, &seconds, &ps)) &&
                 read_zone(&cursor, &seconds) && cursor.at == text.length;
  if (!is_good && is_time_of_day(text))
    return kymo_tdl_fail(session, at, "E14",
                         "no such moment: expected the date before the time: YYYY-MM-DDT%.*s",
                         (int)text.length, (const char *)text.data);
  if (!is_good)
    return kymo_tdl_fail(
        session, at, "E14",
        "no such moment: expected YYYY-MM-DD, or with a time YYYY-MM-DDTHH:MM:SS.digits, and Z or +HH:MM");
  kymo_wide_multiply(kymo_wide_of_i64(days * 86400 + seconds), kymo_wide_of_u64(PS_PER_S), since_ps);
  return kymo_wide_add(*since_ps, kymo_wide_of_u64(ps), since_ps);
}
