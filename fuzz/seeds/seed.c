/* SPDX-License-Identifier: MIT */
/* Types of every kind, symbols, and with -DPOINTS call sites: fuzz/seeds/make compiles it to small ELF
 * files. */
#ifdef POINTS
#include <kymo/trace.h>
#endif

enum colour { RED = 1, GREEN, BLUE = 10 };
enum bits { A = 1, B = 2, C = 4, D = 8 };
typedef enum { NEGATIVE = -3, POSITIVE = 3 } sign_t;
struct inner {
  unsigned short a;
  signed char b;
  float f;
  double d;
};
typedef struct {
  int x, y;
} point_t;
union either {
  int i;
  char c[8];
  point_t p;
};
typedef const volatile struct inner *inner_p;
struct seed {
  unsigned char u8;
  signed short s16;
  unsigned b3 : 3, b5 : 5;
  enum colour colour;
  enum bits bits;
  sign_t sign;
  struct inner inner[2][3];
  point_t where;
  union either u;
  char text[12];
  void *p;
  inner_p q;
  struct seed *next;
  long long big;
  struct {
    int k;
    union {
      int m;
      float n;
    } of;
  } nested;
  int (*call)(int);
};
struct seed *seed_variable;
struct inner inner_variable = {1, 2, 3, 4};
int seed_function(struct seed *s, enum bits b);

int seed_function(struct seed *s, enum bits b) {
#ifdef POINTS
  KYMO(seed, one, s->big, b);
  KYMO(seed, text, KYMO_AS(text, s->text), KYMO_AS(sign, s->sign));
  KYMO_NAMED("seed:named", s->s16);
#endif
  return s->u8 + (int)b + (int)s->where.x + inner_variable.a;
}
