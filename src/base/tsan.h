/* SPDX-License-Identifier: MIT */
/*
 * Annotations that ThreadSanitizer needs when a program built with it uses this library built without: it
 * sees the program's stores to rings, which the macros inline, but not the library's atomics that order them.
 * Without ThreadSanitizer the functions are not there, and nothing is called.
 */
#ifndef KYMO_BASE_TSAN_H
#define KYMO_BASE_TSAN_H

extern void __tsan_init(void) __attribute__((weak));
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));
extern void AnnotateIgnoreReadsBegin(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreReadsEnd(const char *file, int line) __attribute__((weak));

/* What other threads did before their kymo_tsan_release of this address happened before what follows. */
static inline void kymo_tsan_acquire(void *address) {
  if (__tsan_acquire)
    __tsan_acquire(address);
}

static inline void kymo_tsan_release(void *address) {
  if (__tsan_release)
    __tsan_release(address);
}

/* Reads between the two may race; the caller checks afterwards whether they did. */
static inline void kymo_tsan_racy_begin(void) {
  if (AnnotateIgnoreReadsBegin)
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
}

static inline void kymo_tsan_racy_end(void) {
  if (AnnotateIgnoreReadsEnd)
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

#endif
