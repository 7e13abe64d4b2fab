/* SPDX-License-Identifier: MIT */
/*
 * Indexes of the viewer that are kept: the input is a catalog, and what is before it in the file. Whatever is
 * read from it is checked before it is drawn or looked up: nothing reads outside, and what is drawn fits. The
 * events of the trace are others.
 *
 *   two bytes: how much of the input, in units of 8 bytes, is blocks and leaves · blocks and leaves · catalog
 */
#include "reached.h"
#include "small_trace.h"
#include "view/state.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void draw(struct view *view, uint32_t track, const struct view_window *window) {
  struct view_cell cells[16];
  struct view_span span;
  struct view_mark mark;
  uint64_t count = 0;
  if (view_tile(view, window, &track, 1, NULL, cells) == KYMO_OK) {
    for (uint32_t i = 0; i < window->pixels; i++)
      count += cells[i].count;
    if (count > view->tracks[track].events.count)
      abort();
    fuzz_reached += count > 0;
  }
  view_nearest(view, track, window->begin_ns, &mark);
  for (uint32_t i = 0; i < view->tracks[track].lane_count; i++) {
    view_tile_spans(view, window, track, i, cells);
    view_span_at(view, track, i, window->begin_ns, &span);
  }
}

static bool take_row(void *user, const struct view_row *row) {
  (void)user;
  return row->text;
}

static bool take_field(void *user, const char *path, const char *text) {
  (void)user;
  return path && text;
}

/* Events by their numbers, and rows; of an index of which nothing was checked yet. */
static void look_up(struct view *view) {
  for (uint64_t part = 0; part <= 4; part++) {
    uint64_t number = view->last_number / 4 * part + 1;
    struct view_mark mark;
    struct view_row row;
    if (view_find(view, number, &mark) && (mark.number != number || mark.track >= view->track_count))
      abort();
    view_event(view, number, &row, take_field, NULL, NULL);
    view_rows(view, NULL, number - 1, 3, take_row, NULL, NULL);
  }
}

static void draw_all(struct view *view) {
  struct view_search search = {.kind = 0, .track = UINT32_MAX, .number = view->last_number / 2};
  struct view_mark mark;
  struct view_statistic *list;
  size_t count;
  for (uint32_t i = 0; i < view->track_count; i++) {
    const struct view_window all = {view->begin_ns, view->end_ns, 16},
                             part = {view->begin_ns / 2, view->end_ns / 2, 3};
    draw(view, i, &all);
    draw(view, i, &part);
  }
  if (view_search(view, &search, &mark) == KYMO_OK && mark.track >= view->track_count)
    abort();
  if (view_statistics(view, &list, &count) == KYMO_OK)
    free(list);
}

static void use(const uint8_t *data, size_t size, uint8_t *base, size_t room, size_t blocks,
                void (*uses)(struct view *view)) {
  struct view *view = calloc(1, sizeof *view);
  if (!view)
    return;
  view->options.open = open_trace;
  view->store = (struct view_store){.base = base, .mapped = room, .used = blocks, .fd = -1};
  if (view_catalog_read(view, data, size))
    uses(view);
  view->store = (struct view_store){0};
  view_clear(view);
  view_close_reader(view);
  kymo_strbuf_free(&view->text);
  free(view);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t blocks = size >= 2 ? (size_t)(data[0] | data[1] << 8) * 8 : 0, room = blocks + VIEW_STORE_SLACK;
  uint8_t *base = size >= 2 && blocks <= size - 2 ? calloc(1, room) : NULL;
  if (!base)
    return 0;
  if (!trace_size)
    make_trace();
  memcpy(base, data + 2, blocks);
  use(data + 2 + blocks, size - 2 - blocks, base, room, blocks, draw_all);
  use(data + 2 + blocks, size - 2 - blocks, base, room, blocks, look_up);
  free(base);
  return 0;
}
