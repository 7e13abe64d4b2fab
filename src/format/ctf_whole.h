/* SPDX-License-Identifier: MIT */
/* The original lengths of the files of a CTF trace: nothing else shows that packets are missing at the
 * end. */
#ifndef KYMO_FORMAT_CTF_WHOLE_H
#define KYMO_FORMAT_CTF_WHOLE_H

#include "source/format.h"

/* Warns if the stream file is empty; lists damage if it is shorter than LTTng's index says. */
void kymo_ctf_check_index(struct kymo_trace *trace, const char *path, uint64_t size_bytes);
/* Lists as damage files that are missing or shorter than kymo's recorder wrote in the directory of the
 * trace. */
void kymo_ctf_check_noted(struct kymo_trace *trace, const char *directory);

#endif
