/* SPDX-License-Identifier: MIT */
/*
 * One table of expressions, which every evaluator computes: as a constant of a description, with fields of a
 * record by the plan machine, with the same fields on the fast path, and in a filter. All must have the
 * result of the table.
 */
#include "folder.h"
#include "base/strbuf.h"
#include "expr/operate.h"
#include "plan/plan.h"
#include "plan/fast.h"
#include <inttypes.h>
#include <kymo/filter.h>
#include <kymo/get.h>
#include <kymo/move.h>
#include <kymo/read.h>
#include <math.h>

/* ---- the table ---- */

enum {
  FAST = 1,      /* the fast path decodes a record with this LET */
  NOT_FOLDED = 2 /* of texts, or without a value: refused as a constant */
};

/* x, y, z: INTEGER 64, u: UNSIGNED 64, t: the text "ab". No result: absent. */
struct expression {
  const char *text;
  int64_t x, y, z;
  uint64_t u;
  const char *result; /* or NULL */
  unsigned how;
};

#define TRUTH(condition) "(IF " condition " THEN 1 ELSE 0)"
#define MIN64 INT64_MIN
#define MAX64 INT64_MAX

static const struct expression expressions[] = {
    /* sums, products */
    {"x + y", 2, 3, 0, 0, "5", FAST},
    {"x + y", MAX64, 1, 0, 0, "9223372036854775808", FAST},
    {"x + y", MIN64, -1, 0, 0, NULL, FAST},
    {"x + y - z", MAX64, 5, 5, 0, "9223372036854775807", FAST},
    {"u + x", 1, 0, 0, UINT64_MAX - 1, "18446744073709551615", FAST},
    {"u + x", 1, 0, 0, UINT64_MAX, NULL, FAST},
    {"u - u", 0, 0, 0, UINT64_MAX, "0", FAST},
    {"x - y", MIN64, MAX64, 0, 0, NULL, FAST},
    {"x - y", -3, -10, 0, 0, "7", FAST},
    {"x * y", -3, 7, 0, 0, "-21", FAST},
    {"x * y", MIN64, -1, 0, 0, "9223372036854775808", FAST},
    {"u * x", 2, 0, 0, UINT64_MAX, NULL, FAST},
    {"u * u * u", 0, 0, 0, UINT64_MAX, NULL, FAST}, /* beyond 128 bits on the way */
    {"u * x / x", 3, 0, 0, UINT64_MAX, "18446744073709551615", 0},
    {"-x", MIN64, 0, 0, 0, "9223372036854775808", 0},
    {"-u", 0, 0, 0, UINT64_MAX, NULL, 0},
    {"-u", 0, 0, 0, UINT64_C(1) << 63, "-9223372036854775808", 0},
    /* division truncates toward zero */
    {"x / y", 7, 2, 0, 0, "3", 0},
    {"x / y", -7, 2, 0, 0, "-3", 0},
    {"x / y", 7, -2, 0, 0, "-3", 0},
    {"x % y", -7, 2, 0, 0, "-1", 0},
    {"x % y", 7, -2, 0, 0, "1", 0},
    {"x / y", MIN64, -1, 0, 0, "9223372036854775808", 0},
    {"x % y", MIN64, -1, 0, 0, "0", 0},
    {"x / y", 1, 0, 0, 0, NULL, 0},
    {"x % y", 1, 0, 0, 0, NULL, 0},
    /* two's complement without end */
    {"x & y", -1, 255, 0, 0, "255", FAST},
    {"x & u", -1, 0, 0, UINT64_MAX, "18446744073709551615", FAST},
    {"x | y", -256, 3, 0, 0, "-253", FAST},
    {"x ^ y", -1, 1, 0, 0, "-2", FAST},
    {"x ^ u", -1, 0, 0, UINT64_MAX, NULL, FAST}, /* -2^64 */
    {"~x", 0, 0, 0, 0, "-1", 0},
    {"~u", 0, 0, 0, UINT64_MAX, NULL, 0},
    {"x << y", 1, 63, 0, 0, "9223372036854775808", 0},
    {"x << y", -1, 63, 0, 0, "-9223372036854775808", 0},
    {"x << y >> y", 3, 63, 0, 0, "3", 0},
    {"x << y", 1, 64, 0, 0, NULL, 0},
    {"x << y", 1, -1, 0, 0, NULL, 0},
    {"x >> y", -8, 1, 0, 0, "-4", 0},
    {"x >> y", -1, 63, 0, 0, "-1", 0},
    {"u >> y", 0, 63, 0, UINT64_MAX, "1", 0},
    {"x >> y", 1, 64, 0, 0, NULL, 0},
    /* functions */
    {"bits(x, y, z)", 0xabcd, 4, 8, 0, "188", 0},
    {"bits(x, y, z)", -1, 64, 8, 0, "255", 0},
    {"bits(x, y, z)", 1, 64, 8, 0, "0", 0},
    {"bits(x, y, z)", 5, 0, 0, 0, "0", 0},
    {"bits(x, y, z)", -1, 0, 64, 0, "18446744073709551615", 0},
    {"bits(x, y, z)", -1, 127, 1, 0, "1", 0},
    {"bits(x, y, z)", -1, 128, 1, 0, NULL, 0},
    {"bits(x, y, z)", -1, 0, 65, 0, NULL, 0},
    {"bits(x, y, z)", -1, -1, 1, 0, NULL, 0},
    {"signed(x, y)", 255, 8, 0, 0, "-1", 0},
    {"signed(x, y)", 127, 8, 0, 0, "127", 0},
    {"signed(u, y)", 0, 64, 0, UINT64_MAX, "-1", 0},
    {"signed(x, y)", 1, 0, 0, 0, NULL, 0},
    {"signed(x, y)", 1, 65, 0, 0, NULL, 0},
    {"power(x, y)", 2, 63, 0, 0, "9223372036854775808", 0},
    {"power(x, y)", -2, 63, 0, 0, "-9223372036854775808", 0},
    {"power(x, y)", 2, 64, 0, 0, NULL, 0},
    {"power(x, y)", 0, 0, 0, 0, "1", 0},
    {"power(x, y)", -1, 1001, 0, 0, "-1", 0},
    {"power(x, y)", 2, -1, 0, 0, NULL, 0},
    {"align(x, y)", 13, 8, 0, 0, "16", 0},
    {"align(x, y)", 16, 8, 0, 0, "16", 0},
    {"align(x - 300, y)", 0, 8, 0, 0, "-296", 0},
    {"align(x, y)", -1, 8, 0, 0, "0", 0},
    {"align(x, y)", 5, 0, 0, 0, NULL, 0},
    {"align(x, y)", 5, -8, 0, 0, NULL, 0},
    {"min(x, y, z)", 3, -1, 2, 0, "-1", 0},
    {"max(x, y, u)", 3, -1, 0, UINT64_MAX, "18446744073709551615", 0},
    {"min(x, y)", 4, 4, 0, 0, "4", 0},
    {"default(x, y)", 4, 5, 0, 0, "4", 0},
    {"default(x / y, z)", 4, 0, 9, 0, "9", NOT_FOLDED},
    {"present(x / y)", 4, 0, 0, 0, "0", NOT_FOLDED},
    {"present(x)", 0, 0, 0, 0, "1", 0},
    /* what is computed of an absent value is absent */
    {"x + 1 / y", 4, 0, 0, 0, NULL, 0},
    {"min(x, 1 / y)", 4, 0, 0, 0, NULL, 0},
    {"bits(x, 0, 1 / y)", 4, 0, 0, 0, NULL, 0},
    /* relations are exact over all numbers; those of absent values are false */
    {TRUTH("x < u"), -1, 0, 0, UINT64_MAX, "1", FAST},
    {TRUTH("x = u"), -1, 0, 0, UINT64_MAX, "0", FAST},
    {TRUTH("x <> y"), 1, 2, 0, 0, "1", FAST},
    {TRUTH("x <= y"), 2, 2, 0, 0, "1", FAST},
    {TRUTH("x > y"), MIN64, MAX64, 0, 0, "0", FAST},
    {TRUTH("x >= y"), MAX64, MIN64, 0, 0, "1", FAST},
    {TRUTH("u * x > u"), MAX64, 0, 0, UINT64_MAX, "1", FAST}, /* between operators there are 128 bits */
    {TRUTH("x IN (1 .. 3, 7)"), 7, 0, 0, 0, "1", 0},
    {TRUTH("x IN (1 .. 3, 7)"), 4, 0, 0, 0, "0", 0},
    {TRUTH("x / y = x / y"), 1, 0, 0, 0, "0", NOT_FOLDED},
    {TRUTH("x / y <> 1"), 1, 0, 0, 0, "0", NOT_FOLDED},
    {TRUTH("NOT x / y = 1"), 1, 0, 0, 0, "1", NOT_FOLDED},
    {TRUTH("NOT x = 1 AND y = 2 OR z = 3"), 0, 2, 0, 0, "1", FAST},
    {TRUTH("NOT x = 1 AND y = 2 OR z = 3"), 1, 2, 3, 0, "1", FAST},
    {TRUTH("NOT x = 1 AND y = 2 OR z = 3"), 1, 2, 0, 0, "0", FAST},
    /* texts */
    {TRUTH("t = \"ab\""), 0, 0, 0, 0, "1", NOT_FOLDED},
    {TRUTH("t <> \"ab\""), 0, 0, 0, 0, "0", NOT_FOLDED},
    {TRUTH("text(t, x) = \"b\""), 1, 0, 0, 0, "1", NOT_FOLDED},
    {TRUTH("text(t, x) = \"\""), 2, 0, 0, 0, "1", NOT_FOLDED},
    {TRUTH("text(t, x) <> \"\""), 3, 0, 0, 0, "0", NOT_FOLDED}, /* absent */
    {"SIZE OF t", 0, 0, 0, 0, "2", NOT_FOLDED},
};

