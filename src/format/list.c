/* SPDX-License-Identifier: MIT */
/* All formats, in the order in which they are asked whether a path is theirs. */
#include "format/formats.h"

const struct kymo_format *const kymo_formats[] = {
    &kymo_format_ring, /* before CTF: such a directory has a metadata file too */
    &kymo_format_ctf,
    NULL,
};
