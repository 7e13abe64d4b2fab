/* SPDX-License-Identifier: MIT */
/* The ground layer: arena, string builder, byte and bit reads, hashes, tables, lists, error texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/glob.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/path.h"
#include "base/search.h"
#include "base/strbuf.h"
#include "base/table.h"
#include "base/utf8.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One bit at a time, straight from the definition in bytes.h. */
static uint64_t slow_bits(const uint8_t *data, uint64_t at, unsigned width, bool is_big) {
  uint64_t value = 0;
  for (unsigned i = 0; i < width; i++) {
    uint64_t bit = at + i;
    uint64_t one = is_big ? data[bit / 8] >> (7 - bit % 8) & 1 : data[bit / 8] >> (bit % 8) & 1;
    value |= one << (is_big ? width - 1 - i : i);
  }
  return value;
}

static void bits_equal_their_definition_everywhere(void **state) {
  (void)state;
  uint8_t bytes[17];
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (uint8_t)(i * 151 + 77);
  for (uint64_t at = 0; at < 72; at++) {
    for (unsigned width = 1; width <= 64; width++) {
      assert_int_equal(kymo_bits(bytes, at, width, false), slow_bits(bytes, at, width, false));
      assert_int_equal(kymo_bits(bytes, at, width, true), slow_bits(bytes, at, width, true));
    }
  }
}

static void bits_touch_no_byte_behind_them(void **state) {
  (void)state;
  for (uint64_t at = 0; at < 16; at++) {
    for (unsigned width = 1; width <= 64; width++) {
      size_t size = (size_t)(at + width + 7) / 8; /* the sanitizer sees one byte more */
      uint8_t *bytes = malloc(size);
      assert_non_null(bytes);
      memset(bytes, 0xff, size);
      assert_int_equal(kymo_bits_le(bytes, at, width), kymo_bits_mask(width));
      assert_int_equal(kymo_bits_be(bytes, at, width), kymo_bits_mask(width));
      free(bytes);
    }
  }
}

static void sign_extension_keeps_values_of_every_width(void **state) {
  (void)state;
  assert_int_equal(kymo_sign_extend(1, 1), -1);
  assert_int_equal(kymo_sign_extend(0, 1), 0);
  assert_int_equal(kymo_sign_extend(0x80, 8), -128);
  assert_int_equal(kymo_sign_extend(0x17f, 8), 127);
  assert_true(kymo_sign_extend(UINT64_C(1) << 63, 64) == INT64_MIN);
  assert_true(kymo_sign_extend(UINT64_MAX >> 1, 64) == INT64_MAX);
}

static void reversal_mirrors_the_lowest_bits(void **state) {
  (void)state;
  assert_int_equal(kymo_bits_reverse(1, 1), 1);
  assert_int_equal(kymo_bits_reverse(0x3, 5), 0x18);
  assert_int_equal(kymo_bits_reverse(0xfff1, 4), 0x8);
  assert_true(kymo_bits_reverse(1, 64) == UINT64_C(1) << 63);
}

static void align_up_saturates(void **state) {
  (void)state;
  assert_int_equal(kymo_align_up(0, 8), 0);
  assert_int_equal(kymo_align_up(1, 8), 8);
  assert_int_equal(kymo_align_up(7, 1), 7);
  assert_true(kymo_align_up(UINT64_MAX - 2, 64) == UINT64_MAX);
}

static void bounded_bytes_fail_softly(void **state) {
  (void)state;
  static const uint8_t data[] = {1, 2, 3, 4, 5, 6, 7};
  struct kymo_bytes bytes = {.data = data, .size = sizeof data, .is_big = true};
  assert_int_equal(kymo_bytes_u8(&bytes), 1);
  assert_int_equal(kymo_bytes_u16(&bytes), 0x0203);
  bytes.is_big = false;
  assert_int_equal(kymo_bytes_u16(&bytes), 0x0504);
  assert_int_equal(kymo_bytes_u32(&bytes), 0);
  assert_true(bytes.failed);
  assert_int_equal(kymo_bytes_u8(&bytes), 0); /* though two bytes are left */
  assert_null(kymo_bytes_take(&bytes, 0));
}