/* ---- texts and files ---- */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* The expression with the numbers in place of x, y, z and u. */
static void put_constant(struct kymo_strbuf *out, const struct expression *of) {
  for (const char *at = of->text; *at; at++) {
    bool is_name = strchr("xyzu", *at) && !is_letter(at[1]) && (at == of->text || !is_letter(at[-1]));
    if (is_name && *at == 'u')
      kymo_strbuf_printf(out, "%" PRIu64, of->u);
    else if (is_name)
      kymo_strbuf_printf(out, "(%" PRId64 ")", *at == 'x' ? of->x : *at == 'y' ? of->y : of->z);
    else
      kymo_strbuf_add(out, at, 1);
  }
}

/* A field of signed numbers has no space for it: then the record says whether it is the result. */
static bool is_large(const struct expression *of) {
  return of->result && *of->result != '-' && strtoull(of->result, NULL, 10) > INT64_MAX;
}

/* `is_general`: with a LET that the fast path does not know. */
static int describe(struct kymo_schema **key, const struct expression *of, bool is_constant, bool is_general,
                    struct kymo_error *error) {
  struct kymo_strbuf text = {0};
  kymo_strbuf_puts(&text,
                   "TRACE t VERSION 3;\nBYTES LITTLE;\nRECORD rec EVENT IS\nx: INTEGER 64;\ny: INTEGER 64;\n"
                   "z: INTEGER 64;\nu: UNSIGNED 64;\nt: STRING 2;\nLET r = ");
  if (is_constant)
    put_constant(&text, of);
  else if (is_large(of))
    kymo_strbuf_printf(&text, TRUTH("%s = %s"), of->text, of->result);
  else
    kymo_strbuf_puts(&text, of->text);
  kymo_strbuf_printf(&text, ";\n%sEND;\nLAYOUT REPEAT rec;\nEND TRACE.\n",
                     is_general ? "LET slow = ~x;\n" : "");
  int status = kymo_description_compile(key, text.text, text.length, "expr.tdl", "tdl", error);
  kymo_strbuf_free(&text);
  return status;
}

