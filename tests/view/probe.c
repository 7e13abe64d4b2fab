/* SPDX-License-Identifier: MIT */
/*
 * What the viewer's index says of a trace, for comparing with the commands:  probe [-k DESCRIPTION] WHAT
 * TRACE [WORDS]
 *
 *   tracks                  NAME<tab>COUNT, by drawing each track
 *   kinds                   NAME<tab>COUNT
 *   filter TEXT             the filter's count, and what is drawn with it
 *   latency FROM TO [KEY]   COUNT MIN MEAN P50 P90 P99 P999 MAX, then what was not measured
 *   spans                   NAME COUNT TOTAL SELF MIN P50 P99 MAX
 *   drawn                   NAME COUNT, of the spans on the lanes of all tracks
 *   selection A B [FILTER]  from A to B thousandths of the time: BEGIN END in seconds, how many events, then
 *                           "track", "kind" or "span" with NAME and COUNT, of spans also TOTAL MIN MAX
 *   values FIELD            COUNT MIN MAX of what is drawn on all tracks
 *   texts FIELD             NAME<tab>COUNT of the most common values
 *   open                    how many spans have no end
 *   rows FIRST COUNT [FILTER]  of the table: TIME<tab>KIND<tab>TRACK
 *   compare OTHER           "span" or "kind", NAME, then of both traces COUNT, of spans also P50 P99
 *   histogram FIELD         COUNT MIN MAX, then how many of each power of two
 *   problems                PATH OFFSET
 *
 * Exit code: 1 if something failed, or is damaged.
 */
#include "view/view.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP = 10000, PIXELS = 311 };

static const char *path, *description;
static char **words;

static int open_trace(void *user, bool is_live, struct kymo_trace **out, struct kymo_error *error) {
  struct kymo_trace_options options = {.follow = is_live};
  (void)user;
  *out = NULL;
  int status = description ? kymo_description_load(&options.description, description, error) : KYMO_OK;
  if (status == KYMO_OK)
    status = kymo_trace_open(out, &path, 1, &options, error);
  kymo_description_release(options.description);
  return status;
}

static int fail(int status, const struct kymo_error *error) {
  char text[2048];
  fprintf(stderr, "probe: %d: %s\n", status, kymo_error_text(error, text, sizeof text));
  return 1;
}

static struct view_window whole(const struct view *view) {
  struct view_info info;
  view_info(view, &info);
  return (struct view_window){info.begin_ns, info.end_ns + 1, PIXELS};
}

static uint64_t draw(struct view *view, uint32_t track, struct view_filter *filter) {
  struct view_cell cells[PIXELS];
  const struct view_window window = whole(view);
  uint64_t count = 0;
  if (view_tile(view, &window, &track, 1, filter, cells) != KYMO_OK)
    exit(fail(KYMO_E_MEMORY, &(struct kymo_error){.message = "no picture"}));
  for (unsigned i = 0; i < PIXELS; i++)
    count += cells[i].count;
  return count;
}

static int tracks(struct view *view, struct kymo_error *error) {
  struct view_track_info info;
  (void)error;
  for (uint32_t i = 0; view_track(view, i, &info); i++)
    printf("%s\t%" PRIu64 "\n", info.name, draw(view, i, NULL));
  return KYMO_OK;
}

static int kinds(struct view *view, struct kymo_error *error) {
  struct view_kind_info info;
  (void)error;
  for (uint32_t i = 0; view_kind(view, i, &info); i++)
    printf("%s\t%" PRIu64 "\n", info.name, info.events);
  return KYMO_OK;
}

static int filter(struct view *view, struct kymo_error *error) {
  struct view_track_info info;
  struct view_filter *made;
  uint64_t drawn = 0;
  int status = view_filter_new(&made, view, words[0], error);
  while (status == KYMO_OK)
    status = view_filter_step(made, STEP, error);
  if (status < 0)
    return status;
  for (uint32_t i = 0; view_track(view, i, &info); i++)
    drawn += draw(view, i, made);
  printf("%" PRIu64 " %" PRIu64 "\n", view_filter_count(made), drawn);
  view_filter_free(made);
  return KYMO_OK;
}

