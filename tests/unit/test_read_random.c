/* SPDX-License-Identifier: MIT */
/*
 * Random schemas, random values: the values that a plain bit-by-bit writer has written must be those that
 * the reader finds, for all combinations of kinds, alignments, byte orders and nestings. Every other schema
 * is first written as CTF 2 metadata and compiled from that, with the same hashes. The environment variable
 * KYMO_SEED repeats one case.
 */
#include "decode/walk.h"
#include "lang/ctf2/ctf2.h"
#include "lang/ctf2/write.h"
#include "random_schema.h"
#include "rounds.h"
#include <inttypes.h>

#define TEXT_MAX 3000
#define EVENTS 12

/* ---- values ---- */

struct writing {
  struct packet_bytes *out;
  char text[4096]; /* as walk_text writes it */
  size_t at;
  uint64_t outer_length; /* value of the common context's first field */
};

static void say(struct writing *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  w->at += (size_t)vsnprintf(w->text + w->at, sizeof w->text - w->at, format, args);
  va_end(args);
  assert_true(w->at < sizeof w->text);
}

static uint64_t write_value(struct writing *w, const struct kymo_type *type, const char *name,
                            uint64_t selector);

static void name_field(struct writing *w, const char *name) {
  say(w, "%s%s%s", w->at ? " " : "", name, name[0] ? "=" : "");
}

static uint64_t reverse(uint64_t value, unsigned bits) {
  uint64_t out = 0;
  for (unsigned i = 0; i < bits; i++)
    out |= (value >> i & 1) << (bits - 1 - i);
  return out;
}

static void write_integer(struct writing *w, const struct kymo_type *type, uint64_t value) {
  unsigned bits = type->size_bits;
  value &= UINT64_MAX >> (64 - bits);
  put(w->out, type->bits_reversed ? reverse(value, bits) : value, bits, type->order == KYMO_ORDER_BIG);
  if (type->is_signed)
    say(w, "%lld", (long long)((int64_t)(value << (64 - bits)) >> (64 - bits)));
  else
    say(w, "%llu", (unsigned long long)value);
}

static void write_varint(struct writing *w, const struct kymo_type *type) {
  int64_t value = (int64_t)(random_below(UINT64_C(1) << 31) >> random_below(32));
  if (type->is_signed && random_below(2))
    value = -value;
  say(w, "%lld", (long long)value);
  for (bool more = true; more;) {
    uint8_t low = value & 0x7f;
    value >>= 7;
    more = type->is_signed ? !((value == 0 && !(low & 0x40)) || (value == -1 && (low & 0x40))) : value != 0;
    put_le(w->out, low | (more ? 0x80 : 0), 8);
  }
}

static void write_text(struct writing *w, uint64_t size, bool is_string) {
  uint64_t length = is_string ? random_below(20) : random_below(size + 1);
  say(w, "\"");
  for (uint64_t i = 0; i < (is_string ? length + 1 : size); i++) {
    char letter = i < length ? (char)('a' + random_below(26)) : 0;
    put_le(w->out, (uint8_t)letter, 8);
    if (letter)
      say(w, "%c", letter);
  }
  say(w, "\"");
}

static void write_float(struct writing *w, const struct kymo_type *type) {
  double value = (double)random_below(100000) / 8;
  float narrow = (float)value;
  uint32_t narrow_bits;
  uint64_t bits;
  memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
  memcpy(&bits, &value, sizeof bits);
  if (type->size_bits == 32)
    bits = narrow_bits;
  put(w->out, bits, type->size_bits, type->order == KYMO_ORDER_BIG);
  say(w, "%g", value);
}

static void write_elements(struct writing *w, const struct kymo_type *type, uint64_t count) {
  say(w, "[");
  pad_to(w->out, type->element->align_bits);
  for (uint64_t i = 0; i < count; i++)
    write_value(w, type->element, "", 0);
  say(w, " ]");
}

static void write_members(struct writing *w, const struct kymo_type *type) {
  uint64_t previous = 0;
  for (uint32_t i = 0; i < type->member_count; i++)
    previous = write_value(w, type->members[i].type, type->members[i].name, previous);
}

static bool is_length(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_INTEGER && !type->is_signed && type->size_bits < 24;
}

