/* SPDX-License-Identifier: MIT */
/* How often tests with random numbers try. */
#ifndef KYMO_TESTS_ROUNDS_H
#define KYMO_TESTS_ROUNDS_H

#include <stdint.h>
#include <stdlib.h>

/*
 * `most` where the plain build is tested. A quarter of it where each round takes many times longer (in an
 * emulator, under a sanitizer, without optimiser), and on builds that differ otherwise: a few rounds reach
 * all of their code.
 */
static inline unsigned rounds(unsigned most) {
  const char *starter = getenv("KYMO_STARTER");
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  starter = "a sanitizer";
#elif defined(NDEBUG) || !defined(__OPTIMIZE__) || UINTPTR_MAX == UINT32_MAX
  starter = "another build";
#endif
  return starter && *starter ? most / 4 : most;
}

#endif
