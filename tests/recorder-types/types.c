/* SPDX-License-Identifier: MIT */
/* Every type that the macros offer, in two threads; C and C++. All values are the same on every machine. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <kymo/trace.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum state { IDLE, BUSY = 5, BROKEN = -3 };
KYMO_ENUM_TYPE(enum state, IDLE, BUSY, BROKEN)
enum access { NONE = 0, READ = 1, WRITE = 2, BOTH = READ | WRITE, EXECUTE = 4, ODD = 0x50 };
KYMO_FLAGS_TYPE(enum access, NONE, READ, WRITE, BOTH, EXECUTE, ODD)

typedef int32_t level_t;
struct point {
  int32_t x, y;
};
KYMO_STRUCT_TYPE(struct point, x, y)
typedef struct {
  struct point from, to;
  double weight;
} line_t;
KYMO_STRUCT_TYPE(line_t, (struct point)from, (struct point)to, weight)

union word {
  uint32_t whole;
  uint8_t bytes[4];
};
KYMO_UNION_TYPE(union word, KYMO_HEX(whole), bytes)

union payload {
  int32_t number;
  struct point point;
  const char *text;
};
KYMO_VARIANT_TYPE(union payload, (1, number), (-2, (struct point)point), (300, KYMO_TEXT(text)))

struct plain {
  bool yes;
  char letter;
  signed char tiny;
  unsigned char byte;
  short small;
  unsigned short port;
  int number;
  unsigned mask;
  long long big;
  unsigned long long huge;
  float ratio;
  double exact;
  int32_t cells[2][3];
  char name[8], names[2][4];
  enum state state;
  enum access access;
  level_t level;
  struct point corners[2];
  union word word;
  unsigned low : 3;
  int high : 5;
  uint16_t swapped, straight;
};
KYMO_STRUCT_TYPE(struct plain, yes, KYMO_CHAR(letter), tiny, KYMO_OCT(byte), small, port, number,
                 KYMO_HEX(mask), big, huge, ratio, exact, cells, name, names, (enum state)state,
                 (enum access)access, (level_t)level, (struct point)corners, (union word)word, KYMO_BITS(low),
                 KYMO_BITS(high), KYMO_BE(swapped), KYMO_LE(straight))

struct inner {
  const char *title;
  uint16_t count;
  const struct point *points;
};
KYMO_STRUCT_TYPE(struct inner, KYMO_TEXT(title), KYMO_ARRAY((struct point)points, count))
struct dynamic {
  const char *text;
  int32_t count;
  const double *numbers;
  struct inner inner[2];
  int32_t tag;
  union payload payload;
  bool has_point, has_note;
  struct point point;
  char note[8];
  uint8_t rows;
  const struct inner *table;
};
KYMO_STRUCT_TYPE(struct dynamic, KYMO_TEXT(text), KYMO_ARRAY(numbers, count), (struct inner)inner,
                 KYMO_VARIANT((union payload)payload, tag), KYMO_OPTIONAL((struct point)point, has_point),
                 KYMO_OPTIONAL(note, has_note), KYMO_ARRAY((struct inner)table, rows))

static void trace_plain(int who, int round) {
  struct plain p;
  memset(&p, 0, sizeof p);
  p.yes = round % 2;
  p.letter = (char)('a' + round % 26);
  p.tiny = -1;
  p.byte = 200;
  p.small = (short)-round;
  p.port = 0xbeef;
  p.number = -1000 - round;
  p.mask = 0xdeadbeefu;
  p.big = -(1LL << 40) - round;
  p.huge = 1ULL << 52;
  p.ratio = 0.5f;
  p.exact = -0.25 * round;
  for (int i = 0; i < 6; i++)
    p.cells[i / 3][i % 3] = i * 10 + round;
  memcpy(p.name, "seven77", 8);
  memcpy(p.names, "oneXtwo", 8); /* the first fills its room */
  p.state = round % 3 == 0 ? IDLE : round % 3 == 1 ? BUSY : BROKEN;
  p.access = (enum access)(round % 8);
  p.level = -7;
  p.corners[0].x = round;
  p.corners[1].y = -round;
  p.word.bytes[0] = p.word.bytes[3] = 0x41;
  p.word.bytes[1] = p.word.bytes[2] = 0x42; /* reads the same from either end */
  p.low = 5;
  p.high = -9;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  p.swapped = 0x3412, p.straight = 0x1234;