static void arena_pieces_are_zeroed_aligned_and_apart(void **state) {
  (void)state;
  struct kymo_arena arena = {0};
  unsigned char *pieces[200];
  for (size_t i = 0; i < 200; i++) {
    size_t size = i * i; /* some in a separate block, some not */
    pieces[i] = kymo_arena_alloc(&arena, size);
    assert_non_null(pieces[i]);
    assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
    for (size_t at = 0; at < size; at++)
      assert_int_equal(pieces[i][at], 0);
    memset(pieces[i], (int)i, size);
  }
  for (size_t i = 0; i < 200; i++)
    for (size_t at = 0; at < i * i; at++)
      assert_int_equal(pieces[i][at], i);
  kymo_arena_free(&arena);
  assert_null(arena.blocks);
  assert_non_null(kymo_arena_alloc(&arena, 1));
  kymo_arena_free(&arena);
}

static void arena_refuses_impossible_sizes(void **state) {
  (void)state;
  struct kymo_arena arena = {0};
  assert_null(kymo_arena_array(&arena, SIZE_MAX / 2, 3));
  assert_null(kymo_arena_alloc(&arena, SIZE_MAX));
  assert_null(kymo_arena_copy(&arena, "", SIZE_MAX));
  assert_string_equal(kymo_arena_copy(&arena, "abcdef", 3), "abc");
  kymo_arena_free(&arena);
}

static void strbuf_grows_and_stays_ended(void **state) {
  (void)state;
  struct kymo_strbuf buf = {0};
  for (int i = 0; i < 1000; i++)
    kymo_strbuf_printf(&buf, "%d,", i);
  kymo_strbuf_puts(&buf, "");
  kymo_strbuf_add(&buf, "xy", 1);
  assert_false(buf.failed);
  assert_int_equal(buf.length, strlen(buf.text));
  assert_string_equal(buf.text + buf.length - 5, "999,x");
  kymo_strbuf_free(&buf);
  assert_null(buf.text);
}

static void strbuf_remembers_that_memory_ran_out(void **state) {
  (void)state;
  struct kymo_strbuf buf = {0};
  kymo_strbuf_puts(&buf, "kept");
  kymo_strbuf_add(&buf, "never read", SIZE_MAX - 8);
  assert_true(buf.failed);
  kymo_strbuf_puts(&buf, "more");
  assert_string_equal(buf.text, "kept");
  kymo_strbuf_free(&buf);
}

static void hashes_are_the_published_ones(void **state) {
  (void)state;
  struct kymo_hash128 hash = kymo_hash128("", 0, 0);
  assert_true(hash.high == 0 && hash.low == 0);
  hash = kymo_hash128("hello", 5, 0);
  assert_true(hash.high == UINT64_C(0xcbd8a7b341bd9b02) && hash.low == UINT64_C(0x5b1e906a48ae1d19));
  static const char fox[] = "The quick brown fox jumps over the lazy dog";
  hash = kymo_hash128(fox, sizeof fox - 1, 0);
  assert_true(hash.high == UINT64_C(0xe34bbc7bbc071b6c) && hash.low == UINT64_C(0x7a433ca9c49a9347));
  assert_true(kymo_hash64("a", 1, 0) != kymo_hash64("a", 1, 1));
}

/* ---- tables ---- */

static bool has(const struct kymo_hash_table *table, uint32_t hash, uintptr_t item) {
  uintptr_t found;
  for (uint32_t at = hash; (found = kymo_hash_table_next(table, hash, &at));)
    if (found == item)
      return true;
  return false;
}

/* Few hashes for many items, next to the end of the slots: runs of slots are long and wrap around. */
static uint32_t crowded(uintptr_t item) { return UINT32_MAX - (uint32_t)(item * 7 % 13); }
static uint32_t spread(uintptr_t item) { return (uint32_t)item * 0x9e3779b1u; }

