/* SPDX-License-Identifier: MIT */
/* Which metadata a registry belongs to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "schema/build.h"
#include "schema/registry.h"
#include "schema/registry_metadata.h"
#include <stdlib.h>

static const char text[] = "preamble; event one; event two;";
static const size_t pieces[] = {9, 21, 31};

/* A registry of nothing whose text comes in three pieces; `ends` has the end of each. */
static struct kymo_strbuf sample(size_t ends[3]) {
  struct kymo_builder *builder = kymo_builder_new();
  struct kymo_registry_writer writer;
  struct kymo_strbuf out = {0};
  kymo_registry_begin(&writer, &out, builder);
  for (size_t i = 0, from = 0; i < 3; from = pieces[i++]) {
    kymo_registry_append_text(&out, text + from, pieces[i] - from);
    ends[i] = out.length;
  }
  assert_false(out.failed);
  kymo_builder_free(builder);
  return out;
}

static void a_registry_covers_its_own_text(void **state) {
  (void)state;
  size_t ends[3], length = strlen(text);
  struct kymo_strbuf out = sample(ends);
  struct kymo_schema *schema;
  assert_int_equal(kymo_registry_covers(out.text, out.length, text, length), length);
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(kymo_registry_covers(out.text, ends[i], text, length), pieces[i]);
    assert_int_equal(kymo_registry_covers(out.text, ends[i] + 5, text, length),
                     pieces[i]); /* the next one is torn */
  }
  assert_int_equal(kymo_registry_read(&schema, out.text, out.length, "FILE", NULL), 0);
  kymo_schema_release(schema);
  kymo_strbuf_free(&out);
}

static void another_text_is_not_covered(void **state) {
  (void)state;
  size_t ends[3], length = strlen(text);
  struct kymo_strbuf out = sample(ends);
  for (size_t i = 0; i < length; i++) {
    char other[sizeof text];
    memcpy(other, text, sizeof text);
    other[i] ^= 1;
    assert_int_equal(kymo_registry_covers(out.text, out.length, other, length), 0);
    assert_int_equal(kymo_registry_covers(out.text, out.length, text, i),
                     0); /* it knows more than there is */
  }
  assert_int_equal(
      kymo_registry_covers(out.text, out.length, "preamble; event one; event two; event three;", 44), length);
  kymo_strbuf_free(&out);
}

static void untrusted_bytes_cover_nothing(void **state) {
  (void)state;
  size_t ends[3], length = strlen(text);
  struct kymo_strbuf out = sample(ends);
  for (size_t at = 0; at < out.length; at++)
    for (unsigned bit = 0; bit < 8; bit++) {
      out.text[at] ^= (char)(1 << bit);
      assert_true(kymo_registry_covers(out.text, out.length, text, length) < length || (at >= 4 && at < 8) ||
                  (at >= 12 && at < 80));
      out.text[at] ^= (char)(1 << bit);
    }
  for (size_t size = 0; size < out.length; size++) {
    char *cut = malloc(size + !size);
    assert_non_null(cut);
    memcpy(cut, out.text, size);
    assert_true(kymo_registry_covers(cut, size, text, length) < length);
    free(cut);
  }
  kymo_strbuf_free(&out);
}

static void an_extent_grows_by_whole_pieces(void **state) {
  (void)state;
  size_t ends[3], piece = 0;
  struct kymo_strbuf out = sample(ends);
  struct kymo_registry_extent extent = {0};
  for (size_t size = 0; size <= out.length; size++) {
    kymo_registry_extend(&extent, out.text + extent.registry, size - extent.registry);
    piece += piece < 3 && ends[piece] == size;
    assert_int_equal(extent.registry, piece ? ends[piece - 1] : 0);
    assert_int_equal(extent.text, piece ? pieces[piece - 1] : 0);
  }
  struct kymo_registry_extent none = {0};
  kymo_registry_extend(&none, text, sizeof text);
  assert_int_equal(none.registry, 0);
  kymo_strbuf_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_registry_covers_its_own_text),
      cmocka_unit_test(another_text_is_not_covered),
      cmocka_unit_test(untrusted_bytes_cover_nothing),
      cmocka_unit_test(an_extent_grows_by_whole_pieces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