static void print_percentiles(struct kymo_samples *samples, const unsigned *thousandths, size_t count) {
  for (size_t i = 0; i < count; i++)
    printf(" %" PRId64, kymo_samples_percentile(samples, thousandths[i]).value);
}

static int latency(struct view *view, struct kymo_error *error) {
  static const unsigned thousandths[] = {500, 900, 990, 999};
  struct view_latency *made;
  struct view_latency_result result;
  const struct view_latency_query query = {.from = words[0], .to = words[1], .key = words[2]};
  int status = view_latency_new(&made, view, &query, error);
  while (status == KYMO_OK)
    status = view_latency_step(made, STEP, error);
  if (status < 0)
    return status;
  if (view_latency_result(made, &result) != KYMO_OK)
    return KYMO_E_MEMORY;
  printf("%" PRIu64 " %" PRId64 " %.1f", result.all->count, result.all->least, result.all->mean);
  print_percentiles(result.all, thousandths, 4);
  printf(" %" PRId64 "\n%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", result.all->most,
         result.without_begin, result.without_end, result.without_key, result.over_gaps);
  struct view_cell cells[PIXELS];
  const struct view_window window = whole(view);
  uint64_t drawn = 0;
  view_latency_tile(made, &window, cells);
  for (unsigned i = 0; i < PIXELS; i++)
    drawn += cells[i].count;
  if (drawn != result.all->count)
    printf("drawn %" PRIu64 "\n", drawn);
  view_latency_free(made);
  return KYMO_OK;
}

static int spans(struct view *view, struct kymo_error *error) {
  struct view_statistic *list;
  size_t count;
  (void)error;
  if (view_statistics(view, &list, &count) != KYMO_OK)
    return KYMO_E_MEMORY;
  for (size_t i = 0; i < count; i++)
    if (list[i].count)
      printf("%s %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
             list[i].name, list[i].count, list[i].total_ns, list[i].self_ns, list[i].least_ns,
             list[i].p50.value, list[i].p99.value, list[i].most_ns);
  free(list);
  return KYMO_OK;
}

static int drawn(struct view *view, struct kymo_error *error) {
  struct view_track_info info;
  const struct view_window window = whole(view);
  (void)error;
  for (uint32_t i = 0; view_track(view, i, &info); i++)
    for (uint32_t k = 0; k < info.lanes; k++) {
      struct view_cell cells[PIXELS];
      uint64_t count = 0;
      view_tile_spans(view, &window, i, k, cells);
      for (unsigned x = 0; x < PIXELS; x++)
        count += cells[x].count;
      printf("%s/%u %" PRIu64 "\n", info.name, k, count);
    }
  return KYMO_OK;
}

static int endless(struct view *view, struct kymo_error *error) {
  struct view_track_info track;
  struct view_info info;
  unsigned count = 0;
  (void)error;
  view_info(view, &info);
  for (uint32_t i = 0; view_track(view, i, &track); i++)
    for (uint32_t k = 0; k < track.lanes; k++) {
      struct view_span span;
      count += view_span_at(view, i, k, info.end_ns, &span) && span.is_open;
    }
  printf("%u\n", count);
  return KYMO_OK;
}

static struct view_options options_of(const char *const *paths) {
  return (struct view_options){.open = open_trace,
                               .paths = paths,
                               .path_count = 1,
                               .identity = description,
                               .by = VIEW_BY_THREAD,
                               .is_kept = getenv("KEEP") != NULL};
}

static int finish(struct view *view, struct kymo_error *error) {
  int status;
  while ((status = view_build_step(view, STEP, error)) == KYMO_OK)
    continue;
  return status;
}

static int print_differences(struct view *view, struct view *other) {
  struct view_difference *list;
  size_t count;
  int status = view_compare(view, other, &list, &count);
  for (size_t i = 0; status == KYMO_OK && i < count; i++) {
    printf("%s\t%s\t%" PRIu64 " %" PRIu64, list[i].is_span ? "span" : "kind", list[i].name, list[i].counts[0],
           list[i].counts[1]);
    for (unsigned side = 0; side < 2 && list[i].is_span; side++)
      printf(" %" PRId64 " %" PRId64, list[i].p50_ns[side], list[i].p99_ns[side]);
    printf("\n");
  }
  free(list);
  return status;
}

