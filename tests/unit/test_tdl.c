/* SPDX-License-Identifier: MIT */
/*
 * The parser and checker of TDL: golden files (tests/tdl), every description that documents show, and cases
 * that no file of a sensible size can show.
 *
 *   pass-NAME.tdl   is right; NAME.expect has the warnings, and the checked prefixes and records
 *   fail-NAME.tdl   is wrong; NAME.expect is the error as users see it
 *
 * With KYMO_REWRITE=1 the golden test replaces its expectations by the output.
 */
#include "golden.h"
#include "lang/tdl/tdl.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_warning(void *context, const struct kymo_error *warning) {
  char message[2048];
  kymo_strbuf_printf(context, "%s\n", kymo_error_text(warning, message, sizeof message));
}

/* The checked tree, or NULL with the error's text after the warnings. */
static struct tdl_tree *check(const char *text, size_t length, struct kymo_strbuf *out) {
  struct kymo_error error = {.code = KYMO_OK};
  struct kymo_warnings warnings = {.warn = add_warning, .context = out};
  char message[2048];
  struct tdl_tree *tree = kymo_tdl_parse(text, length, "FILE", &error);
  if (tree && kymo_tdl_check(tree, &warnings, &error) == KYMO_OK)
    return tree;
  assert_true(error.code < 0);
  kymo_strbuf_printf(out, "%s\n", kymo_error_text(&error, message, sizeof message));
  kymo_tdl_free(tree);
  return NULL;
}

/* ---- the checked tree ---- */

static void show_slot(struct kymo_strbuf *out, const struct tdl_slot *slot) {
  static const char *const types[] = {"late",  "number",   "bytes",  "duration",
                                      "ticks", "fraction", "moment", "mixed"};
  kymo_strbuf_printf(out, "    %" PRIu32 " %s: %s", slot->index, slot->name ? slot->name->text : "-",
                     types[slot->type]);
  const struct {
    bool is_so;
    const char *word;
  } properties[] = {
      {slot->role, "role"},
      {slot->is_hidden, "hidden"},
      {slot->is_parameter, "parameter"},
      {slot->is_let, "let"},
      {slot->is_used, "used"},
      {slot->is_kept, "kept"},
      {slot->repeats, "sequence"},
      {slot->first && slot->first->same_slot, "variant"},
      {slot->use, "in a group"},
  };
  for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++)
    if (properties[i].is_so)
      kymo_strbuf_printf(out, ", %s", properties[i].word);
  const struct tdl_item *item = slot->first;
  if (item && item->offset_bits >= 0 && !slot->is_let)
    kymo_strbuf_printf(out, ", at bit %" PRId64, item->offset_bits);
  if (item && item->field && item->field->order)
    kymo_strbuf_printf(out, ", %s",
                       item->field->order == TDL_LITTLE ? "little"
                       : item->field->order == TDL_BIG  ? "big"
                                                        : "as ORDER says");
  if (item && item->size_slot)
    kymo_strbuf_printf(out, ", sized by %" PRIu32, item->size_slot->index);
  kymo_strbuf_puts(out, "\n");
}

static void show_tree(struct kymo_strbuf *out, const struct tdl_tree *tree) {
  for (const struct tdl_prefix *prefix = tree->prefixes; prefix; prefix = prefix->next) {
    kymo_strbuf_printf(out, "prefix %s, %" PRId64 " bits\n", prefix->name.word->text, prefix->fixed_bits);
    for (const struct tdl_slot *slot = prefix->slots; slot; slot = slot->next)
      show_slot(out, slot);
  }
  for (const struct tdl_record *record = tree->records; record; record = record->next) {
    kymo_strbuf_printf(out, "record %s, %" PRId64 " bits, %" PRIu32 " slots", record->name.word->text,
                       record->fixed_bits, record->slot_count);
    if (record->when_slot)
      kymo_strbuf_printf(out, ", jump on %" PRIu32, record->when_slot->index);
    if (record->length_item)
      kymo_strbuf_printf(out, ", length in %" PRIu32, record->length_item->slot->index);
    if (record->length_after)
      kymo_strbuf_printf(out, ", length behind byte %" PRIu32 " of the text", record->length_after->at);
    kymo_strbuf_puts(out, "\n");
    for (const struct tdl_slot *slot = record->slots; slot; slot = slot->next)
      show_slot(out, slot);
  }
  for (const struct tdl_constant *constant = tree->constants; constant; constant = constant->next)
    if (constant->expr->type != TDL_BYTES)
      kymo_strbuf_printf(out, "constant %s = %" PRId64 "\n", constant->name.word->text,
                         (int64_t)constant->expr->value.integer.low);
}

