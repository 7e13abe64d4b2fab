/* SPDX-License-Identifier: MIT */
/* A unit that agrees with shapes.h in all but two names, and defines what that one only declares. */
struct point {
  long x, y;
};
struct list {
  struct list *next;
  int value;
};
struct later {
  struct point at;
  enum { UP, DOWN } way;
};
enum state { CLOSED, OPEN, BROKEN };

struct list list;
struct later defined;
enum state other_state;
