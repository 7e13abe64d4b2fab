/* SPDX-License-Identifier: MIT */
/* Series of the viewer's index: against plain arrays. */
#include "view/series.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 20000, CODES = 100, ROUNDS = 2000 };

static struct view_entry entries[ENTRIES];
static bool is_selected[ENTRIES];
static uint64_t seed = 4711;

static uint64_t chance(uint64_t below) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (seed >> 11) % below;
}

/* Times that repeat, and that are far from one another; values that grow, where `grows`. */
static void make_entries(bool grows, int64_t begin_ns) {
  static const uint64_t steps[] = {1, 2, 300, 70000, UINT64_C(1) << 40};
  int64_t time_ns = begin_ns;
  uint64_t value = 0;
  for (unsigned i = 0; i < ENTRIES; i++) {
    time_ns += (int64_t)chance(steps[chance(i % 1000 ? 4 : 5)]);
    value += 1 + chance(steps[chance(3)]);
    uint64_t code = chance(CODES);
    entries[i] = (struct view_entry){time_ns, grows ? value : chance(UINT64_C(1) << chance(64)),
                                     (uint32_t)(i / 5000 % 2 ? code : code / 10)};
    is_selected[i] = chance(10) < i / 7000;
  }
}

static void add_all(struct view_series *series, struct view_store *store, enum view_series_kind kind,
                    unsigned count) {
  *series = (struct view_series){.kind = kind};
  assert_int_equal(view_store_temporary(store, NULL), KYMO_OK);
  for (unsigned i = 0; i < count; i++)
    assert_true(view_series_add(series, store, &entries[i]));
  assert_int_equal(series->count, count);
}

static void free_all(struct view_series *series, struct view_store *store) {
  view_series_free(series);
  view_store_end(store);
}

static uint64_t length_of(enum view_series_kind kind, unsigned i, unsigned count) {
  if (kind != VIEW_EVENTS)
    return entries[i].value;
  return i + 1 < count ? (uint64_t)entries[i + 1].time_ns - (uint64_t)entries[i].time_ns : 0;
}

static struct view_range range_of(enum view_series_kind kind, unsigned begin, unsigned end, unsigned count,
                                  bool is_filtered) {
  struct view_range range = {.least = UINT64_MAX};
  for (unsigned i = begin; i < end; i++) {
    if (is_filtered && !is_selected[i])
      continue;
    range.count++;
    range.mask |= UINT64_C(1) << entries[i].code % 64;
    range.most = length_of(kind, i, count) > range.most ? length_of(kind, i, count) : range.most;
    range.least = entries[i].value < range.least ? entries[i].value : range.least;
  }
  return range;
}

static void expect_range(const struct view_series *series, const struct view_store *store,
                         const struct view_bits *bits, unsigned begin, unsigned end) {
  struct view_range range, wanted = range_of(series->kind, begin, end, (unsigned)series->count, bits);
  view_series_range(series, store, bits, begin, end, &range);
  assert_int_equal(range.count, wanted.count);
  assert_int_equal(range.mask, wanted.mask);
  assert_int_equal(range.most, wanted.most);
  if (series->kind == VIEW_VALUES)
    assert_int_equal(range.least, wanted.least);
  if (wanted.count) {
    unsigned where = (unsigned)view_where_index(range.where);
    assert_in_range(where, begin, end - 1);
    assert_int_equal(length_of(series->kind, where, (unsigned)series->count), wanted.most);
    assert_int_equal(view_where_code(range.where), entries[where].code);
  }
}

static void ranges_are_those_of_an_array(void **state) {
  (void)state;
  for (unsigned kind = VIEW_EVENTS; kind <= VIEW_VALUES; kind++) {
    struct view_series series;
    struct view_store store;
    unsigned count = kind == VIEW_VALUES ? 64 * 64 + 64 : ENTRIES;
    make_entries(false, kind == VIEW_SPANS ? -1000000 : 1700000000000000000);
    add_all(&series, &store, kind, count);
    for (unsigned i = 0; i < ROUNDS; i++) {
      unsigned begin = (unsigned)chance(count), end = begin + (unsigned)chance(count - begin + 1);
      expect_range(&series, &store, NULL, begin, i % 3 ? end : begin + (end - begin) % 100);
    }
    expect_range(&series, &store, NULL, 0, count);
    free_all(&series, &store);
  }
}

