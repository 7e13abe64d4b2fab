/* SPDX-License-Identifier: MIT */
/* The file that an export is written to. */
#ifndef KYMO_SINK_EXPORT_FILE_H
#define KYMO_SINK_EXPORT_FILE_H

#include "print/out.h"

struct kymo_export_file {
  const char *path;
  FILE *file;
  struct kymo_out out;
  bool is_made;
};

/* Creates the file, which must be missing; "-" is the standard output. kymo_export_file_end ends it also
 * after a failure. */
int kymo_export_file_begin(struct kymo_export_file *file, const char *path, struct kymo_error *error);
/* Writes the rest. A file that is not whole is removed. */
int kymo_export_file_end(struct kymo_export_file *file, bool is_whole, struct kymo_error *error);

#endif
