/* SPDX-License-Identifier: MIT */
/*
 * Clock snapshots: the values of a machine's clocks at one instant, recorded when recording starts, every
 * second while a recorder drains, and at the end. They are in `.kymo/clocks`, beside rings and traces alike,
 * as text:
 *
 *   kymo-clocks 1
 *   clock counter 2499998765
 *   boot 4f0c2d5e-…
 *   host kitchen
 *   at CYCLES SPAN MONOTONIC_NS REALTIME_NS ERROR_NS synchronised|free
 *
 * The head names the clock of CYCLES (counter or monotonic, and its frequency) and the machine; see struct
 * kymo_clock_snapshot for the rest. An unknown error is "-". A last line without its end was being written,
 * and is ignored.
 */
#ifndef KYMO_RING_CLOCKS_H
#define KYMO_RING_CLOCKS_H

#include <kymo/error.h>
#include <kymo/read.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KYMO_BOOT_ID_FILE "/proc/sys/kernel/random/boot_id"

enum {
  KYMO_CLOCKS_HEAD_MAX = 512, /* bytes of the head, and … */
  KYMO_CLOCKS_LINE_MAX = 192, /* … of one line after it */
  KYMO_BOOT_ID_SIZE = 40,     /* text of the boot id, 36 characters, and zeroes */
};

struct kymo_clocks_head {
  bool is_counter;    /* the trace's clock is the processor's counter, else CLOCK_MONOTONIC */
  uint64_t frequency; /* of the trace's clock, in Hz */
  char boot[KYMO_BOOT_ID_SIZE], host[256];
};

/* ---- writing; async-signal-safe ---- */

/* The kernel's id of this boot. Returns 0, or the errno of the failed read, and then the id is "". */
int kymo_boot_id(char out[KYMO_BOOT_ID_SIZE]);
/* Reads all clocks: the closest of several tries. */
void kymo_clocks_look(bool is_counter, struct kymo_clock_snapshot *out);
/* Both return the length of the text, which is not ended by a zero. */
size_t kymo_clocks_put_head(char out[KYMO_CLOCKS_HEAD_MAX], const struct kymo_clocks_head *head);
size_t kymo_clocks_put(char out[KYMO_CLOCKS_LINE_MAX], const struct kymo_clock_snapshot *snapshot);

/* ---- reading ---- */

struct kymo_clocks {
  struct kymo_clocks_head head;
  size_t head_size; /* bytes of the head in the text */
  struct kymo_clock_snapshot *snapshots;
  size_t count;
};

/* Parses a whole text. KYMO_E_SYNTAX with the line (`file` names it in errors), KYMO_E_MEMORY. The caller
 * frees it in any case. */
int kymo_clocks_parse(struct kymo_clocks *clocks, const char *text, size_t size, const char *file,
                      struct kymo_error *error);
void kymo_clocks_free(struct kymo_clocks *clocks);

#endif
