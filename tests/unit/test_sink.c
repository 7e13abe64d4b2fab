/* SPDX-License-Identifier: MIT */
/* The parts of outputs: numbers, characters, JSON, labels, variants around values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "print/json_writer.h"
#include "print/labels.h"
#include "print/unicode.h"
#include "print/wrap.h"
#include "schema/parts.h"
#include <inttypes.h>
#include <kymo/sink.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 88172645463325252u;

static uint64_t random_bits(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return seed >> (seed & 63);
}

/* ---- numbers ---- */

static void assert_puts(const char *expected, char *text, char *end) {
  *end = '\0';
  assert_string_equal(text, expected);
}

static void assert_number(uint64_t value) {
  char text[72], expected[72];
  snprintf(expected, sizeof expected, "%" PRIu64, value);
  assert_puts(expected, text, kymo_put_u64(text, value));
  snprintf(expected, sizeof expected, "%" PRId64, (int64_t)value);
  assert_puts(expected, text, kymo_put_i64(text, (int64_t)value));
  snprintf(expected, sizeof expected, "%" PRIX64, value);
  assert_puts(expected, text, kymo_put_hex(text, value, true));
  snprintf(expected, sizeof expected, "%" PRIx64, value);
  assert_puts(expected, text, kymo_put_hex(text, value, false));
  snprintf(expected, sizeof expected, "%" PRIo64, value);
  assert_puts(expected, text, kymo_put_octal(text, value));
  snprintf(expected, sizeof expected, "%09" PRIu32, (uint32_t)(value % 1000000000));
  assert_puts(expected, text, kymo_put_nanoseconds(text, (uint32_t)(value % 1000000000)));
}

static void integers_print_as_printf_does(void **state) {
  (void)state;
  for (int i = 0; i < 20000; i++)
    assert_number(random_bits());
  for (uint64_t power = 1;; power *= 10) {
    assert_number(power - 1);
    assert_number(power);
    assert_number(power + 1);
    if (power > UINT64_MAX / 10)
      break;
  }
  assert_number(UINT64_MAX);
  assert_number(UINT64_C(1) << 63);
}

static void binary_has_all_its_bits(void **state) {
  (void)state;
  char text[72];
  assert_puts("1", text, kymo_put_binary(text, 1, 1));
  assert_puts("00101", text, kymo_put_binary(text, 5, 5));
  assert_int_equal(kymo_put_binary(text, UINT64_MAX, 64) - text, 64);
}

static void floats_read_back_as_the_same_value(void **state) {
  (void)state;
  for (int i = 0; i < 20000; i++) {
    uint64_t bits = random_bits() << (i % 8 * 8);
    double value;
    char text[40];
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value))
      continue;
    *kymo_put_double(text, value, false, true) = '\0';
    assert_true(strtod(text, NULL) == value);
    float single = (float)value;
    if (!isfinite(single))
      continue;
    *kymo_put_double(text, single, true, true) = '\0';
    assert_true(strtof(text, NULL) == single);
  }
}

static void floats_are_short_and_keep_their_point(void **state) {
  (void)state;
  char text[40];
  assert_puts("0.1", text, kymo_put_double(text, 0.1, false, true));
  assert_puts("0.1", text, kymo_put_double(text, 0.1f, true, true));
  assert_puts("0.10000000149011612", text, kymo_put_double(text, 0.1f, false, true));
  assert_puts("5.0", text, kymo_put_double(text, 5, false, true));
  assert_puts("5", text, kymo_put_double(text, 5, false, false));
  assert_puts("-0.0", text, kymo_put_double(text, -0.0, false, true));
  assert_puts("1e+300", text, kymo_put_double(text, 1e300, false, true));
}

/* ---- characters ---- */

static uint32_t first_of(enum kymo_encoding encoding, const char *bytes, size_t size, size_t *taken) {
  const uint8_t *from = (const uint8_t *)bytes, *at = from;
  uint32_t character = kymo_next_character(encoding, &at, from + size);
  *taken = (size_t)(at - from);
  return character;
}

