/* SPDX-License-Identifier: MIT */
/*
 * A parser that goes once over the text. Its functions return false if the text is something else; a mistake
 * is stored once it is certain what was meant.
 */
#include <kymo/time.h>
#include <ctype.h>
#include <stddef.h>
#include <string.h>

#define NS_PER_S INT64_C(1000000000)

const char *kymo_time_forms(void) {
  return "times are like \"2026-11-21 15:04:05.123\", \"15:04:05\", \"today\", \"1700000000.5\" (seconds), "
         "\"+1.5s\" from the begin, \"-10s\" from the end";
}

struct parser {
  const char *at, *closing; /* the text at the end */
  const struct kymo_time_world *world;
  struct kymo_time *out;
  struct kymo_time_mistake *mistake;
};

/* Stores a mistake from `from` to the parser's position, or the next character if that is empty. */
static bool refuse(struct parser *p, const char *from, const char *why) {
  ptrdiff_t length = p->at - from;
  *p->mistake = (struct kymo_time_mistake){from, (int)(length > 0 ? length : *from != 0), why};
  return false;
}

static bool eat(struct parser *p, const char *word) {
  size_t length = strlen(word);
  if (strncmp(p->at, word, length) != 0)
    return false;
  p->at += length;
  return true;
}

static void eat_blanks(struct parser *p) {
  while (*p->at == ' ' || *p->at == '\t')
    p->at++;
}

static bool is_end(const struct parser *p) { return strcmp(p->at, p->closing) == 0; }

/* ---- numbers ---- */

static size_t count_digits(const char *text) { return strspn(text, "0123456789"); }

/* A number of at least `least` and at most `most` digits, which are few. */
static bool eat_number(struct parser *p, size_t least, size_t most, int *out) {
  size_t count = count_digits(p->at);
  if (count < least || count > most)
    return false;
  for (*out = 0; count; count--)
    *out = *out * 10 + (*p->at++ - '0');
  return true;
}

/* ".123", if it is next, as billionths. */
static bool eat_fraction(struct parser *p, int64_t *billionths) {
  const char *from = p->at;
  *billionths = 0;
  if (*p->at != '.')
    return true;
  p->at++;
  size_t count = count_digits(p->at);
  for (size_t i = 0; i < count || i < 9; i++) {
    int digit = i < count ? *p->at++ - '0' : 0;
    if (i < 9)
      *billionths = *billionths * 10 + digit;
    else if (digit)
      return refuse(p, from, "no clock here counts parts of nanoseconds");
  }
  return count ? true : refuse(p, from, "digits must follow");
}

/* An amount: whole part and billionths. */
struct amount {
  int64_t whole, billionths;
};

static bool eat_amount(struct parser *p, struct amount *amount) {
  const char *from = p->at;
  size_t count = count_digits(p->at);
  bool fits = true;
  if (!count)
    return refuse(p, from, is_end(p) ? "a number must follow" : "expected a time");
  for (amount->whole = 0; count; count--, p->at++)
    fits = fits && !__builtin_mul_overflow(amount->whole, 10, &amount->whole) &&
           !__builtin_add_overflow(amount->whole, *p->at - '0', &amount->whole);
  return fits ? eat_fraction(p, &amount->billionths) : refuse(p, from, "too large");
}

/* ---- durations ---- */

struct unit {
  const char *name;
  int64_t ns;
};

/* The longer one of two with the same begin comes first. */
static const struct unit units[] = {
    {"ns", 1},
    {"us", 1000},
    {"µs", 1000},
    {"μs", 1000},
    {"ms", 1000000},
    {"min", 60 * NS_PER_S},
    {"m", 60 * NS_PER_S},
    {"sec", NS_PER_S},
    {"s", NS_PER_S},
    {"h", 3600 * NS_PER_S},
    {"d", 86400 * NS_PER_S},
};

static const struct unit *eat_unit(struct parser *p) {
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (eat(p, units[i].name))
      return &units[i];
  return NULL;
}

/* The amount in nanoseconds, added to *ns. */
static bool add_amount(struct parser *p, const char *from, const struct amount *amount, int64_t unit_ns,
                       int64_t *ns) {
  int64_t part, scale = unit_ns >= NS_PER_S ? unit_ns / NS_PER_S : NS_PER_S / unit_ns;
  if (unit_ns < NS_PER_S && amount->billionths % scale != 0)
    return refuse(p, from, "no clock here counts parts of nanoseconds");
  part = unit_ns >= NS_PER_S ? amount->billionths * scale : amount->billionths / scale;
  int64_t whole;
  if (__builtin_mul_overflow(amount->whole, unit_ns, &whole) || __builtin_add_overflow(part, whole, &part) ||
      __builtin_add_overflow(*ns, part, ns))
    return refuse(p, from, "too large");
  return true;
}

