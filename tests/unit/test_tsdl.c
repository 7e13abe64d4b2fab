/* SPDX-License-Identifier: MIT */
/*
 * The TSDL compiler: golden files (tests/tsdl), whole corpora (where KYMO_SHARED has them), and
 * the round trip through the TSDL writer, on all of these.
 *
 *   pass-NAME.tsdl   compiles; NAME.expect is what the writer makes of the schema
 *   fail-NAME.tsdl   does not; NAME.expect is the error as users see it
 *
 * With KYMO_REWRITE=1 the golden test replaces its expectations by the output. Called as "test_tsdl --write
 * FILE" this prints what the writer makes of a file, for run.sh.
 */
#include "golden.h"
#include "base/bytes.h"
#include "lang/tsdl/tsdl.h"
#include "lang/tsdl/write.h"
#include "schema/parts.h"
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- files ---- */

/* The text in packets of metadata; a plain text is unchanged. */
static void unpack(struct kymo_strbuf *text) {
  struct kymo_bytes bytes = {.data = (const uint8_t *)text->text, .size = text->length};
  struct kymo_strbuf content = {0};
  if (text->length < 37)
    return;
  bytes.is_big = kymo_load_be32(bytes.data) == 0x75d11d57;
  if (!bytes.is_big && kymo_load_le32(bytes.data) != 0x75d11d57)
    return;
  while (bytes.at < bytes.size) {
    size_t start = bytes.at;
    kymo_bytes_take(&bytes, 24);
    uint32_t used = kymo_bytes_u32(&bytes) / 8, size = kymo_bytes_u32(&bytes) / 8;
    bytes.at = start;
    const uint8_t *packet = kymo_bytes_take(&bytes, size);
    if (!packet || used < 37 || used > size)
      break;
    kymo_strbuf_add(&content, (const char *)packet + 37, used - 37);
  }
  kymo_strbuf_free(text);
  *text = content;
}

static struct kymo_schema *compile(const char *text, struct kymo_error *error) {
  return kymo_tsdl_compile(text, strlen(text), "FILE", error);
}

/* ---- equality of two schemas, but for the names of types ---- */

/* Where the first difference was seen. */
static char difference[200];

