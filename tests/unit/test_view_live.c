/* SPDX-License-Identifier: MIT */
/* A view of a trace that is still being written: what is there is indexed, and the rest when it comes. */
#include "stat/pairs.h"
#include "view_trace.h"
#include <time.h>

enum { STREAMS = 4 };

static struct view_test_stream streams[STREAMS];
static uint64_t now, written;

/* Events of the first `count` streams, all of which are in the files then. The last ones are at the same
 * time: none waits for another one. */
static void write_events(unsigned events, unsigned count) {
  for (unsigned i = 0; i < events; i++) {
    unsigned id = view_chance(4) ? 0 : 1 + (unsigned)view_chance(4);
    view_emit(&streams[view_chance(count)], now += view_chance(3), id, (uint32_t)(written++ % 1000));
  }
  for (unsigned i = 0; i < count; i++) {
    view_emit(&streams[i], now, 0, (uint32_t)(written++ % 1000));
    view_flush(&streams[i]);
    assert_int_equal(fflush(streams[i].file), 0);
  }
}

static bool is_late(void) {
  static time_t begin;
  begin = begin ? begin : time(NULL);
  return time(NULL) - begin > 60;
}

/* Until all that is written is indexed and sorted in. */
static void follow(struct view *view) {
  struct kymo_error error = {0};
  struct view_info info;
  int status;
  do {
    view_expect_ok(status = view_build_step(view, 500, &error), &error);
    view_info(view, &info);
    if (is_late())
      fail_msg("%lu of %lu", (unsigned long)info.events, (unsigned long)written);
  } while (info.events < written || status == KYMO_OK);
  assert_int_equal(info.events, written);
  assert_true(info.progress < 0);
}

static void finish_filter(struct view_filter *filter) {
  struct kymo_error error = {0};
  int status;
  while ((status = view_filter_step(filter, 300, &error)) == KYMO_OK)
    continue;
  view_expect_ok(status, &error);
}

static bool wants_low(const struct view_test_event *event) { return event->value < 250; }

/* Each track has as many events as the trace has, and as many of them are selected. */
static void expect_tracks(struct view *view, struct view_filter *filter) {
  struct view_track_info track;
  struct view_info info;
  uint64_t selected = 0;
  view_read_all();
  assert_int_equal(view_event_count, written);
  view_info(view, &info);
  const struct view_window all = {info.begin_ns, info.end_ns + 1, 3};
  for (uint32_t i = 0; view_track(view, i, &track); i++) {
    struct view_cell cells[3], filtered[3];
    uint64_t wanted = 0, low = 0;
    for (unsigned k = 0; k < view_event_count; k++)
      if (strcmp(view_track_of(&view_events[k], VIEW_BY_THREAD), track.name) == 0) {
        wanted++;
        low += wants_low(&view_events[k]);
      }
    assert_int_equal(track.events, wanted);
    assert_int_equal(view_tile(view, &all, &i, 1, NULL, cells), KYMO_OK);
    assert_int_equal(view_tile(view, &all, &i, 1, filter, filtered), KYMO_OK);
    assert_int_equal(cells[0].count + cells[1].count + cells[2].count, wanted);
    assert_int_equal(filtered[0].count + filtered[1].count + filtered[2].count, low);
    selected += low;
  }
  assert_int_equal(view_filter_count(filter), selected);
}

struct rows {
  uint64_t count, next;
};

static bool take_row(void *user, const struct view_row *row) {
  struct rows *rows = user;
  char text[64];
  snprintf(text, sizeof text, "value = %u", view_events[rows->next].value);
  assert_int_equal(row->number, rows->next + 1);
  assert_string_equal(row->text, text);
  rows->count++;
  rows->next++;
  return true;
}

/* The last ones: they were not there when the view was opened. */
static void expect_rows(struct view *view) {
  struct kymo_error error = {0};
  struct rows rows = {.next = written - 20};
  view_expect_ok(view_rows(view, NULL, rows.next, 30, take_row, &rows, &error), &error);
  assert_int_equal(rows.count, 20);
}