#else
  p.swapped = 0x1234, p.straight = 0x3412;
#endif
  KYMO(types, plain, who, round, KYMO_STRUCT(it, struct plain, &p));
  line_t line = {{1, 2}, {3, round}, 1.5};
  KYMO(types, line, who, round, KYMO_STRUCT(line, line_t, &line), KYMO_UNION(word, union word, &p.word));
  KYMO(types, named, who, round, KYMO_ENUM(state, enum state, p.state),
       KYMO_FLAGS(access, enum access, p.access), KYMO_TYPED(level, level_t, p.level), KYMO_HEX(mask, p.mask),
       KYMO_OCT(byte, p.byte), KYMO_BIN(low, p.port));
}

static void trace_dynamic(int who, int round) {
  static const struct point points[] = {{1, -1}, {2, -2}, {3, -3}};
  static const double numbers[] = {0.5, 1.5, -2.5};
  struct inner table[2];
  struct dynamic d;
  memset(&d, 0, sizeof d);
  for (int i = 0; i < 2; i++) {
    table[i].title = i ? "second" : "first";
    table[i].count = (uint16_t)((round + i) % 4);
    table[i].points = points;
    d.inner[i].title = i ? "" : "only";
    d.inner[i].count = (uint16_t)i;
    d.inner[i].points = points;
  }
  d.text = round % 2 ? "odd" : NULL;
  d.count = round % 4;
  d.numbers = numbers;
  switch (round % 4) {
  case 0:
    d.tag = 1;
    d.payload.number = 77;
    break;
  case 1:
    d.tag = -2;
    d.payload.point = points[2];
    break;
  case 2:
    d.tag = 300;
    d.payload.text = "chosen";
    break;
  default: d.tag = 99; break; /* no option of that tag */
  }
  d.has_point = round % 2;
  d.point = points[1];
  d.has_note = !d.has_point;
  memcpy(d.note, "a note", 7);
  d.rows = (uint8_t)(round % 3);
  d.table = table;
  KYMO(types, dynamic, who, round, KYMO_STRUCT(it, struct dynamic, &d));
  KYMO(types, fields, who, round, KYMO_STRUCT_ARRAY(points, struct point, points, round % 4),
       KYMO_VARIANT(any, union payload, d.tag, &d.payload), KYMO_OPTIONAL(maybe, round % 2, round * 2),
       KYMO_OPTIONAL(word, round % 3, "text"),
       KYMO_OPTIONAL_STRUCT(where, struct point, round % 2 ? points : NULL),
       KYMO_ARRAY(numbers, numbers, round % 4), KYMO_BLOB(bytes, "\1\2\3", 3),
       KYMO_BLOB_FIXED(fixed, "\4\5", 2, 3), KYMO_STRN(text, "truncated", 5));
}

static int rounds = 4;

static void *work(void *who) {
  for (int round = 0; round < rounds; round++) {
    trace_plain(*(const int *)who, round);
    trace_dynamic(*(const int *)who, round);
  }
  return NULL;
}

static int both_threads(void) {
  static int names[2] = {1, 2};
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, &names[1]))
    return 3;
  work(&names[0]);
  return pthread_join(thread, NULL) ? 3 : 0;
}

/* types [ROUNDS [fork | kill]]: a child does the same again, or the end is a violent one. */
int main(int argc, char **argv) {
  if (argc > 1)
    rounds = (int)strtol(argv[1], NULL, 10);
  int status = both_threads(), child = 0;
  if (argc > 2 && !strcmp(argv[2], "kill"))
    raise(SIGKILL);
  if (argc > 2 && !strcmp(argv[2], "fork") && fork() == 0)
    return kymo_thread_init() || both_threads(); /* rings before there are threads to race for them */
  return wait(&child) > 0 && child ? 3 : status;
}