/* Two records, so that the fast path has a stretch. */
static void write_records(const char *path, const struct expression *of) {
  const uint64_t numbers[] = {(uint64_t)of->x, (uint64_t)of->y, (uint64_t)of->z, of->u};
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  for (unsigned record = 0; record < 2; record++) {
    for (unsigned i = 0; i < 4; i++)
      for (unsigned byte = 0; byte < 8; byte++)
        fputc((int)(numbers[i] >> 8 * byte & 0xff), file);
    fputs("ab", file);
  }
  assert_int_equal(fclose(file), 0);
}

static struct kymo_trace *open_by(struct kymo_schema *key, const char *path) {
  struct kymo_trace_options options = {.description = key};
  struct kymo_error error = {.code = KYMO_OK};
  struct kymo_trace *trace;
  if (kymo_trace_open(&trace, &path, 1, &options, &error) != KYMO_OK)
    fail_msg("%s", error.message);
  return trace;
}

/* ---- evaluators ---- */

/* r of both records, or "absent". */
static void check_field(const struct expression *of, const char *how, const char *expected,
                        struct kymo_schema *key, const char *path) {
  struct kymo_trace *trace = open_by(key, path);
  struct kymo_error error = {.code = KYMO_OK};
  const struct kymo_event *event;
  for (unsigned record = 0; record < 2; record++) {
    char found[32] = "absent";
    int64_t number;
    uint64_t positive;
    assert_int_equal(kymo_trace_next(trace, &event, &error), KYMO_OK);
    uint32_t field = kymo_field_id(trace, event->class_, "r");
    if (kymo_event_get_int(event, field, &number) == KYMO_OK)
      snprintf(found, sizeof found, "%" PRId64, number);
    else if (kymo_event_get_uint(event, field, &positive) == KYMO_OK)
      snprintf(found, sizeof found, "%" PRIu64, positive);
    if (strcmp(found, expected) != 0)
      fail_msg("%s of %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRIu64 " as %s: expected %s, found %s",
               of->text, of->x, of->y, of->z, of->u, how, expected, found);
  }
  kymo_trace_close(trace);
}

