/* SPDX-License-Identifier: MIT */
/*
 * The names of the directories and files of a written trace:
 *
 *   one part        OUT/metadata, OUT/STREAM …
 *   several         OUT/PATH/metadata …, PATH: each path without the part that all have in common
 */
#ifndef KYMO_SINK_CTF_NAMES_H
#define KYMO_SINK_CTF_NAMES_H

#include <kymo/read.h>

/* A path below a directory, to be freed by the caller; NULL if there is no memory. */
char *kymo_ctf_join(const char *directory, const char *name);
/* The distinctive part of each part's path, by index: `paths` has space for all; the caller frees each, ""
 * for the only one. False if there is no memory. */
bool kymo_ctf_name_parts(char **paths, const struct kymo_trace *trace);
/* The name of a stream's file: the name of the file it is read from, if that contains only this stream. The
 * caller frees it. */
char *kymo_ctf_name_stream(const struct kymo_trace *trace, const struct kymo_part *part, uint32_t index);

/* Creates a directory, and its parents. */
int kymo_ctf_make_directory(const char *path, struct kymo_error *error);
/* Fails if there is anything in the directory: existing files never become part of a trace. */
int kymo_ctf_check_empty(const char *path, struct kymo_error *error);

struct kymo_strbuf;
/* Writes a new file. */
int kymo_ctf_write_file(const char *directory, const char *name, const struct kymo_strbuf *text,
                        struct kymo_error *error);

#endif