static void utf8_round_trips_every_character(void **state) {
  (void)state;
  for (uint32_t character = 0; character <= 0x10FFFF; character++) {
    char text[4];
    size_t size = (size_t)(kymo_put_character(text, character) - text), taken;
    uint32_t back = first_of(KYMO_ENCODING_UTF8, text, size, &taken);
    bool is_surrogate = character >= 0xD800 && character <= 0xDFFF;
    assert_int_equal(back, is_surrogate ? KYMO_BAD_CHARACTER : character);
    assert_int_equal(taken, is_surrogate ? 1 : size);
  }
}

static void unsound_utf8_is_taken_byte_by_byte(void **state) {
  (void)state;
  static const char *const bad[] = {"\x80",
                                    "\xC0\x80",
                                    "\xC1\xBF",
                                    "\xE0\x80\x80",
                                    "\xED\xA0\x80",
                                    "\xF0\x80\x80\x80",
                                    "\xF4\x90\x80\x80",
                                    "\xF8\x88\x80\x80\x80",
                                    "\xFF",
                                    "\xC3",
                                    "\xE2\x82",
                                    "\xC3("};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    size_t taken;
    assert_int_equal(first_of(KYMO_ENCODING_UTF8, bad[i], strlen(bad[i]), &taken), KYMO_BAD_CHARACTER);
    assert_int_equal(taken, 1);
  }
}

static void utf16_and_utf32_decode_in_both_orders(void **state) {
  (void)state;
  size_t taken;
  assert_int_equal(first_of(KYMO_ENCODING_UTF16LE, "\xAC\x20", 2, &taken), 0x20AC);
  assert_int_equal(first_of(KYMO_ENCODING_UTF16BE, "\x20\xAC", 2, &taken), 0x20AC);
  assert_int_equal(first_of(KYMO_ENCODING_UTF16LE, "\x3D\xD8\x00\xDE", 4, &taken), 0x1F600);
  assert_int_equal(taken, 4);
  assert_int_equal(first_of(KYMO_ENCODING_UTF16BE, "\xD8\x3D\xDE\x00", 4, &taken), 0x1F600);
  assert_int_equal(first_of(KYMO_ENCODING_UTF32LE, "\x00\xF6\x01\x00", 4, &taken), 0x1F600);
  assert_int_equal(first_of(KYMO_ENCODING_UTF32BE, "\x00\x01\xF6\x00", 4, &taken), 0x1F600);
}

static void cut_or_lonely_units_are_bad_characters(void **state) {
  (void)state;
  size_t taken;
  assert_int_equal(first_of(KYMO_ENCODING_UTF16LE, "\x41", 1, &taken), KYMO_BAD_CHARACTER);
  assert_int_equal(taken, 1);
  assert_int_equal(first_of(KYMO_ENCODING_UTF16LE, "\x3D\xD8", 2, &taken), KYMO_BAD_CHARACTER);
  assert_int_equal(first_of(KYMO_ENCODING_UTF16LE, "\x00\xDE\x41\x00", 4, &taken), KYMO_BAD_CHARACTER);
  assert_int_equal(taken, 2);
  assert_int_equal(first_of(KYMO_ENCODING_UTF32LE, "\x41\x00\x00", 3, &taken), KYMO_BAD_CHARACTER);
  assert_int_equal(first_of(KYMO_ENCODING_UTF32LE, "\x00\x00\x11\x00", 4, &taken), KYMO_BAD_CHARACTER);
}

/* ---- JSON ---- */

struct written {
  struct kymo_out out;
  struct kymo_json json;
  char *text;
  size_t size;
  FILE *file;
};