static void a_view_grows_with_its_trace(void **state) {
  (void)state;
  struct kymo_error error = {0};
  struct view_filter *filter;
  struct view_info info;
  now = 1;
  written = 0;
  view_is_live = view_is_lossless = true;
  view_begin_metadata("l");
  for (unsigned i = 0; i + 1 < STREAMS; i++)
    view_begin_stream(&streams[i], "l", i);
  write_events(3000, STREAMS - 1);
  struct view *view = view_start(below("l"), VIEW_BY_THREAD, NULL, false);
  follow(view);
  for (unsigned round = 0; round < 6; round++) {
    view_expect_ok(view_filter_new(&filter, view, "value < 250", &error), &error);
    finish_filter(filter);
    expect_tracks(view, filter);
    view_filter_free(filter);
    expect_rows(view);
    if (round == 3) { /* a thread begins */
      view_begin_stream(&streams[STREAMS - 1], "l", STREAMS - 1);
      write_events(500, STREAMS);
    }
    write_events(700, round < 3 ? STREAMS - 1 : STREAMS);
    follow(view);
  }
  view_info(view, &info);
  assert_int_equal(info.tracks, STREAMS);
  assert_false(info.is_complete);
  view_close(view);
  for (unsigned i = 0; i < STREAMS; i++)
    view_end_stream(&streams[i]);
  free(view_events);
  view_events = NULL;
}

/* ---- events of one time ---- */

static void expect_rows_from(struct view *view, uint64_t first, uint64_t count) {
  struct kymo_error error = {0};
  struct rows rows = {.next = first};
  view_expect_ok(view_rows(view, NULL, first, count, take_row, &rows, &error), &error);
  assert_int_equal(rows.count, count);
}

/* Many are the same but for their numbers and values: rows go forward over them, back, and to any of them. */
static void rows_of_one_time_are_told_apart(void **state) {
  (void)state;
  enum { SAME = 600, PAGE = 50 };
  written = 0;
  view_is_live = view_is_lossless = true;
  view_begin_metadata("s");
  for (unsigned i = 0; i < 2; i++)
    view_begin_stream(&streams[i], "s", i);
  for (unsigned i = 0; i < 3 * SAME; i++, written++)
    view_emit(&streams[view_chance(2)], 1000 + i / SAME, (unsigned)view_chance(2), (uint32_t)written);
  for (unsigned i = 0; i < 2; i++) {
    view_flush(&streams[i]);
    assert_int_equal(fflush(streams[i].file), 0);
  }
  struct view *view = view_start(below("s"), VIEW_BY_THREAD, NULL, false);
  follow(view);
  view_read_all();
  for (uint64_t i = 0; i < written; i += PAGE)
    expect_rows_from(view, i, PAGE);
  for (uint64_t i = written; i > 0; i -= PAGE)
    expect_rows_from(view, i - PAGE, PAGE);
  for (unsigned i = 0; i < 50; i++)
    expect_rows_from(view, view_chance(written - PAGE), 1 + view_chance(PAGE));
  view_close(view);
  for (unsigned i = 0; i < 2; i++)
    view_end_stream(&streams[i]);
  free(view_events);
  view_events = NULL;
}

/* ---- events that are gone ---- */

static bool is_there[VIEW_TEST_EVENTS]; /* by value */

static bool take_some(void *user, const struct view_row *row) {
  struct rows *rows = user;
  char text[64];
  unsigned value = view_events[rows->next].value;
  snprintf(text, sizeof text, "value = %u", value);
  assert_int_equal(row->number, rows->next + 1);
  assert_int_equal(row->time_ns, view_events[rows->next].time_ns);
  if (is_there[value])
    assert_string_equal(row->text, text);
  else
    assert_null(row->text);
  rows->count++;
  rows->next++;
  return true;
}

static bool take_field(void *user, const char *path, const char *text) {
  (void)path;
  (void)text;
  ++*(unsigned *)user;
  return true;
}