static int compare(struct view *view, struct kymo_error *error) {
  const char *paths[] = {words[0]};
  const struct view_options options = options_of(paths);
  struct view *other;
  path = words[0];
  int status = view_open(&other, &options, error);
  if (status != KYMO_OK)
    return status;
  status = finish(other, error);
  status = status < 0 ? status : print_differences(view, other);
  view_close(other);
  return status;
}

static bool print_row(void *user, const struct view_row *row) {
  struct view_track_info track;
  struct view_kind_info kind;
  if (view_track(user, row->track, &track) && view_kind(user, row->kind, &kind))
    printf("%" PRId64 "\t%s\t%s\n", row->time_ns, kind.name, track.name);
  return true;
}

static int rows(struct view *view, struct kymo_error *error) {
  struct view_filter *made = NULL;
  int status = words[2] ? view_filter_new(&made, view, words[2], error) : KYMO_END;
  while (status == KYMO_OK)
    status = view_filter_step(made, STEP, error);
  if (status >= 0)
    status = view_rows(view, made, strtoull(words[0], NULL, 10), strtoull(words[1], NULL, 10), print_row,
                       view, error);
  view_filter_free(made);
  return status;
}

static int64_t part_of(const struct view_window *window, const char *thousandths) {
  uint64_t width = (uint64_t)window->end_ns - (uint64_t)window->begin_ns;
  return window->begin_ns + (int64_t)(width / 1000 * strtoul(thousandths, NULL, 10));
}

static void print_seconds(int64_t ns) {
  printf("%" PRId64 ".%09" PRId64 " ", ns / 1000000000, ns % 1000000000);
}

static void print_selection(const struct view *view, const struct view_selection_result *result) {
  printf("\n%" PRIu64 "\n", result->events);
  for (uint32_t i = 0; i < result->track_count; i++) {
    struct view_track_info info;
    if (view_track(view, i, &info) && result->tracks[i])
      printf("track\t%s\t%" PRIu64 "\n", info.name, result->tracks[i]);
  }
  for (uint32_t i = 0; i < result->kind_count; i++) {
    struct view_kind_info info;
    if (view_kind(view, i, &info) && result->kinds[i])
      printf("kind\t%s\t%" PRIu64 "\n", info.name, result->kinds[i]);
  }
  for (size_t i = 0; i < result->span_count; i++)
    if (result->spans[i].count)
      printf("span\t%s\t%" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", result->spans[i].name,
             result->spans[i].count, result->spans[i].total_ns, result->spans[i].least_ns,
             result->spans[i].most_ns);
}

static int selection(struct view *view, struct kymo_error *error) {
  const struct view_window all = whole(view);
  struct view_selection_query query = {.begin_ns = part_of(&all, words[0]),
                                       .end_ns = part_of(&all, words[1])};
  struct view_selection *made = NULL;
  struct view_selection_result result;
  int status = words[2] ? view_filter_new(&query.filter, view, words[2], error) : KYMO_END;
  while (status == KYMO_OK)
    status = view_filter_step(query.filter, STEP, error);
  if (status == KYMO_END)
    status = view_selection_new(&made, view, &query, error);
  while (status == KYMO_OK)
    status = view_selection_step(made, STEP, error);
  if (status == KYMO_END) {
    print_seconds(query.begin_ns);
    print_seconds(query.end_ns - 1);
    view_selection_result(made, &result);
    print_selection(view, &result);
  }
  view_selection_free(made);
  view_filter_free(query.filter);
  return status < 0 ? status : KYMO_OK;
}

static int values(struct view *view, struct kymo_error *error) {
  struct view_values *made;
  struct view_track_info info;
  struct view_value_cell sum = {0};
  const struct view_window window = whole(view);
  int status = view_values_new(&made, view, words[0], NULL, error);
  while (status == KYMO_OK)
    status = view_values_step(made, STEP, error);
  if (status < 0)
    return status;
  for (uint32_t i = 0; view_track(view, i, &info); i++) {
    struct view_value_cell cells[PIXELS];
    view_tile_values(view, &window, i, made, cells);
    for (unsigned x = 0; x < PIXELS; x++) {
      if (!cells[x].count)
        continue;
      sum.least = !sum.count || cells[x].least < sum.least ? cells[x].least : sum.least;
      sum.most = !sum.count || cells[x].most > sum.most ? cells[x].most : sum.most;
      sum.count += cells[x].count;
    }
  }
  printf("%" PRIu64 " %.0f %.0f\n", sum.count, sum.least, sum.most);
  view_values_free(made);
  return KYMO_OK;
}

