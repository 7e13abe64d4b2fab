/* SPDX-License-Identifier: MIT */
#include "print/duration.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const struct unit {
  const char *name;
  double ns;
  int places;
} units[] = {
    {"s", 1e9, 9},
    {"ms", 1e6, 6},
    {"us", 1e3, 3},
    {"ns", 1, 0},
};
enum { NANOSECONDS = sizeof units / sizeof *units - 1 };

/* How many digits are before the point. */
static int digits_of(double value) {
  int count = 1;
  for (; value >= 10; value /= 10)
    count++;
  return count;
}

/* The value in steps of its last digit. */
static double rounded(double size, int digits) {
  double step = pow(10, digits_of(size) - digits);
  return step > 1 ? round(size / step) * step : size;
}

char *kymo_duration_text(double ns, unsigned digits, char out[KYMO_DURATION_TEXT]) {
  int wanted = digits > 0 && digits < 16 ? (int)digits : 15;
  double size = rounded(fabs(ns), wanted);
  size_t i = 0;
  while (i < NANOSECONDS && size < units[i].ns)
    i++;
  double value = size / units[i].ns;
  int places = wanted - digits_of(value),
      most = i == NANOSECONDS && size != floor(size) ? 3 : units[i].places;
  places = places < 0 ? 0 : places < most ? places : most;
  snprintf(out, KYMO_DURATION_TEXT, "%s%.*f %s", ns < 0 && value > 0 ? "-" : "", places, value,
           units[i].name);
  return out;
}

char *kymo_duration_exact(uint64_t ns, char out[KYMO_DURATION_TEXT]) {
  static const uint64_t sizes[] = {1000000000, 1000000, 1000, 1};
  size_t i = 0;
  while (i < NANOSECONDS && ns < sizes[i])
    i++;
  if (i == NANOSECONDS)
    snprintf(out, KYMO_DURATION_TEXT, "%" PRIu64 " ns", ns);
  else
    snprintf(out, KYMO_DURATION_TEXT, "%" PRIu64 ".%0*" PRIu64 " %s", ns / sizes[i], units[i].places,
             ns % sizes[i], units[i].name);
  return out;
}
