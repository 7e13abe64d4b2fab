/* SPDX-License-Identifier: MIT */
/* All formats, in the order in which they are asked whether a path is theirs. */
#include "format/formats.h"

const struct kymo_format *const kymo_formats[] = {
    &kymo_format_ring, /* before CTF: such a directory has a metadata file too */
    &kymo_format_ctf,
    &kymo_format_elog,
    &kymo_format_gist, /* before CPEL, whose version 0 it is */
    &kymo_format_cpel,
    &kymo_format_frames,
    &kymo_format_described,
    &kymo_format_installed, /* the last: it tries everything that is installed */
    NULL,
};