/* Writes the value, and returns it. `previous`: the field before it. */
static uint64_t write_value(struct writing *w, const struct kymo_type *type, const char *name,
                            uint64_t previous) {
  uint64_t selector = type->selector.scope == KYMO_SCOPE_COMMON_CONTEXT ? w->outer_length : previous;
  if (type->kind == KYMO_KIND_VARIANT) {
    uint32_t option = selector < type->member_count ? (uint32_t)selector : type->member_count - 1;
    return write_value(w, type->members[option].type, name, 0);
  }
  if (type->kind == KYMO_KIND_OPTIONAL && selector != 0 && selector <= 2)
    return write_value(w, type->element, name, 0);
  name_field(w, name);
  if (type->kind == KYMO_KIND_OPTIONAL) {
    say(w, "~");
    return 0;
  }
  pad_to(w->out, type->align_bits);
  uint64_t value = is_length(type) ? random_below(4) & (UINT64_MAX >> (64 - type->size_bits))
                                   : random_below(UINT64_C(1) << 32) << 32 | random_below(UINT64_C(1) << 32);
  switch (type->kind) {
  case KYMO_KIND_INTEGER: write_integer(w, type, value); return value;
  case KYMO_KIND_FLOAT: write_float(w, type); break;
  case KYMO_KIND_VARINT: write_varint(w, type); break;
  case KYMO_KIND_STRING: write_text(w, 0, true); break;
  case KYMO_KIND_TEXT_ARRAY: write_text(w, type->length, false); break;
  case KYMO_KIND_TEXT_SEQUENCE: write_text(w, selector, false); break;
  case KYMO_KIND_BLOB_ARRAY:
  case KYMO_KIND_BLOB_SEQUENCE: {
    uint64_t size = type->kind == KYMO_KIND_BLOB_ARRAY ? type->length : selector;
    put_text(w->out, "\1\2\3\4", size);
    say(w, "blob%u", (unsigned)size);
    break;
  }
  case KYMO_KIND_ARRAY: write_elements(w, type, type->length); break;
  case KYMO_KIND_SEQUENCE: write_elements(w, type, selector); break;
  case KYMO_KIND_STRUCT:
    say(w, "{");
    write_members(w, type);
    say(w, " }");
    break;
  default: fail();
  }
  return 0;
}

/* ---- the test ---- */

struct expectation {
  uint64_t id;
  char texts[3][4096];
};

/* Writes one scope; returns the expected result of the walk. */
static void write_scope(struct writing *w, const struct kymo_type *type, char *text) {
  w->at = 0;
  w->text[0] = 0;
  if (!type) {
    memcpy(text, "none", sizeof "none");
    return;
  }
  pad_to(w->out, type->align_bits);
  uint64_t previous = 0;
  for (uint32_t i = 0; i < type->member_count; i++) {
    previous = write_value(w, type->members[i].type, type->members[i].name, previous);
    if (i == 0 && strcmp(type->members[i].name, "outer") == 0)
      w->outer_length = previous;
  }
  memcpy(text, w->text, w->at + 1);
}

/* kymo_get_* and the walk return the same values for the payload's plain fields. */
static void check_get(struct kymo_trace *trace, const struct kymo_event *event) {
  struct kymo_walk walk;
  struct kymo_value value;
  if (!kymo_walk_begin(&walk, event, KYMO_SCOPE_PAYLOAD))
    return;
  for (unsigned depth = 0;;) {
    enum kymo_token token = kymo_walk_next(&walk, &value);
    if (token == KYMO_TOKEN_DONE)
      return;
    depth += token == KYMO_TOKEN_BEGIN;
    depth -= token == KYMO_TOKEN_END;
    if (depth > 0 || token == KYMO_TOKEN_END)
      continue;
    uint32_t field = kymo_field_id(trace, event->class_, value.member->name);
    uint64_t u, count;
    int64_t i;
    double f;
    const uint8_t *bytes;
    assert_int_not_equal(field, KYMO_FIELD_NONE);
    switch (token) {
    case KYMO_TOKEN_INTEGER:
      assert_int_equal(kymo_event_get_uint(event, field, &u),
                       value.type->is_signed && value.i < 0 ? KYMO_E_RANGE : KYMO_OK);
      assert_int_equal(kymo_event_get_int(event, field, &i),
                       !value.type->is_signed && value.i < 0 ? KYMO_E_RANGE : KYMO_OK);
      assert_true((value.i < 0 && value.type->is_signed) || u == value.u);
      assert_true((value.i < 0 && !value.type->is_signed) || i == value.i);
      assert_int_equal(kymo_event_get_bytes(event, field, &bytes, &count), KYMO_E_TYPE);
      break;
    case KYMO_TOKEN_FLOAT:
      assert_int_equal(kymo_event_get_float(event, field, &f), KYMO_OK);
      assert_true(f == value.f);
      break;
    case KYMO_TOKEN_TEXT:
    case KYMO_TOKEN_BLOB:
      assert_int_equal(kymo_event_get_bytes(event, field, &bytes, &count), KYMO_OK);
      assert_ptr_equal(bytes, value.bytes);
      assert_int_equal(count, value.count);
      break;
    case KYMO_TOKEN_ABSENT: assert_int_equal(kymo_event_get_uint(event, field, &u), KYMO_E_ABSENT); break;
    default: assert_int_equal(kymo_event_get_uint(event, field, &u), KYMO_E_TYPE); break;
    }
  }
}