static struct kymo_json *begin_writing(struct written *written) {
  written->file = open_memstream(&written->text, &written->size);
  assert_non_null(written->file);
  assert_int_equal(kymo_out_begin(&written->out, written->file, NULL), KYMO_OK);
  kymo_json_start(&written->json, &written->out);
  return &written->json;
}

static void end_writing(struct written *written, const char *expected) {
  assert_int_equal(kymo_out_finish(&written->out, NULL), KYMO_OK);
  fclose(written->file);
  if (expected)
    assert_string_equal(written->text, expected);
}

static void json_puts_commas_where_they_belong(void **state) {
  (void)state;
  struct written written;
  struct kymo_json *json = begin_writing(&written);
  kymo_json_begin(json, '{');
  kymo_json_key(json, "a");
  kymo_json_begin(json, '[');
  kymo_json_end(json, ']');
  kymo_json_fixed_key(json, "b");
  kymo_json_begin(json, '[');
  kymo_json_uint(json, 1);
  kymo_json_begin(json, '{');
  kymo_json_end(json, '}');
  kymo_json_bool(json, false);
  kymo_json_null(json);
  kymo_json_end(json, ']');
  kymo_json_label(json, ",\"c\":                                ", 5);
  kymo_json_text(json, "x");
  kymo_json_key(json, "d");
  kymo_json_hex(json, (const uint8_t *)"\x00\xAB", 2);
  kymo_json_end(json, '}');
  end_writing(&written, "{\"a\":[],\"b\":[1,{},false,null],\"c\":\"x\",\"d\":\"00ab\"}");
  free(written.text);
}

static void json_numbers_are_exact(void **state) {
  (void)state;
  struct written written;
  struct kymo_json *json = begin_writing(&written);
  kymo_json_begin(json, '[');
  kymo_json_uint(json, UINT64_MAX);
  kymo_json_int(json, INT64_MIN);
  kymo_json_float(json, 0.1, false);
  kymo_json_float(json, NAN, false);
  kymo_json_float(json, INFINITY, false);
  kymo_json_float(json, -INFINITY, true);
  kymo_json_end(json, ']');
  end_writing(&written, "[18446744073709551615,-9223372036854775808,0.1,\"NaN\",\"Infinity\",\"-Infinity\"]");
  free(written.text);
}

static void json_strings_are_escaped_and_sound(void **state) {
  (void)state;
  struct written written;
  struct kymo_json *json = begin_writing(&written);
  kymo_json_begin(json, '[');
  kymo_json_string(json, (const uint8_t *)"\0\"\\/\b\f\n\r\t\x1f\x7f", 11, KYMO_ENCODING_UTF8);
  kymo_json_string(json, (const uint8_t *)"\xC3\xA9\xFF\xF0\x9F\x98\x80\xE2", 8, KYMO_ENCODING_NONE);
  kymo_json_string(json, (const uint8_t *)"A\0\"\0\x3D\xD8\x00\xDE", 8, KYMO_ENCODING_UTF16LE);
  kymo_json_string(json, (const uint8_t *)"\xC2\x9B\xE2\x80\xAE\xC2\xA0", 7, KYMO_ENCODING_UTF8);
  kymo_json_end(json, ']');
  end_writing(&written, "[\"\\u0000\\\"\\\\/\\b\\f\\n\\r\\t\\u001f\\u007f\","
                        "\"\xC3\xA9\xEF\xBF\xBD\xF0\x9F\x98\x80\xEF\xBF\xBD\","
                        "\"A\\\"\xF0\x9F\x98\x80\",\"\\u009b\\u202e\xC2\xA0\"]");
  free(written.text);
}

static void long_strings_pass_through_a_full_buffer(void **state) {
  (void)state;
  struct written written;
  struct kymo_json *json = begin_writing(&written);
  size_t size = 3 * KYMO_OUT_SIZE + 17;
  uint8_t *bytes = malloc(size);
  assert_non_null(bytes);
  memset(bytes, '"', size);
  kymo_json_string(json, bytes, size, KYMO_ENCODING_UTF8);
  end_writing(&written, NULL);
  assert_int_equal(written.size, 2 * size + 2);
  for (size_t i = 0; i < size; i++)
    assert_memory_equal(written.text + 1 + 2 * i, "\\\"", 2);
  free(bytes);
  free(written.text);
}

