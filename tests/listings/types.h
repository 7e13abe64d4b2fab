/* SPDX-License-Identifier: MIT */
/* Types of every kind, and their listings, as a program's header has them: included by several sources. */
#ifndef TYPES_H
#define TYPES_H

#include <kymo/types.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct point {
  int32_t x, y;
};
KYMO_STRUCT_TYPE(struct point, x, y)

enum state { IDLE, BUSY = 7 };
KYMO_ENUM_TYPE(enum state, IDLE, BUSY)
enum opts { READ = 1, WRITE = 2 };
KYMO_FLAGS_TYPE(enum opts, READ, WRITE)

/* padding, another order, a member left out */
struct loose {
  char letter;
  int64_t wide;
  int32_t secret;
  int16_t narrow;
};
KYMO_STRUCT_TYPE(struct loose, narrow, letter, wide)

typedef uint32_t count_t;
typedef struct {
  struct point corner[2];
  count_t id;
} box_t;
KYMO_STRUCT_TYPE(box_t, (struct point)corner, (count_t)id)

struct arrays {
  int8_t cube[2][2][3];
  char name[8];
  char names[2][4];
  struct loose pair[2];
};
KYMO_STRUCT_TYPE(struct arrays, cube, name, names, (struct loose)pair)

struct scalars {
  bool yes;
  char letter;
  float half;
  double whole;
  long double wide;
  const void *address;
  enum state state;
  enum opts opts;
  uint16_t port;
  uint8_t small_state;
};
KYMO_STRUCT_TYPE(struct scalars, yes, KYMO_CHAR(letter), half, whole, wide, address, (enum state)state,
                 (enum opts)opts, KYMO_BE(port), KYMO_BITS((enum state)small_state))

struct bits {
  int low : 3;
  unsigned mid : 7;
  long long wide : 40;
  unsigned long long full : 64;
  enum state state : 4;
};
KYMO_STRUCT_TYPE(struct bits, KYMO_BITS(low), KYMO_BITS(mid), KYMO_BITS(wide), KYMO_BITS(full),
                 KYMO_BITS((enum state)state))

union word {
  int32_t number;
  float real;
  unsigned char bytes[4];
  struct point *unlisted;
};
KYMO_UNION_TYPE(union word, number, real, KYMO_HEX(bytes))

enum kind { KIND_NUMBER = 1, KIND_POINT, KIND_TEXT };
union value {
  int64_t number;
  struct point point;
  const char *text;
};
KYMO_VARIANT_TYPE(union value, (KIND_NUMBER, number), (KIND_POINT, (struct point)point),
                  (KIND_TEXT, KYMO_TEXT(text)))

/* dynamic in each way */
struct message {
  const char *text;
  const int16_t *numbers;
  int16_t number_count;
  struct point *points;
  uint8_t point_count;
  enum kind kind;
  union value value;
  bool has_extra;
  int32_t extra;
  struct point extra_point;
};
KYMO_STRUCT_TYPE(struct message, KYMO_TEXT(text), KYMO_ARRAY(numbers, number_count),
                 KYMO_ARRAY((struct point)points, point_count), KYMO_VARIANT((union value)value, kind),
                 KYMO_OPTIONAL(extra, has_extra), KYMO_OPTIONAL((struct point)extra_point, has_extra))

/* dynamic, inside of others */
struct envelope {
  struct message message;
  struct message *more;
  uint32_t count;
  union word word;
};
KYMO_STRUCT_TYPE(struct envelope, (struct message)message, KYMO_ARRAY((struct message)more, count),
                 (union word)word)

void record_elsewhere(const struct point *point);

#ifdef __cplusplus
}
#endif
#endif
