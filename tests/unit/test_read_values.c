/* SPDX-License-Identifier: MIT */
/* Values that packets in memory hold: unions, texts and sequences of all lengths, varints. */
#include "read_packets.h"

/* { u8 n; u8 a[n]; union { u32 i; struct { u16 low, high; } parts; u8 bytes[4]; } u, both[2]; u8 z; } */
static const struct kymo_type *type_with_unions(struct kymo_builder *b) {
  const struct kymo_type *byte = make_uint(b, 8, 8), *half = make_uint(b, 16, 8), *word = make_uint(b, 32, 8);
  struct kymo_type overlaid =
      *make_struct(b, "i", word, "parts", make_struct(b, "low", half, "high", half, NULL), "bytes",
                   make(b, (struct kymo_type){.kind = KYMO_KIND_ARRAY, .element = byte, .length = 4}), NULL);
  overlaid.kind = KYMO_KIND_UNION;
  overlaid.size_bits = 32;
  const struct kymo_type *union_type = make(b, overlaid);
  return make_struct(b, "n", byte, "a",
                     make(b, (struct kymo_type){.kind = KYMO_KIND_SEQUENCE,
                                                .element = byte,
                                                .selector_type = byte,
                                                .selector = refer(b, KYMO_SCOPE_PAYLOAD, 0)}),
                     "u", union_type, "both",
                     make(b, (struct kymo_type){.kind = KYMO_KIND_ARRAY, .element = union_type, .length = 2}),
                     "z", byte, NULL);
}

static void members_of_a_union_lie_over_one_another(void **state) {
  (void)state;
  struct words w = begin_words(NS);
  add_event(&w, 0, type_with_unions(w.builder));
  struct packet_bytes *p = new_bytes(1);
  put_head(p, (struct head){1, 1, HEAD_BYTES + 8 + 16, HEAD_BYTES + 8 + 16, 0, 0});
  put_le(p, 0, 16);
  put_le(p, 1, 48);
  put_text(p, "\2\7\10\1\2\3\4\5\0\0\0\6\0\1\0\11", 16);
  struct kymo_trace *trace = open_memory(finish(w.builder), p, 1);
  const struct kymo_event *event = next_event(trace);
  assert_non_null(event);
  assert_string_equal(walk_text(event, KYMO_SCOPE_PAYLOAD),
                      "n=2 a=[ 7 8 ] u=[ i=67305985 parts={ low=513 high=1027 } bytes=[ 1 2 3 4 ] ] "
                      "both=[ [ i=5 parts={ low=5 high=0 } bytes=[ 5 0 0 0 ] ] "
                      "[ i=65542 parts={ low=6 high=1 } bytes=[ 6 0 1 0 ] ] ] z=9");
  assert_int_equal(get(trace, event, "u.i"), 67305985);
  assert_int_equal(get(trace, event, "u.parts.high"), 1027);
  assert_int_equal(get(trace, event, "z"), 9);
  assert_null(next_event(trace));
  assert_int_equal(kymo_trace_damage_count(trace), 0);
  kymo_trace_close(trace);
  free(p);
}

static const struct kymo_type *counted(struct kymo_builder *b, struct kymo_type sequence,
                                       unsigned count_bits) {
  const struct kymo_type *count = make_uint(b, count_bits, 8);
  sequence.selector_type = count;
  sequence.selector = refer(b, KYMO_SCOPE_PAYLOAD, 0);
  return make_struct(b, "n", count, "s", make(b, sequence), "v", make_uint(b, 16, 8), NULL);
}

/* Plain ends are found without asking what the class is: the same for all lengths, whatever is before or
 * after. */