static void check_table(uint32_t (*hash)(uintptr_t), struct kymo_arena *arena) {
  enum { ITEMS = 1000 };
  struct kymo_hash_table table = {0}, copy;
  bool there[ITEMS + 1] = {false};
  uint32_t count = 0;
  for (uint32_t step = 0, choice = 1; step < 20000; step++) {
    choice = choice * 1664525 + 1013904223;
    uintptr_t item = 1 + (choice >> 8) % ITEMS;
    if (there[item])
      kymo_hash_table_change(&table, hash(item), item, 0);
    else
      assert_true(kymo_hash_table_add(&table, arena, hash(item), item));
    there[item] = !there[item];
    count += there[item] ? 1 : UINT32_MAX;
    assert_int_equal(table.count, count);
    assert_true(table.count <= table.size / 2);
    assert_int_equal(has(&table, hash(item), item), there[item]);
  }
  assert_true(kymo_hash_table_copy(&copy, &table));
  for (uintptr_t item = 1; item <= ITEMS; item++) {
    assert_int_equal(has(&table, hash(item), item), there[item]);
    assert_int_equal(has(&copy, hash(item), item), there[item]);
  }
  kymo_hash_table_free(&copy);
  kymo_hash_table_clear(&table);
  for (uintptr_t item = 1; item <= ITEMS; item++)
    assert_false(has(&table, hash(item), item));
  if (!arena)
    kymo_hash_table_free(&table);
}

static void tables_find_what_was_added_and_nothing_else(void **state) {
  (void)state;
  struct kymo_arena arena = {0};
  check_table(crowded, NULL);
  check_table(spread, NULL);
  check_table(spread, &arena);
  kymo_arena_free(&arena);
}

static void tables_hold_several_items_of_one_hash(void **state) {
  (void)state;
  struct kymo_hash_table table = {0};
  uint32_t at = 5;
  assert_int_equal(kymo_hash_table_next(&table, 5, &at), 0);
  for (uintptr_t item = 1; item <= 3; item++)
    assert_true(kymo_hash_table_add(&table, NULL, 5, item));
  kymo_hash_table_change(&table, 5, 2, 9);
  at = 5;
  assert_int_equal(kymo_hash_table_next(&table, 5, &at), 1);
  assert_int_equal(kymo_hash_table_next(&table, 5, &at), 9);
  assert_int_equal(kymo_hash_table_next(&table, 5, &at), 3);
  assert_int_equal(kymo_hash_table_next(&table, 5, &at), 0);
  kymo_hash_table_free(&table);
  assert_int_equal(table.size, 0);
}

/* ---- paths ---- */

static void joined_paths_fit_or_are_empty(void **state) {
  (void)state;
  char path[8] = "xxxxxxx";
  assert_true(kymo_path_join(path, sizeof path, "abc", "def"));
  assert_string_equal(path, "abc/def");
  assert_true(kymo_path_join(path, sizeof path, "", ""));
  assert_string_equal(path, "/");
  errno = 0;
  assert_false(kymo_path_join(path, sizeof path, "abc", "defg"));
  assert_int_equal(errno, ENAMETOOLONG);
  assert_string_equal(path, "");
  assert_false(kymo_path_join(path, sizeof path, "abcdefgh", ""));
  assert_false(kymo_path_join(path, sizeof path, "abcdefg", ""));
  assert_true(kymo_path_join(path, sizeof path, "abcdef", ""));
  assert_string_equal(path, "abcdef/");
}

/* ---- UTF-8 ---- */

static void characters_are_written_and_read_alike(void **state) {
  (void)state;
  for (uint32_t character = 0; character <= 0x10FFFF; character++) {
    char bytes[4], *end = kymo_put_character(bytes, character);
    const uint8_t *at = (const uint8_t *)bytes;
    size_t length = (size_t)(end - bytes);
    bool is_bad = kymo_is_surrogate(character);
    assert_int_equal(length, character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4);
    assert_int_equal(kymo_character_length(bytes, length), is_bad ? 0 : length);
    assert_int_equal(kymo_next_utf8(&at, (const uint8_t *)end), is_bad ? KYMO_BAD_CHARACTER : character);
    assert_int_equal((const char *)at - bytes, is_bad ? 1 : length);
    assert_int_equal(length > 1 ? kymo_character_length(bytes, length - 1) : 0, 0); /* cut */
  }
}

