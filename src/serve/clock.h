/* SPDX-License-Identifier: MIT */
#ifndef KYMO_SERVE_CLOCK_H
#define KYMO_SERVE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* A time that only grows. */
static inline int64_t serve_now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

#endif
