/* SPDX-License-Identifier: MIT */
/*
 * Random schemas, random values: what a plain bit-by-bit writer has laid down must be what the
 * reader walks over and gets, whatever kinds, alignments, byte orders and nestings meet.
 * The environment variable KYMO_SEED repeats one case.
 */
#include "read_memory.h"
#include <inttypes.h>

#define TEXT_MAX 3000
#define EVENT_CLASSES 3
#define EVENTS 12

static uint64_t seed;

static uint64_t random_below(uint64_t limit) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (seed * UINT64_C(2685821657736338717) >> 32) % limit;
}

/* ---- types ---- */

struct making {
  struct kymo_builder *builder;
  bool odd_is_big;                 /* byte order of all bits that may share a byte */
  enum kymo_scope scope;
  uint32_t way[16], depth;
  const struct kymo_type *outer_length; /* a length in the common context, or NULL */
};

static const struct kymo_type *random_type(struct making *m, unsigned depth);

static struct kymo_reference way_to(struct making *m, uint32_t last) {
  uint32_t *steps = kymo_arena_array(kymo_builder_arena(m->builder), m->depth + 1, sizeof *steps);
  memcpy(steps, m->way, m->depth * sizeof *steps);
  steps[m->depth] = last;
  return (struct kymo_reference){.scope = m->scope, .depth = m->depth + 1, .steps = steps};
}

static const struct kymo_type *random_integer(struct making *m) {
  uint32_t bits = random_below(3) ? 8u << random_below(4) : (uint32_t)random_below(64) + 1;
  uint32_t align = random_below(3) ? 8u << random_below(4) : 1u << random_below(4);
  bool is_odd = bits % 8 != 0 || align < 8;
  return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_INTEGER, .size_bits = bits, .align_bits = align,
                                             .is_signed = random_below(2),
                                             .bits_reversed = random_below(8) == 0,
                                             .order = (enum kymo_byte_order)(is_odd ? m->odd_is_big : random_below(2))});
}

static const struct kymo_type *random_leaf(struct making *m) {
  switch (random_below(8)) {
  case 0: return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_STRING});
  case 1:
    return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_FLOAT, .size_bits = random_below(2) ? 64 : 32,
                                               .align_bits = 8, .order = (enum kymo_byte_order)random_below(2)});
  case 2:
    return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_TEXT_ARRAY, .length = random_below(5),
                                               .encoding = KYMO_ENCODING_UTF8});
  case 3: return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_VARINT, .is_signed = random_below(2)});
  case 4: return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_BLOB_ARRAY, .length = random_below(4)});
  default: return random_integer(m);
  }
}

static const struct kymo_type *random_length(struct making *m) {
  uint32_t bits = 4 + (uint32_t)random_below(20), align = 1u << random_below(5);
  bool is_big = bits % 8 || align < 8 ? m->odd_is_big : random_below(2);
  return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_INTEGER, .size_bits = bits, .align_bits = align,
                                             .order = (enum kymo_byte_order)is_big});
}

static const struct kymo_type *random_variant(struct making *m, unsigned depth, struct kymo_reference tag,
                                              const struct kymo_type *tag_type) {
  struct kymo_arena *arena = kymo_builder_arena(m->builder);
  uint32_t count = 1 + (uint32_t)random_below(3);
  struct kymo_member *options = kymo_arena_array(arena, count, sizeof *options);
  struct kymo_range *ranges = kymo_arena_array(arena, count, sizeof *ranges);
  static const char *const names[] = {"oa", "ob", "oc"};
  for (uint32_t i = 0; i < count; i++) {
    ranges[i] = (struct kymo_range){i, i + 1 == count ? 9 : i};
    m->way[m->depth++] = i;
    options[i] = (struct kymo_member){.name = names[i], .source_name = names[i], .type = random_type(m, depth + 1),
                                      .ranges = &ranges[i], .range_count = 1};
    m->depth--;
  }
  return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_VARIANT, .members = options, .member_count = count,
                                             .selector = tag, .selector_type = tag_type});
}