/* One or more amounts, each with its unit: "1min30s". */
static bool parse_duration(struct parser *p, int64_t *ns) {
  *ns = 0;
  do {
    const char *from = p->at;
    struct amount amount;
    if (!eat_amount(p, &amount))
      return false;
    eat_blanks(p);
    const struct unit *unit = eat_unit(p);
    if (!unit) {
      p->at += strcspn(p->at, " ");
      return refuse(p, from, "a unit must follow: ns, us, ms, s, min, h or d");
    }
    if (!add_amount(p, from, &amount, unit->ns, ns))
      return false;
    eat_blanks(p);
  } while (!is_end(p));
  return true;
}

/* Seconds, or another unit. */
static bool parse_number(struct parser *p, bool is_negative) {
  const char *from = p->at;
  struct amount amount;
  if (!eat_amount(p, &amount))
    return false;
  p->out->ns = 0;
  bool has_unit = !is_end(p);
  if (has_unit)
    p->at = from;
  if (has_unit ? !parse_duration(p, &p->out->ns) : !add_amount(p, from, &amount, NS_PER_S, &p->out->ns))
    return false;
  p->out->ns = is_negative ? -p->out->ns : p->out->ns;
  return true;
}

/* After a "-": seconds before the origin, or with a unit a distance from the end. */
static bool parse_negative(struct parser *p) {
  if (strcmp(p->at + strspn(p->at, "0123456789."), p->closing) == 0)
    return parse_number(p, true);
  p->out->kind = KYMO_TIME_FROM_END;
  if (!parse_duration(p, &p->out->ns))
    return false;
  p->out->ns = -p->out->ns;
  return true;
}

/* ---- dates and times of day ---- */

static bool eat_time_of_day(struct parser *p) {
  const char *from = p->at;
  struct tm *day = &p->out->of_day;
  day->tm_sec = 0;
  p->out->ns = 0;
  bool is_well_formed =
      eat_number(p, 1, 2, &day->tm_hour) && eat(p, ":") && eat_number(p, 2, 2, &day->tm_min);
  bool has_seconds = is_well_formed && eat(p, ":");
  if (!is_well_formed || (has_seconds && !eat_number(p, 2, 2, &day->tm_sec))) {
    p->at += strcspn(p->at, " ");
    return refuse(p, from, "a time of day is hh:mm:ss");
  }
  if (day->tm_hour > 23 || day->tm_min > 59 || day->tm_sec > 59)
    return refuse(p, from, "there is no such time of day");
  return !has_seconds || eat_fraction(p, &p->out->ns);
}

/* "+01:00", "-0130", "+01" */
static bool eat_offset(struct parser *p) {
  const char *from = p->at;
  int sign = eat(p, "+") ? 1 : eat(p, "-") ? -1 : 0, hours, minutes = 0;
  if (!sign)
    return false;
  bool is_well_formed = false;
  if (count_digits(p->at) == 4)
    is_well_formed = eat_number(p, 4, 4, &hours);
  else if (eat_number(p, 2, 2, &hours))
    is_well_formed = !eat(p, ":") || eat_number(p, 2, 2, &minutes);
  if (is_well_formed && p->at - from == 5) {
    minutes = hours % 100;
    hours /= 100;
  }
  if (!is_well_formed || hours > 23 || minutes > 59) {
    p->at += strlen(p->at);
    return refuse(p, from, "a time zone is Z, +hh:mm or -hh:mm");
  }
  p->out->zone_seconds = sign * (hours * 3600 + minutes * 60);
  return true;
}

/* The zone, and then the end. */
static bool parse_zone(struct parser *p) {
  eat_blanks(p);
  const char *from = p->at;
  p->out->has_zone = p->world->is_gmt;
  if (is_end(p))
    return true;
  p->out->has_zone = true;
  if (*p->at == '+' || *p->at == '-')
    return eat_offset(p) && (is_end(p) || refuse(p, p->at, "nothing may follow the time zone"));
  if (!eat(p, "Z") && !eat(p, "z") && !eat(p, "UTC") && !eat(p, "GMT"))
    return refuse(p, from, "this is neither a time nor a zone");
  return is_end(p) || refuse(p, p->at, "nothing may follow the time zone");
}

/* The day and time in `day` as nanoseconds from the epoch. */
static bool count_ns(const struct kymo_time *time, const struct tm *day, int64_t *ns) {
  struct tm copy = *day;
  copy.tm_isdst = -1;
  int64_t seconds = time->has_zone ? (int64_t)timegm(&copy) : (int64_t)mktime(&copy);
  int64_t second_ns;
  if (seconds == -1 && day->tm_year != 69 && day->tm_year != 70) /* time_t has 32 bits on some machines */
    return false;
  seconds -= time->has_zone ? time->zone_seconds : 0;
  return !__builtin_mul_overflow(seconds, NS_PER_S, &second_ns) &&
         !__builtin_add_overflow(second_ns, time->ns, ns);
}

/* The day that contains this nanosecond. */
static bool find_day(const struct kymo_time *time, int64_t ns, struct tm *day) {
  time_t seconds = (time_t)(ns / NS_PER_S - (ns % NS_PER_S < 0) + (time->has_zone ? time->zone_seconds : 0));
  return (time->has_zone ? gmtime_r(&seconds, day) : localtime_r(&seconds, day)) != NULL;
}

