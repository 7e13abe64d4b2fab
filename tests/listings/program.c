/* SPDX-License-Identifier: MIT */
/* Stores values of every listed type and compares the bytes with the layout of the listing, in C and in
 * C++. */
#include "recorder.h"
#include "types.h"
#include <kymo/trace.h>
#include <stdio.h>

/* Stored by one copy, also in arrays; by members; after measuring. */
KYMO_ASSERT_(KYMO_INFO_IS_FLAT_(KYMO_INFO_HERE_(struct point)) && KYMO_INFO_IS_FLAT_(KYMO_INFO_HERE_(box_t)),
             "flat");
KYMO_ASSERT_(!KYMO_INFO_IS_FLAT_(KYMO_INFO_HERE_(struct loose)) &&
                 !KYMO_INFO_IS_FLAT_(KYMO_INFO_HERE_(struct bits)),
             "not");
KYMO_ASSERT_(!KYMO_INFO_IS_DYNAMIC_(KYMO_INFO_HERE_(struct arrays)), "static");
KYMO_ASSERT_(KYMO_INFO_IS_DYNAMIC_(KYMO_INFO_HERE_(struct envelope)), "dynamic");

static unsigned char wanted[4096];
static size_t wanted_size;
static int failures;

static void bytes(const void *from, size_t size) {
  memcpy(wanted + wanted_size, from, size);
  wanted_size += size;
}
static void i8(int v) {
  int8_t n = (int8_t)v;
  bytes(&n, 1);
}
static void i16(int v) {
  int16_t n = (int16_t)v;
  bytes(&n, 2);
}
static void i32(int64_t v) {
  int32_t n = (int32_t)v;
  bytes(&n, 4);
}
static void i64(int64_t v) { bytes(&v, 8); }
static void f32(float v) { bytes(&v, 4); }
static void f64(double v) { bytes(&v, 8); }
static void text(const char *t) { bytes(t, strlen(t) + 1); }
static void two(int x, int y) { i32(x), i32(y); }

/* The last event has these bytes and no others. */
static void check(const char *what) {
  size_t size = 0;
  const unsigned char *event = last_event(&size);
  bool ok = event && size == wanted_size && !memcmp(event, wanted, size);
  printf("%s %s\n", ok ? "ok" : "not ok", what);
  if (!ok) {
    for (size_t i = 0; event && i < size; i++)
      printf("%02x%s", event[i], i + 1 < size ? "" : " stored\n");
    for (size_t i = 0; i < wanted_size; i++)
      printf("%02x%s", wanted[i], i + 1 < wanted_size ? "" : " wanted\n");
  }
  failures += !ok;
  wanted_size = 0;
}

static void test_structs(void) {
  struct point p[3] = {{1, -2}, {3, 4}, {5, 6}};
  KYMO(listing, point, KYMO_STRUCT(where, struct point, &p[0]));
  two(1, -2);
  check("a struct");

  KYMO(listing, points, KYMO_STRUCT_ARRAY(where, struct point, p, 3),
       KYMO_STRUCT_ARRAY(none, struct point, p, -1));
  i32(3), two(1, -2), two(3, 4), two(5, 6), i32(0);
  check("structs in an array, and a negative count");

  const struct point *null = NULL;
  KYMO(listing, null, KYMO_STRUCT(where, struct point, null), KYMO_STRUCT_ARRAY(more, struct point, null, 3));
  two(0, 0), i32(0);
  check("NULL: zeroes");

  struct loose loose = {'a', INT64_C(1) << 40, 99, -3};
  KYMO(listing, loose, KYMO_STRUCT(loose, struct loose, &loose));
  i16(-3), i8('a'), i64(INT64_C(1) << 40);
  check("members in the listing's order, packed");

  box_t box = {{{1, 2}, {3, 4}}, 9};
  KYMO(listing, box, KYMO_STRUCT(box, box_t, &box));
  two(1, 2), two(3, 4), i32(9);
  check("structs in a struct");

  struct arrays a = {{{{0, 1, 2}, {3, 4, 5}}, {{6, 7, 8}, {9, 10, 11}}},
                     "name",
                     {"abc", "def"},
                     {{'a', 1, 2, 3}, {'b', 4, 5, 6}}};
  KYMO(listing, arrays, KYMO_STRUCT(arrays, struct arrays, &a));
  for (int i = 0; i < 12; i++)
    i8(i);
  bytes("name\0\0\0", 8), bytes("abc\0def", 8), i16(3), i8('a'), i64(1), i16(6), i8('b'), i64(4);
  check("arrays of three dimensions, texts of fixed size, arrays of loose structs");
}

