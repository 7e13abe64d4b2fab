/* SPDX-License-Identifier: MIT */
/* Where the parts of a plan come from (lang/tdl/origin.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/fail.h"
#include "base/strbuf.h"
#include "lang/tdl/generate.h"
#include "lang/tdl/origin.h"
#include <stdlib.h>
#include <string.h>

static const char description[] = /* a number a line */
    "TRACE t; BYTES LITTLE;\n"
    "CLOCK c IS RATE head.rate;\n"
    "TABLE names KEY NUMBER HOLDS NAMES;\n"
    "GROUP pair IS\n"
    "  left: UNSIGNED 8;\n"
    "  right: STRING COUNTED UNSIGNED 8;\n"
    "END;\n"
    "RECORD head CONTROL IS\n"
    "  rate: UNSIGNED 32;\n"
    "END;\n"
    "PREFIX p IS\n"
    "  kind: UNSIGNED 8;\n"
    "  size: UNSIGNED 8;\n"
    "END;\n"
    "RECORD one EVENT WITH p WHEN kind=1\n"
    "  LENGTH size IS\n"
    "  a,\n"
    "  b: UNSIGNED 16;\n"
    "  FILLER 2 BYTES = 0;\n"
    "  CHECK a < b;\n"
    "  IF a > 3 THEN\n"
    "    USE pair;\n"
    "  END;\n"
    "  DEFINE names[a] = \"x\";\n"
    "  sum: UNSIGNED 8 CHECKSUM xor8 OVER RECORD;\n"
    "END;\n"
    "RECORD box CONTROL WITH p WHEN kind=2 LENGTH size\n"
    "  HOLDS one IS END;\n"
    "LAYOUT head;\n"
    "  REPEAT one OR box;\n"
    "END TRACE.\n";

static struct kymo_plan *plan_of(const char *text) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_schema *schema = kymo_tdl_compile(text, strlen(text), "t.tdl", NULL, &error);
  assert_non_null(schema);
  struct kymo_plan *plan = kymo_plan_open(schema, "t.tdl", &error);
  assert_non_null(plan);
  kymo_schema_release(schema);
  return plan;
}

static unsigned line_of(const struct kymo_tdl_origins *origins, enum kymo_plan_section section,
                        uint32_t index) {
  struct kymo_tdl_span span;
  unsigned line = 1;
  if (!kymo_tdl_origin_of(origins, section, index, &span))
    return 0;
  for (uint32_t i = 0; i < span.at; i++)
    line += description[i] == '\n';
  return line;
}

/* The lines of the instructions with one code. */
static void assert_lines(const struct kymo_tdl_origins *origins, const struct kymo_plan *plan,
                         enum kymo_plan_code code, const char *wanted) {
  struct kymo_strbuf lines = {0};
  for (uint32_t i = 0; i < plan->counts[KYMO_SECTION_INSTRUCTION]; i++)
    if (plan->code[i].code == (uint32_t)code)
      kymo_strbuf_printf(&lines, lines.length ? " %u" : "%u", line_of(origins, KYMO_SECTION_INSTRUCTION, i));
  assert_string_equal(lines.text ? lines.text : "", wanted);
  kymo_strbuf_free(&lines);
}

static void assert_section(const struct kymo_tdl_origins *origins, const struct kymo_plan *plan,
                           enum kymo_plan_section section, const char *wanted) {
  struct kymo_strbuf lines = {0};
  for (uint32_t i = 0; i < plan->counts[section]; i++)
    kymo_strbuf_printf(&lines, i ? " %u" : "%u", line_of(origins, section, i));
  assert_string_equal(lines.text ? lines.text : "", wanted);
  kymo_strbuf_free(&lines);
}

static void parts_come_from_their_lines(void **state) {
  (void)state;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_tdl_origins origins;
  struct kymo_plan *plan = plan_of(description);
  assert_int_equal(kymo_tdl_origins_find(&origins, plan, &error), KYMO_OK);
  assert_section(&origins, plan, KYMO_SECTION_LOAD, "12 13 9 17 18");
  assert_section(&origins, plan, KYMO_SECTION_PREFIX, "11");
  assert_section(&origins, plan, KYMO_SECTION_KIND, "8 15 27");
  assert_section(&origins, plan, KYMO_SECTION_DISPATCH, "27 29 30");
  assert_lines(&origins, plan, KYMO_DO_LOAD, "5 6 6 25"); /* those of a group are in the group */
  assert_lines(&origins, plan, KYMO_DO_LENGTH, "16 27");
  assert_lines(&origins, plan, KYMO_DO_FILL, "19");
  assert_lines(&origins, plan, KYMO_DO_CHECK, "20");
  assert_lines(&origins, plan, KYMO_DO_DEFINE, "24");
  assert_lines(&origins, plan, KYMO_DO_CHECKSUM, "25"); /* of the field, though it is computed at the end */
  kymo_tdl_origins_free(&origins);
  kymo_plan_close(plan);
}

/* A plan that is not what its text becomes has no lines, rather than wrong ones. */
static void another_version_has_no_lines(void **state) {
  (void)state;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_tdl_origins origins;
  struct kymo_plan *plan = plan_of(description);
  struct kymo_plan_root root = *plan->root;
  const struct kymo_plan_root *own = plan->root;
  struct kymo_tdl_span span;
  root.hash[2]++;
  plan->root = &root;
  assert_int_equal(kymo_tdl_origins_find(&origins, plan, &error), KYMO_E_ABSENT);
  assert_string_equal(error.message, "the description was compiled by another version");
  assert_false(kymo_tdl_origin_of(&origins, KYMO_SECTION_LOAD, 0, &span));
  root.source = KYMO_PLAN_NONE;
  assert_int_equal(kymo_tdl_origins_find(&origins, plan, &error), KYMO_E_ABSENT);
  assert_string_equal(error.message, "the compiled description has no text");
  plan->root = own;
  kymo_tdl_origins_free(&origins);
  kymo_plan_close(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_come_from_their_lines),
      cmocka_unit_test(another_version_has_no_lines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