static void bytes_that_are_no_character_are_refused(void **state) {
  (void)state;
  static const char *const bad[] = {
      "\x80",
      "\xbf",
      "\xc0\x80",
      "\xc1\xbf",
      "\xe0\x80\x80",
      "\xe0\x9f\xbf",
      "\xed\xa0\x80",
      "\xed\xbf\xbf",
      "\xf0\x8f\xbf\xbf",
      "\xf4\x90\x80\x80",
      "\xf5\x80\x80\x80",
      "\xff",
      "\xc2\x20",
      "\xe2\x82\x20",
      "\xf0\x9f\x98\x20",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const uint8_t *at = (const uint8_t *)bad[i], *begin = at;
    assert_int_equal(kymo_character_length(bad[i], strlen(bad[i])), 0);
    assert_int_equal(kymo_next_utf8(&at, at + strlen(bad[i])), KYMO_BAD_CHARACTER);
    assert_int_equal(at - begin, 1);
  }
  char replaced[5] = "";
  kymo_put_character(replaced, 0x110000);
  assert_string_equal(replaced, "\xef\xbf\xbd");
}

static void pairs_of_utf16_are_one_character(void **state) {
  (void)state;
  static const uint8_t units[] = {0x3D, 0xD8, 0x00, 0xDE, 0x00, 0xDE, 0x41, 0x00, 0x3D, 0xD8, 0x42};
  static const uint32_t expected[] = {0x1F600, KYMO_BAD_CHARACTER, 'A', KYMO_BAD_CHARACTER,
                                      KYMO_BAD_CHARACTER};
  const uint8_t *at = units, *end = units + sizeof units;
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
    assert_int_equal(kymo_next_utf16(&at, end, false), expected[i]);
  assert_ptr_equal(at, end);
  at = units + 1; /* D8 00, DE 00 */
  assert_int_equal(kymo_next_utf16(&at, end, true), 0x10200);
}

static void check_text(const struct kymo_error *error, const char *expected) {
  char text[2048];
  assert_string_equal(kymo_error_text(error, text, sizeof text), expected);
}

static void errors_show_where_and_why(void **state) {
  (void)state;
  struct kymo_error error;
  assert_int_equal(kymo_fail(&error, KYMO_E_USAGE, "no %s", "sense"), KYMO_E_USAGE);
  check_text(&error, "no sense");
  assert_int_equal(kymo_fail_at(&error, KYMO_E_FORMAT, "a/b", 12, "magic is %x", 0xc1u), KYMO_E_FORMAT);
  check_text(&error, "a/b: byte 12: magic is c1");
  kymo_fail_at(&error, KYMO_E_FORMAT, "a/b", KYMO_ERROR_NO_OFFSET, "empty");
  check_text(&error, "a/b: empty");
  errno = ENOENT;
  assert_int_equal(kymo_fail_errno(&error, "a/b", "cannot open"), KYMO_E_SYSTEM);
  check_text(&error, "a/b: cannot open: No such file or directory");
  assert_int_equal(kymo_fail(NULL, KYMO_E_LIMIT, "nobody listens"), KYMO_E_LIMIT);
}

static void errors_in_texts_show_the_line_and_a_caret(void **state) {
  (void)state;
  struct kymo_error error;
  static const char text[] = "first\n\tint \xc3\xa4 x;\r\nlast";
  assert_int_equal(kymo_fail_text(&error, "f", text, sizeof text - 1, 14, "bad"), KYMO_E_SYNTAX);
  assert_int_equal(error.line, 2);
  assert_int_equal(error.column, 9);
  check_text(&error, "f:2:9: error: bad\n  \tint \xc3\xa4 x;\n  \t      ^");
  kymo_fail_text(&error, "f", text, sizeof text - 1, sizeof text - 1, "ends too soon");
  check_text(&error, "f:3:5: error: ends too soon\n  last\n      ^");
  kymo_fail_text(&error, "f", "", 0, 99, "empty");
  check_text(&error, "f:1:1: error: empty");
}

