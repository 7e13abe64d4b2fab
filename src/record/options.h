/* SPDX-License-Identifier: MIT */
/* What the environment and the command line ask of the recorder. */
#ifndef KYMO_RECORD_OPTIONS_H
#define KYMO_RECORD_OPTIONS_H

#include "record/clock.h"
#include <stdbool.h>
#include <stdint.h>

struct kymo_options {
  const char *enable; /* KYMO_ENABLE: patterns, or NULL: tracing was not asked for */
  const char *out; /* KYMO_OUT: where saved traces go, or NULL; absolute, since programs change directories */
  const char *rings;     /* KYMO_RINGS: where pools lie, or NULL; absolute */
  uint32_t mode;         /* KYMO_MODE: enum kymo_pool_mode */
  uint32_t buffer_bytes; /* KYMO_BUFFER: main ring of one thread, a power of two */
  uint32_t grow_bytes; /* KYMO_GROW: what all rings may grow by while they are drained too slowly; 0: they do
                   * not */
  bool buffer_is_chosen; /* KYMO_BUFFER or KYMO_GROW is set */
  bool save_at_exit;     /* KYMO_SAVE is exit; or it is not set, and tracing was asked for when the program
                     * started */
  bool save_is_chosen;   /* KYMO_SAVE is set */
  bool keep_all;         /* KYMO_SAVE=outside: somebody collects the rings, so none are cleaned away */
  enum kymo_clock_choice clock; /* KYMO_CLOCK */
  bool marks_crash;             /* KYMO_CRASH=mark */
  bool control;                 /* KYMO_CONTROL is not 0, and the program is not privileged */
  bool is_privileged; /* AT_SECURE: it has rights that its caller has not (set-user-ID, file capabilities) */
};

enum {
  KYMO_BUFFER_DEFAULT = 256 << 10,
  KYMO_BUFFER_MIN = 16 << 10,
  KYMO_BUFFER_MAX = 1 << 30,
  KYMO_GROW_RECORDED = 64 << 20 /* under a recorder, if the user has not chosen */
};

/* Reads the environment; a privileged program gets the defaults. Bad values are named in one warning line.
 */
void kymo_options_read(struct kymo_options *options);
/* `path` seen from the root; kept for the process's life. `path` itself if memory is short. */
const char *kymo_options_absolute(const char *path);
/* Patterns that are on from the start, which are the caller's. */
void kymo_options_enable(struct kymo_options *options, const char *patterns);
/* One value as --trace-NAME gives it; false and a warning if it makes no sense. */
bool kymo_options_mode(struct kymo_options *options, const char *text);
bool kymo_options_buffer(struct kymo_options *options, const char *text);
/* A size in bytes, with k, M or G behind it, rounded up to a power of two; false if it is not one from 16k to
 * 1G. */
bool kymo_options_size(const char *text, uint32_t *bytes);

/* One line on standard error, "kymo: " and the strings up to NULL; later ones of the same process are
 * swallowed. Async-signal-safe. */
void kymo_warn(const char *first, ...) __attribute__((sentinel));

#endif
