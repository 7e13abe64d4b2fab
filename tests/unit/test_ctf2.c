/* SPDX-License-Identifier: MIT */
/*
 * The CTF 2 compiler: golden files (tests/ctf2), whole corpora (where KYMO_SHARED has them), and the round
 * trip schema → JSON → schema, which keeps the hashes of everything.
 *
 *   pass-NAME.json   compiles; NAME.expect is what the writer makes of the schema
 *   fail-NAME.json   does not; NAME.expect is the error as users see it
 *
 * With KYMO_REWRITE=1 the golden test replaces its expectations by the output.
 */
#include "golden.h"
#include "format/metadata.h"
#include "lang/ctf2/ctf2.h"
#include "lang/ctf2/write.h"
#include "lang/tsdl/tsdl.h"
#include "schema_sample.h"
#include <ftw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define RECORD "\x1e"
#define PREAMBLE RECORD "{\"type\":\"preamble\",\"version\":2}\n"

/* ---- what survives being written ---- */

static bool same_hash(const struct kymo_hash *a, const struct kymo_hash *b) {
  return a->low == b->low && a->high == b->high;
}

static const char *type_differs(const struct kymo_type *a, const struct kymo_type *b) {
  if (!a || !b)
    return a == b ? NULL : "presence of a scope";
  if (!same_hash(&a->hashes.content, &b->hashes.content))
    return "content of a scope";
  return same_hash(&a->hashes.layout, &b->hashes.layout) ? NULL : "layout of a scope";
}

static const char *event_differs(const struct kymo_event_class *a, const struct kymo_event_class *b) {
  if (!same_hash(&a->hashes.content, &b->hashes.content))
    return "content of an event class";
  if (!same_hash(&a->hashes.layout, &b->hashes.layout))
    return "layout of an event class";
  if (a->id != b->id || a->level != b->level || !same_text(a->name, b->name) ||
      !same_text(a->group, b->group))
    return "id, level, name or group of an event class";
  if (!same_text(a->uri, b->uri) || !same_text(a->description, b->description))
    return "uri or description of an event class";
  if (!same_text(a->source_file, b->source_file) || a->source_line != b->source_line ||
      !same_text(a->template_text, b->template_text))
    return "source or template of an event class";
  return NULL;
}

static const char *stream_differs(const struct kymo_stream_class *a, const struct kymo_stream_class *b) {
  const char *what = type_differs(a->packet_context, b->packet_context);
  what = what ? what : type_differs(a->event_header, b->event_header);
  what = what ? what : type_differs(a->common_context, b->common_context);
  if (a->id != b->id || !same_text(a->name, b->name) || a->event_count != b->event_count)
    return "id, name or number of events of a stream class";
  if ((a->clock ? a->clock->index : UINT32_MAX) != (b->clock ? b->clock->index : UINT32_MAX))
    return "clock of a stream class";
  for (uint32_t i = 0; !what && i < a->event_count; i++)
    what = event_differs(a->events[i], b->events[i]);
  return what;
}

static const char *clock_differs(const struct kymo_clock *a, const struct kymo_clock *b) {
  static const uint64_t cycles[] = {0, 1, 1000, UINT64_C(1) << 40};
  for (size_t i = 0; i < sizeof cycles / sizeof cycles[0]; i++)
    if (kymo_clock_ns(a, cycles[i]) != kymo_clock_ns(b, cycles[i]))
      return "times of a clock";
  bool same = same_text(a->name, b->name) && same_text(a->description, b->description) &&
              a->frequency == b->frequency && a->precision == b->precision &&
              a->origin_is_epoch == b->origin_is_epoch && a->has_uuid == b->has_uuid &&
              memcmp(a->uuid, b->uuid, 16) == 0 && same_text(a->origin_namespace, b->origin_namespace) &&
              same_text(a->origin_name, b->origin_name) && same_text(a->origin_uid, b->origin_uid);
  return same ? NULL : "a clock";
}

static const char *trace_differs(const struct kymo_schema *a, const struct kymo_schema *b) {
  if (a->order != b->order || a->has_uuid != b->has_uuid || memcmp(a->uuid, b->uuid, 16) != 0 ||
      !same_text(a->trace_name, b->trace_name) || !a->machine != !b->machine)
    return "order, uuid, name or machine";
  if (a->machine && memcmp(a->machine, b->machine, sizeof *a->machine) != 0)
    return "machine";
  if (a->environment_count != b->environment_count || a->clock_count != b->clock_count ||
      a->stream_count != b->stream_count)
    return "number of parts";
  for (uint32_t i = 0; i < a->environment_count; i++)
    if (!same_text(a->environment[i]->name, b->environment[i]->name) ||
        !same_text(a->environment[i]->text, b->environment[i]->text) ||
        a->environment[i]->integer != b->environment[i]->integer)
      return "environment";
  return NULL;
}

/* What differs, or NULL. */
static const char *schema_differs(const struct kymo_schema *a, const struct kymo_schema *b) {
  const char *what = trace_differs(a, b);
  what = what ? what : type_differs(a->packet_header, b->packet_header);
  for (uint32_t i = 0; !what && i < a->clock_count; i++)
    what = clock_differs(a->clocks[i], b->clocks[i]);
  for (uint32_t i = 0; !what && i < a->stream_count; i++)
    what = stream_differs(a->streams[i], b->streams[i]);
  return what;
}

/* Writes the schema, compiles what was written, compares, and writes again. False with a message if
 * anything differs. */
