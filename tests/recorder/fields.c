/* SPDX-License-Identifier: MIT */
/*
 * Every kind of field, with the values at which representations go wrong. A comment before each event, which
 * the test reads, has the payload as babeltrace2 prints it: "= NAME: { … }". Compiled as C and as C++.
 */
#include <float.h>
#include <kymo/trace.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum small { SMALL_MINUS = -1, SMALL_ONE = 1 };
enum plain { PLAIN_ZERO, PLAIN_SEVEN = 7 };
struct inner {
  int port;
  char name[4];
  unsigned bits : 5;
};

static void integers(void) {
  signed char sc = SCHAR_MIN;
  unsigned char uc = UCHAR_MAX;
  short s = SHRT_MIN;
  unsigned short us = USHRT_MAX;
  int i = INT_MIN;
  unsigned u = UINT_MAX;
  long long ll = LLONG_MIN;
  unsigned long long ull = ULLONG_MAX;
  /* = int:widths: { sc = -128, uc = 255, s = -32768, us = 65535, i = -2147483648, u = 4294967295, ll = -9223372036854775808, ull = 18446744073709551615 } */
  KYMO(int, widths, sc, uc, s, us, i, u, ll, ull);
  int8_t i8 = -8;
  uint8_t u8 = 8;
  int16_t i16 = -16;
  uint16_t u16 = 16;
  int32_t i32 = -32;
  uint32_t u32 = 32;
  int64_t i64 = -64;
  uint64_t u64 = 64;
  /* = int:fixed: { i8 = -8, u8 = 8, i16 = -16, u16 = 16, i32 = -32, u32 = 32, i64 = -64, u64 = 64 } */
  KYMO(int, fixed, i8, u8, i16, u16, i32, u32, i64, u64);
  size_t size = 11;
  long l = -12;
  unsigned long ul = 13;
  ptrdiff_t difference = -14;
  /* = int:others: { size = 11, l = -12, ul = 13, difference = -14 } */
  KYMO(int, others, size, l, ul, difference);
  /* = int:bases: { plain = 255, hex = 0xFF, dec = 255, oct = 0377, bin = 0b11111111, minus = 0xFFFFFFFF } */
  KYMO(int, bases, KYMO_AS(plain, 255), KYMO_HEX(hex, 255), KYMO_DEC(dec, 255), KYMO_OCT(oct, 255),
       KYMO_BIN(bin, (unsigned char)255), KYMO_HEX(minus, -1));
  /* The variable of this name, as a word of one argument. */
  /* = int:variables: { ul = 0xD, l = -12, plus = 012, only = 0b00000101 } */
  unsigned char only = 5;
  KYMO(int, variables, KYMO_HEX(ul), KYMO_DEC(l), KYMO_OCT(plus, 10), KYMO_BIN(only));
  bool yes = true, no = false;
  char c = 'c';
  const volatile int cv = 5;
  /* = int:small: { yes = 1, no = 0, c = 99, cv = 5 } */
  KYMO(int, small, yes, no, c, cv);
  enum small e = SMALL_MINUS;
  enum plain p = PLAIN_SEVEN;
  /* = int:enums: { e = -1, p = 7 } */
  KYMO(int, enums, e, p);
}

static void floats(void) {
  float f = 1.5f;
  double d = -0.1;
  long double ld = 2.25L;
  /* = float:plain: { f = 1.5, d = -0.1, ld = 2.25 } */
  KYMO(float, plain, f, d, ld);
  double infinite = HUGE_VAL, zero = -0.0, tiny = DBL_MIN;
  /* = float:edges: { infinite = inf, zero = -0, tiny = 2.22507e-308, max = 3.40282e+38 } */
  KYMO(float, edges, infinite, zero, tiny, KYMO_AS(max, FLT_MAX));
}

static void pointers(void) {
  void *p = (void *)(uintptr_t)0xabcdef;
  const int *null = NULL;
  struct inner *to = (struct inner *)p;
  /* = pointer:all: { p = 0xABCDEF, null = 0x0, to = 0xABCDEF } */
  KYMO(pointer, all, p, null, to);
  /* = pointer:bytes: { as = 0xABCDEF } */
  KYMO(pointer, bytes, KYMO_AS(as, (unsigned char *)p));
}

static void texts(void) {
  const char *empty = "", *text = "fifteen letters", *null = NULL;
  char *changeable = (char *)(uintptr_t) "sixteen letters!";
  /* = text:plain: { empty = "", text = "fifteen letters", changeable = "sixteen letters!", null = "(null)", literal = "literal" } */
  KYMO(text, plain, empty, text, changeable, null, "literal");
  const char *longer = "a text of more than thirty-two letters, to be sure";
  /* = text:longer: { longer = "a text of more than thirty-two letters, to be sure", quotes = "\"\\\n\t" } */
  KYMO(text, longer, longer, KYMO_AS(quotes, "\"\\\n\t"));
  struct inner in = {80, {'a', 'b', 'c', 'd'}, 21};
  struct inner *pin = &in;
  char full[3] = {'x', 'y', 'z'}, ended[8] = "end", one[1] = {'1'}, none[1] = {0};
  const char fixed[2] = {'f', 'g'};
  /* = text:arrays: { in_name = "abcd", pin_name = "abcd", full = "xyz", ended = "end", one = "1", none = "", fixed = "fg" } */
  KYMO(text, arrays, in.name, pin->name, full, ended, one, none, fixed);
  /* = text:bounded: { cut = "fif", whole = "fifteen letters", nothing = "", null = "(null)", longer = "a text of more than thir" } */
  KYMO(text, bounded, KYMO_STRN(cut, text, 3), KYMO_STRN(whole, text, 100), KYMO_STRN(nothing, text, 0),
       KYMO_STRN(null, null, 3), KYMO_STRN(longer, longer, 24));
}

