/* SPDX-License-Identifier: MIT */
/* Where tests can take pages of a mapped file away: emulators do not say which page is missing. */
#ifndef KYMO_TESTS_MISSING_PAGES_H
#define KYMO_TESTS_MISSING_PAGES_H

#include <stdbool.h>

#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)
enum { MISSING_PAGES_ARE_FOUND = true };
#else
enum { MISSING_PAGES_ARE_FOUND = false };
#endif

#endif