static void errors_in_long_lines_show_the_part_around_the_fault(void **state) {
  (void)state;
  struct kymo_error error;
  char line[5001], text[2048];
  memset(line, '.', 5000);
  line[5000] = '\0';
  for (uint64_t at = 0; at < 5000; at += 13) {
    line[at] = 'X';
    kymo_fail_text(&error, "f", line, 5000, at, "here");
    kymo_error_text(&error, text, sizeof text);
    const char *shown = strchr(text, '\n') + 1, *caret = strchr(shown, '\n') + 1;
    assert_int_equal(shown[strlen(caret) - 1], 'X');
    line[at] = '.';
  }
}

static void errors_cannot_steer_a_terminal(void **state) {
  (void)state;
  struct kymo_error error;
  kymo_fail_text(&error, "a\nb", "x\033[2Jy", 6, 5, "name \"\033\n\" is bad");
  check_text(&error, "a?b:1:6: error: name \"??\" is bad\n  x?[2Jy\n       ^");
}

static void long_errors_are_cut_not_overrun(void **state) {
  (void)state;
  struct kymo_error error;
  char path[2000], small[16];
  memset(path, 'p', sizeof path - 1);
  memcpy(path + sizeof path - 5, ".ctf", 5);
  kymo_fail_at(&error, KYMO_E_FORMAT, path, 0, "%s", path);
  assert_int_equal(strlen(error.file), sizeof error.file - 1);
  assert_memory_equal(error.file, "...", 3);
  assert_string_equal(error.file + strlen(error.file) - 4, ".ctf");
  assert_int_equal(strlen(error.message), sizeof error.message - 1);
  assert_int_equal(strlen(kymo_error_text(&error, small, sizeof small)), sizeof small - 1);
  kymo_error_text(&error, small, 0);
}

static bool fits(const char *pattern, const char *text) {
  struct kymo_glob glob;
  size_t at;
  assert_null(kymo_glob_make(&glob, pattern, strlen(pattern), &at));
  bool is = kymo_glob_matches(&glob, text);
  kymo_glob_free(&glob);
  return is;
}

static void globs_match_whole_texts(void **state) {
  (void)state;
  assert_true(fits("point", "point") && !fits("point", "points") && !fits("point", "a point"));
  assert_true(fits("p*t", "point") && fits("p*t", "pt") && !fits("p*t", "points"));
  assert_true(fits("p?int", "point") && !fits("p?int", "pint"));
  assert_true(fits("log[0-9]", "log7") && !fits("log[0-9]", "logx") && fits("log[!0-9]", "logx"));
  assert_true(fits("a\\*", "a*") && !fits("a\\*", "ab"));
  assert_true(fits("*", "") && fits("", "") && !fits("", "a"));
}

static void globs_that_cannot_be_meant_are_refused(void **state) {
  (void)state;
  struct kymo_glob glob;
  size_t at;
  char many[4 * KYMO_REGEX_STEPS];
  assert_non_null(kymo_glob_make(&glob, "log[0-9", 7, &at));
  assert_false(kymo_glob_matches(&glob, "log7"));
  kymo_glob_free(&glob);
  memset(many, '?', sizeof many);
  assert_string_equal(kymo_glob_make(&glob, many, sizeof many, &at), "a pattern of more than 4096 steps");
  kymo_glob_free(&glob);
}

/* Which way through the pattern is the right one is known at the end only; an engine that tries them one
 * after the other would not come to it. */
static void globs_take_time_linear_in_the_text(void **state) {
  (void)state;
  enum { STARS = 500, LENGTH = 200000 };
  char pattern[2 * STARS + 2], *text = malloc(LENGTH + 1);
  assert_non_null(text);
  for (int i = 0; i < STARS; i++)
    memcpy(&pattern[2 * i], "*a", 2);
  memcpy(&pattern[2 * STARS], "b", 2);
  memset(text, 'a', LENGTH);
  text[LENGTH] = 0;
  assert_false(fits(pattern, text));
  text[LENGTH - 1] = 'b';
  assert_true(fits(pattern, text));
  free(text);
}

/* ---- search ---- */

/* Every place in lists of up to nine elements, the first and the last included. */
static void search_finds_the_first_of_the_others(void **state) {
  (void)state;
  for (uint32_t count = 0; count < 10; count++)
    for (uint32_t first = 0; first <= count; first++) {
      uint32_t asked = 0, counted = 0;
      assert_int_equal(KYMO_COUNT_BEFORE((counted++, count), i, (asked |= 1u << i, i < first)), first);
      assert_int_equal(counted, 1);
      assert_true(asked >> count == 0);
    }
}

