/* SPDX-License-Identifier: MIT */
#include "sink/export/file.h"
#include "base/fail.h"
#include <unistd.h>

int kymo_export_file_begin(struct kymo_export_file *file, const char *path, struct kymo_error *error) {
  *file = (struct kymo_export_file){.path = path};
  const bool is_stdout = strcmp(path, "-") == 0;
  int copy = is_stdout ? dup(STDOUT_FILENO) : -1;
  file->file = is_stdout ? (copy < 0 ? NULL : fdopen(copy, "w")) : fopen(path, "wxe");
  file->is_made = !is_stdout && file->file;
  if (!file->file && copy >= 0)
    close(copy);
  return file->file ? kymo_out_begin(&file->out, file->file, error)
                    : kymo_fail_errno(error, path, "cannot write");
}

int kymo_export_file_end(struct kymo_export_file *file, bool is_whole, struct kymo_error *error) {
  int status = file->out.data ? kymo_out_finish(&file->out, error) : KYMO_OK;
  if (file->file && fclose(file->file) && status == KYMO_OK)
    status = kymo_fail_errno(error, file->path, "cannot write");
  if (file->is_made && (status < 0 || !is_whole))
    unlink(file->path);
  *file = (struct kymo_export_file){0};
  return status;
}