static void expect_some(struct view *view, uint64_t first, uint64_t count) {
  struct kymo_error error = {0};
  struct rows rows = {.next = first};
  struct view_row row;
  unsigned fields = 0;
  view_expect_ok(view_rows(view, NULL, first, count, take_some, &rows, &error), &error);
  assert_int_equal(rows.count, count);
  view_expect_ok(view_event(view, first + 1, &row, take_field, &fields, &error), &error);
  assert_int_equal(row.number, first + 1);
  assert_int_equal(row.text != NULL, is_there[view_events[first].value]);
  assert_int_equal(fields > 0, row.text != NULL);
}

/* The same trace without the first packets of its first stream, as a ring that has overwritten them. */
static void cut_trace(const char *from, const char *to) {
  static uint8_t bytes[64 * VIEW_TEST_PACKET];
  char path[64];
  view_begin_metadata(to);
  for (unsigned i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/stream_%u", from, i);
    FILE *file = fopen(below(path), "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file), skip = i == 0 ? size / VIEW_TEST_PACKET / 2 : 0;
    fclose(file);
    assert_true(size < sizeof bytes);
    snprintf(path, sizeof path, "%s/stream_%u", to, i);
    write_file(path, bytes + skip * VIEW_TEST_PACKET, size - skip * VIEW_TEST_PACKET);
  }
}

static void note_what_is_there(void) {
  memset(is_there, 0, sizeof is_there);
  view_read_all();
  for (unsigned i = 0; i < view_event_count; i++)
    is_there[view_events[i].value] = true;
  assert_true(view_event_count > 0 && view_event_count < written);
}

/* Rows and details of events that are in the index alone: between others that can be read, forward, back and
 * anywhere. */
static void events_that_are_gone_are_rows_without_a_text(void **state) {
  (void)state;
  enum { ALL = 6000, PAGE = 75 };
  char whole[256], cut[256];
  written = 0;
  now = 1000;
  view_is_live = view_is_lossless = true;
  view_begin_metadata("w");
  for (unsigned i = 0; i < 2; i++)
    view_begin_stream(&streams[i], "w", i);
  for (; written < ALL; written++)
    view_emit(&streams[view_chance(8) == 0], now += 1 + view_chance(3), 0, (uint32_t)written);
  for (unsigned i = 0; i < 2; i++) {
    view_flush(&streams[i]);
    assert_int_equal(fflush(streams[i].file), 0);
  }
  snprintf(whole, sizeof whole, "%s", below("w"));
  struct view *view = view_start(whole, VIEW_BY_THREAD, NULL, false);
  follow(view);
  cut_trace("w", "x");
  snprintf(cut, sizeof cut, "%s", below("x"));
  view_path = cut; /* what is opened from now on */
  note_what_is_there();
  view_path = whole;
  view_read_all();
  view_path = cut;
  for (uint64_t i = 0; i < written; i += PAGE)
    expect_some(view, i, PAGE);
  for (uint64_t i = written; i > 0; i -= PAGE)
    expect_some(view, i - PAGE, PAGE);
  for (unsigned i = 0; i < 100; i++)
    expect_some(view, view_chance(written - PAGE), 1 + view_chance(PAGE));
  view_close(view);
  for (unsigned i = 0; i < 2; i++)
    view_end_stream(&streams[i]);
  free(view_events);
  view_events = NULL;
}

/* ---- selections ---- */

static uint64_t sum_of(const uint64_t *counts, uint32_t count) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < count; i++)
    sum += counts[i];
  return sum;
}

static void expect_sums(const struct view_selection *selection) {
  struct view_selection_result result;
  view_selection_result(selection, &result);
  assert_int_equal(sum_of(result.tracks, result.track_count), result.events);
  assert_int_equal(sum_of(result.kinds, result.kind_count), result.events);
}

static void write_kind(unsigned id, unsigned events, unsigned count) {
  for (unsigned i = 0; i < events; i++, written++)
    view_emit(&streams[i % count], now, id, (uint32_t)(written % 1000));
  for (unsigned i = 0; i < count; i++) {
    view_flush(&streams[i]);
    assert_int_equal(fflush(streams[i].file), 0);
  }
}

