/* SPDX-License-Identifier: MIT */
/* The directory in which `kymo record --kernel` keeps events of the kernel. */
#ifndef KYMO_FORMAT_FTRACE_DIRECTORY_H
#define KYMO_FORMAT_FTRACE_DIRECTORY_H

#include "format/ftrace/file.h"

#define FTRACE_HEAD "head.dat"

/* Whether it has files of pages. */
bool kymo_ftrace_is_directory(const char *path);
/* The sections of a head are read: takes pages, clock and names from the files beside it. */
int kymo_ftrace_take_directory(struct ftrace_file *file, const char *directory, struct kymo_error *error);

#endif
