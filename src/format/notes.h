/* SPDX-License-Identifier: MIT */
/* The notes of a recorder beside a trace: `.kymo/not-kept` and `.kymo/cause`. */
#ifndef KYMO_FORMAT_NOTES_H
#define KYMO_FORMAT_NOTES_H

#include "source/notes.h"

/* Adds the notes of a directory to the part; malformed ones are ignored. KYMO_E_MEMORY. */
int kymo_notes_load(struct kymo_trace *trace, struct kymo_part *part, const char *directory,
                    struct kymo_error *error);

#endif