static void bytes(void) {
  const unsigned char data[5] = {1, 2, 0, 0xfe, 0xff};
  /* = bytes:counted: { _data_length = 5, data = [ [0] = 0x1, [1] = 0x2, [2] = 0x0, [3] = 0xFE, [4] = 0xFF ], _none_length = 0, none = [ ] } */
  KYMO(bytes, counted, KYMO_BLOB(data, data, sizeof data), KYMO_BLOB(none, NULL, 0));
  /* = bytes:fixed: { shorter = [ [0] = 0x1, [1] = 0x2, [2] = 0x0 ], longer = [ [0] = 0x1 ], nothing = [ [0] = 0x0, [1] = 0x0 ] } */
  KYMO(bytes, fixed, KYMO_BLOB_FIXED(shorter, data, 2, 3), KYMO_BLOB_FIXED(longer, data, 5, 1),
       KYMO_BLOB_FIXED(nothing, NULL, 0, 2));
  int numbers[3] = {-1, 0, 1};
  double doubles[2] = {0.5, -0.5};
  const uint16_t shorts[1] = {65535};
  uint64_t *empty = NULL;
  /* = bytes:arrays: { _numbers_length = 3, numbers = [ [0] = -1, [1] = 0, [2] = 1 ], _doubles_length = 2, doubles = [ [0] = 0.5, [1] = -0.5 ], _shorts_length = 1, shorts = [ [0] = 65535 ], _empty_length = 0, empty = [ ] } */
  KYMO(bytes, arrays, KYMO_ARRAY(numbers, numbers, 3), KYMO_ARRAY(doubles, doubles, 2),
       KYMO_ARRAY(shorts, shorts, 1), KYMO_ARRAY(empty, empty, 0));
  struct inner in = {0, {0}, 2};
  long failed = -1;
  /* = bytes:uncounted: { _read_length = 0, read = [ ], _null_length = 0, null = [ ], _nowhere_length = 0, nowhere = [ ], fixed = [ [0] = 0x0, [1] = 0x0 ], zeroes = [ [0] = 0x0, [1] = 0x0 ], _few_length = 0, few = [ ], _bits_length = 2, bits = [ [0] = -1, [1] = 0 ] } */
  KYMO(bytes, uncounted, KYMO_BLOB(read, data, failed), KYMO_BLOB(null, NULL, 3),
       KYMO_ARRAY(nowhere, empty, 3), KYMO_BLOB_FIXED(fixed, data, failed, 2),
       KYMO_BLOB_FIXED(zeroes, NULL, 2, 2), KYMO_ARRAY(few, numbers, failed),
       KYMO_ARRAY(bits, numbers, in.bits));
}

static void names(void) {
  struct inner in = {80, {'a', 'b', 'c', 0}, 21}, *p = &in;
  int v[2] = {1, 2}, len = 3, event = 4, _under = 5;
  /* = name:made: { p_port = 80, v_1 = 2, len = 3, len_2 = 4, field5 = -1, unsigned_in_bits = 21, event = 4, _under = 5 } */
  KYMO(name, made, p->port, v[1], len, KYMO_AS(len, len + 1), KYMO_AS(, -1), (unsigned)in.bits, event,
       _under);
  /* = app.trace.string: { text = "free, dotted (name)", len = 3 } */
  KYMO_NAMED(app.trace.string, KYMO_AS(text, "free, dotted (name)"), len);
  /* = name:collide: { _x_length = 9, _x_length_2 = 1, x = [ [0] = 0x61 ] } */
  KYMO(name, collide, KYMO_AS(_x_length, 9), KYMO_BLOB(x, "a", 1));
  /* = name:nothing: { } */
  KYMO(name, nothing);
  /* = single: { } */
  KYMO_NAMED(single);
  /* = name:sixteen: { a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11, l = 12, m = "13", n = 14, o = 15, p = 16 } */
  KYMO(name, sixteen, KYMO_AS(a, 1), KYMO_AS(b, 2), KYMO_AS(c, 3), KYMO_AS(d, 4), KYMO_AS(e, 5),
       KYMO_AS(f, 6), KYMO_AS(g, 7), KYMO_AS(h, 8), KYMO_AS(i, 9), KYMO_AS(j, 10), KYMO_AS(k, 11),
       KYMO_AS(l, 12), KYMO_AS(m, "13"), KYMO_AS(n, 14), KYMO_AS(o, 15), KYMO_AS(p, 16));
}

/* Arguments are evaluated once, in order, and only when the tracepoint is on. */
static int count;
static int next(void) { return ++count; }
static void evaluation(void) {
  /* = once:each: { next = 1, next_2 = 2, text = "three" } */
  KYMO(once, each, next(), next(), KYMO_STRN(text, "threefold", (size_t)next() + 2));
  if (count != 3)
    abort();
}

int main(void) {
  integers();
  floats();
  pointers();
  texts();
  bytes();
  names();
  evaluation();
  return 0;
}
