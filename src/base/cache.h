/* SPDX-License-Identifier: MIT */
/* The folder of files that are kept for the next run: in the user's cache. */
#ifndef KYMO_BASE_CACHE_H
#define KYMO_BASE_CACHE_H

#include <stdbool.h>
#include <stddef.h>

/* Writes `$XDG_CACHE_HOME/kymo`, or `~/.cache/kymo`. False: there is no such folder, or it does not fit. */
bool kymo_cache_folder(char *out, size_t size);
/* Makes this folder and the one above it, unless they exist. False with errno: files cannot be made in it. */
bool kymo_cache_make(const char *folder);

#endif
