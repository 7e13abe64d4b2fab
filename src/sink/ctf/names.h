/* SPDX-License-Identifier: MIT */
/*
 * What the directories and files of a written trace are called:
 *
 *   one part        OUT/metadata, OUT/STREAM …
 *   several         OUT/PATH/metadata …, PATH being what is left of each path without what all have in common
 */
#ifndef KYMO_SINK_CTF_NAMES_H
#define KYMO_SINK_CTF_NAMES_H

#include <kymo/read.h>

/* A path below a directory, to be freed; NULL when out of memory. */
char *kymo_ctf_join(const char *directory, const char *name);
/* What distinguishes the path of each part, by index: `paths` has room for all; each to be freed, "" for the
 * only one. False when out of memory. */
bool kymo_ctf_name_parts(char **paths, const struct kymo_trace *trace);
/* The name of a stream's file: that of the one it is read from, if that is of this stream only. To be
 * freed. */
char *kymo_ctf_name_stream(const struct kymo_trace *trace, const struct kymo_part *part, uint32_t index);

/* Makes a directory, and those around it. */
int kymo_ctf_make_directory(const char *path, struct kymo_error *error);
/* Fails if there is anything in the directory: nothing that is there already becomes part of a trace. */
int kymo_ctf_check_empty(const char *path, struct kymo_error *error);

struct kymo_strbuf;
/* Writes a new file. */
int kymo_ctf_write_file(const char *directory, const char *name, const struct kymo_strbuf *text,
                        struct kymo_error *error);

#endif
