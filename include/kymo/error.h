/* SPDX-License-Identifier: MIT */
/*
 * kymo/error.h: one error object, owned by the caller, filled by the callee.
 *
 * Every function that can fail for a reason that users should know takes a `struct kymo_error *`, which may
 * be NULL. Nothing is allocated: the object can live on the stack and needs no release. Functions return a
 * negative enum kymo_status when they fail; the object then says where and why.
 */
#ifndef KYMO_ERROR_H
#define KYMO_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Results of all kymo functions that return int. */
enum kymo_status {
  KYMO_OK = 0,
  KYMO_AGAIN = 1,      /* no event now; a growing file may have one later */
  KYMO_END = 2,        /* nothing more */
  KYMO_E_SYSTEM = -1,  /* a system call failed: the message contains its errno text */
  KYMO_E_MEMORY = -2,  /* out of memory */
  KYMO_E_USAGE = -3,   /* invalid arguments */
  KYMO_E_FORMAT = -4,  /* the bytes do not conform to their format */
  KYMO_E_SYNTAX = -5,  /* a description in one of the languages is invalid */
  KYMO_E_LIMIT = -6,   /* a limit of the library (depth, count, size) was reached */
  KYMO_E_UNKNOWN = -7, /* no such format, event, field, sink … */
  KYMO_E_TYPE = -8,    /* a get of another type than the field has */
  KYMO_E_ABSENT = -9,  /* the field is not present in this event */
  KYMO_E_RANGE = -10,  /* the value does not fit the C type asked for */
};

#define KYMO_ERROR_NO_OFFSET UINT64_MAX

/* Where and why something failed. Unused parts: empty string, 0, KYMO_ERROR_NO_OFFSET. */
struct kymo_error {
  int code;              /* the negative status that was returned; KYMO_OK: a warning about a text */
  uint32_t line, column; /* position in a text, both from 1; 0 = not a text */
  uint64_t offset;       /* byte offset in `file` */
  char file[512];        /* path of the file; its beginning is cut if it is too long */
  char message[512];     /* what was expected and what was found, one line */
  char excerpt[256];     /* the offending source line (texts only), for the caret */
};

/*
 * Writes the whole error as users see it into `out` (`size` bytes, always
 * NUL-ended): "FILE:LINE:COLUMN: error: MESSAGE" (or "warning:"), then the source
 * line and a caret for texts; "FILE: byte OFFSET: MESSAGE" for binary files.
 * Returns `out`. Thread-safe.
 */
const char *kymo_error_text(const struct kymo_error *error, char *out, uint64_t size);

#ifdef __cplusplus
}
#endif
#endif