static bool differ(const char *what) {
  if (!difference[0])
    snprintf(difference, sizeof difference, "%s", what);
  return false;
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool same_clock(const struct kymo_clock *a, const struct kymo_clock *b) {
  if (!a || !b)
    return a == b || differ("clock");
  bool same = same_text(a->name, b->name) && same_text(a->description, b->description) &&
              a->frequency == b->frequency && a->offset_seconds == b->offset_seconds &&
              a->offset_cycles == b->offset_cycles && a->precision == b->precision &&
              a->origin_is_epoch == b->origin_is_epoch && a->has_uuid == b->has_uuid &&
              memcmp(a->uuid, b->uuid, 16) == 0;
  return same || differ(a->name);
}

static bool same_scalars(const struct kymo_type *a, const struct kymo_type *b) {
  bool same = a->kind == b->kind && a->align_bits == b->align_bits && a->size_bits == b->size_bits &&
              (a->order == b->order || a->kind > KYMO_KIND_FLOAT) && a->is_signed == b->is_signed &&
              a->base == b->base && a->encoding == b->encoding && a->roles == b->roles &&
              a->length == b->length && a->is_enumeration == b->is_enumeration &&
              a->mapping_count == b->mapping_count && a->member_count == b->member_count &&
              !a->element == !b->element;
  for (uint32_t i = 0; same && i < a->mapping_count; i++)
    same = same_text(a->mappings[i].name, b->mappings[i].name) && a->mappings[i].low == b->mappings[i].low &&
           a->mappings[i].high == b->mappings[i].high;
  return (same || differ("scalars")) && same_clock(a->clock, b->clock);
}

static bool same_reference(const struct kymo_type *a, const struct kymo_type *b) {
  const struct kymo_reference *x = &a->selector, *y = &b->selector;
  if (!a->selector_type || !b->selector_type)
    return a->selector_type == b->selector_type || differ("selector");
  return (x->scope == y->scope && x->depth == y->depth &&
          memcmp(x->steps, y->steps, x->depth * sizeof *x->steps) == 0) ||
         differ("reference");
}

static bool same_type(const struct kymo_type *a, const struct kymo_type *b) {
  if (!a || !b)
    return a == b || differ("one type is missing");
  if (!same_scalars(a, b) || !same_reference(a, b))
    return false;
  for (uint32_t i = 0; i < a->member_count; i++) {
    const struct kymo_member *x = &a->members[i], *y = &b->members[i];
    if (!same_text(x->name, y->name) || x->range_count != y->range_count ||
        memcmp(x->ranges ? x->ranges : (void *)"", y->ranges ? y->ranges : (void *)"",
               x->range_count * sizeof *x->ranges) != 0 ||
        !same_type(x->type, y->type))
      return differ(x->name);
  }
  return !a->element || same_type(a->element, b->element);
}

static bool same_event(const struct kymo_event_class *a, const struct kymo_event_class *b) {
  bool same = a->id == b->id && same_text(a->name, b->name) && a->level == b->level &&
              same_text(a->uri, b->uri) && same_type(a->specific_context, b->specific_context) &&
              same_type(a->payload, b->payload);
  return same || differ(a->name);
}

static bool same_stream(const struct kymo_stream_class *a, const struct kymo_stream_class *b) {
  bool same = a->id == b->id && a->event_count == b->event_count && same_clock(a->clock, b->clock) &&
              same_type(a->packet_context, b->packet_context) &&
              same_type(a->event_header, b->event_header) && same_type(a->common_context, b->common_context);
  for (uint32_t i = 0; same && i < a->event_count; i++)
    same = same_event(a->events[i], b->events[i]);
  return same || differ("stream");
}

static bool same_schema(const struct kymo_schema *a, const struct kymo_schema *b) {
  bool same = a->order == b->order && a->has_uuid == b->has_uuid && memcmp(a->uuid, b->uuid, 16) == 0 &&
              a->environment_count == b->environment_count && a->clock_count == b->clock_count &&
              a->stream_count == b->stream_count && same_type(a->packet_header, b->packet_header);
  for (uint32_t i = 0; same && i < a->environment_count; i++)
    same = same_text(a->environment[i]->name, b->environment[i]->name) &&
           same_text(a->environment[i]->text, b->environment[i]->text) &&
           a->environment[i]->integer == b->environment[i]->integer;
  for (uint32_t i = 0; same && i < a->clock_count; i++)
    same = same_clock(a->clocks[i], b->clocks[i]);
  for (uint32_t i = 0; same && i < a->stream_count; i++)
    same = same_stream(a->streams[i], b->streams[i]);
  return same;
}

/* Writes the schema, compiles what was written, and compares. False with a message if they differ. */
static bool survives_round_trip(const char *path, const struct kymo_schema *schema,
                                struct kymo_strbuf *written) {
  struct kymo_error error;
  char message[1024];
  kymo_tsdl_write(written, schema);
  if (written->failed)
    return false;
  struct kymo_schema *again = kymo_tsdl_compile(written->text, written->length, "written", &error);
  if (!again) {
    print_error("%s: %s\n", path, kymo_error_text(&error, message, sizeof message));
    return false;
  }
  difference[0] = '\0';
  bool same = same_schema(schema, again);
  if (!same)
    print_error("%s: what was written differs at %s\n%s\n", path, difference, written->text);
  kymo_schema_release(again);
  return same;
}

/* ---- golden files ---- */

/* Compiles one golden file; the result goes to `out`. False if it is not as its name says. */
static bool try_golden(const char *path, bool should_pass, struct kymo_strbuf *out) {
  struct kymo_strbuf text = {0};
  struct kymo_error error;
  char message[2048];
  assert_true(read_file(path, &text));
  struct kymo_schema *schema = kymo_tsdl_compile(text.text, text.length, "FILE", &error);
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
  check_golden_files("tsdl", ".tsdl", try_golden, 40);
}

/* ---- corpora ---- */

static int corpus_files, corpus_bad;

/* What a good reader says of the metadata file: 1 accept, 0 refuse, -1 a matter of taste. */
static int verdict_of(const char *path) {
  char verdict_path[4096];
  struct kymo_strbuf verdict = {0};
  if (strstr(path, "/metadata-text/")) {
    snprintf(verdict_path, sizeof verdict_path, "%.*s/verdict", (int)(strrchr(path, '/') - path), path);
    if (!read_file(verdict_path, &verdict))
      return -1;
    bool accepted = strstr(verdict.text, "babeltrace accept"),
         refused = strstr(verdict.text, "babeltrace refuse");
    bool yactfr = strstr(verdict.text, "yactfr accept");
    kymo_strbuf_free(&verdict);
    return accepted ? 1 : refused && !yactfr ? 0 : -1;
  }
  static const char *const broken[] = {"/metadata-syntax-error/", "/invalid-variant-selector-field-class/",
                                       "/live/invalid-metadata/"};
  for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
    if (strstr(path, broken[i]))
      return 0;
  /* packets that babeltrace refuses, and streams that break later */
  return strstr(path, "/1/fail/") ? -1 : 1;
}

static bool is_corpus_file(const char *path, int base) {
  return strncmp(path + base, "metadata", 8) == 0 && strlen(path + base) < 12 && !strstr(path, "ctf-2") &&
         !strstr(path, "/babeltrace/2/") && !strstr(path, "/actf/") && !strstr(path, "/metadata-stream/");
}

static int check_corpus_file(const char *path, const struct stat *status, int kind, struct FTW *walk) {
  (void)status;
  struct kymo_strbuf text = {0}, written = {0};
  struct kymo_error error;
  char message[2048];
  if (kind != FTW_F || !is_corpus_file(path, walk->base) || !read_file(path, &text))
    return 0;
  unpack(&text);
  int verdict = verdict_of(path);
  struct kymo_schema *schema = kymo_tsdl_compile(text.text ? text.text : "", text.length, "metadata", &error);
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
  kymo_strbuf_free(&text);
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

/* ---- cases that golden files cannot show ---- */

#define TRACE "trace { major = 1; minor = 8; byte_order = be; };\n"

static const struct kymo_type *field(const struct kymo_type *type, const char *name) {
  const struct kymo_member *member = kymo_type_member(type, name);
  assert_non_null(member);
  return member->type;
}

static void native_order_is_that_of_the_trace_wherever_it_stands(void **state) {
  (void)state;
  struct kymo_schema *schema = compile("typealias integer { size = 8; } := T;\n"
                                       "struct s { T a; integer { size = 8; byte_order = le; } b; };\n" TRACE
                                       "event { name = e; fields := struct { struct s s; }; };",
                                       NULL);
  const struct kymo_type *type = field(schema->streams[0]->events[0]->payload, "s");
  assert_int_equal(field(type, "a")->order, KYMO_ORDER_BIG);
  assert_int_equal(field(type, "b")->order, KYMO_ORDER_LITTLE);
  kymo_schema_release(schema);
}

static void roles_go_by_name_and_place(void **state) {
  (void)state;
  struct kymo_schema *schema = compile(
      "trace { major = 1; minor = 8; byte_order = le; packet.header := struct {"
      " integer { size = 32; } magic; integer { size = 8; } uuid[16]; integer { size = 8; } stream_id;"
      " integer { size = 64; } stream_instance_id; }; };\n"
      "clock { name = c; freq = 1000; };\n"
      "stream { id = 0; packet.context := struct { integer { size = 64; } timestamp_begin, timestamp_end,"
      " packet_size, content_size, events_discarded, packet_seq_num, cpu_id; };\n"
      " event.header := struct { enum : integer { size = 5; } { compact = 0 ... 30, extended = 31 } id;"
      " variant <id> { struct { integer { size = 27; map = clock.c.value; } timestamp; } compact;"
      " struct { integer { size = 32; } id; integer { size = 64; map = clock.c.value; } time; } extended; } "
      "v; };\n"
      " event.context := struct { integer { size = 8; } id; }; };\n"
      "event { name = e; id = 5; stream_id = 0; fields := struct { integer { size = 8; } magic; }; };",
      NULL);
  assert_non_null(schema);
  const struct kymo_stream_class *stream = schema->streams[0];
  const struct kymo_clock *clock = schema->clocks[0];
  static const uint32_t header[] = {KYMO_ROLE_MAGIC, KYMO_ROLE_UUID, KYMO_ROLE_STREAM_CLASS_ID,
                                    KYMO_ROLE_STREAM_ID};
  static const uint32_t context[] = {KYMO_ROLE_TIMESTAMP,
                                     KYMO_ROLE_TIMESTAMP_END,
                                     KYMO_ROLE_PACKET_SIZE,
                                     KYMO_ROLE_CONTENT_SIZE,
                                     KYMO_ROLE_DISCARDED,
                                     KYMO_ROLE_SEQUENCE_NUMBER,
                                     0};
  for (size_t i = 0; i < 4; i++)
    assert_int_equal(schema->packet_header->members[i].type->roles, header[i]);
  for (size_t i = 0; i < 7; i++) {
    assert_int_equal(stream->packet_context->members[i].type->roles, context[i]);
    assert_ptr_equal(stream->packet_context->members[i].type->clock, i < 2 ? clock : NULL);
  }
  assert_int_equal(field(stream->event_header, "id")->roles, KYMO_ROLE_EVENT_CLASS_ID);
  const struct kymo_type *variant = field(stream->event_header, "v");
  assert_int_equal(field(field(variant, "compact"), "timestamp")->roles, KYMO_ROLE_TIMESTAMP);
  assert_int_equal(field(field(variant, "extended"), "id")->roles, KYMO_ROLE_EVENT_CLASS_ID);
  assert_int_equal(field(field(variant, "extended"), "time")->roles, KYMO_ROLE_TIMESTAMP);
  assert_int_equal(field(stream->common_context, "id")->roles, 0);
  assert_int_equal(field(stream->events[0]->payload, "magic")->roles, 0);
  assert_ptr_equal(stream->clock, clock);
  kymo_schema_release(schema);
}

static void time_stamps_without_a_map_have_the_only_clock(void **state) {
  (void)state;
  static const char stream[] =
      "stream { packet.context := struct { integer { size = 64; } timestamp_begin; };"
      " event.header := struct { integer { size = 64; } timestamp; }; };";
  char text[1000];
  static const struct {
    const char *clocks, *name;
    uint32_t count;
  } cases[] = {
      {"clock { name = one; };", "one", 1},
      {"", "default", 1}, /* one nanosecond from nowhere, as babeltrace 2 has it */
      {"clock { name = one; }; clock { name = two; };", NULL, 2},
  };
  for (size_t i = 0; i < 3; i++) {
    snprintf(text, sizeof text, TRACE "%s%s", cases[i].clocks, stream);
    struct kymo_schema *schema = compile(text, NULL);
    assert_non_null(schema);
    assert_int_equal(schema->clock_count, cases[i].count);
    const struct kymo_type *begin = schema->streams[0]->packet_context->members[0].type;
    const struct kymo_type *event = schema->streams[0]->event_header->members[0].type;
    assert_true(same_text(schema->streams[0]->clock ? schema->streams[0]->clock->name : NULL, cases[i].name));
    assert_int_equal(begin->roles, cases[i].name ? KYMO_ROLE_TIMESTAMP : 0);
    assert_ptr_equal(begin->clock, event->clock);
    assert_int_equal(event->roles, begin->roles);
    kymo_schema_release(schema);
  }
}

static void clocks_from_the_epoch_are_absolute_ones_and_that_of_lttng(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool is_epoch;
  } cases[] = {
      {"clock { name = monotonic; offset_s = 5; };", false},
      {"clock { name = monotonic; absolute = FALSE; };", false},
      {"clock { name = any; absolute = TRUE; };", true},
      {"clock { name = monotonic; }; env { tracer_name = \"lttng-ust\"; };", true},
      {"env { tracer_name = \"lttng-modules\"; }; clock { name = \"monotonic\"; absolute = false; };", true},
      {"env { tracer_name = \"barectf\"; }; clock { name = monotonic; };", false},
      {"env { tracer_name = \"lttng-ust\"; }; clock { name = other; };", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[500];
    snprintf(text, sizeof text, TRACE "%s", cases[i].text);
    struct kymo_schema *schema = compile(text, NULL);
    assert_non_null(schema);
    assert_int_equal(schema->clocks[0]->origin_is_epoch, cases[i].is_epoch);
    kymo_schema_release(schema);
  }
}

static void references_are_found_from_the_inside_out(void **state) {
  (void)state;
  struct kymo_schema *schema = compile(
      TRACE
      "typealias integer { size = 8; } := T;\n"
      "stream { packet.context := struct { T far; T n; }; };\n"
      "event { name = e; fields := struct { T n; struct { T m; struct { T x[n]; T n; T y[n]; T z[far]; } in; "
      "} out[3];"
      " T w[event.fields.n]; }; };",
      NULL);
  assert_non_null(schema);
  const struct kymo_type *payload = schema->streams[0]->events[0]->payload;
  const struct kymo_type *in = field(field(payload, "out")->element, "in");
  assert_int_equal(field(in, "x")->selector.depth, 1); /* not the n after it */
  static const uint32_t inner[] = {1, KYMO_STEP_ELEMENT, 1, 1};
  assert_int_equal(field(in, "y")->selector.depth, 4);
  assert_memory_equal(field(in, "y")->selector.steps, inner, sizeof inner);
  assert_int_equal(field(in, "z")->selector.scope, KYMO_SCOPE_PACKET_CONTEXT);
  assert_int_equal(field(payload, "w")->selector.depth, 1);
  kymo_schema_release(schema);
}

static void types_without_references_are_placed_once(void **state) {
  (void)state;
  struct kymo_schema *schema =
      compile(TRACE "typealias integer { size = 8; } := T; struct s { T a; T b[4]; };\n"
                    "event { name = e; fields := struct { struct s a; struct s b; }; };\n"
                    "event { name = f; id = 1; fields := struct { struct s a; struct s b; }; };",
              NULL);
  assert_non_null(schema);
  assert_int_equal(schema->type_count, 4);
  assert_ptr_equal(schema->streams[0]->events[0]->payload, schema->streams[0]->events[1]->payload);
  kymo_schema_release(schema);
}

static void no_text_at_all_is_refused(void **state) {
  (void)state;
  struct kymo_error error;
  assert_null(kymo_tsdl_compile(NULL, 0, NULL, &error));
  assert_string_equal(error.message, "there is no trace block");
  assert_null(kymo_tsdl_compile("", 0, "FILE", NULL));
}

static void texts_that_explode_are_refused(void **state) {
  (void)state;
  struct kymo_strbuf text = {0};
  kymo_strbuf_puts(&text, TRACE "typealias integer { size = 8; } := T; struct s0 { T n; T a[n]; };\n");
  for (int i = 1; i < 40; i++)
    kymo_strbuf_printf(&text, "struct s%d { struct s%d a; struct s%d b; };\n", i, i - 1, i - 1);
  kymo_strbuf_puts(&text, "event { name = e; fields := struct s39; };\n");
  struct kymo_error error;
  assert_null(kymo_tsdl_compile(text.text, text.length, "FILE", &error));
  assert_string_equal(error.message, "too many fields from so little text");
  kymo_strbuf_free(&text);
}

static void many_references_into_large_structs_end_soon(void **state) {
  (void)state;
  enum { FIELDS = 20000 };
  struct kymo_strbuf text = {0};
  kymo_strbuf_puts(&text,
                   TRACE "typealias integer { size = 8; } := T; stream { packet.context := struct {\n");
  for (int i = 0; i < FIELDS; i++)
    kymo_strbuf_printf(&text, "T a%d;", i);
  kymo_strbuf_puts(&text, "}; };\nevent { name = e; fields := struct {\n");
  for (int i = 0; i < FIELDS; i++)
    kymo_strbuf_printf(&text, "T b%d[a%d];", i, FIELDS - 1);
  kymo_strbuf_puts(&text, "}; };");
  struct kymo_error error;
  assert_null(kymo_tsdl_compile(text.text, text.length, "FILE", &error));
  assert_string_equal(error.message, "too many references for this number of fields: \"a19999\"");
  kymo_strbuf_free(&text);
}

static double compile_seconds(int events) {
  struct kymo_strbuf text = {0};
  kymo_strbuf_puts(&text, TRACE "typealias integer { size = 32; } := T;\n");
  for (int i = 0; i < events; i++)
    kymo_strbuf_printf(
        &text,
        "event { name = \"group:event%d\"; id = %d; loglevel = 6; fields := struct {"
        " T a%d; integer { size = 16; signed = true; } _b; string _c; T _n; T d[_n]; T _e; T f; T g; }; };\n",
        i, i, i);
  struct timespec start, end;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
  struct kymo_schema *schema = kymo_tsdl_compile(text.text, text.length, "FILE", NULL);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
  assert_non_null(schema);
  kymo_schema_release(schema);
  kymo_strbuf_free(&text);
  return (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
}

static void time_to_compile_is_linear(void **state) {
  (void)state;
  double few = compile_seconds(2000), many = compile_seconds(16000);
  print_message("# 2,000 events %.3f s, 16,000 events %.3f s\n", few, many);
  assert_true(many < 24 * few); /* eight times the text; were it quadratic, 64 */
}

static int write_file(const char *path) {
  struct kymo_strbuf text = {0}, written = {0};
  struct kymo_error error;
  char message[2048];
  if (!read_file(path, &text))
    return 1;
  unpack(&text);
  struct kymo_schema *schema = kymo_tsdl_compile(text.text, text.length, path, &error);
  if (!schema) {
    fprintf(stderr, "%s\n", kymo_error_text(&error, message, sizeof message));
    return 1;
  }
  kymo_tsdl_write(&written, schema);
  fputs(written.text, stdout);
  kymo_schema_release(schema);
  kymo_strbuf_free(&text);
  kymo_strbuf_free(&written);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "--write") == 0)
    return write_file(argv[2]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(golden_files_come_out_as_expected),
      cmocka_unit_test(corpora_are_read_as_other_readers_read_them),
      cmocka_unit_test(native_order_is_that_of_the_trace_wherever_it_stands),
      cmocka_unit_test(roles_go_by_name_and_place),
      cmocka_unit_test(time_stamps_without_a_map_have_the_only_clock),
      cmocka_unit_test(clocks_from_the_epoch_are_absolute_ones_and_that_of_lttng),
      cmocka_unit_test(references_are_found_from_the_inside_out),
      cmocka_unit_test(types_without_references_are_placed_once),
      cmocka_unit_test(no_text_at_all_is_refused),
      cmocka_unit_test(texts_that_explode_are_refused),
      cmocka_unit_test(many_references_into_large_structs_end_soon),
      cmocka_unit_test(time_to_compile_is_linear),
  };
  return cmocka_run_group_tests_name("tsdl", tests, NULL, NULL);
}
