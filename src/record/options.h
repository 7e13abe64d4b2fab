/* SPDX-License-Identifier: MIT */
/* The recorder's options in the environment and on the command line. */
#ifndef KYMO_RECORD_OPTIONS_H
#define KYMO_RECORD_OPTIONS_H

#include "ring/clock.h"
#include <stdbool.h>
#include <stdint.h>

struct kymo_options {
  const char *enable;    /* KYMO_ENABLE: patterns, or NULL: tracing was not requested */
  const char *out;       /* KYMO_OUT: directory of saved traces, or NULL; absolute, since programs change
                    * directories */
  const char *rings;     /* KYMO_RINGS: directory of pools, or NULL; absolute */
  uint32_t mode;         /* KYMO_MODE: enum kymo_pool_mode */
  uint32_t buffer_bytes; /* KYMO_BUFFER: main ring of one thread, a power of two */
  uint32_t grow_bytes;   /* KYMO_GROW: limit of growth of all rings while they are drained too slowly; 0:
                        * they do not grow */
  bool buffer_is_chosen; /* KYMO_BUFFER or KYMO_GROW is set */
  bool save_at_exit;     /* KYMO_SAVE is exit; or it is not set, and tracing was requested when the program
                          * started */
  bool save_is_chosen;   /* KYMO_SAVE is set */
  bool keep_all;         /* KYMO_SAVE=outside: another process collects the rings, so none are removed */
  enum kymo_clock_choice clock; /* KYMO_CLOCK */
  const char *origin;           /* KYMO_ORIGIN: of the clock (ring/clock.h), or NULL */
  bool marks_crash;             /* KYMO_CRASH=mark */
  bool control;                 /* KYMO_CONTROL is not 0, and the program is not privileged */
  bool is_privileged;           /* AT_SECURE: it has rights that its caller does not have (set-user-ID, file
                       * capabilities) */
};

enum {
  KYMO_BUFFER_DEFAULT = 256 << 10,
  KYMO_BUFFER_MIN = 16 << 10,
  KYMO_BUFFER_MAX = 1 << 30,
  KYMO_GROW_RECORDED = 64 << 20 /* under a recorder, if the user has not chosen */
};

/* Reads the environment; a privileged program gets the defaults. One warning line names invalid values. */
void kymo_options_read(struct kymo_options *options);
/* The absolute form of `path`, kept for the life of the process; `path` itself if there is no memory. */
const char *kymo_options_absolute(const char *path);
/* Patterns that are enabled from the start; the caller keeps the text. */
void kymo_options_enable(struct kymo_options *options, const char *patterns);
/* One value of --trace-NAME; false and a warning if it is invalid. */
bool kymo_options_mode(struct kymo_options *options, const char *text);
bool kymo_options_buffer(struct kymo_options *options, const char *text);
/* A size in bytes, with an optional suffix k, M or G, rounded up to a power of two; false if it is not from
 * 16k to 1G. */
bool kymo_options_size(const char *text, uint32_t *bytes);

/* Prints one line on standard error, "kymo: " and the strings up to NULL; only the first one of a process is
 * printed. Async-signal-safe. */
void kymo_warn(const char *first, ...) __attribute__((sentinel));

#endif