static void check_constant(const struct expression *of, const char *path) {
  struct kymo_schema *key;
  struct kymo_error error = {.code = KYMO_OK};
  if (of->how & NOT_FOLDED)
    return;
  int status = describe(&key, of, true, true, &error);
  if (!of->result) {
    bool is_refused = status != KYMO_OK && strstr(error.message, "E41 ");
    if (!is_refused)
      fail_msg("%s, of constants: expected no value, found %d %s", of->text, status, error.message);
    return;
  }
  if (status != KYMO_OK)
    fail_msg("%s, of constants: %s", of->text, error.message);
  check_field(of, "constant", of->result, key, path);
  kymo_description_release(key);
}

static bool has_fast_path(struct kymo_schema *schema) {
  struct kymo_error error = {.code = KYMO_OK};
  struct kymo_plan *plan = kymo_plan_open(schema, "expr.key", &error);
  assert_non_null(plan);
  struct kymo_fast_path *fast = kymo_fast_path_new(plan, 0);
  bool is_fast = fast != NULL;
  kymo_fast_path_free(fast);
  kymo_plan_close(plan);
  return is_fast;
}

static void check_records(const struct expression *of, const char *path) {
  for (unsigned is_general = 0; is_general < 2; is_general++) {
    struct kymo_schema *key;
    struct kymo_error error = {.code = KYMO_OK};
    if (describe(&key, of, false, is_general, &error) != KYMO_OK)
      fail_msg("%s: %s", of->text, error.message);
    bool is_fast = has_fast_path(key), expected = !is_general && of->how & FAST && !is_large(of);
    if (is_fast != expected)
      fail_msg("%s: expected %s fast path", of->text, expected ? "a" : "no");
    check_field(of, is_fast ? "fast path" : "LET",
                is_large(of) ? "1"
                : of->result ? of->result
                             : "absent",
                key, path);
    kymo_description_release(key);
  }
}