/* ---- lists ---- */

static void lists_grow_and_keep_their_elements(void **state) {
  uint32_t *list = NULL, capacity = 0, count = 0;
  (void)state;
  while (count < 1000) {
    assert_true(KYMO_LIST_ROOM(list, capacity, count));
    assert_true(count < capacity && capacity <= 2 * count + 8);
    list[count] = count;
    count++;
  }
  assert_true(KYMO_LIST_RESERVE(list, capacity, 5000u));
  assert_true(capacity >= 5000);
  for (uint32_t i = 0; i < count; i++)
    assert_int_equal(list[i], i);
  free(list);
}

static void lists_stop_at_their_limit(void **state) {
  uint16_t *list = NULL;
  size_t capacity = 0, count = 0;
  (void)state;
  for (; KYMO_LIST_ROOM_UP_TO(list, capacity, count, 11); count++)
    list[count] = (uint16_t)count;
  assert_int_equal(count, 11);
  assert_int_equal(capacity, 11);
  free(list);
  list = NULL;
  capacity = 0;
  assert_true(KYMO_LIST_ROOM_UP_TO(list, capacity, 0, 3)); /* fewer than a list begins with */
  assert_int_equal(capacity, 3);
  free(list);
}

static void lists_refuse_what_cannot_be_counted(void **state) {
  uint64_t *list = NULL;
  size_t capacity = 0;
  uint8_t *bytes = NULL, few = 0;
  (void)state;
  assert_false(KYMO_LIST_RESERVE(list, capacity, SIZE_MAX / 4)); /* 2^65 bytes */
  assert_true(!list && capacity == 0);
  unsigned count = 0;
  for (; count < 255; count++)
    assert_true(KYMO_LIST_ROOM(bytes, few, count));
  assert_false(KYMO_LIST_ROOM(bytes, few, count)); /* the capacity would be 0 again */
  assert_int_equal(few, 255);
  free(bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(search_finds_the_first_of_the_others),
      cmocka_unit_test(bits_equal_their_definition_everywhere),
      cmocka_unit_test(bits_touch_no_byte_behind_them),
      cmocka_unit_test(sign_extension_keeps_values_of_every_width),
      cmocka_unit_test(reversal_mirrors_the_lowest_bits),
      cmocka_unit_test(align_up_saturates),
      cmocka_unit_test(bounded_bytes_fail_softly),
      cmocka_unit_test(arena_pieces_are_zeroed_aligned_and_apart),
      cmocka_unit_test(arena_refuses_impossible_sizes),
      cmocka_unit_test(strbuf_grows_and_stays_ended),
      cmocka_unit_test(strbuf_remembers_that_memory_ran_out),
      cmocka_unit_test(hashes_are_the_published_ones),
      cmocka_unit_test(tables_find_what_was_added_and_nothing_else),
      cmocka_unit_test(tables_hold_several_items_of_one_hash),
      cmocka_unit_test(lists_grow_and_keep_their_elements),
      cmocka_unit_test(lists_stop_at_their_limit),
      cmocka_unit_test(lists_refuse_what_cannot_be_counted),
      cmocka_unit_test(joined_paths_fit_or_are_empty),
      cmocka_unit_test(characters_are_written_and_read_alike),
      cmocka_unit_test(bytes_that_are_no_character_are_refused),
      cmocka_unit_test(pairs_of_utf16_are_one_character),
      cmocka_unit_test(errors_show_where_and_why),
      cmocka_unit_test(errors_in_texts_show_the_line_and_a_caret),
      cmocka_unit_test(errors_in_long_lines_show_the_part_around_the_fault),
      cmocka_unit_test(errors_cannot_steer_a_terminal),
      cmocka_unit_test(long_errors_are_cut_not_overrun),
      cmocka_unit_test(globs_match_whole_texts),
      cmocka_unit_test(globs_that_cannot_be_meant_are_refused),
      cmocka_unit_test(globs_take_time_linear_in_the_text),
  };
  return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