/* While a selection counts, threads and kinds come that were not there when it began. */
static void a_selection_counts_the_kinds_that_come_meanwhile(void **state) {
  (void)state;
  struct kymo_error error = {0};
  struct view_selection *selection;
  struct view_selection_result result;
  const struct view_selection_query query = {.begin_ns = 0, .end_ns = INT64_MAX};
  int status = KYMO_OK;
  now = 1;
  written = 0;
  view_is_live = view_is_lossless = true;
  view_begin_metadata("k");
  view_begin_stream(&streams[0], "k", 0);
  write_kind(0, 2000, 1);
  struct view *view = view_start(below("k"), VIEW_BY_THREAD, NULL, false);
  follow(view);
  view_expect_ok(view_selection_new(&selection, view, &query, &error), &error);
  for (unsigned id = 1; id < 6; id++) {
    status = view_selection_step(selection, 100, &error);
    assert_int_equal(status, KYMO_OK);
    expect_sums(selection);
    if (id == 3)
      view_begin_stream(&streams[1], "k", 1);
    now++;
    write_kind(id, 1000, id < 3 ? 1 : 2);
    follow(view);
  }
  while ((status = view_selection_step(selection, 100, &error)) == KYMO_OK)
    expect_sums(selection);
  view_expect_ok(status, &error);
  view_selection_result(selection, &result);
  assert_int_equal(result.events, written);
  assert_int_equal(result.track_count, 2);
  assert_int_equal(result.kind_count, 6);
  expect_sums(selection);
  view_selection_free(selection);
  view_close(view);
  for (unsigned i = 0; i < 2; i++)
    view_end_stream(&streams[i]);
}

/* ---- events of several streams that are the same but for their values ---- */

enum { ALIKE = 150, FIRST_VALUE = 1000 };

/* The stream that came first has numbers up to ALIKE, and values from FIRST_VALUE on. */
static bool take_alike(void *user, const struct view_row *row) {
  uint64_t *next = user, number = (*next)++;
  char text[64];
  snprintf(text, sizeof text, "value = %u",
           (unsigned)(number <= ALIKE ? FIRST_VALUE + number - 1 : number - ALIKE - 1));
  assert_int_equal(row->number, number);
  assert_string_equal(row->text, text);
  return true;
}

static void write_alike(struct view_test_stream *stream, uint32_t value) {
  for (unsigned i = 0; i < ALIKE; i++, written++)
    view_emit(stream, 5000, 0, value + i);
  view_flush(stream);
  assert_int_equal(fflush(stream->file), 0);
}

/* Read anew, the stream that came last is before the first one: its file has an earlier name. */
static void late_streams_keep_their_events(void **state) {
  (void)state;
  struct kymo_error error = {0};
  struct view_filter *filter;
  written = 0;
  view_is_live = view_is_lossless = true;
  view_begin_metadata("e");
  view_begin_stream(&streams[1], "e", 1);
  write_alike(&streams[1], FIRST_VALUE);
  struct view *view = view_start(below("e"), VIEW_BY_EVENT, NULL, false);
  follow(view);
  view_begin_stream(&streams[0], "e", 0);
  write_alike(&streams[0], 0);
  follow(view);
  for (unsigned i = 0; i < 40; i++) {
    uint64_t first = view_chance(2 * ALIKE - 20), next = first + 1;
    view_expect_ok(view_rows(view, NULL, first, 20, take_alike, &next, &error), &error);
    assert_int_equal(next, first + 21);
  }
  for (unsigned i = 0; i < 2; i++) {
    view_expect_ok(view_filter_new(&filter, view, i ? "value >= 1000" : "value < 1000", &error), &error);
    finish_filter(filter);
    assert_int_equal(view_filter_count(filter), ALIKE);
    uint64_t next = i ? 1 : ALIKE + 1;
    view_expect_ok(view_rows(view, filter, 0, ALIKE, take_alike, &next, &error), &error);
    assert_int_equal(next, (i ? 1 : ALIKE + 1) + ALIKE);
    view_filter_free(filter);
  }
  view_close(view);
  for (unsigned i = 0; i < 2; i++)
    view_end_stream(&streams[i]);
}

/* ---- a stream that comes late, with earlier times: read anew, tracks and numbers are others ---- */

enum { EARLY = 20, USUAL = 50 };