static void test_scalars(void) {
  struct scalars s = {true, 'z', 0.5f, 0.25, 0.125L, &s, BUSY, READ, 0x1234, BUSY};
  const void *address = &s;
  KYMO(listing, scalars, KYMO_STRUCT(s, struct scalars, &s));
  i8(1), i8('z'), f32(0.5f), f64(0.25), f64(0.125), bytes(&address, sizeof address), i32(BUSY), i32(READ);
  i16(0x1234), i32(BUSY);
  check("scalars");

  struct bits b = {-3, 100, -(INT64_C(1) << 38), ~0ull, BUSY};
  KYMO(listing, bits, KYMO_STRUCT(bits, struct bits, &b));
  i32(-3), i32(100), i64(-(INT64_C(1) << 38)), i64(-1), i32(BUSY);
  check("bit-fields, widened");

  union word w;
  memset(&w, 0, sizeof w);
  w.number = 0x01020304;
  KYMO(listing, word, KYMO_UNION(word, union word, &w), KYMO_UNION(none, union word, (union word *)NULL));
  bytes(&w, sizeof w);
  for (size_t i = 0; i < sizeof w; i++)
    i8(0);
  check("a union, and none");

  KYMO(listing, numbers, KYMO_ENUM(state, enum state, BUSY), KYMO_ENUM(unlisted, enum state, 99),
       KYMO_FLAGS(opts, enum opts, READ | WRITE), KYMO_TYPED(count, count_t, 5), KYMO_BE(wire, (int16_t)7),
       KYMO_CHAR(letter, (int8_t)'x'), KYMO_HEX(hex, 3));
  i32(BUSY), i32(99), i32(3), i32(5), i16(7), i8('x'), i32(3);
  check("enumerations, flags, named types, formats");
}

static int evaluated;
static int evaluate(int value) { return evaluated++, value; }

static void test_optionals(void) {
  struct point p = {1, 2};
  const char *none = NULL;
  for (int has = 0; has < 2; has++)
    KYMO(listing, optional, KYMO_OPTIONAL(number, has, evaluate(7)), KYMO_OPTIONAL(text, has, "text"),
         KYMO_OPTIONAL(letter, none, *none), KYMO_OPTIONAL_STRUCT(point, struct point, has ? &p : NULL));
  i8(1), i32(7), i8(1), text("text"), i8(0), i8(1), two(1, 2);
  check("optionals that are there");
  printf("%s what is not there is not evaluated\n", evaluated == 1 ? "ok" : "not ok");
  failures += evaluated != 1;
  for (int has = 0; has < 1; has++)
    KYMO(listing, absent, KYMO_OPTIONAL(number, has, evaluate(7)), KYMO_OPTIONAL(text, has, "text"),
         KYMO_OPTIONAL_STRUCT(point, struct point, has ? &p : NULL));
  i8(0), i8(0), i8(0);
  check("optionals that are not there");
}

static void test_variants(void) {
  union value v;
  memset(&v, 0, sizeof v);
  v.point.x = 3;
  v.point.y = 4;
  KYMO(listing, variant, KYMO_VARIANT(v, union value, KIND_POINT, &v), KYMO_VARIANT(w, union value, 77, &v),
       KYMO_VARIANT(x, union value, INT64_C(1) << 32 | KIND_POINT, &v));
  i32(KIND_POINT), two(3, 4), i32(77), i32(INT32_MAX);
  check("variants: of a tag, of an unknown one, of one too wide");
  v.text = "chosen";
  KYMO(listing, texts, KYMO_VARIANT(v, union value, KIND_TEXT, &v),
       KYMO_VARIANT(none, union value, KIND_NUMBER, (union value *)NULL));
  i32(KIND_TEXT), text("chosen"), i32(KIND_NUMBER), i64(0);
  check("variants with a text, and none");
}

static void put_message(void) {
  text("hello, this is longer than one vector"), i32(2), i16(8), i16(9), i32(1), two(5, 6);
  i32(KIND_NUMBER), i64(42), i8(1), i32(7), i8(1), two(8, 9);
}

