/* SPDX-License-Identifier: MIT */
/* Types of all kinds, the same on all machines. */
#ifndef SHAPES_H
#define SHAPES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct point {
  int x, y;
};
typedef struct point point_t;
typedef point_t place_t;
enum state { CLOSED, OPEN, HALF = 5, BROKEN = -1 };
enum permission { NONE = 0, READ = 1, WRITE = 2, EXECUTE = 4, ALL = 7 };
enum pair { FIRST = 1, SECOND = 2 };
enum row { ONE = 1, TWO, THREE, FOUR };
enum twice { ZERO, NOTHING = 0, BIT = 16, OTHER = 32 };
typedef enum { RED, GREEN } color_t;
typedef struct {
  float r, g, b;
} rgb_t;
typedef int identity_t;
typedef identity_t owner_t;
typedef int vector_t[3];
struct hole {
  char c;
  int i;
};
struct tight {
  uint16_t a;
  uint8_t b[2];
  enum state c;
};
union value {
  int64_t i;
  double d;
  char text[8];
  rgb_t color;
  struct hole hole;
  struct point points[2];
  struct tight tight;
  long double far;
  void *pointer;
  unsigned bits : 3;
  enum state state;
  struct {
    int first, second;
  };
};
union odd {
  void *only;
};
struct list {
  struct list *next;
  int value;
};
struct later;
struct shape {
  struct point from;
  const point_t to;
  enum state state;
  enum permission permission;
  color_t color;
  rgb_t rgb;
  owner_t owner;
  uint32_t size32;
  size_t size;
  bool is_open;
  char name[16], letter;
  const char *text;
  unsigned char *bytes;
  void *where;
  int (*call)(int, struct point);
  short matrix[2][3];
  int deep[2][2][2][2];
  place_t corners[4];
  vector_t position;
  long double far;
  double _Complex complex;
  unsigned low : 3;
  enum permission some : 4;
  unsigned : 0;
  owner_t bits : 5;
  union {
    int as_int;
    float as_float;
  };
  struct {
    int inner;
    struct {
      char innermost;
    };
  };
  struct {
    int hidden;
  } unnamed;
  union value value;
  union odd odd;
  struct list *list, head;
  struct later *later;
  volatile const long *changing;
  _Atomic int shared;
  int none[0];
  struct {
    int sub;
  } array_of_unnamed[2];
  enum { LEFT, RIGHT } side;
  char rest[];
};
#endif
