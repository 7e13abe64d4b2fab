/* SPDX-License-Identifier: MIT */
#include "format/notes.h"
#include "base/file.h"
#include "base/path.h"
#include "ring/layout.h"
#include "source/format.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text, to be freed by the caller, or NULL: there is none. An unreadable one is damage. */
static char *read_note(struct kymo_trace *trace, const char *directory, const char *name) {
  enum { NOTE_MAX = 1 << 16 };
  char path[4096];
  uint8_t *text = NULL;
  size_t size;
  struct kymo_error wrong = {.offset = KYMO_ERROR_NO_OFFSET};
  if (!kymo_path_join(path, sizeof path, directory, name))
    return NULL;
  if (kymo_file_read_if_there(path, NOTE_MAX, &text, &size, &wrong))
    kymo_trace_add_damage(
        trace, &(struct kymo_damage){
                   .path = path, .offset = wrong.offset, .code = wrong.code, .message = wrong.message});
  return (char *)text;
}

/* For one process beside its trace, for several one level above. The first line. */
static char *read_cause(struct kymo_trace *trace, const char *directory) {
  char *cause = read_note(trace, directory, KYMO_HIDDEN_CAUSE);
  if (!cause)
    cause = read_note(trace, directory, "../" KYMO_HIDDEN_CAUSE);
  if (cause)
    cause[strcspn(cause, "\n")] = 0;
  return cause;
}

int kymo_notes_load(struct kymo_trace *trace, struct kymo_part *part, const char *directory,
                    struct kymo_error *error) {
  struct kymo_recorder_notes notes = {0};
  char *not_kept = read_note(trace, directory, KYMO_HIDDEN_NOT_KEPT), *cause = read_cause(trace, directory);
  notes.has_not_kept = not_kept && sscanf(not_kept, "overwritten %20" SCNu64 " discarded %20" SCNu64,
                                          &notes.overwritten, &notes.discarded_before) == 2;
  if (!notes.has_not_kept)
    notes.overwritten = notes.discarded_before = 0;
  notes.cause = cause && *cause ? cause : NULL;
  int status = kymo_part_add_notes(trace, part, &notes, error);
  free(not_kept);
  free(cause);
  return status;
}
