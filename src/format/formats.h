/* SPDX-License-Identifier: MIT */
/* The descriptors of the formats in this folder. */
#ifndef KYMO_FORMAT_FORMATS_H
#define KYMO_FORMAT_FORMATS_H

#include "source/format.h"

extern const struct kymo_format kymo_format_cpel;
extern const struct kymo_format kymo_format_ctf;
extern const struct kymo_format kymo_format_described;
extern const struct kymo_format kymo_format_elog;
extern const struct kymo_format kymo_format_frames;
extern const struct kymo_format kymo_format_gist;
extern const struct kymo_format kymo_format_installed;
extern const struct kymo_format kymo_format_kernel;
extern const struct kymo_format kymo_format_perf;
extern const struct kymo_format kymo_format_ring;
extern const struct kymo_format kymo_format_samples;
extern const struct kymo_format kymo_format_trace_cmd;

/* All formats in the order in which they are tried, NULL at the end (list.c). */
extern const struct kymo_format *const kymo_formats[];

#endif