static void texts_and_sequences_of_all_lengths_end_where_they_end(void **state) {
  (void)state;
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";
  struct words w = begin_words(NS);
  struct kymo_builder *b = w.builder;
  const struct kymo_type *half = make_uint(b, 16, 8), *byte = make_uint(b, 8, 8);
  const struct kymo_type *text =
      make(b, (struct kymo_type){.kind = KYMO_KIND_STRING, .encoding = KYMO_ENCODING_UTF8});
  add_event(&w, 0, make_struct(b, "s", text, "v", half, NULL));
  add_event(&w, 1, counted(b, (struct kymo_type){.kind = KYMO_KIND_SEQUENCE, .element = byte}, 32));
  add_event(&w, 2, make_struct(b, "v", half, NULL));
  add_event(&w, 3, make_struct(b, "s", text, "t", text, "v", half, NULL));
  struct packet_bytes *p = new_bytes(1), *body = new_bytes(1);
  for (uint64_t i = 0; i < 96; i++) {
    uint64_t id = i * 7 % 11 % 4, length = id == 3 ? i % 20 : i % 41;
    pad_to(body, 64);
    put_le(body, id, 16);
    put_le(body, i, 48);
    if (id == 1)
      put_le(body, length, 32);
    if (id != 2)
      put_text(body, letters + 41 - length, length);
    for (uint64_t zeros = id == 0 ? 1 : id == 3 ? 2 : 0; zeros > 0; zeros--)
      put_le(body, 0, 8);
    put_le(body, i * 3, 16);
  }
  uint32_t bytes = HEAD_BYTES + (uint32_t)body->bits / 8;
  put_head(p, (struct head){0, 0, bytes, bytes, 0, 0});
  put_text(p, (const char *)body->bytes, body->bits / 8);
  struct kymo_trace *trace = open_memory(finish(b), p, 1);
  for (uint64_t i = 0; i < 96; i++) {
    const struct kymo_event *event = next_event(trace);
    assert_non_null(event);
    assert_int_equal(event->cycles, i);
    assert_int_equal(event->class_->id, i * 7 % 11 % 4);
    assert_int_equal(get(trace, event, "v"), i * 3);
  }
  assert_null(next_event(trace));
  assert_int_equal(kymo_trace_damage_count(trace), 0);
  kymo_trace_close(trace);
  free(body);
  free(p);
}

/* A trace without headers whose events are one field, of `bytes`. */
static struct kymo_trace *open_field(struct packet_bytes *p, struct kymo_type type, const char *bytes,
                                     size_t size) {
  struct kymo_builder *b = kymo_builder_new();
  struct kymo_stream_class stream = {.id = 0}, *made;
  assert_int_equal(kymo_builder_stream(b, &stream, &made, NULL), KYMO_OK);
  struct kymo_event_class class_ = {
      .name = "e", .group = "", .payload = make_struct(b, "f", make(b, type), NULL)};
  assert_int_equal(kymo_builder_event(b, made, &class_, NULL, NULL), KYMO_OK);
  put_text(p, bytes, size);
  return open_memory(finish(b), p, 1);
}

