/* SPDX-License-Identifier: MIT */
/* The descriptors that the files of this folder end in. */
#ifndef KYMO_FORMAT_FORMATS_H
#define KYMO_FORMAT_FORMATS_H

#include "read/format.h"

extern const struct kymo_format kymo_format_ctf;
extern const struct kymo_format kymo_format_ring;

#endif