static void check_filter(const struct expression *of, const char *path) {
  struct kymo_schema *key;
  struct kymo_error error = {.code = KYMO_OK};
  struct kymo_strbuf text = {0};
  struct expression plain = {.text = "x"};
  assert_int_equal(describe(&key, &plain, false, false, &error), KYMO_OK);
  struct kymo_trace *trace = open_by(key, path);
  const struct kymo_schema *schema = kymo_trace_part(trace, 0)->schema;
  struct kymo_filter_options options = {.schemas = &schema, .schema_count = 1};
  struct kymo_filter *filter;
  const struct kymo_event *event;
  /* beyond the language's numbers a filter still has a value between operators, and no literal for it */
  if (of->result)
    kymo_strbuf_printf(&text, "%s = %s", of->text, of->result);
  else
    kymo_strbuf_printf(&text, "NOT (%s IN (-9223372036854775808 .. 18446744073709551615))", of->text);
  if (kymo_filter_compile(&filter, text.text, text.length, &options, &error) != KYMO_OK ||
      kymo_filter_attach(trace, filter, &error) != KYMO_OK)
    fail_msg("%s: %s", text.text, error.message);
  kymo_filter_release(filter);
  for (unsigned record = 0; record < 2; record++)
    if (kymo_trace_next_filtered(trace, &event, &error) != KYMO_OK)
      fail_msg("the filter %s does not select %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRIu64, text.text,
               of->x, of->y, of->z, of->u);
  kymo_strbuf_free(&text);
  kymo_trace_close(trace);
  kymo_description_release(key);
}

static void check_all(void (*check)(const struct expression *, const char *)) {
  const char *path = below("records");
  for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
    write_records(path, &expressions[i]);
    check(&expressions[i], path);
  }
}

static void constants_have_the_results_of_the_table(void **state) {
  (void)state;
  check_all(check_constant);
}
static void records_have_the_results_of_the_table(void **state) {
  (void)state;
  check_all(check_records);
}
static void filters_have_the_results_of_the_table(void **state) {
  (void)state;
  check_all(check_filter);
}

/* ---- values that fields of descriptions cannot have ---- */

static struct kymo_expr_value real(double f) {
  return (struct kymo_expr_value){.sort = KYMO_SORT_FLOAT, .f = f};
}
static struct kymo_expr_value whole(int64_t n) { return kymo_value_number(kymo_wide_of_i64(n)); }
static struct kymo_expr_value span(int64_t ps) {
  return (struct kymo_expr_value){.sort = KYMO_SORT_SPAN, .n = kymo_wide_of_i64(ps)};
}
static struct kymo_expr_value moment(int64_t ns) {
  return (struct kymo_expr_value){.sort = KYMO_SORT_MOMENT, .n = kymo_wide_of_i64(ns)};
}
static struct kymo_expr_value text(const char *bytes) {
  return kymo_value_bytes((const uint8_t *)bytes, strlen(bytes));
}
static const struct kymo_expr_value absent = {.sort = KYMO_SORT_ABSENT};

/* The result is this value, or absent for a reason. */
static void expect(enum kymo_operation what, struct kymo_expr_value a, struct kymo_expr_value b,
                   struct kymo_expr_value expected, bool is_wrong) {
  struct kymo_expr_value x[] = {a, b, absent};
  const char *wrong = kymo_operate(what, x, x);
  assert_int_equal(wrong != NULL, is_wrong);
  assert_int_equal(x->sort, expected.sort);
  assert_true(expected.sort == KYMO_SORT_ABSENT || kymo_value_is_equal(x, &expected));
}

