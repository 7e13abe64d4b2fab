/* SPDX-License-Identifier: MIT */
/* Where the program or library that holds this code is: installed files are found relative to it, also after
 * the installation is moved. */
#ifndef KYMO_BASE_SELF_H
#define KYMO_BASE_SELF_H

#include <limits.h>
#include <stdbool.h>

/* Writes the directory of the file that this code was loaded from, absolute and without links. False if it is
 * unknown (no /proc) or too long; `out` is empty then. */
bool kymo_self_directory(char out[PATH_MAX]);

#endif
