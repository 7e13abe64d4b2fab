/* SPDX-License-Identifier: MIT */
/* What is known of how long the files of a CTF trace were: nothing else shows that packets are missing at the
 * end. */
#ifndef KYMO_FORMAT_CTF_WHOLE_H
#define KYMO_FORMAT_CTF_WHOLE_H

#include "source/format.h"

/* Warns if the stream file is empty; notes as damage that it is shorter than LTTng's index of it says. */
void kymo_ctf_check_index(struct kymo_trace *trace, const char *path, uint64_t size_bytes);
/* Notes as damage the files that are missing or shorter than what a recorder of kymo noted in the directory
 * of the trace. */
void kymo_ctf_check_noted(struct kymo_trace *trace, const char *directory);

#endif
