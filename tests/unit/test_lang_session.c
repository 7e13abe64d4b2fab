/* SPDX-License-Identifier: MIT */
/* What all languages share of a compilation: the first error, memory, and UUIDs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lang/text/cursor.h"
#include "lang/text/session.h"
#include "schema/build.h"
#include <string.h>

struct toy_session {
  int own;
  struct kymo_lang_session common;
};

static const char text[] = "one\ntwo three\n";

static struct toy_session begin(struct kymo_error *error) {
  return (struct toy_session){
      .common = {.text = text, .length = strlen(text), .file = "FILE", .what = "toys", .error = error}};
}

static void the_first_error_stays(void **state) {
  (void)state;
  struct kymo_error error;
  struct toy_session session = begin(&error);
  assert_false(kymo_lang_fail(&session, 8, "expected %s", "four"));
  assert_false(kymo_lang_fail(&session, 0, "another"));
  assert_false(kymo_lang_no_memory(&session));
  assert_null(kymo_lang_new(&session, SIZE_MAX, 2));
  assert_true(session.common.failed);
  assert_int_equal(error.code, KYMO_E_SYNTAX);
  assert_int_equal(error.line, 2);
  assert_int_equal(error.column, 5);
  assert_string_equal(error.file, "FILE");
  assert_string_equal(error.message, "expected four");
}

static void memory_that_runs_out_is_an_error(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    struct kymo_error error;
    struct kymo_arena kept = {0};
    struct toy_session session = begin(&error);
    session.common.keep = &kept;
    void *memory = i == 0   ? kymo_lang_new(&session, SIZE_MAX / 2, 4)
                   : i == 1 ? kymo_lang_keep(&session, SIZE_MAX / 2, 4)
                            : kymo_lang_keep_text(&session, text, SIZE_MAX);
    assert_null(memory);
    assert_true(session.common.failed);
    assert_int_equal(error.code, KYMO_E_MEMORY);
    assert_string_equal(error.message, "out of memory while compiling toys");
    kymo_lang_end(&session);
    kymo_arena_free(&kept);
  }
}

static void an_error_needs_no_receiver(void **state) {
  (void)state;
  struct toy_session session = begin(NULL);
  assert_false(kymo_lang_fail(&session, 1000, "expected %d", 4));
  assert_true(session.common.failed);
  session = begin(NULL);
  assert_false(kymo_lang_no_memory(&session));
  assert_true(session.common.failed);
}

static void kept_memory_outlives_the_session(void **state) {
  (void)state;
  struct kymo_arena kept = {0};
  struct toy_session session = begin(NULL);
  session.common.keep = &kept;
  const char *word = kymo_lang_keep_text(&session, text + 4, 3);
  const char *zeros = kymo_lang_keep(&session, 1000, 1);
  char *temporary = kymo_lang_new(&session, 10, 1);
  assert_non_null(temporary);
  memset(temporary, 'x', 10);
  kymo_lang_end(&session);
  assert_string_equal(word, "two");
  for (int i = 0; i < 1000; i++)
    assert_int_equal(zeros[i], 0);
  kymo_arena_free(&kept);
}

static void what_is_built_lives_on_and_what_failed_is_freed(void **state) {
  (void)state;
  for (int is_good = 0; is_good <= 1; is_good++) {
    struct kymo_error error = {.code = KYMO_OK};
    struct toy_session session = begin(&error);
    struct kymo_builder *builder = kymo_lang_builder(&session);
    assert_non_null(builder);
    kymo_builder_schema(builder)->trace_name = kymo_lang_keep_text(&session, text, 3);
    assert_non_null(kymo_lang_new(&session, 1, 1000));
    struct kymo_schema *schema = kymo_lang_finish(&session, builder, is_good);
    assert_int_equal(schema != NULL, is_good);
    if (schema)
      assert_string_equal(schema->trace_name, "one");
    kymo_schema_release(schema);
  }
  struct toy_session session = begin(NULL);
  assert_null(kymo_lang_finish(&session, NULL, false));
}

static void a_uuid_has_32_digits_and_4_dashes(void **state) {
  (void)state;
  static const char good[] = "00112233-4455-6677-8899-aABbcCDdeEFf";
  uint8_t uuid[16];
  const char *end = kymo_parse_uuid(good, uuid);
  assert_ptr_equal(end, good + strlen(good));
  for (int i = 0; i < 16; i++)
    assert_int_equal(uuid[i], i * 0x11);
  for (size_t i = 0; i < strlen(good); i++) {
    static const char others[] = {'\0', 'g', '/', ':', '@', '`', ' ', '\x10', '\xb0'};
    for (size_t j = 0; j < sizeof others; j++) {
      char bad[sizeof good];
      memcpy(bad, good, sizeof good);
      bad[i] = others[j];
      assert_null(kymo_parse_uuid(bad, uuid));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_error_stays),
      cmocka_unit_test(memory_that_runs_out_is_an_error),
      cmocka_unit_test(an_error_needs_no_receiver),
      cmocka_unit_test(kept_memory_outlives_the_session),
      cmocka_unit_test(what_is_built_lives_on_and_what_failed_is_freed),
      cmocka_unit_test(a_uuid_has_32_digits_and_4_dashes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
