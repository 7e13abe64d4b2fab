/* SPDX-License-Identifier: MIT */
/* The descriptions of foreign formats that are installed: files NAME.tdl and NAME.key in a few
 * directories. */
#ifndef KYMO_FORMAT_DESCRIBED_INSTALLED_H
#define KYMO_FORMAT_DESCRIBED_INSTALLED_H

#include <kymo/schema.h>

/*
 * *key becomes the description that matches the file at `path` best, to be released by the caller.
 * KYMO_E_UNKNOWN: none matches; KYMO_E_SYSTEM, KYMO_E_MEMORY; then *key is NULL. A description matches if it
 * decodes the first records without damage, and would not if some of their bytes had other values, as with a
 * magic number.
 */
int kymo_installed_fitting(struct kymo_schema **key, const char *path, struct kymo_error *error);

#endif
