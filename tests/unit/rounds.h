/* SPDX-License-Identifier: MIT */
/* How often tests with random numbers try. */
#ifndef KYMO_TESTS_ROUNDS_H
#define KYMO_TESTS_ROUNDS_H

#include <stdint.h>
#include <stdlib.h>

/*
 * `most` where the plain build is tested, and everywhere if the environment has KYMO_ROUNDS. A quarter of it
 * where each round takes longer (under a sanitizer, without optimiser), and on builds that differ otherwise.
 * A tenth in an emulator, where a round takes ten times as long. A few rounds reach all of their code.
 */
static inline unsigned rounds(unsigned most) {
  const char *starter = getenv("KYMO_STARTER"), *all = getenv("KYMO_ROUNDS");
  if (all && *all)
    return most;
  if (starter && *starter)
    return most / 10;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(NDEBUG) || \
    !defined(__OPTIMIZE__) || UINTPTR_MAX == UINT32_MAX
  return most / 4;
#endif
  return most;
}

#endif