static void write_late(uint64_t begin, uint64_t step, unsigned count, struct view_test_stream *stream) {
  for (unsigned i = 0; i < count; i++)
    view_emit(stream, begin + i * step + (i == 7), count == EARLY ? 1 + i % 2 : 0,
              count == EARLY ? 60 + i : 100);
  view_flush(stream);
  assert_int_equal(fflush(stream->file), 0);
}

static void expect_values(struct view *view, const struct view_window *all) {
  struct kymo_error error = {0};
  struct view_track_info track;
  struct view_values *values;
  int status;
  view_expect_ok(view_values_new(&values, view, "value", NULL, &error), &error);
  while ((status = view_values_step(values, 100, &error)) == KYMO_OK)
    continue;
  view_expect_ok(status, &error);
  for (uint32_t i = 0; view_track(view, i, &track); i++) {
    struct view_value_cell cell;
    assert_int_equal(view_tile_values(view, all, i, values, &cell), KYMO_OK);
    assert_int_equal(cell.count, track.events);
    assert_true(cell.least == (track.events == EARLY ? 60 : 100));
    assert_true(cell.most == (track.events == EARLY ? 79 : 100));
  }
  view_values_free(values);
}

/* Those that are furthest from the mean are on the track that came late. */
static void expect_anomalies(struct view *view) {
  const struct view_anomaly_query query = {.field = "value", .threshold = 1, .sides = VIEW_HIGH | VIEW_LOW};
  struct kymo_error error = {0};
  struct view_track_info track;
  struct view_anomaly *anomaly;
  struct view_mark mark;
  uint32_t count;
  int status;
  view_expect_ok(view_anomaly_new(&anomaly, view, &query, &error), &error);
  while ((status = view_anomaly_step(anomaly, 100, &error)) == KYMO_OK)
    continue;
  view_expect_ok(status, &error);
  const struct view_anomaly_track *tracks = view_anomaly_tracks(anomaly, &count);
  for (uint32_t i = 0; view_track(view, i, &track); i++) {
    assert_int_equal(tracks[i].count, track.events);
    assert_int_equal(tracks[i].anomalies, track.events == EARLY ? 8 : 0);
  }
  struct view_search search = {
      .kind = UINT32_MAX, .track = UINT32_MAX, .filter = view_anomaly_filter(anomaly)};
  assert_int_equal(view_search(view, &search, &mark), KYMO_OK);
  assert_true(view_track(view, mark.track, &track));
  assert_int_equal(track.events, EARLY);
  view_anomaly_free(anomaly);
}

static void expect_worst(struct view *view) {
  const struct view_latency_query query = {.from = "t:work_entry", .to = "t:work_exit"};
  struct kymo_error error = {0};
  struct view_latency_result result;
  struct view_latency *latency;
  struct view_mark begin, end;
  int status;
  view_expect_ok(view_latency_new(&latency, view, &query, &error), &error);
  while ((status = view_latency_step(latency, 100, &error)) == KYMO_OK)
    continue;
  view_expect_ok(status, &error);
  view_expect_ok(view_latency_result(latency, &result), &error);
  assert_int_equal(result.all->count, EARLY / 2);
  assert_int_equal(result.worst[0].duration_ns, 11);
  for (unsigned i = 0; i < result.worst_count; i++) {
    const struct kymo_worst *worst = &result.worst[i];
    assert_true(view_find(view, worst->begin_number, &begin));
    assert_true(view_find(view, worst->end_number, &end));
    assert_int_equal(begin.time_ns, worst->begin_ns);
    assert_int_equal(end.time_ns, worst->begin_ns + worst->duration_ns);
    assert_int_equal(begin.track, end.track);
  }
  view_latency_free(latency);
}

static bool count_row(void *user, const struct view_row *row) {
  uint64_t *count = user;
  assert_true(row->number > 0);
  ++*count;
  return true;
}

static void expect_all_found(struct view *view) {
  struct kymo_error error = {0};
  struct view_filter *filter;
  uint64_t rows = 0;
  view_expect_ok(view_filter_new(&filter, view, "value >= 0", &error), &error);
  finish_filter(filter);
  assert_int_equal(view_filter_count(filter), written);
  view_filter_free(filter);
  view_expect_ok(view_rows(view, NULL, 0, 1000, count_row, &rows, &error), &error);
  assert_int_equal(rows, written);
}

