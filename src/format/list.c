/* SPDX-License-Identifier: MIT */
/* All formats, in the order in which they are tried on a path. */
#include "format/formats.h"

const struct kymo_format *const kymo_formats[] = {
    &kymo_format_ring, /* before CTF: such a directory also has a metadata file */
    &kymo_format_ctf,
    &kymo_format_elog,
    &kymo_format_gist, /* before CPEL, which would read it as version 0 */
    &kymo_format_cpel,
    &kymo_format_trace_cmd,
    &kymo_format_kernel,
    &kymo_format_samples,
    &kymo_format_perf,
    &kymo_format_frames,
    &kymo_format_described,
    &kymo_format_installed, /* the last: it tries all installed descriptions */
    NULL,
};
