/* SPDX-License-Identifier: MIT */
/*
 * A terminal obeys control bytes, and names and texts of traces, files and processes are untrusted. All
 * output to a terminal passes this filter:
 *
 *   line feeds, tabs, characters of UTF-8                                unchanged
 *   other controls, those of C1 too, bytes that are no UTF-8             \xNN
 *   characters that change the direction of text, or end a line (bidi)   \xNN of their bytes
 */
#ifndef KYMO_PRINT_TERMINAL_H
#define KYMO_PRINT_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Colours of kymo's own lines of text. */
#define KYMO_COLOR_NAME "\033[36m"
#define KYMO_COLOR_EVENT "\033[1m"
#define KYMO_COLOR_LOSS "\033[31m"
#define KYMO_COLOR_TIME "\033[2m"
#define KYMO_COLOR_OFF "\033[0m"

enum { KYMO_TERMINAL_WAITING = 8, KYMO_TERMINAL_OUT = 4096 };
struct kymo_terminal {
  int fd;
  const bool *has_colors;
  uint8_t waiting[KYMO_TERMINAL_WAITING]; /* the beginning of a character or colour */
  size_t waiting_count;
  char out[KYMO_TERMINAL_OUT];
  size_t out_count;
};

/* A stream that writes to `fd` through the filter, buffered by lines; closing it leaves `fd` open. While
 * *has_colors, which may be NULL, the colours above pass: then no other source may print them. The stream
 * owns `terminal` until it is closed. NULL: out of memory. */
FILE *kymo_terminal_open(struct kymo_terminal *terminal, int fd, const bool *has_colors);

#endif
