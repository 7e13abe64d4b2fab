/* SPDX-License-Identifier: MIT */
/* Clock snapshots of a part, gathered from its directories. */
#include "base/fail.h"
#include "trace/trace.h"
#include <stdlib.h>
#include <string.h>

static int by_cycles(const void *a, const void *b) {
  uint64_t x = ((const struct kymo_clock_snapshot *)a)->cycles,
           y = ((const struct kymo_clock_snapshot *)b)->cycles;
  return (x > y) - (x < y);
}

int kymo_part_add_clock_snapshots(struct kymo_trace *trace, struct kymo_part *part,
                                  const struct kymo_clock_snapshots *more, struct kymo_error *error) {
  struct kymo_clock_snapshots *clocks = &((struct part_state *)part)->clocks;
  if (clocks->count && strcmp(clocks->boot_id, more->boot_id) != 0)
    return KYMO_OK;
  struct kymo_clock_snapshot *list =
      kymo_arena_array(&trace->arena, clocks->count + more->count, sizeof *list);
  const char *boot_id = kymo_arena_copy(&trace->arena, more->boot_id, strlen(more->boot_id));
  const char *host = kymo_arena_copy(&trace->arena, more->host, strlen(more->host));
  if (!list || !boot_id || !host)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (clocks->count)
    memcpy(list, clocks->list, clocks->count * sizeof *list);
  memcpy(list + clocks->count, more->list, more->count * sizeof *list);
  *clocks = (struct kymo_clock_snapshots){boot_id, host, list, clocks->count + more->count};
  qsort(list, clocks->count, sizeof *list, by_cycles);
  return KYMO_OK;
}

const struct kymo_clock_snapshots *kymo_part_clock_snapshots(const struct kymo_part *part) {
  return &((const struct part_state *)part)->clocks;
}

size_t kymo_part_clock_snapshot_count(const struct kymo_part *part) {
  return kymo_part_clock_snapshots(part)->count;
}

const struct kymo_clock_snapshot *kymo_part_clock_snapshot(const struct kymo_part *part, size_t index) {
  const struct kymo_clock_snapshots *all = kymo_part_clock_snapshots(part);
  return index < all->count ? &all->list[index] : NULL;
}

const char *kymo_part_boot_id(const struct kymo_part *part) {
  return kymo_part_clock_snapshots(part)->boot_id;
}

const char *kymo_part_host(const struct kymo_part *part) { return kymo_part_clock_snapshots(part)->host; }
