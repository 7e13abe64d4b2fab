/* SPDX-License-Identifier: MIT */
/*
 * The C headers that define the codes of Gist logs, by comments after numbers:
 *
 *   #define EV_NET_START 100  / * pointdefs: net_points.h * /     codes EV_NUM(n) of that header are 100 + n
 *   #define EV_RX EV_NUM(3)   / * rx: port %d * / event 103, "rx"; its datum is shown by "port %d"
 *   #define EV_BOOT 1         / * boot * /                        event 1, "boot"; its datum is not shown
 *
 * (without the blanks in the signs of comments). Paths are relative to the header that contains them. All
 * other lines are ignored.
 */
#ifndef KYMO_FORMAT_CPEL_GIST_HEADER_H
#define KYMO_FORMAT_CPEL_GIST_HEADER_H

#include "base/strbuf.h"
#include "format/cpel/file.h"

/* The allowed conversions in formats of datums. */
#define KYMO_GIST_CONVERSIONS "diuoxXcI"

/* Definitions from headers; names and formats are offsets in `strings`, which begins with a zero. Zeroed at
 * first. */
struct gist_definitions {
  struct cpel_definition *list;
  size_t count, capacity;
  struct kymo_strbuf strings;
  unsigned headers; /* read so far */
};

/* Adds the definitions of the header at `path` and of those that it includes; of several with one code the
 * first one is used, with a warning. KYMO_E_SYNTAX with line and column for an invalid header, KYMO_E_LIMIT,
 * KYMO_E_SYSTEM, KYMO_E_MEMORY. */
int kymo_gist_read_header(struct gist_definitions *definitions, struct kymo_trace *trace, const char *path,
                          struct kymo_error *error);
/* Whether the header at `path` includes others: such headers are searched beside a log. */
bool kymo_gist_names_headers(const char *path);
void kymo_gist_free(struct gist_definitions *definitions);

#endif
