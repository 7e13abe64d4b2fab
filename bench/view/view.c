/* SPDX-License-Identifier: MIT */
/*
 * Measures the index of one trace:  view TRACE VIEWS
 *
 * Lines of "NAME VALUE": CPU seconds of indexing, milliseconds of CPU of pictures of 40 x 1500 pixels, bytes.
 * The index is kept in XDG_CACHE_HOME, so the second run on a trace is warm.
 */
#include "view/view.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PIXELS = 1500, TRACKS = 40, STEP = 1 << 18 };

static const char *path;
static uint64_t seed = 88172645463325252;

static double chance(void) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (double)(seed >> 11) * (1.0 / 9007199254740992.0);
}

static double clock_seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int open_trace(void *user, bool is_live, struct kymo_trace **out, struct kymo_error *error) {
  const struct kymo_trace_options options = {.follow = is_live};
  (void)user;
  return kymo_trace_open(out, &path, 1, &options, error);
}

/* A line of /proc/self/status, in bytes. */
static uint64_t memory(const char *name) {
  char line[256];
  uint64_t value = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, name, strlen(name)) == 0)
      value = strtoull(line + strlen(name) + 1, NULL, 10) << 10;
  if (file)
    fclose(file);
  return value;
}

static int fail(const struct kymo_error *error) {
  char text[2048];
  fprintf(stderr, "view: %s\n", kymo_error_text(error, text, sizeof text));
  return 1;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void report(const char *name, double *values, size_t count) {
  qsort(values, count, sizeof *values, by_value);
  printf("%s_p50 %.3f\n%s_p99 %.3f\n%s_max %.3f\n", name, values[count / 2] * 1e3, name,
         values[count * 99 / 100] * 1e3, name, values[count - 1] * 1e3);
}

/* One picture of all tracks; how many events are in it. */
static uint64_t draw(struct view *view, const struct view_window *window, uint32_t tracks,
                     struct view_filter *filter, struct view_cell *cells) {
  uint32_t list[TRACKS] = {0};
  uint64_t count = 0;
  for (uint32_t i = 0; i < tracks; i++)
    list[i] = i;
  view_tile(view, window, list, tracks, filter, cells);
  for (size_t i = 0; i < (size_t)tracks * window->pixels; i++)
    count += cells[i].count;
  return count;
}

static void draw_many(struct view *view, const struct view_info *info, const char *name, size_t views,
                      double zoom, struct view_filter *filter) {
  static struct view_cell cells[TRACKS * PIXELS];
  double *seconds = calloc(views, sizeof *seconds);
  uint64_t span = (uint64_t)info->end_ns - (uint64_t)info->begin_ns;
  uint32_t tracks = info->tracks < TRACKS ? info->tracks : TRACKS;
  for (size_t i = 0; i < views && seconds; i++) {
    double part = zoom > 0 ? zoom : pow(10, -6 * chance());
    uint64_t width = (uint64_t)((double)span * part) + 1,
             begin = (uint64_t)((double)(span - width + 1) * chance());
    const struct view_window window = {info->begin_ns + (int64_t)begin,
                                       info->begin_ns + (int64_t)(begin + width), PIXELS};
    double before = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
    draw(view, &window, tracks, filter, cells);
    seconds[i] = clock_seconds(CLOCK_THREAD_CPUTIME_ID) - before;
  }
  if (seconds)
    report(name, seconds, views);
  free(seconds);
}

static int filter_too(struct view *view, const struct view_info *info, size_t views,
                      struct kymo_error *error) {
  struct view_filter *filter;
  double before = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
  int status = view_filter_new(&filter, view, "value % 7 = 3", error);
  if (status != KYMO_OK)
    return fail(error);
  while ((status = view_filter_step(filter, STEP, error)) == KYMO_OK)
    continue;
  if (status < 0)
    return fail(error);
  printf("filter_seconds %.3f\nfilter_count %" PRIu64 "\n", clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - before,
         view_filter_count(filter));
  draw_many(view, info, "filter_first", 1, 1, filter);
  draw_many(view, info, "filter_zoom", views, 0, filter);
  view_filter_free(filter);
  return 0;
}

int main(int argc, char **argv) {
  struct view *view;
  struct view_info info;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  static struct view_cell cells[TRACKS * PIXELS];
  size_t views = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
  if (views == 0)
    return fprintf(stderr, "usage: view TRACE VIEWS\n"), 2;
  path = argv[1];
  const struct view_options options = {
      .open = open_trace, .paths = &path, .path_count = 1, .by = VIEW_BY_THREAD, .is_kept = true};
  double wall = clock_seconds(CLOCK_MONOTONIC), cpu = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
  int status = view_open(&view, &options, &error);
  if (status != KYMO_OK)
    return fail(&error);
  view_info(view, &info);
  if (!info.is_from_cache)
    status = view_build_step(view, STEP, &error);
  view_info(view, &info);
  struct view_window window = {info.begin_ns, info.end_ns + 1, PIXELS};
  uint64_t drawn = draw(view, &window, info.tracks < TRACKS ? info.tracks : TRACKS, NULL, cells);
  printf("warm %d\nfirst_picture_ms %.3f\nfirst_picture_cpu_ms %.3f\nfirst_picture_events %" PRIu64 "\n",
         info.is_from_cache, (clock_seconds(CLOCK_MONOTONIC) - wall) * 1e3,
         (clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) * 1e3, drawn);
  while (status == KYMO_OK)
    status = view_build_step(view, STEP, &error);
  if (status < 0)
    return fail(&error);
  printf("index_cpu_seconds %.3f\nindex_seconds %.3f\n", clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu,
         clock_seconds(CLOCK_MONOTONIC) - wall);
  view_info(view, &info);
  window = (struct view_window){info.begin_ns, info.end_ns + 1, PIXELS};
  drawn = draw(view, &window, info.tracks < TRACKS ? info.tracks : TRACKS, NULL, cells);
  printf("events %" PRIu64 "\ndrawn %" PRIu64 "\nspans %" PRIu64 "\nindex_bytes %" PRIu64 "\n", info.events,
         drawn, info.spans, info.index_bytes);
  draw_many(view, &info, "whole", views / 10 + 1, 1, NULL);
  draw_many(view, &info, "tenth", views / 10 + 1, .1, NULL);
  draw_many(view, &info, "thousandth", views / 10 + 1, .001, NULL);
  draw_many(view, &info, "zoom", views, 0, NULL);
  printf("anonymous_bytes %" PRIu64 "\n", memory("RssAnon:"));
  status = filter_too(view, &info, views, &error);
  printf("anonymous_with_filter_bytes %" PRIu64 "\n", memory("RssAnon:"));
  view_close(view);
  return status;
}
