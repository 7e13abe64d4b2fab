/* SPDX-License-Identifier: MIT */
/* What each directive of kymo_bprintf stores, compared with bytes computed by hand; refused formats; events
 * that are cut, in pieces. */
#include "folder.h"
#include <errno.h>
#include <kymo/bprintf.h>
#include <stdio.h>
#include <stdlib.h>

static const bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

static uint8_t got[1 << 20];
static size_t got_size;

static struct kymo_log *open_stream(const struct kymo_log_options *options) {
  struct kymo_log *log = kymo_log_open(below("log"), options);
  assert_non_null(log);
  return log;
}

static void read_file(const char *name) {
  FILE *file = fopen(below(name), "rb");
  got_size = file ? fread(got, 1, sizeof got, file) : 0;
  if (file)
    fclose(file);
  remove(below(name));
}

static void close_and_read(struct kymo_log *log) {
  assert_int_equal(kymo_log_close(log), 0);
  read_file("log_thread0");
}

static void expect_bytes(const char *where, const char *bytes, size_t size) {
  if (got_size == size && !memcmp(got, bytes, size))
    return;
  fprintf(stderr, "%s: found", where);
  for (size_t i = 0; i < got_size && i < 64; i++)
    fprintf(stderr, " %02x", got[i]);
  fprintf(stderr, "\n");
  assert_int_equal(got_size, size);
  assert_memory_equal(got, bytes, size);
}