static void fractions_and_times_have_the_results_that_filters_had(void **state) {
  (void)state;
  expect(KYMO_OP_ADD, real(0.5), whole(1), real(1.5), false);
  expect(KYMO_OP_DIVIDE, whole(1), real(4), real(0.25), false);
  expect(KYMO_OP_DIVIDE, real(1), whole(0), absent, true);
  expect(KYMO_OP_REMAINDER, real(1), whole(2), absent, true);
  expect(KYMO_OP_NEGATE, real(0.5), absent, real(-0.5), false);
  expect(KYMO_OP_BITS, real(0.5), whole(0), absent, false); /* the third operand is absent */
  expect(KYMO_OP_SIGNED, real(0.5), whole(8), absent, true);
  expect(KYMO_OP_MINIMUM, real(0.5), whole(1), real(0.5), false);
  expect(KYMO_OP_MINIMUM, real(NAN), whole(1), absent, true);
  expect(KYMO_OP_MAXIMUM, text("a"), text("b"), absent, true);
  expect(KYMO_OP_ADD, text("a"), whole(1), absent, true);
  expect(KYMO_OP_ADD, span(2000), span(500), span(2500), false);
  expect(KYMO_OP_MULTIPLY, whole(3), span(500), span(1500), false);
  expect(KYMO_OP_MULTIPLY, span(500), real(0.5), span(250), false);
  expect(KYMO_OP_DIVIDE, span(500), whole(2), span(250), false);
  expect(KYMO_OP_DIVIDE, whole(2), span(500), absent, true);
  expect(KYMO_OP_DIVIDE, span(500), span(200), whole(2), false);
  expect(KYMO_OP_MULTIPLY, span(500), span(200), absent, true);
  expect(KYMO_OP_NEGATE, span(500), absent, span(-500), false);
  expect(KYMO_OP_COMPLEMENT, span(500), absent, absent, true);
  expect(KYMO_OP_ADD, span(500), whole(1), absent, true);
  expect(KYMO_OP_ADD, moment(7), span(2000), moment(9), false);
  expect(KYMO_OP_ADD, span(2000), moment(7), moment(9), false);
  expect(KYMO_OP_SUBTRACT, moment(7), span(2000), moment(5), false);
  expect(KYMO_OP_SUBTRACT, span(2000), moment(7), absent, true);
  expect(KYMO_OP_SUBTRACT, moment(7), moment(5), span(2000), false);
  expect(KYMO_OP_ADD, moment(7), moment(5), absent, true);
  expect(KYMO_OP_NEGATE, moment(7), absent, absent, true);
}

static void relations_of_what_does_not_compare_are_false(void **state) {
  (void)state;
  const struct kymo_expr_value pairs[][2] = {
      {real(NAN), real(NAN)}, {real(NAN), whole(1)}, {text("1"), whole(1)}, {span(1), whole(1)},
      {moment(1), whole(1)},  {moment(1), span(1)},  {absent, absent},      {absent, whole(0)},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    for (enum kymo_operation what = KYMO_OP_EQUAL; what <= KYMO_OP_GREATER_EQUAL; what++) {
      assert_false(kymo_relation_holds(what, &pairs[i][0], &pairs[i][1]));
      assert_false(kymo_relation_holds(what, &pairs[i][1], &pairs[i][0]));
    }
  const struct kymo_expr_value a = text("a"), b = text("b");
  assert_true(kymo_relation_holds(KYMO_OP_UNEQUAL, &a, &b));
  assert_false(kymo_relation_holds(KYMO_OP_LESS, &a, &b));
}

static void conditions_are_true_of_what_is_not_zero(void **state) {
  (void)state;
  const struct kymo_expr_value yes[] = {whole(-1), real(0.1), span(1), moment(-1)};
  const struct kymo_expr_value no[] = {whole(0), real(0), real(NAN), span(0), text("yes"), absent};
  for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
    assert_true(kymo_value_is_true(&yes[i]));
  for (size_t i = 0; i < sizeof no / sizeof *no; i++)
    assert_false(kymo_value_is_true(&no[i]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(constants_have_the_results_of_the_table, make_top, remove_top),
      cmocka_unit_test_setup_teardown(records_have_the_results_of_the_table, make_top, remove_top),
      cmocka_unit_test_setup_teardown(filters_have_the_results_of_the_table, make_top, remove_top),
      cmocka_unit_test(fractions_and_times_have_the_results_that_filters_had),
      cmocka_unit_test(relations_of_what_does_not_compare_are_false),
      cmocka_unit_test(conditions_are_true_of_what_is_not_zero),
  };
  return cmocka_run_group_tests_name("expr", tests, NULL, NULL);
}