static void varints_of_ten_bytes_have_one_bit_in_the_last(void **state) {
  (void)state;
  static const char full[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff";
  static const struct {
    bool is_signed;
    char last;
    const char *text;
  } cases[] = {
      {false, 1, "f=18446744073709551615"}, {false, 0, NULL},     {false, 2, NULL}, {false, 0x7f, NULL},
      {true, 0, "f=9223372036854775807"},   {true, 0x7f, "f=-1"}, {true, 1, NULL},  {true, 0x7e, NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct packet_bytes *p = new_bytes(1);
    put_text(p, full, 9);
    struct kymo_trace *trace = open_field(
        p, (struct kymo_type){.kind = KYMO_KIND_VARINT, .is_signed = cases[i].is_signed}, &cases[i].last, 1);
    const struct kymo_event *event = next_event(trace);
    assert_int_equal(!event, !cases[i].text);
    if (event)
      assert_string_equal(walk_text(event, KYMO_SCOPE_PAYLOAD), cases[i].text);
    else
      assert_damage(trace, 0, 10, 10, "field 'f': a variable-length integer has more than 64 bits");
    kymo_trace_close(trace);
    free(p);
  }
}

static void wide_texts_end_with_a_whole_character_or_a_zero(void **state) {
  (void)state;
  const struct kymo_type type = {
      .kind = KYMO_KIND_TEXT_ARRAY, .encoding = KYMO_ENCODING_UTF16LE, .length = 5};
  struct packet_bytes *p = new_bytes(2);
  struct kymo_trace *trace = open_field(p, type, "a\0\0\0x", 5);
  assert_non_null(next_event(trace));
  kymo_trace_close(trace);
  trace = open_field(p + 1, type, "a\0b\0c", 5);
  assert_null(next_event(trace));
  assert_damage(trace, 0, 0, 5, "field 'f': 5 bytes are no whole number of characters");
  kymo_trace_close(trace);
  free(p);
}

/* { u8 t; variant <t> { { u8 n; u8 own[n]; } a; { u8 x; u16 n; } b; } v; u8 d[v.n]; } */
static const struct kymo_type *type_with_a_length_in_each_option(struct kymo_builder *b) {
  static const uint32_t to_own[] = {1, 0, 0}, to_any[] = {1, KYMO_STEP_ELEMENT, 0};
  static const struct kymo_range ranges[] = {{0, 0}, {1, 1}};
  const struct kymo_type *byte = make_uint(b, 8, 8), *half = make_uint(b, 16, 8);
  const struct kymo_type *own = make(b, (struct kymo_type){.kind = KYMO_KIND_SEQUENCE,
                                                           .element = byte,
                                                           .selector_type = byte,
                                                           .selector = {KYMO_SCOPE_PAYLOAD, 3, to_own}});
  struct kymo_type variant = *make_struct(b, "a", make_struct(b, "n", byte, "own", own, NULL), "b",
                                          make_struct(b, "x", byte, "n", half, NULL), NULL);
  struct kymo_member *options = kymo_arena_array(kymo_builder_arena(b), 2, sizeof *options);
  memcpy(options, variant.members, 2 * sizeof *options);
  for (uint32_t i = 0; i < 2; i++)
    options[i].ranges = &ranges[i], options[i].range_count = 1;
  variant.kind = KYMO_KIND_VARIANT;
  variant.members = options;
  variant.selector_type = byte;
  variant.selector = refer(b, KYMO_SCOPE_PAYLOAD, 0);
  const struct kymo_type *d = make(b, (struct kymo_type){.kind = KYMO_KIND_SEQUENCE,
                                                         .element = byte,
                                                         .selector_type = byte,
                                                         .selector = {KYMO_SCOPE_PAYLOAD, 3, to_any}});
  return make_struct(b, "t", byte, "v", make(b, variant), "d", d, NULL);
}

static void a_length_may_stand_in_whichever_option_is_there(void **state) {
  (void)state;
  struct words w = begin_words(NS);
  add_event(&w, 0, type_with_a_length_in_each_option(w.builder));
  struct packet_bytes *p = new_bytes(1);
  put_head(p, (struct head){1, 2, HEAD_BYTES + 16 + 13, HEAD_BYTES + 16 + 13, 0, 0});
  put_le(p, 0, 16), put_le(p, 1, 48);
  put_text(p, "\0\2\7\10\5\6", 6);
  pad_to(p, 64);
  put_le(p, 0, 16), put_le(p, 2, 48);
  put_text(p, "\1\11\1\0\4", 5);
  struct kymo_trace *trace = open_memory(finish(w.builder), p, 1);
  const struct kymo_event *event = next_event(trace);
  assert_non_null(event);
  assert_string_equal(walk_text(event, KYMO_SCOPE_PAYLOAD), "t=0 v={ n=2 own=[ 7 8 ] } d=[ 5 6 ]");
  event = next_event(trace);
  assert_non_null(event);
  assert_string_equal(walk_text(event, KYMO_SCOPE_PAYLOAD), "t=1 v={ x=9 n=1 } d=[ 4 ]");
  assert_null(next_event(trace));
  assert_int_equal(kymo_trace_damage_count(trace), 0);
  kymo_trace_close(trace);
  free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(members_of_a_union_lie_over_one_another),
      cmocka_unit_test(texts_and_sequences_of_all_lengths_end_where_they_end),
      cmocka_unit_test(wide_texts_end_with_a_whole_character_or_a_zero),
      cmocka_unit_test(varints_of_ten_bytes_have_one_bit_in_the_last),
      cmocka_unit_test(a_length_may_stand_in_whichever_option_is_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
