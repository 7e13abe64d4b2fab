/* SPDX-License-Identifier: MIT */
#include "base/holes.h"

uint64_t kymo_holes_pass(struct kymo_holes *holes, uint64_t at, uint64_t end) {
  if (!holes->bytes_at)
    return at;
  if (at < holes->asked || at >= holes->bytes_to) {
    holes->asked = at;
    holes->bytes_from = holes->bytes_at(holes->user, at, &holes->bytes_to);
  }
  uint64_t from = holes->bytes_from > at ? holes->bytes_from : at;
  return from < end ? from : end;
}

uint64_t kymo_holes_large(struct kymo_holes *holes, uint64_t at, uint64_t end) {
  if (!holes->bytes_at)
    return end;
  if (at < holes->large_asked || at >= holes->large_end) {
    uint64_t begin = at, from = at, to = at;
    while (begin < end) {
      from = holes->bytes_at(holes->user, begin, &to);
      if (from - begin >= KYMO_HOLE_LEAST)
        break;
      begin = to > begin ? to : end;
      from = begin;
    }
    holes->large_asked = at;
    holes->large_begin = begin < end ? begin : end;
    holes->large_end = from < end ? from : end;
  }
  return holes->large_begin > at ? holes->large_begin : at;
}

void kymo_holes_forget(struct kymo_holes *holes) {
  holes->asked = holes->bytes_to = holes->large_asked = holes->large_end = 0;
}