static void put_empty_message(void) { text("(null)"), i32(0), i32(0), i32(0), i8(0), i8(0); }

static void test_dynamic(void) {
  const int16_t numbers[] = {8, 9};
  struct point points[] = {{5, 6}};
  struct message m[2];
  memset(m, 0, sizeof m);
  m[0].text = "hello, this is longer than one vector";
  m[0].numbers = numbers;
  m[0].number_count = 2;
  m[0].points = points;
  m[0].point_count = 1;
  m[0].kind = KIND_NUMBER;
  m[0].value.number = 42;
  m[0].has_extra = true;
  m[0].extra = 7;
  m[0].extra_point.x = 8;
  m[0].extra_point.y = 9;
  m[1].number_count = -5;
  m[1].point_count = 3; /* of nothing */
  KYMO(listing, message, KYMO_STRUCT(m, struct message, &m[0]),
       KYMO_STRUCT(none, struct message, (struct message *)NULL));
  put_message(), put_empty_message();
  check("a dynamic struct, and none");

  KYMO(listing, messages, KYMO_STRUCT_ARRAY(m, struct message, m, 2),
       KYMO_OPTIONAL_STRUCT(one, struct message, &m[1]));
  i32(2), put_message(), put_empty_message(), i8(1), put_empty_message();
  check("an array of dynamic structs");

  struct envelope e;
  memset(&e, 0, sizeof e);
  e.message = m[1];
  e.more = m;
  e.count = 2;
  KYMO(listing, envelope, KYMO_STRUCT(envelope, struct envelope, &e));
  put_empty_message(), i32(2), put_message(), put_empty_message(), bytes(&e.word, sizeof e.word);
  check("dynamic structs in one");
}

/* A text that grows while it is stored: the event is given up, and the next one is valid. */
static void test_grown(void) {
  char changing[16] = "abc";
  struct message m;
  memset(&m, 0, sizeof m);
  m.text = changing;
  size_t size;
  for (int i = 0; i < 2; i++) {
    grow = i == 0 ? changing : NULL;
    KYMO(listing, grown, KYMO_STRUCT(m, struct message, &m));
    if (i == 0) {
      bool ok = abandoned == 1 && !last_event(&size) && !kymo_self_.busy;
      printf("%s a text that grows gives the event up\n", ok ? "ok" : "not ok");
      failures += !ok;
    }
  }
  text("abcx"), i32(0), i32(0), i32(0), i8(0), i8(0);
  check("and the next is whole");
}

#ifdef __cplusplus
namespace inner {
enum class mode : uint8_t { off, on = 3 };
KYMO_ENUM_TYPE(mode, mode::off, mode::on)
struct child {
  int16_t n;
  mode m;
  const char *text;
};
KYMO_STRUCT_TYPE(child, n, (mode)m, KYMO_TEXT(text))
} // namespace inner

template <class T> static void record(const T *value) {
  KYMO(listing, templated, KYMO_STRUCT(value, T, value));
}
inline void record_inline(const struct point *p) {
  KYMO(listing, shared_inline, KYMO_STRUCT(point, struct point, p));
}

static void only_in_cpp() {
  inner::child c = {5, inner::mode::on, "child"};
  KYMO(listing, child, KYMO_STRUCT(child, inner::child, &c), KYMO_ENUM(mode, inner::mode, c.m));
  i16(5), i8(3), text("child"), i8(3);
  check("types of a namespace");
  record(&c);
  i16(5), i8(3), text("child");
  check("a dynamic struct in a template");
  struct point p = {7, 8};
  record(&p);
  two(7, 8);
  check("a struct in a template");
  record_inline(&p);
  two(7, 8);
  check("a struct in an inline function of two sources");
}
#else
static void only_in_cpp(void) {}
#endif

int main(void) {
  struct point p = {1, 2};
  test_structs();
  test_scalars();
  test_optionals();
  test_variants();
  test_dynamic();
  test_grown();
  only_in_cpp();
  record_elsewhere(&p);
  two(1, 2);
  check("the same listing in another source");
  printf("%s all call sites were found (%d)\n", sites >= 19 ? "ok" : "not ok", sites);
  return failures != 0 || sites < 19;
}
