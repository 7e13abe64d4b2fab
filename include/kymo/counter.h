/* SPDX-License-Identifier: MIT */
/* kymo/counter.h: the processor's counter, the clock of kymo/trace.h. */
#ifndef KYMO_COUNTER_H
#define KYMO_COUNTER_H

#include <kymo/layout.h>

/* Its current value; 0 on machines whose counter programs cannot read. */
KYMO_INLINE_ uint64_t kymo_clock_(void) {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc(); /* not <x86intrin.h>, which names it: it takes compilers half a second */
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return 0;
#endif
}

#endif