/* ---- golden files ---- */

static bool try_golden(const char *path, bool should_pass, struct kymo_strbuf *out) {
  struct kymo_strbuf text = {0};
  assert_true(read_file(path, &text));
  struct tdl_tree *tree = check(text.text, text.length, out);
  bool ok = !tree == !should_pass;
  if (tree)
    show_tree(out, tree);
  kymo_strbuf_puts(out, "");
  kymo_tdl_free(tree);
  kymo_strbuf_free(&text);
  return ok;
}

static void golden_files_come_out_as_expected(void **state) {
  (void)state;
  check_golden_files("tdl", ".tdl", try_golden, 100);
}

/* ---- descriptions in documents ---- */

/* Each TRACE … END TRACE. of the text; its own warnings are ignored. */
static int check_traces(const char *text, const char *end, const char *path) {
  int traces = 0;
  for (const char *at = text; (at = strstr(at, "TRACE ")) && at < end; traces++) {
    const char *last = strstr(at, "END TRACE.");
    assert_non_null(last);
    last += strlen("END TRACE.");
    struct kymo_strbuf out = {0};
    struct tdl_tree *tree = check(at, (size_t)(last - at), &out);
    if (!tree)
      print_error("%s: %.40s\n%s\n", path, at, out.text);
    assert_non_null(tree);
    kymo_tdl_free(tree);
    kymo_strbuf_free(&out);
    at = last;
  }
  return traces;
}

/* All blocks between ```tdl and ``` of a document; their number of traces, 0 if there is no document. */
static int check_document(const char *path) {
  struct kymo_strbuf text = {0};
  int traces = 0;
  if (!read_file(path, &text))
    return 0;
  for (const char *at = text.text; (at = strstr(at, "```tdl\n"));) {
    at += strlen("```tdl\n");
    const char *end = strstr(at, "```");
    assert_non_null(end);
    traces += check_traces(at, end, path);
    at = end + 3;
  }
  kymo_strbuf_free(&text);
  return traces;
}

static void documents_show_right_descriptions(void **state) {
  (void)state;
  char path[2048];
  const char *source = getenv("KYMO_SOURCE");
  snprintf(path, sizeof path, "%s/docs/tdl.md", source ? source : "..");
  assert_true(check_document(path) >= 3);
}

static void the_proposal_holds_right_descriptions(void **state) {
  (void)state;
  char path[2048];
  const char *shared = getenv("KYMO_SHARED");
  snprintf(path, sizeof path, "%s/tdl.md", shared ? shared : "../shared");
  int traces = check_document(path);
  if (traces == 0)
    skip();
  assert_true(traces >= 14);
}

/* ---- limits ---- */

/* Checks a description made of a head, `count` times a piece, and a tail; returns the first line of the
 * result. */
static const char *check_many(const char *head, const char *piece, size_t count, const char *tail) {
  static char line[512];
  struct kymo_strbuf text = {0}, out = {0};
  kymo_strbuf_puts(&text, head);
  for (size_t i = 0; i < count; i++)
    kymo_strbuf_puts(&text, piece);
  kymo_strbuf_puts(&text, tail);
  assert_false(text.failed);
  struct tdl_tree *tree = check(text.text, text.length, &out);
  snprintf(line, sizeof line, "%.*s", out.text ? (int)strcspn(out.text, "\n") : 0, out.text ? out.text : "");
  kymo_tdl_free(tree);
  kymo_strbuf_free(&text);
  kymo_strbuf_free(&out);
  return line;
}

