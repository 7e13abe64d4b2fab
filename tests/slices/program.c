/* SPDX-License-Identifier: MIT */
/* Nested, recursive and overlapping spans in two threads, instants with values of every shape. With a number:
 * as many more events. */
#include <kymo/trace.h>
#include <kymo/types.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum state { CLOSED, OPEN };
KYMO_ENUM_TYPE(enum state, CLOSED, OPEN)
struct pair {
  int left;
  double right;
};
KYMO_STRUCT_TYPE(struct pair, left, right)

static void pause_ns(long ns) { nanosleep(&(struct timespec){.tv_nsec = ns}, NULL); }

static void descend(int depth) {
  KYMO_SPAN(job, descend, depth);
  pause_ns(20000);
  if (depth > 0)
    descend(depth - 1);
  const int list[] = {depth, -depth, 7};
  KYMO(job, step, depth, KYMO_AS(text, "a\"b\\;\n"), KYMO_ARRAY(list, list, 3));
  const struct pair pair = {depth, 0.5};
  KYMO(job, shape, KYMO_STRUCT(pair, struct pair, &pair),
       KYMO_ENUM(state, enum state, depth ? OPEN : CLOSED));
}

static void overlap(int turn) {
  KYMO_SPAN_BEGIN(io, read, turn);
  pause_ns(10000);
  KYMO_SPAN_BEGIN(io, write, turn);
  pause_ns(10000);
  KYMO_SPAN_END(io, read);
  pause_ns(10000);
  KYMO_SPAN_END(io, write);
}

static void *work(void *name) {
  for (int i = 0; i < 6; i++) {
    descend(i % 3);
    if (name)
      overlap(i);
  }
  return NULL;
}

int main(int count, char **words) {
  pthread_t thread;
  for (int i = 0, most = count > 1 ? (int)strtol(words[1], NULL, 10) : 0; i < most; i++)
    KYMO(job, many, i);
  KYMO_PRINTF(log, note, "value %d of %s", 5, "\xff\xfe");
  pthread_create(&thread, NULL, work, "other");
  work(NULL);
  pthread_join(thread, NULL);
  KYMO_SPAN_BEGIN(job, open);
  return 0;
}
