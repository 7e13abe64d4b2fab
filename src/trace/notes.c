/* SPDX-License-Identifier: MIT */
#include "source/notes.h"
#include "base/fail.h"
#include "trace/trace.h"
#include <string.h>

int kymo_part_add_notes(struct kymo_trace *trace, struct kymo_part *part,
                        const struct kymo_recorder_notes *notes, struct kymo_error *error) {
  struct kymo_recorder_notes *all = &((struct part_state *)part)->notes;
  if (notes->cause && !all->cause) {
    all->cause = kymo_arena_copy(&trace->arena, notes->cause, strlen(notes->cause));
    if (!all->cause)
      return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  all->has_not_kept |= notes->has_not_kept;
  all->overwritten += notes->overwritten;
  all->discarded_before += notes->discarded_before;
  return KYMO_OK;
}

const struct kymo_recorder_notes *kymo_part_notes(const struct kymo_part *part) {
  return &((const struct part_state *)part)->notes;
}