/* A type that depends on the member before it, or on the common context. */
static const struct kymo_type *random_dependent(struct making *m, unsigned depth, uint32_t previous,
                                                const struct kymo_type *length) {
  struct kymo_reference selector = way_to(m, previous);
  if (m->outer_length && random_below(4) == 0) {
    selector = refer(m->builder, KYMO_SCOPE_COMMON_CONTEXT, 0);
    length = m->outer_length;
  }
  struct kymo_type type = {.selector = selector, .selector_type = length};
  m->way[m->depth++] = previous + 1;
  const struct kymo_type *made;
  switch (random_below(5)) {
  case 0: type.kind = KYMO_KIND_TEXT_SEQUENCE; type.encoding = KYMO_ENCODING_UTF8; break;
  case 1: type.kind = KYMO_KIND_BLOB_SEQUENCE; break;
  case 2:
    made = random_variant(m, depth, selector, length);
    m->depth--;
    return made;
  case 3: type.kind = KYMO_KIND_OPTIONAL; break;
  default: type.kind = KYMO_KIND_SEQUENCE; break;
  }
  if (type.kind == KYMO_KIND_OPTIONAL || type.kind == KYMO_KIND_SEQUENCE) {
    m->way[m->depth++] = KYMO_STEP_ELEMENT;
    type.element = random_type(m, depth + 1);
    m->depth--;
  }
  if (type.kind == KYMO_KIND_OPTIONAL) {
    struct kymo_range *range = kymo_arena_array(kymo_builder_arena(m->builder), 1, sizeof *range);
    *range = (struct kymo_range){1, 2};
    type.presence = range;
    type.presence_count = 1;
  }
  m->depth--;
  return make(m->builder, type);
}

static const struct kymo_type *random_struct(struct making *m, unsigned depth) {
  static const char *const names[] = {"ma", "mb", "mc", "md", "me", "mf", "mg", "mh"};
  struct kymo_member *members = kymo_arena_array(kymo_builder_arena(m->builder), 8, sizeof *members);
  uint32_t count = 0, wanted = (uint32_t)random_below(depth == 0 ? 7 : 4);
  while (count < wanted) {
    const struct kymo_type *length = random_below(3) == 0 && count + 2 <= wanted ? random_length(m) : NULL;
    if (length) {
      members[count].name = members[count].source_name = names[count];
      members[count++].type = length;
    }
    members[count].name = members[count].source_name = names[count];
    m->way[m->depth++] = count;
    const struct kymo_type *type = length ? NULL : random_type(m, depth + 1);
    m->depth--;
    members[count].type = length ? random_dependent(m, depth, count - 1, length) : type;
    count++;
  }
  return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_STRUCT, .members = members, .member_count = count,
                                             .align_bits = random_below(5) ? 1 : 1u << random_below(7)});
}

static const struct kymo_type *random_type(struct making *m, unsigned depth) {
  if (depth >= 4 || random_below(3))
    return random_leaf(m);
  if (random_below(2))
    return random_struct(m, depth);
  m->way[m->depth++] = KYMO_STEP_ELEMENT;
  const struct kymo_type *element = random_type(m, depth + 1);
  m->depth--;
  return make(m->builder, (struct kymo_type){.kind = KYMO_KIND_ARRAY, .element = element, .length = random_below(4)});
}

/* ---- values ---- */

struct writing {
  struct packet_bytes *out;
  char text[4096];                 /* as walk_text writes it */
  size_t at;
  uint64_t outer_length;           /* value of the common context's first field */
};

static void say(struct writing *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  w->at += (size_t)vsnprintf(w->text + w->at, sizeof w->text - w->at, format, args);
  va_end(args);
  assert_true(w->at < sizeof w->text);
}

static uint64_t write_value(struct writing *w, const struct kymo_type *type, const char *name, uint64_t selector);

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