static bool selects(void *user, const struct view_entry *entry) {
  const struct view_entry *found = user;
  while (found->value != entry->value)
    found++;
  return is_selected[found - entries];
}

static void filtered_ranges_are_those_of_an_array(void **state) {
  (void)state;
  struct view_series series;
  struct view_store store, bit_store;
  struct view_bits bits = {0};
  make_entries(true, 0);
  assert_int_equal(view_store_temporary(&bit_store, NULL), KYMO_OK);
  add_all(&series, &store, VIEW_EVENTS, 3000);
  assert_true(view_bits_make(&bits, &bit_store, &series, &store, UINT64_MAX, selects, entries));
  for (unsigned i = 3000; i < ENTRIES; i++) /* those that come later are added */
    assert_true(view_series_add(&series, &store, &entries[i]));
  assert_true(view_bits_make(&bits, &bit_store, &series, &store, UINT64_MAX, selects, entries));
  assert_int_equal(bits.selected, range_of(VIEW_EVENTS, 0, ENTRIES, ENTRIES, true).count);
  for (unsigned i = 0; i < ROUNDS; i++) {
    unsigned begin = (unsigned)chance(ENTRIES), end = begin + (unsigned)chance(ENTRIES - begin + 1);
    expect_range(&series, &store, &bits, begin, i % 3 ? end : begin + (end - begin) % 100);
    assert_int_equal(view_bits_rank(&bits, end), range_of(VIEW_EVENTS, 0, end, ENTRIES, true).count);
  }
  free_all(&series, &store);
  view_store_end(&bit_store);
}

/* By a loop: the first entry not before a time, from an index on. */
static unsigned find(int64_t time_ns, unsigned from, unsigned count) {
  while (from < count && entries[from].time_ns < time_ns)
    from++;
  return from;
}

static void entries_are_found(void **state) {
  (void)state;
  static const unsigned counts[] = {0, 1, 63, 64, 65, 4096, 4097, ENTRIES};
  for (unsigned k = 0; k < sizeof counts / sizeof *counts; k++) {
    struct view_series series;
    struct view_store store;
    unsigned count = counts[k];
    make_entries(true, INT64_MIN);
    add_all(&series, &store, VIEW_EVENTS, count);
    for (unsigned i = 0; i < 500; i++) {
      const struct view_entry *near = &entries[chance(count + 1)];
      unsigned from = (unsigned)chance(count + 1), wanted = find(near->time_ns, from, count);
      assert_int_equal(view_series_find(&series, &store, near->time_ns, from), wanted);
      unsigned by_value = 0;
      while (by_value < count && entries[by_value].value < near->value + i % 2)
        by_value++;
      assert_int_equal(view_series_find_value(&series, &store, near->value + i % 2), by_value);
      if (count == 0)
        continue;
      struct view_entry got = view_series_get(&series, &store, from % count);
      assert_memory_equal(&got.time_ns, &entries[from % count].time_ns, sizeof got.time_ns);
      assert_int_equal(got.value, entries[from % count].value);
      assert_int_equal(got.code, entries[from % count].code);
    }
    assert_int_equal(view_series_find(&series, &store, INT64_MAX, 0), count);
    free_all(&series, &store);
  }
}

static uint64_t seek(uint32_t code, uint64_t index, bool is_back) {
  for (uint64_t i = index < ENTRIES || !is_back ? index : ENTRIES - 1; i < ENTRIES; is_back ? i-- : i++)
    if (entries[i].code == code)
      return i;
  return UINT64_MAX;
}

static void codes_are_found_both_ways(void **state) {
  (void)state;
  struct view_series series;
  struct view_store store;
  make_entries(true, 0);
  for (unsigned i = 0; i < ENTRIES; i++) /* some are rare, or nowhere for long */
    entries[i].code = chance(3000) ? entries[i].code % 5 : 5 + entries[i].code;
  add_all(&series, &store, VIEW_EVENTS, ENTRIES);
  for (unsigned i = 0; i < ROUNDS; i++) {
    uint32_t code = (uint32_t)chance(CODES + 10);
    uint64_t index = chance(ENTRIES + 10);
    assert_int_equal(view_series_seek(&series, &store, NULL, code, index, i % 2), seek(code, index, i % 2));
  }
  free_all(&series, &store);
}

static bool is_sound(const struct view_series *series, const struct view_store *store, uint32_t codes) {
  bool is_sound = true;
  for (size_t i = 0; i < series->summary_count && is_sound; i++)
    is_sound = view_series_check_leaves(series, store, i, codes);
  for (uint64_t i = 0; i < series->blocks && is_sound; i++)
    is_sound = view_series_check_block(series, store, i, codes);
  return is_sound;
}

