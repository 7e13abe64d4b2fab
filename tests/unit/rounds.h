/* SPDX-License-Identifier: MIT */
/* How often tests with random numbers try. */
#ifndef KYMO_TESTS_ROUNDS_H
#define KYMO_TESTS_ROUNDS_H

#include <stdlib.h>

/* `most`, or a quarter of it where each round takes many times longer: in an emulator, under a sanitizer. */
static inline unsigned rounds(unsigned most) {
  const char *starter = getenv("KYMO_STARTER");
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  starter = "a sanitizer";
#endif
  return starter && *starter ? most / 4 : most;
}

#endif