/* Writes the value, and says what it was. `previous`: the field that stood before it. */
static uint64_t write_value(struct writing *w, const struct kymo_type *type, const char *name, uint64_t previous) {
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
  case KYMO_KIND_BLOB_ARRAY: case KYMO_KIND_BLOB_SEQUENCE: {
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

struct expectation { uint64_t id; char texts[3][4096]; };

/* Writes one scope; returns what the walk must say. */
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

static const struct kymo_type *random_scope(struct making *m, enum kymo_scope scope) {
  m->scope = scope;
  m->depth = 0;
  return random_below(4) ? random_struct(m, 0) : NULL;
}

static struct kymo_schema *random_schema(struct making *m) {
  m->builder = kymo_builder_new();
  struct kymo_builder *b = m->builder;
  m->odd_is_big = random_below(2);
  m->outer_length = NULL;
  struct kymo_stream_class stream = {.packet_context = make_struct(
      b, "content", make_role(b, 32, 8, KYMO_ROLE_CONTENT_SIZE, NULL), NULL)}, *made;
  const struct kymo_type *id = make(b, (struct kymo_type){
      .kind = KYMO_KIND_INTEGER, .size_bits = 3 + (uint32_t)random_below(20), .align_bits = 1u << random_below(6),
      .order = (enum kymo_byte_order)m->odd_is_big, .roles = KYMO_ROLE_EVENT_CLASS_ID});
  stream.event_header = make_struct(b, "id", id, NULL);
  if (random_below(2)) {
    const struct kymo_type *length = random_length(m);
    stream.common_context = make_struct(b, "outer", length, "x", random_integer(m), NULL);
    m->outer_length = length;
  }
  assert_int_equal(kymo_builder_stream(b, &stream, &made, NULL), KYMO_OK);
  for (uint64_t i = 0; i < EVENT_CLASSES; i++) {
    struct kymo_event_class class_ = {.id = i, .name = "e", .group = "", .level = -1};
    class_.specific_context = random_scope(m, KYMO_SCOPE_SPECIFIC_CONTEXT);
    class_.payload = random_scope(m, KYMO_SCOPE_PAYLOAD);
    assert_int_equal(kymo_builder_event(b, made, &class_, NULL, NULL), KYMO_OK);
  }
  return finish(b);
}

/* What kymo_get_* says of the payload's plain fields is what the walk says. */
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
      assert_int_equal(kymo_get_uint(event, field, &u), value.type->is_signed && value.i < 0 ? KYMO_E_RANGE : KYMO_OK);
      assert_int_equal(kymo_get_int(event, field, &i), !value.type->is_signed && value.i < 0 ? KYMO_E_RANGE : KYMO_OK);
      assert_true((value.i < 0 && value.type->is_signed) || u == value.u);
      assert_true((value.i < 0 && !value.type->is_signed) || i == value.i);
      assert_int_equal(kymo_get_bytes(event, field, &bytes, &count), KYMO_E_TYPE);
      break;
    case KYMO_TOKEN_FLOAT:
      assert_int_equal(kymo_get_float(event, field, &f), KYMO_OK);
      assert_true(f == value.f);
      break;
    case KYMO_TOKEN_TEXT: case KYMO_TOKEN_BLOB:
      assert_int_equal(kymo_get_bytes(event, field, &bytes, &count), KYMO_OK);
      assert_ptr_equal(bytes, value.bytes);
      assert_int_equal(count, value.count);
      break;
    case KYMO_TOKEN_ABSENT: assert_int_equal(kymo_get_uint(event, field, &u), KYMO_E_ABSENT); break;
    default: assert_int_equal(kymo_get_uint(event, field, &u), KYMO_E_TYPE); break;
    }
  }
}

static void run_case(uint64_t number) {
  seed = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
  struct making making = {0};
  struct kymo_schema *schema = random_schema(&making);
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
  put_le(bytes, (size + 7) / 8 * 8, 32); /* sizes are whole bytes: the last event may be followed by some bits */
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
  kymo_close(trace);
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
  for (uint64_t number = 0; number < 3000; number++)
    run_case(number);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_written_is_read)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