static void nesting_beyond_the_limit_is_harmless(void **state) {
  (void)state;
  struct written written;
  struct kymo_json *json = begin_writing(&written);
  for (int i = 0; i < 3 * KYMO_JSON_DEPTH; i++)
    kymo_json_begin(json, '[');
  for (int i = 0; i < 3 * KYMO_JSON_DEPTH; i++)
    kymo_json_end(json, ']');
  end_writing(&written, NULL);
  assert_int_equal(written.size, 6 * KYMO_JSON_DEPTH);
  free(written.text);
}

static void the_first_failed_write_is_remembered(void **state) {
  (void)state;
  struct kymo_out out;
  struct kymo_error error;
  FILE *full = fopen("/dev/full", "w");
  if (!full)
    skip();
  assert_int_equal(kymo_out_begin(&out, full, NULL), KYMO_OK);
  for (size_t i = 0; i < KYMO_OUT_SIZE; i++)
    kymo_out_literal(&out, "more than the buffer holds");
  assert_int_equal(kymo_out_check(&out, &error), KYMO_E_SYSTEM);
  assert_non_null(strstr(error.message, "No space left"));
  assert_int_equal(kymo_out_finish(&out, &error), KYMO_E_SYSTEM);
  fclose(full);
}

/* ---- labels ---- */

/* Returns the bits of flags that have no name. */
static uint64_t assert_labels(const struct kymo_type *type, uint64_t value, const char *expected) {
  struct kymo_labels labels = kymo_labels_begin(type, value);
  char found[100] = "";
  for (const char *label; (label = kymo_labels_next(&labels)) != NULL;)
    snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s", *found ? " " : "", label);
  assert_string_equal(found, expected);
  return labels.rest;
}

static void each_label_comes_once_in_its_order(void **state) {
  (void)state;
  const struct kymo_mapping mappings[] = {{"A", 0, 5}, {"A", 3, 9}, {"B", 5, 5}, {"C", (uint64_t)-2, 7}};
  const struct kymo_type type = {
      .kind = KYMO_KIND_INTEGER, .is_signed = true, .mapping_count = 4, .mappings = mappings};
  assert_labels(&type, 5, "A B C");
  assert_labels(&type, (uint64_t)-1, "C");
  assert_labels(&type, 10, "");
}

static void unsigned_ranges_reach_the_largest_value(void **state) {
  (void)state;
  const struct kymo_mapping mappings[] = {{"TOP", UINT64_C(1) << 63, UINT64_MAX}};
  const struct kymo_type type = {.kind = KYMO_KIND_INTEGER, .mapping_count = 1, .mappings = mappings};
  assert_labels(&type, UINT64_MAX, "TOP");
  assert_labels(&type, 1, "");
}

static void flags_name_their_bits(void **state) {
  (void)state;
  const struct kymo_mapping mappings[] = {{"LOW", 0, 1}, {"HIGH", 63, 63}, {"FAR", 200, 300}};
  const struct kymo_type type = {.kind = KYMO_KIND_BITMAP, .mapping_count = 3, .mappings = mappings};
  uint64_t value = UINT64_C(1) << 63 | 2 | 8;
  assert_int_equal(assert_labels(&type, value, "LOW HIGH"), 8);
}