/* Each bit that is changed in a block or leaf is found, or changes nothing that is read. */
static void changed_bytes_are_found(void **state) {
  (void)state;
  struct view_series series;
  struct view_store store;
  make_entries(true, 0);
  add_all(&series, &store, VIEW_EVENTS, ENTRIES);
  assert_true(is_sound(&series, &store, CODES));
  unsigned missed = 0;
  for (unsigned i = 0; i < 3000; i++) {
    uint64_t at = chance(store.used);
    uint8_t bit = (uint8_t)(1 << chance(8));
    store.base[at] ^= bit;
    missed += is_sound(&series, &store, CODES);
    store.base[at] ^= bit;
  }
  /* leaves of the last chunk that are not used yet, and what alignment leaves free */
  assert_true(missed <= 200);
  assert_false(is_sound(&series, &store, 3));
  free_all(&series, &store);
}

/* A block that is given back between others is made anew there, and nothing around it changes. */
static void a_block_leaves_others_as_they_are(void **state) {
  (void)state;
  struct view_series series = {.kind = VIEW_VALUES};
  struct view_store store;
  uint8_t before[192];
  assert_int_equal(view_store_temporary(&store, NULL), KYMO_OK);
  assert_int_equal(view_store_take(&store, sizeof(struct view_leaves)), 0);
  uint64_t at = view_store_take(&store, sizeof before);
  memset(store.base + at, 0xa5, sizeof before);
  memcpy(before, store.base + at, sizeof before);
  view_store_give(&store, 0, sizeof(struct view_leaves));
  view_store_give(&store, at + 64, 64);
  for (unsigned i = 0; i < 65; i++) /* of each entry a byte is kept: that of the code */
    assert_true(view_series_add(&series, &store, &(struct view_entry){7, 7, i}));
  assert_int_equal(series.blocks, 1);
  assert_int_equal(store.used, sizeof(struct view_leaves) + sizeof before);
  assert_memory_equal(store.base + at, before, 64);
  assert_memory_equal(store.base + at + 128, before, 64);
  for (unsigned i = 0; i < 64; i++)
    assert_int_equal(view_series_get(&series, &store, i).code, i);
  free_all(&series, &store);
}

/* What is given back is taken before the store grows, and no two owners have the same bytes. */
static void places_are_taken_again(void **state) {
  (void)state;
  enum { PLACES = 500, UNITS = 64 };
  static struct {
    uint64_t at;
    size_t bytes;
  } places[PLACES];
  struct view_store store;
  assert_int_equal(view_store_temporary(&store, NULL), KYMO_OK);
  uint64_t first = 0;
  for (unsigned i = 0; i < 50 * PLACES; i++) {
    unsigned k = i % PLACES;
    for (size_t b = 0; b < places[k].bytes; b++)
      assert_int_equal(store.base[places[k].at + b], k % 251);
    view_store_give(&store, places[k].at, places[k].bytes);
    places[k].bytes = chance(UNITS) * VIEW_STORE_UNIT;
    places[k].at = view_store_take(&store, places[k].bytes);
    memset(store.base + places[k].at, (int)(k % 251), places[k].bytes);
    first = i < PLACES ? store.used : first;
  }
  assert_true(store.used < 3 * first);
  view_store_end(&store);
}

static void floats_are_ordered_as_words(void **state) {
  (void)state;
  static const double values[] = {-1e300, -2, -1, -1e-300, 0, 1e-300, 1, 2, 1e300};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    assert_true(view_unorder_float(view_order_float(values[i])) == values[i]);
    if (i > 0)
      assert_true(view_order_float(values[i - 1]) < view_order_float(values[i]));
  }
  assert_true(view_order_int(INT64_MIN) < view_order_int(-1) && view_order_int(-1) < view_order_int(0));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranges_are_those_of_an_array),
      cmocka_unit_test(filtered_ranges_are_those_of_an_array),
      cmocka_unit_test(entries_are_found),
      cmocka_unit_test(codes_are_found_both_ways),
      cmocka_unit_test(changed_bytes_are_found),
      cmocka_unit_test(a_block_leaves_others_as_they_are),
      cmocka_unit_test(places_are_taken_again),
      cmocka_unit_test(floats_are_ordered_as_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