static int histogram(struct view *view, struct kymo_error *error) {
  struct view_histogram *made;
  int status = view_histogram_new(&made, view, words[0], NULL, error);
  while (status == KYMO_OK)
    status = view_histogram_step(made, STEP, error);
  if (status < 0)
    return status;
  const struct kymo_samples *samples = view_histogram_result(made);
  printf("%" PRIu64 " %" PRId64 " %" PRId64 "\n", samples->count, samples->least, samples->most);
  for (unsigned i = 0; i < 64; i++)
    if (kymo_samples_in(samples, false, i))
      printf("%" PRIu64 " %" PRIu64 "\n", i ? UINT64_C(1) << i : 0, kymo_samples_in(samples, false, i));
  view_histogram_free(made);
  return KYMO_OK;
}

static int texts(struct view *view, struct kymo_error *error) {
  struct view_histogram *made;
  size_t count;
  uint64_t all;
  int status = view_histogram_new(&made, view, words[0], NULL, error);
  while (status == KYMO_OK)
    status = view_histogram_step(made, STEP, error);
  if (status < 0)
    return status;
  const struct view_histogram_value *list;
  status = view_histogram_values(made, &list, &count, &all);
  for (size_t i = 0; i < count; i++)
    printf("%s\t%" PRIu64 "\n", list[i].text, list[i].count);
  view_histogram_free(made);
  return status;
}

static bool list_problems(struct view *view, FILE *out) {
  struct view_problem problem;
  size_t i = 0;
  for (; view_problem(view, i, &problem); i++)
    fprintf(out, "%s: byte %" PRIu64 ": %s\n", problem.path, problem.offset, problem.message);
  return i;
}

static int problems(struct view *view, struct kymo_error *error) {
  (void)error;
  list_problems(view, stdout);
  return KYMO_OK;
}

static int losses(struct view *view, struct kymo_error *error) {
  size_t count;
  const struct view_loss *list = view_losses(view, &count);
  (void)error;
  for (size_t i = 0; i < count; i++)
    printf("%" PRId64 " %" PRId64 " %" PRIu64 "\n", list[i].begin_ns, list[i].end_ns, list[i].count);
  return KYMO_OK;
}

static const struct {
  const char *name;
  int (*run)(struct view *view, struct kymo_error *error);
} sorts[] = {{"tracks", tracks},       {"kinds", kinds},         {"filter", filter}, {"latency", latency},
             {"spans", spans},         {"histogram", histogram}, {"drawn", drawn},   {"problems", problems},
             {"selection", selection}, {"values", values},       {"texts", texts},   {"open", endless},
             {"rows", rows},           {"compare", compare},     {"losses", losses}};

static int run(struct view *view, const char *what, struct kymo_error *error) {
  int status = finish(view, error);
  for (size_t i = 0; i < sizeof sorts / sizeof *sorts && status >= 0; i++)
    if (strcmp(sorts[i].name, what) == 0)
      return sorts[i].run(view, error);
  return status < 0 ? status : KYMO_E_USAGE;
}

int main(int argc, char **argv) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct view *view;
  if (argc > 2 && strcmp(argv[1], "-k") == 0) {
    description = argv[2];
    argv += 2;
    argc -= 2;
  }
  if (argc < 3)
    return fprintf(stderr, "usage: probe [-k DESCRIPTION] WHAT TRACE [WORDS]\n"), 2;
  path = argv[2];
  words = argv + 3;
  const struct view_options options = options_of(&path);
  int status = view_open(&view, &options, &error);
  if (status != KYMO_OK)
    return fail(status, &error);
  status = run(view, argv[1], &error);
  bool is_damaged = list_problems(view, stderr);
  view_close(view);
  if (fflush(stdout) != 0 || ferror(stdout))
    status = KYMO_E_SYSTEM;
  return status < 0 ? fail(status, &error) : is_damaged;
}