/* The schema that our CTF 2 metadata of this one makes, which is given up. The same where there is no
 * jansson. */
static struct kymo_schema *through_json(struct kymo_schema *schema, uint64_t number) {
  struct kymo_strbuf text = {0};
  struct kymo_error error = {0};
  kymo_ctf2_write(&text, schema);
  struct kymo_schema *again = kymo_ctf2_compile(text.text, text.length, "written", &error);
  if (!again && error.code == KYMO_E_UNKNOWN) {
    kymo_strbuf_free(&text);
    return schema;
  }
  if (!again)
    fail_msg("seed %" PRIu64 ": line %u, column %u: %s\n%s", number, error.line, error.column, error.message,
             text.text);
  for (unsigned i = 0; i < EVENT_CLASSES; i++) {
    const struct kymo_hashes *a = &schema->streams[0]->events[i]->hashes,
                             *b = &again->streams[0]->events[i]->hashes;
    if (memcmp(a, b, sizeof *a) != 0)
      fail_msg("seed %" PRIu64 ": event class %u has other hashes\n%s", number, i, text.text);
  }
  kymo_schema_release(schema);
  kymo_strbuf_free(&text);
  return again;
}

static void run_case(uint64_t number) {
  random_seed(number);
  struct making making = {0};
  struct kymo_schema *schema = random_schema(&making);
  if (number % 2)
    schema = through_json(schema, number);
  const struct kymo_stream_class *class_ = schema->streams[0];
  struct packet_bytes *bytes = calloc(1, sizeof *bytes);
  struct writing *w = calloc(1, sizeof *w);
  struct expectation *expected = calloc(EVENTS, sizeof *expected);
  unsigned count = 0;
  w->out = bytes;
  put_le(bytes, 0, 32);
  for (; count < EVENTS && bytes->bits < 8 * 2500; count++) {
    struct expectation *e = &expected[count];
    e->id = random_below(EVENT_CLASSES);
    pad_to(bytes, class_->event_header->align_bits);
    put(bytes, e->id, class_->event_header->members[0].type->size_bits, making.odd_is_big);
    write_scope(w, class_->common_context, e->texts[0]);
    write_scope(w, class_->events[e->id]->specific_context, e->texts[1]);
    write_scope(w, class_->events[e->id]->payload, e->texts[2]);
  }
  uint64_t size = bytes->bits;
  bytes->bits = 0;
  put_le(bytes, (size + 7) / 8 * 8,
         32); /* sizes are whole bytes: the last event may be followed by some bits */
  bytes->bits = size;
  struct kymo_trace *trace = open_memory(schema, bytes, 1);
  for (unsigned i = 0; i < count; i++) {
    const struct kymo_event *event = next_event(trace);
    if (!event)
      fail_msg("seed %" PRIu64 ": event %u is missing: %s", number, i, kymo_trace_damage(trace, 0)->message);
    assert_int_equal(event->class_->id, expected[i].id);
    for (int scope = 0; scope < 3; scope++) {
      const char *found = walk_text(event, (enum kymo_scope)(KYMO_SCOPE_COMMON_CONTEXT + scope));
      if (strcmp(found, expected[i].texts[scope]) != 0)
        fail_msg("seed %" PRIu64 ", event %u, scope %d:\nexpected %s\nfound    %s", number, i, scope,
                 expected[i].texts[scope], found);
    }
    check_get(trace, event);
  }
  kymo_trace_close(trace);
  free(bytes);
  free(w);
  free(expected);
}

static void what_was_written_is_read(void **state) {
  (void)state;
  const char *only = getenv("KYMO_SEED");
  if (only) {
    run_case(strtoull(only, NULL, 10));
    return;
  }
  for (uint64_t number = 0; number < rounds(3000); number++)
    run_case(number);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_written_is_read)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
