/* SPDX-License-Identifier: MIT */
/*
 * Events built in pieces. The comments beside it have the expected payloads as babeltrace2 prints them.
 *
 *   pieces           good ones
 *   pieces wrong     some that are given up, and counted: prints their number
 *   pieces off       nothing is on: no function does anything
 */
#include <kymo/trace.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static const uint16_t sizes[] = {1, 2, 3};

static void all_kinds(void) {
  char room[256];
  struct kymo_build build;
  KYMO_BUILD(&build, room, sizeof room, pieces, all, KYMO_HEX(id, 255), KYMO_AS(text, "there"),
             KYMO_LATER_TEXT(path), KYMO_LATER_ARRAY(sizes, uint16_t), KYMO_LATER(status, short),
             KYMO_LATER(ratio, float), KYMO_LATER(exact, double), KYMO_LATER_BLOB(body),
             KYMO_LATER(large, uint64_t), KYMO_LEVEL(info));
  kymo_build_text(&build, "/");
  kymo_build_text(&build, "index");
  kymo_build_bytes(&build, ".html", 5);
  KYMO(pieces, between, KYMO_AS(on, kymo_build_is_on(&build)));
  //= pieces:between: { on = 1 }
  kymo_build_next(&build);
  kymo_build_bytes(&build, sizes, sizeof sizes);
  kymo_build_bytes(&build, sizes, sizeof sizes[0]);
  kymo_build_next(&build);
  kymo_build_integer(&build, -7);
  kymo_build_float(&build, 0.5);
  kymo_build_integer(&build, 3);
  unsigned char *space = (unsigned char *)kymo_build_space(&build, 2);
  if (space)
    space[0] = 1, space[1] = 2;
  kymo_build_next(&build);
  kymo_build_integer(&build, (int64_t)UINT64_MAX);
  printf("%d", kymo_build_commit(&build));
  //= pieces:all: { id = 0xFF, text = "there", path = "/index.html", _sizes_length = 4, sizes = [ [0] = 1, [1] = 2, [2] = 3, [3] = 1 ], status = -7, ratio = 0.5, exact = 3, _body_length = 2, body = [ [0] = 0x1, [1] = 0x2 ], large = 18446744073709551615 }
  printf("%d", kymo_build_commit(&build));
}

static void little_said(void) {
  char room[64];
  struct kymo_build build;
  KYMO_BUILD(&build, room, sizeof room, pieces, empty, KYMO_LATER_TEXT(a), KYMO_LATER_ARRAY(b, int),
             KYMO_LATER_BLOB(c), KYMO_LATER(d, int));
  kymo_build_next(&build);
  printf("%d", kymo_build_commit(&build));
  //= pieces:empty: { a = "", _b_length = 0, b = [ ], _c_length = 0, c = [ ], d = 0 }
  KYMO_BUILD(&build, room, sizeof room, pieces, none, KYMO_AS(n, 1));
  printf("%d", kymo_build_commit(&build));
  //= pieces:none: { n = 1 }
  KYMO_BUILD(&build, room, sizeof room, pieces, cancelled, KYMO_LATER(d, int));
  kymo_build_cancel(&build);
  printf("%d\n", kymo_build_commit(&build));
}

static jmp_buf back;

static void left(void) {
  char room[64];
  struct kymo_build build;
  KYMO_BUILD(&build, room, sizeof room, pieces, left, KYMO_LATER(d, int));
  longjmp(back, 1);
}

static void wrong(void) {
  char room[64];
  struct kymo_build build;
  int lost = 0;
#define BEGIN                                                                                        \
  KYMO_BUILD(&build, room, sizeof room, pieces, wrong, KYMO_LATER(n, int), KYMO_LATER_ARRAY(a, int), \
             KYMO_LATER_TEXT(t))
  BEGIN;
  kymo_build_text(&build, "four");
  lost += !kymo_build_commit(&build);
  BEGIN;
  kymo_build_bytes(&build, "two", 2);
  lost += !kymo_build_commit(&build);
  BEGIN;
  kymo_build_next(&build);
  lost += !kymo_build_commit(&build);
  BEGIN;
  kymo_build_integer(&build, 1), kymo_build_bytes(&build, sizes, 3);
  lost += !kymo_build_commit(&build);
  BEGIN;
  kymo_build_integer(&build, 1), kymo_build_integer(&build, 2);
  lost += !kymo_build_commit(&build);
  BEGIN;
  kymo_build_integer(&build, 1), kymo_build_next(&build), kymo_build_bytes(&build, "a\0b", 3);
  lost += !kymo_build_commit(&build);
  BEGIN;
  kymo_build_integer(&build, 1), kymo_build_next(&build), kymo_build_next(&build), kymo_build_next(&build);
  lost += !kymo_build_commit(&build);
  BEGIN;
  kymo_build_integer(&build, 1);
  for (int i = 0; i < 30; i++)
    kymo_build_bytes(&build, "0123456789ab", 4);
  lost += !kymo_build_commit(&build);
  BEGIN;
  lost += kymo_build_space(&build, (size_t)-4) != NULL || !kymo_build_commit(&build);
  KYMO_BUILD(&build, room, 20, pieces, wrong_room, KYMO_AS(text, "more than there is room for"));
  lost += !kymo_build_commit(&build);
  KYMO_BUILD(&build, room, sizeof room, pieces, misordered, KYMO_LATER(n, int), KYMO_AS(m, 1));
  kymo_build_commit(&build);
  printf("%d\n", lost);
}

static void off(void) {
  char room[64];
  struct kymo_build build;
  KYMO_BUILD(&build, room, sizeof room, pieces, off, KYMO_AS(n, (exit(3), 1)), KYMO_LATER(m, int));
  kymo_build_text(&build, "x"), kymo_build_next(&build), kymo_build_integer(&build, 1),
      kymo_build_float(&build, 1);
  printf("%d%d%d\n", kymo_build_is_on(&build), kymo_build_space(&build, 1) != NULL,
         kymo_build_commit(&build));
  kymo_build_cancel(&build);
}

int main(int argc, char **argv) {
  if (argc > 1 && argv[1][0] == 'w')
    return wrong(), 0;
  if (argc > 1)
    return off(), 0;
  all_kinds();
  little_said();
  if (!setjmp(back))
    left();
  KYMO(pieces, after_a_jump);
  //= pieces:after_a_jump: { }
  return 0;
}