static void a_flag_is_set_if_any_of_its_bits_is(void **state) {
  (void)state;
  const struct kymo_mapping mappings[] = {{"READ", 0, 0}, {"WRITE", 1, 1}, {"BOTH", 0, 1},
                                          {"ODD", 2, 2},  {"ODD", 4, 4},   {"ALL", 0, 2}};
  const struct kymo_type type = {.kind = KYMO_KIND_BITMAP, .mapping_count = 6, .mappings = mappings};
  assert_labels(&type, 0, "");
  assert_labels(&type, 1, "READ BOTH ALL");
  assert_labels(&type, 3, "READ WRITE BOTH ALL");
  assert_labels(&type, 16, "ODD");
  assert_labels(&type, 4, "ODD ALL");
  assert_int_equal(assert_labels(&type, 9, "READ BOTH ALL"), 8);
  assert_int_equal(assert_labels(&type, 40, ""), 40);
}

/* ---- variants and optionals ---- */

static void wraps_are_counted_through_nested_variants(void **state) {
  (void)state;
  const struct kymo_type number = {.kind = KYMO_KIND_INTEGER}, text = {.kind = KYMO_KIND_STRING};
  const struct kymo_member inner_options[] = {{.name = "n", .type = &number}, {.name = "t", .type = &text}};
  const struct kymo_type inner = {.kind = KYMO_KIND_VARIANT, .member_count = 2, .members = inner_options};
  const struct kymo_type optional = {.kind = KYMO_KIND_OPTIONAL, .element = &inner};
  const struct kymo_member outer_options[] = {{.name = "a", .type = &text}, {.name = "b", .type = &optional}};
  const struct kymo_type outer = {.kind = KYMO_KIND_VARIANT, .member_count = 2, .members = outer_options};
  struct kymo_value value = {.type = &number, .option = &inner_options[0]};
  assert_int_equal(kymo_wrap_count(&outer, &value), 3);
  value = (struct kymo_value){.type = &text, .option = &outer_options[0]};
  assert_int_equal(kymo_wrap_count(&outer, &value), 1);
  value = (struct kymo_value){.type = &optional, .option = &outer_options[1]};
  assert_int_equal(kymo_wrap_count(&outer, &value), 1);
  value = (struct kymo_value){.type = &number};
  assert_int_equal(kymo_wrap_count(&number, &value), 0);
}

/* ---- descriptors ---- */

static void built_in_sinks_have_the_descriptor_of_plug_ins(void **state) {
  (void)state;
  for (size_t i = 0; kymo_sink_list()[i]; i++) {
    const struct kymo_sink *sink = kymo_sink_list()[i];
    assert_int_equal(sink->abi_version, KYMO_SINK_ABI_VERSION);
    assert_int_equal(sink->size_bytes, sizeof *sink);
    assert_true(sink->begin && sink->event && sink->end && !sink->flush == !sink->grow);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(built_in_sinks_have_the_descriptor_of_plug_ins),
      cmocka_unit_test(integers_print_as_printf_does),
      cmocka_unit_test(binary_has_all_its_bits),
      cmocka_unit_test(floats_read_back_as_the_same_value),
      cmocka_unit_test(floats_are_short_and_keep_their_point),
      cmocka_unit_test(utf8_round_trips_every_character),
      cmocka_unit_test(unsound_utf8_is_taken_byte_by_byte),
      cmocka_unit_test(utf16_and_utf32_decode_in_both_orders),
      cmocka_unit_test(cut_or_lonely_units_are_bad_characters),
      cmocka_unit_test(json_puts_commas_where_they_belong),
      cmocka_unit_test(json_numbers_are_exact),
      cmocka_unit_test(json_strings_are_escaped_and_sound),
      cmocka_unit_test(long_strings_pass_through_a_full_buffer),
      cmocka_unit_test(nesting_beyond_the_limit_is_harmless),
      cmocka_unit_test(the_first_failed_write_is_remembered),
      cmocka_unit_test(each_label_comes_once_in_its_order),
      cmocka_unit_test(unsigned_ranges_reach_the_largest_value),
      cmocka_unit_test(flags_name_their_bits),
      cmocka_unit_test(a_flag_is_set_if_any_of_its_bits_is),
      cmocka_unit_test(wraps_are_counted_through_nested_variants),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