static bool parse_day(struct parser *p, const char *from, const struct tm *date, int days_ago) {
  bool has_blank = *p->at == ' ';
  struct tm *day = &p->out->of_day;
  int64_t now_ns = p->world->now_ns;
  eat_blanks(p);
  if (has_blank ? isdigit((unsigned char)*p->at) : eat(p, "T") || eat(p, "t")) {
    if (!eat_time_of_day(p))
      return false;
  }
  if (!parse_zone(p))
    return false;
  struct tm of_day = *day;
  if (date)
    *day = *date;
  else if (!find_day(p->out, now_ns, day))
    return refuse(p, from, "this machine's clock has no date");
  day->tm_mday -= days_ago;
  day->tm_hour = of_day.tm_hour;
  day->tm_min = of_day.tm_min;
  day->tm_sec = of_day.tm_sec;
  return count_ns(p->out, day, &p->out->ns) || refuse(p, from, "the day does not fit a 64-bit clock");
}

static bool is_date(const char *text) { return count_digits(text) == 4 && text[4] == '-'; }

static bool parse_date(struct parser *p) {
  static const int lengths[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const char *from = p->at;
  int year, month, day;
  if (!eat_number(p, 4, 4, &year) || !eat(p, "-") || !eat_number(p, 2, 2, &month) || !eat(p, "-") ||
      !eat_number(p, 2, 2, &day)) {
    p->at += strcspn(p->at, " T");
    return refuse(p, from, "a date is YYYY-MM-DD");
  }
  bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  if (month < 1 || month > 12 || day < 1 || day > lengths[month - 1] || (month == 2 && day == 29 && !is_leap))
    return refuse(p, from, "there is no such day");
  struct tm date = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day};
  return parse_day(p, from, &date, 0);
}

static bool is_time_of_day(const char *text) {
  size_t count = count_digits(text);
  return count > 0 && text[count] == ':';
}

/* ---- all forms ---- */

static bool parse_any(struct parser *p) {
  const char *from = p->at;
  if (is_end(p))
    return refuse(p, from, "a time must be given");
  if (eat(p, "@"))
    return parse_number(p, eat(p, "-"));
  if (eat(p, "+")) {
    p->out->kind = KYMO_TIME_FROM_BEGIN;
    return parse_duration(p, &p->out->ns);
  }
  if (eat(p, "-"))
    return parse_negative(p);
  if (eat(p, "now")) {
    p->out->ns = p->world->now_ns;
    return is_end(p) || refuse(p, p->at, "nothing may follow \"now\"");
  }
  if (eat(p, "today"))
    return parse_day(p, from, NULL, 0);
  if (eat(p, "yesterday"))
    return parse_day(p, from, NULL, 1);
  if (is_date(p->at))
    return parse_date(p);
  if (!is_time_of_day(p->at))
    return parse_number(p, false);
  p->out->kind = KYMO_TIME_OF_DAY;
  return eat_time_of_day(p) && parse_zone(p);
}

bool kymo_time_parse(struct kymo_time *out, const char *text, const struct kymo_time_world *world,
                     struct kymo_time_mistake *mistake) {
  bool has_brackets = *text == '['; /* copied from an output */
  struct parser parser = {.at = text + has_brackets,
                          .closing = has_brackets ? "]" : "",
                          .world = world,
                          .out = out,
                          .mistake = mistake};
  *out = (struct kymo_time){.kind = KYMO_TIME_ABSOLUTE};
  return parse_any(&parser);
}

bool kymo_duration_parse(int64_t *ns, const char *text, struct kymo_time_mistake *mistake) {
  struct kymo_time time;
  struct parser parser = {.at = text, .closing = "", .out = &time, .mistake = mistake};
  bool is_negative = *text == '-';
  parser.at += is_negative || *text == '+';
  bool is_parsed = parse_number(&parser, is_negative);
  *ns = time.ns;
  return is_parsed;
}

bool kymo_time_is_relative(const struct kymo_time *time) { return time->kind != KYMO_TIME_ABSOLUTE; }

bool kymo_time_resolve(const struct kymo_time *time, int64_t begin_ns, int64_t end_ns, int64_t *out_ns) {
  struct tm day;
  switch (time->kind) {
  case KYMO_TIME_FROM_BEGIN: return !__builtin_add_overflow(begin_ns, time->ns, out_ns);
  case KYMO_TIME_FROM_END: return !__builtin_add_overflow(end_ns, time->ns, out_ns);
  case KYMO_TIME_OF_DAY:
    if (!find_day(time, begin_ns, &day))
      return false;
    day.tm_hour = time->of_day.tm_hour;
    day.tm_min = time->of_day.tm_min;
    day.tm_sec = time->of_day.tm_sec;
    return count_ns(time, &day, out_ns);
  default: *out_ns = time->ns; return true;
  }
}