/* The event alone in a log is these bytes; by stores of the compiler, and by the long way. */
#define STORES(bytes, ...)                                                               \
  do {                                                                                   \
    struct kymo_log *stream_ = open_stream(NULL);                                        \
    assert_int_equal(kymo_bprintf(stream_, __VA_ARGS__), sizeof(bytes) - 1);             \
    close_and_read(stream_);                                                             \
    expect_bytes(#__VA_ARGS__, bytes, sizeof(bytes) - 1);                                \
    const struct kymo_barg args_[] = {KYMO_LIST_(ARGUMENT, 0, __VA_ARGS__)};             \
    stream_ = open_stream(NULL);                                                         \
    assert_int_equal(kymo_bvprintf(stream_, KYMO_BFORMAT_OF_(__VA_ARGS__, ~), args_ + 1, \
                                   sizeof args_ / sizeof *args_ - 1),                    \
                     sizeof(bytes) - 1);                                                 \
    close_and_read(stream_);                                                             \
    expect_bytes("the long way: " #__VA_ARGS__, bytes, sizeof(bytes) - 1);               \
  } while (0)
#define ARGUMENT(ID, i, previous, x) KYMO_BARG(x),
#define NATIVE(little, big, ...)   \
  do {                             \
    if (is_little)                 \
      STORES(little, __VA_ARGS__); \
    else                           \
      STORES(big, __VA_ARGS__);    \
  } while (0)

static void integers_are_stored_in_as_many_bytes_as_the_format_says(void **state) {
  (void)state;
  STORES("\x11", "%1b", 0x11);
  STORES("\x22", "%1b", 0x1122); /* upper bytes are dropped */
  NATIVE("\x22\x11", "\x11\x22", "%2b", 0x1122);
  NATIVE("\x44\x33\x22\x11", "\x11\x22\x33\x44", "%4b", 0x11223344);
  NATIVE("\x88\x77\x66\x55\x44\x33\x22\x11", "\x11\x22\x33\x44\x55\x66\x77\x88", "%8b", 0x1122334455667788);
  NATIVE("\x05\0\0\0\0\0\0\0", "\0\0\0\0\0\0\0\x05", "%b", 5);
  STORES("\xff\xff\xff\xff\xff\xff\xff\xff", "%b", -1);
  STORES("\xff\xff\xff\xff\0\0\0\0", "%<b", 0xffffffffu);
  STORES("\xfe", "%1b", (signed char)-2);
  STORES("\xfe\xff", "%<2b", (short)-2);
}

static void byte_orders_are_those_of_the_format(void **state) {
  (void)state;
  STORES("\x22\x11", "%<2b", 0x1122);
  STORES("\x11\x22", "%>2b", 0x1122);
  STORES("\x44\x33\x22\x11", "%<4b", 0x11223344);
  STORES("\x11\x22\x33\x44", "%>4b", 0x11223344);
  STORES("\x88\x77\x66\x55\x44\x33\x22\x11", "%<8b", 0x1122334455667788);
  STORES("\x11\x22\x33\x44\x55\x66\x77\x88", "%>8b", 0x1122334455667788);
  STORES("\x11\x22\x33\x44\x55\x66\x77\x88", "%>b", 0x1122334455667788);
}

static void integers_stand_in_fields(void **state) {
  (void)state;
  STORES("\0\0\0\0\x11\x22\x33\x44", "%>8.4b", 0x11223344);
  STORES("\x11\x22\x33\x44\0\0\0\0", "%->8.4b", 0x11223344);
  STORES("\0\0\x07", "%3.1b", 7);
  STORES("\x07\0\0", "%-3.1b", 7);
  STORES("\0\0\0\0\0\0\0\x09", "%>1.8b", 9); /* a field is never too small */
  STORES("\x01\x02", "%>.2b", 0x0102);
  STORES("\0\0\x01\x02", "%>*.*b", 4, 2, 0x0102);
  STORES("\x01\x02\0\0", "%>*.*b", -4, 2, 0x0102);
  STORES("\0\0\0\x05", "%>*b", 4, 5);
}

static void repetitions_take_an_argument_each(void **state) {
  (void)state;
  STORES("\x01\x02\x03", "%1b*3", 1, 2, 3);
  STORES("\0\x01\0\x02", "%>2b*2", 1, 2);
  STORES("\x01*", "%1b*", 1); /* no number: a star */
  STORES("\x01*3", "%1b*1*3", 1);
  STORES("\x01\x02!", "%1b*2!", 1, 2);
}

static void lengths_are_those_of_the_whole_event(void **state) {
  (void)state;
  STORES("\x04"
         "abc",
         "%1nabc");
  NATIVE("\x05\0"
         "abc",
         "\0\x05"
         "abc",
         "%nabc");
  STORES("\0\0\0\x07"
         "abc",
         "%>4nabc");
  STORES("a\x06\0"
         "b\x06"
         "c",
         "a%<2nb%1nc");
  STORES("\x06\x11"
         "text",
         "%1n%1b%s", 0x11, "text");
}

static void texts(void **state) {
  (void)state;
  const char *nothing = NULL;
  char array[] = "abc";
  STORES("abc", "%s", "abc");
  STORES("abc\0", "%0s", "abc");
  STORES("abc", "%s", array);
  STORES("(null)", "%s", nothing);
  STORES("  abc", "%5s", "abc");
  STORES("abc  ", "%-5s", "abc");
  STORES("ab", "%.2s", "abc");
  STORES("  ab", "%4.2s", "abc");
  STORES("ab", "%.*s", 2, "abc");
  STORES("abc", "%.*s", -1, "abc");
  STORES("ab\0", "%0.2s", "abc");
  STORES("", "%s", "");
  STORES("\0", "%0s", "");
}

static void counted_texts(void **state) {
  (void)state;
  STORES("\x03"
         "abc",
         "%1S", "abc");
  STORES("\x03\0"
         "abc",
         "%<2S", "abc");
  STORES("\0\0\0\x03"
         "abc",
         "%>4S", "abc");
  NATIVE("\x03\0"
         "abc",
         "\0\x03"
         "abc",
         "%S", "abc");
  STORES("\x02"
         "ab",
         "%1.2S", "abc");
  STORES("\x02"
         "ab",
         "%1.*S", 2, "abc");
  STORES("\0", "%1S", "");
}

static void memory_and_objects(void **state) {
  (void)state;
  static const uint8_t bytes[] = {1, 2, 0xab, 0};
  const void *none = NULL;
  STORES("\x01", "%m", bytes);
  STORES("\x01\x02\xab\0", "%.4m", bytes);
  STORES("\x01\x02", "%.*m", 2, bytes);
  STORES("\0\x01\x02", "%3.2m", bytes);
  STORES("\x01\x02\0", "%-3.2m", bytes);
  STORES("0102ab00", "%.4M", bytes);
  STORES("  0102", "%6.2M", bytes);
  STORES("", "%.4m", none);
  STORES("\x03\x01\x02\xab", "%1o", bytes, 3);
  STORES("\0\0\0\x03\x01\x02\xab", "%>o", bytes, 3);
  STORES("\0\x02\x01\x02\xab\0", "%>2.2o", bytes, 2); /* two elements of two bytes */
  STORES("\0", "%1o", none, 3);
}

static void characters_text_and_per_cents(void **state) {
  (void)state;
  const void *none = NULL;
  STORES("x", "%c", 'x');
  STORES("  x", "%3c", 'x');
  STORES("100%", "100%%");
  STORES("%%", "%%%%");
  STORES("a%1b", "a%%1b");
  STORES("5 -7 ff 0XFF 010", "%d %i %x %#X 0%u", 5, -7, 255, 255, 10);
  STORES("   42|42   |00042|+42", "%5d|%-5d|%05d|%+d", 42, 42, 42, 42);
  STORES("   42|00042", "%*d|%.*d", 5, 42, 5, 42);
  STORES("-1 4294967295 18446744073709551615 255 65535", "%d %u %lu %hhu %hu", -1, -1, -1L, -1, -1);
  STORES("0x1234 (nil)", "%p %p", (void *)0x1234, none);
  STORES("1.500000 2.5e+00 0x1p+0", "%f %.1e %a", 1.5, 2.5, 1.0);
  STORES("", "%s", "");
}

static void a_hundred_characters_are_stored_as_they_stand(void **state) {
  (void)state;
  STORES(
      "1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890",
      "1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890");
}

/* ---- refused ---- */

static void formats_that_are_not_sound_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *format;
    size_t at;
    const char *what;
  } cases[] = {
      {"%3b", 3, "%b of other than 1, 2, 4 or 8 bytes"},
      {"%.3b", 4, "%b of other than 1, 2, 4 or 8 bytes"},
      {"%0b", 3, NULL},
      {"%8n", 3, "a number of other than 1, 2 or 4 bytes"},
      {"%8S", 3, "a number of other than 1, 2 or 4 bytes"},
      {"%*n", 3, "a number of other than 1, 2 or 4 bytes"},
      {"%.2n", 4, "%n with a precision"},
      {"%<s", 3, "a byte order for what has none"},
      {"%", 1, "a directive without its letter"},
      {"ab%-", 4, "a directive without its letter"},
      {"%q", 2, "a directive without its letter"},
      {"%y", 1, "a directive that is not known"},
      {"%1$b", 2, "a directive that is not known"},
      {"%65537s", 5, "a width or precision above 65536"},
      {"%201d", 5, "a width or precision above 200"},
      {"%4b*0", 5, "a repetition of other than 1 to 64 times"},
      {"%4b*65", 6, "a repetition of other than 1 to 64 times"},
      {"%4b*64%4b", 9, "more than 64 arguments"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    size_t at = 0;
    const char *what = kymo_bformat_fault(cases[i].format, &at);
    if (!cases[i].what) {
      assert_null(what);
      continue;
    }
    assert_non_null(what);
    assert_string_equal(what, cases[i].what);
    assert_int_equal(at, cases[i].at);
  }
}

static void arguments_that_do_not_fit_are_refused(void **state) {
  (void)state;
  struct kymo_log *log = open_stream(NULL);
  const struct kymo_barg number = KYMO_BARG(1), text = KYMO_BARG("x"), real = KYMO_BARG(1.0),
                         pointer = KYMO_BARG((void *)0);
  const struct {
    const char *format;
    struct kymo_barg arg;
  } cases[] = {
      {"%b", text},    {"%b", real},    {"%b", pointer},  {"%s", number},   {"%s", pointer}, {"%S", number},
      {"%d", real},    {"%d", text},    {"%f", number},   {"%p", number},   {"%c", text},    {"%m", number},
      {"%o", pointer}, {"%*b", number}, {"%b%b", number}, {"%n%y", number},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    errno = 0;
    assert_int_equal(kymo_bvprintf(log, cases[i].format, &cases[i].arg, 1), -1);
    assert_int_equal(errno, EINVAL);
  }
  const struct kymo_barg three[] = {KYMO_BARG(3), KYMO_BARG(7)};
  assert_int_equal(kymo_bvprintf(log, "%*b", three, 2), -1); /* of 3 bytes */
  assert_int_equal(kymo_bvprintf(log, "%b", NULL, 0), -1);
  close_and_read(log);
  assert_int_equal(got_size, 0);
}

/* ---- cut ---- */

static void events_are_cut_at_the_boundary_of_a_directive(void **state) {
  (void)state;
  struct kymo_log_counts counts;
  struct kymo_log *log = open_stream(&(struct kymo_log_options){.event_bytes_max = 10});
  assert_int_equal(kymo_bprintf(log, "%1n%1b%s%s", 1, "abcd", "efghij"), 6);
  assert_int_equal(kymo_bprintf(log, "%1n%8b%2b", 0, 0), 9);
  assert_int_equal(kymo_bprintf(log, "%1n%s", "abcdefghi"), 10); /* just fits */
  kymo_log_count(log, &counts);
  assert_int_equal(counts.truncated, 2);
  close_and_read(log);
  static const char wanted[] = "\x06\x01"
                               "abcd"
                               "\x09\0\0\0\0\0\0\0\0"
                               "\x0a"
                               "abcdefghi";
  expect_bytes("cut", wanted, sizeof wanted - 1);
}

static void a_length_of_one_byte_bounds_the_event(void **state) {
  (void)state;
  char text[300];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = 0;
  struct kymo_log *log = open_stream(NULL);
  assert_int_equal(kymo_bprintf(log, "%1n%s%s", "abc", text), 4);
  /* the text is cut to the length that its number gives */
  assert_int_equal(kymo_bprintf(log, "%2n%1S!", text), 259);
  close_and_read(log);
  assert_int_equal(got_size, 263);
  assert_memory_equal(got,
                      "\x04"
                      "abc",
                      4);
  assert_int_equal(got[6], 255);
  assert_int_equal(got[262], '!');
}

/* ---- pieces ---- */

static void an_event_in_pieces_has_the_length_of_all(void **state) {
  (void)state;
  struct kymo_log *log = open_stream(NULL);
  struct kymo_bevent event;
  char room[64];
  kymo_bevent_begin(&event, log, room, sizeof room);
  assert_int_equal(kymo_bevent_printf(&event, "%>2n%1b", 7), 3);
  assert_int_equal(kymo_bprintf(log, "between"), 7);
  assert_int_equal(kymo_bevent_printf(&event, "%s%1n", "abc"), 4);
  memcpy(kymo_bevent_space(&event, 2), "xy", 2);
  assert_int_equal(kymo_bevent_commit(&event), 9);
  close_and_read(log);
  static const char wanted[] = "between\0\x09\x07"
                               "abc\x09"
                               "xy";
  expect_bytes("in pieces", wanted, sizeof wanted - 1);
}

static void pieces_that_do_not_fit_are_left_out(void **state) {
  (void)state;
  struct kymo_log *log = open_stream(NULL);
  struct kymo_bevent event;
  char room[10], text[400];
  memset(text, 'x', sizeof text);
  kymo_bevent_begin(&event, log, room, sizeof room);
  kymo_bevent_printf(&event, "%1n%s", "abcd");
  assert_int_equal(kymo_bevent_printf(&event, "%1b%s", 1, "too long"), 1);
  assert_int_equal(kymo_bevent_printf(&event, "%1b", 1), 0); /* nothing after a gap */
  assert_null(kymo_bevent_space(&event, 1));
  assert_int_equal(kymo_bevent_commit(&event), 6);
  char large[1000];
  kymo_bevent_begin(&event, log, large, sizeof large);
  kymo_bevent_printf(&event, "%.*m", 300, text);
  assert_int_equal(kymo_bevent_printf(&event, "%1n"), 0); /* it was unknown */
  assert_int_equal(kymo_bevent_commit(&event), 300);
  close_and_read(log);
  assert_int_equal(got_size, 306);
  assert_memory_equal(got,
                      "\x06"
                      "abcd\x01",
                      6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integers_are_stored_in_as_many_bytes_as_the_format_says),
      cmocka_unit_test(byte_orders_are_those_of_the_format),
      cmocka_unit_test(integers_stand_in_fields),
      cmocka_unit_test(repetitions_take_an_argument_each),
      cmocka_unit_test(lengths_are_those_of_the_whole_event),
      cmocka_unit_test(texts),
      cmocka_unit_test(counted_texts),
      cmocka_unit_test(memory_and_objects),
      cmocka_unit_test(characters_text_and_per_cents),
      cmocka_unit_test(a_hundred_characters_are_stored_as_they_stand),
      cmocka_unit_test(formats_that_are_not_sound_are_refused),
      cmocka_unit_test(arguments_that_do_not_fit_are_refused),
      cmocka_unit_test(events_are_cut_at_the_boundary_of_a_directive),
      cmocka_unit_test(a_length_of_one_byte_bounds_the_event),
      cmocka_unit_test(an_event_in_pieces_has_the_length_of_all),
      cmocka_unit_test(pieces_that_do_not_fit_are_left_out),
  };
  return cmocka_run_group_tests(tests, make_top, remove_top);
}
