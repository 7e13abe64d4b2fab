/* SPDX-License-Identifier: MIT */
/* The descriptions of foreign formats that are installed: files NAME.tdl and NAME.key in a few directories. */
#ifndef KYMO_FORMAT_INSTALLED_H
#define KYMO_FORMAT_INSTALLED_H

#include <kymo/schema.h>

/* The key that fits the file at `path` best, to be released, or NULL: it looks like none of them. A key fits if it decodes the
 * first records without damage, and would not if some of their bytes were others: that is what magic numbers are for. */
struct kymo_schema *kymo_installed_fitting(const char *path);

#endif