#define HEAD "TRACE t; BYTES LITTLE; "
#define TAIL " LAYOUT REPEAT r; END TRACE."

static void limits_are_told(void **state) {
  (void)state;
  assert_string_equal(check_many(HEAD "RECORD r EVENT IS a: UNSIGNED 8; ", "IF a THEN ", 200, ""),
                      "FILE:1:700: error: E61 expected at most 64 levels of nesting");
  assert_string_equal(check_many(HEAD "CONST c=", "(", 100000, "1;"),
                      "FILE:1:96: error: E61 expected at most 64 levels of nesting");
  assert_string_equal(check_many(HEAD "CONST c=", "- ", 100000, "1;"),
                      "FILE:1:158: error: E61 expected at most 64 levels of nesting");
  assert_string_equal(check_many(HEAD "CONST c=1", "+1", 100000, ";"),
                      "FILE:1:32: error: E61 expected an expression of at most 1000 steps");
  assert_string_equal(check_many(HEAD "RECORD r EVENT IS a: ", "ARRAY 1 OF ", 1000, "UNSIGNED 8; END;" TAIL),
                      "FILE:1:744: error: E61 expected at most 64 levels of nesting");
  assert_string_equal(check_many(HEAD "RECORD r EVENT IS ", ": UNSIGNED 8; ", 70000, "END;" TAIL),
                      "FILE:1:917546: error: E61 expected at most 65536 items");
  assert_string_equal(check_many("", " ", (4u << 20) + 1, ""),
                      "FILE:1:1: error: E61 expected at most 4194304 bytes of text, found 4194305");
}

/* Groups that double with each level. */
static void groups_cannot_grow_without_bound(void **state) {
  (void)state;
  struct kymo_strbuf text = {0}, out = {0};
  kymo_strbuf_puts(&text, HEAD "GROUP g0 IS a: UNSIGNED 8; END; ");
  for (int i = 1; i < 40; i++)
    kymo_strbuf_printf(&text, "GROUP g%d IS x: USE g%d; y: USE g%d; END; ", i, i - 1, i - 1);
  kymo_strbuf_puts(&text, "RECORD r EVENT IS USE g39; END;" TAIL);
  assert_null(check(text.text, text.length, &out));
  assert_non_null(strstr(out.text, "E61 expected groups that grow to fewer fields"));
  kymo_strbuf_free(&text);
  kymo_strbuf_free(&out);
}

static void many_names_are_quick(void **state) {
  (void)state;
  struct kymo_strbuf text = {0}, out = {0};
  kymo_strbuf_puts(&text, HEAD "RECORD r EVENT IS ");
  for (int i = 0; i < 30000; i++)
    kymo_strbuf_printf(&text, "n%d: UNSIGNED 8 LENGTH OF d%d; d%d: BYTES; ", i, i, i);
  kymo_strbuf_puts(&text, "END;" TAIL);
  struct tdl_tree *tree = check(text.text, text.length, &out);
  assert_non_null(tree);
  assert_int_equal(tree->records->slot_count, 60000);
  kymo_tdl_free(tree);
  kymo_strbuf_free(&text);
  kymo_strbuf_free(&out);
}

static void a_zero_byte_is_no_end(void **state) {
  (void)state;
  struct kymo_strbuf out = {0};
  static const char text[] = "TRACE t;\0";
  assert_null(check(text, sizeof text - 1, &out));
  assert_non_null(strstr(out.text, "FILE:1:9: error: E11 no such character in the language: byte 0x00"));
  kymo_strbuf_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(golden_files_come_out_as_expected),
      cmocka_unit_test(documents_show_right_descriptions),
      cmocka_unit_test(the_proposal_holds_right_descriptions),
      cmocka_unit_test(limits_are_told),
      cmocka_unit_test(groups_cannot_grow_without_bound),
      cmocka_unit_test(many_names_are_quick),
      cmocka_unit_test(a_zero_byte_is_no_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