static void a_stream_that_comes_late_keeps_its_events(void **state) {
  (void)state;
  static const enum view_track_by sorts[] = {VIEW_BY_THREAD, VIEW_BY_STREAM};
  view_is_live = view_is_lossless = true;
  for (size_t i = 0; i < 2; i++) {
    char name[] = {'m', (char)('0' + i), 0};
    struct view_info info;
    view_begin_metadata(name);
    view_begin_stream(&streams[1], name, 1);
    write_late(1000000, 1000, USUAL, &streams[1]);
    written = USUAL;
    struct view *view = view_start(below(name), sorts[i], NULL, false);
    follow(view);
    view_begin_stream(&streams[0], name, 0);
    write_late(1000, 10, EARLY, &streams[0]);
    written += EARLY;
    follow(view);
    view_info(view, &info);
    assert_int_equal(info.tracks, 2);
    const struct view_window all = {info.begin_ns, info.end_ns + 1, 1};
    expect_values(view, &all);
    expect_anomalies(view);
    expect_worst(view);
    expect_all_found(view);
    view_close(view);
    view_end_stream(&streams[0]);
    view_end_stream(&streams[1]);
  }
}

/* ---- streams that are called by their number: another one comes before them ---- */

/* Without threads and processors; each trace has a uuid of its own, and a clock of the machine. */
static void begin_nameless(const char *name) {
  char text[sizeof view_metadata], path[64];
  memcpy(text, view_metadata, sizeof text);
  strstr(text, "ddeeff")[5] = name[strlen(name) - 1];
  memcpy(strstr(text, "offset = 1000000000;"), "absolute=true;      ", 20);
  for (char *at = text; (at = strstr(at, "uint32_t tid; uint32_t cpu_id;")) != NULL;)
    memcpy(at, "uint32_t xxx; uint32_t yyyyyy;", 30);
  snprintf(path, sizeof path, "%s/metadata", name);
  write_file(path, text, sizeof text - 1);
}

/* Both traces grow, since either one may be the first. */
static void a_stream_keeps_its_name_when_another_trace_grows(void **state) {
  (void)state;
  struct view_track_info track;
  struct view_info info;
  unsigned found = 0;
  now = 1;
  written = 0;
  view_is_live = view_is_lossless = true;
  begin_nameless("n/a");
  begin_nameless("n/b");
  view_begin_stream(&streams[0], "n/a", 0);
  view_begin_stream(&streams[1], "n/b", 1);
  write_events(300, 2);
  struct view *view = view_start(below("n"), VIEW_BY_THREAD, NULL, false);
  follow(view);
  view_begin_stream(&streams[2], "n/a", 2);
  view_begin_stream(&streams[3], "n/b", 3);
  write_events(300, 4);
  follow(view);
  view_info(view, &info);
  assert_int_equal(info.tracks, 4);
  for (uint32_t i = 0; view_track(view, i, &track); i++) {
    unsigned number = 0;
    assert_int_equal(sscanf(track.name, "stream %u", &number), 1);
    found |= 1u << number;
  }
  assert_int_equal(found, 15);
  view_close(view);
  for (unsigned i = 0; i < 4; i++)
    view_end_stream(&streams[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_view_grows_with_its_trace, make_top, remove_top),
      cmocka_unit_test_setup_teardown(rows_of_one_time_are_told_apart, make_top, remove_top),
      cmocka_unit_test_setup_teardown(events_that_are_gone_are_rows_without_a_text, make_top, remove_top),
      cmocka_unit_test_setup_teardown(a_stream_that_comes_late_keeps_its_events, make_top, remove_top),
      cmocka_unit_test_setup_teardown(a_selection_counts_the_kinds_that_come_meanwhile, make_top, remove_top),
      cmocka_unit_test_setup_teardown(late_streams_keep_their_events, make_top, remove_top),
      cmocka_unit_test_setup_teardown(a_stream_keeps_its_name_when_another_trace_grows, make_top, remove_top),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
