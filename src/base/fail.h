/* SPDX-License-Identifier: MIT */
/* Filling a kymo_error: each function returns `code`, so that callers write `return kymo_fail(…)`.
 * `error` may be NULL. */
#ifndef KYMO_BASE_FAIL_H
#define KYMO_BASE_FAIL_H

#include <kymo/error.h>
#include <stdarg.h>

/* Receives each warning of a compilation: an error whose code is KYMO_OK. It is borrowed for the call. */
struct kymo_warnings {
  void (*warn)(void *context, const struct kymo_error *warning);
  void *context;
};

/* An error without a place. */
int kymo_fail(struct kymo_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* An error at a byte of a file (offset may be KYMO_ERROR_NO_OFFSET). */
int kymo_fail_at(struct kymo_error *error, int code, const char *file, uint64_t offset, const char *format,
                 ...) __attribute__((format(printf, 5, 6)));
/* A failed system call on a file: adds strerror(errno). Returns KYMO_E_SYSTEM. */
int kymo_fail_errno(struct kymo_error *error, const char *file, const char *what);
/* An error in a text: `text` is the whole source, `at` the place in it; line, column and excerpt are
 * computed here. */
int kymo_fail_text(struct kymo_error *error, const char *file, const char *text, uint64_t length, uint64_t at,
                   const char *format, ...) __attribute__((format(printf, 6, 7)));

/* The same two for functions that have such arguments themselves. */
int kymo_fail_at_args(struct kymo_error *error, int code, const char *file, uint64_t offset,
                      const char *format, va_list args) __attribute__((format(printf, 5, 0)));
int kymo_fail_text_args(struct kymo_error *error, const char *file, const char *text, uint64_t length,
                        uint64_t at, const char *format, va_list args) __attribute__((format(printf, 6, 0)));

#endif