static bool survives_round_trip(const char *path, const struct kymo_schema *schema,
                                struct kymo_strbuf *written) {
  struct kymo_error error;
  struct kymo_strbuf second = {0};
  char message[1024];
  kymo_ctf2_write(written, schema);
  struct kymo_schema *again = kymo_ctf2_compile(written->text, written->length, "written", &error);
  if (!again) {
    print_error("%s: %s\n", path, kymo_error_text(&error, message, sizeof message));
    return false;
  }
  const char *what = schema_differs(schema, again);
  kymo_ctf2_write(&second, again);
  if (!what && strcmp(written->text, second.text) != 0)
    what = "what is written of it";
  if (what)
    print_error("%s: another %s behind the round trip\n", path, what);
  kymo_schema_release(again);
  kymo_strbuf_free(&second);
  return !what;
}

/* ---- golden files ---- */

/* Compiles one golden file; the result goes to `out`. False if it is not as its name says. */
static bool try_golden(const char *path, bool should_pass, struct kymo_strbuf *out) {
  struct kymo_strbuf text = {0};
  struct kymo_error error;
  char message[2048];
  assert_true(read_file(path, &text));
  struct kymo_schema *schema = kymo_ctf2_compile(text.text, text.length, "FILE", &error);
  bool ok = !schema == !should_pass;
  if (schema)
    ok &= survives_round_trip(path, schema, out);
  else
    kymo_strbuf_printf(out, "%s\n", kymo_error_text(&error, message, sizeof message));
  kymo_schema_release(schema);
  kymo_strbuf_free(&text);
  return ok;
}

static void golden_files_come_out_as_expected(void **state) {
  (void)state;
  check_golden_files("ctf2", ".json", try_golden, 40);
}

static bool check_tsdl(const char *path, golden_try *unused) {
  (void)unused;
  struct kymo_strbuf text = {0}, written = {0};
  if (!strstr(path, "/pass-"))
    return true;
  assert_true(read_file(path, &text));
  struct kymo_schema *schema = kymo_tsdl_compile(text.text, text.length, "FILE", NULL);
  bool ok = schema && survives_round_trip(path, schema, &written);
  kymo_schema_release(schema);
  kymo_strbuf_free(&text);
  kymo_strbuf_free(&written);
  return ok;
}

static void what_tsdl_says_survives_being_written(void **state) {
  (void)state;
  int bad = 0, files = golden_each("tsdl", ".tsdl", check_tsdl, NULL, &bad);
  if (files == 0)
    skip();
  assert_int_equal(bad, 0);
}

static void all_kinds_survive_being_written(void **state) {
  (void)state;
  struct kymo_strbuf written = {0};
  struct kymo_schema *schema = sample_schema();
  assert_non_null(schema);
  assert_true(survives_round_trip("sample", schema, &written));
  kymo_schema_release(schema);
  kymo_strbuf_free(&written);
}

/* ---- corpora ---- */

static int corpus_files, corpus_bad;

/* What a good reader says of the metadata file: 1 accept, 0 refuse, -1 a matter of taste. */
static int verdict_of(const char *path) {
  char verdict_path[4096];
  struct kymo_strbuf verdict = {0};
  snprintf(verdict_path, sizeof verdict_path - 8, "%s", path);
  memcpy(strrchr(verdict_path, '/'), "/verdict", sizeof "/verdict");
  if (!strstr(path, "/metadata-text/") || !read_file(verdict_path, &verdict))
    return -1;
  bool accepted = strstr(verdict.text, "babeltrace accept"),
       refused = strstr(verdict.text, "babeltrace refuse");
  bool yactfr = strstr(verdict.text, "yactfr accept");
  kymo_strbuf_free(&verdict);
  return accepted == yactfr || refused == !yactfr ? yactfr : -1;
}

static int check_corpus_file(const char *path, const struct stat *status, int kind, struct FTW *walk) {
  (void)status;
  uint8_t *bytes = NULL;
  size_t length = 0;
  struct kymo_strbuf written = {0};
  struct kymo_error error = {0};
  char message[2048];
  if (kind != FTW_F || strcmp(path + walk->base, "metadata") != 0 ||
      kymo_metadata_read(path, &bytes, &length, &error) < 0 || length == 0 || bytes[0] != RECORD[0]) {
    free(bytes);
    return 0;
  }
  int verdict = verdict_of(path);
  struct kymo_schema *schema = kymo_ctf2_compile((const char *)bytes, length, "metadata", &error);
  bool ok = verdict < 0 || verdict == (schema != NULL);
  if (!schema && verdict == 1)
    print_error("%s: %s\n", path, kymo_error_text(&error, message, sizeof message));
  if (schema && verdict == 0)
    print_error("%s: accepted, though both readers refuse it\n", path);
  if (!schema)
    ok &= error.line > 0 && error.column > 0 && error.message[0];
  else
    ok &= survives_round_trip(path, schema, &written);
  corpus_files++;
  corpus_bad += !ok;
  kymo_schema_release(schema);
  kymo_strbuf_free(&written);
  free(bytes);
  return 0;
}

static void corpora_are_read_as_other_readers_read_them(void **state) {
  (void)state;
  char path[2048];
  const char *shared = getenv("KYMO_SHARED");
  snprintf(path, sizeof path, "%s/data/ctf", shared ? shared : "../shared");
  if (access(path, R_OK) != 0)
    skip();
  nftw(path, check_corpus_file, 16, FTW_PHYS);
  assert_int_equal(corpus_bad, 0);
  assert_true(corpus_files > 300);
}

int main(void) {
#ifdef KYMO_WITHOUT_JANSSON
  puts("1..1\nok 1 # SKIP CTF 2: built without jansson");
  return 77;
#endif
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(golden_files_come_out_as_expected),
      cmocka_unit_test(what_tsdl_says_survives_being_written),
      cmocka_unit_test(all_kinds_survive_being_written),
      cmocka_unit_test(corpora_are_read_as_other_readers_read_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
