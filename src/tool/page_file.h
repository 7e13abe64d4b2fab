/* SPDX-License-Identifier: MIT */
/* A page that a command writes to a file. */
#ifndef KYMO_TOOL_PAGE_FILE_H
#define KYMO_TOOL_PAGE_FILE_H

#include <stdio.h>

/* Writes the file, completely or not at all: `put` writes its content, and returns KYMO_OK or a negative
 * status, whose reason it has printed. Returns an exit status; reports other reasons of a failure. */
int tool_page_file(const char *path, int (*put)(FILE *file, const void *user), const void *user);

#endif
