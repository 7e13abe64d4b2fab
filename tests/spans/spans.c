/* SPDX-License-Identifier: MIT */
/* Spans that are nested, recursive, of two kinds that take turns, and requests that end in another thread
 * than they began in. */
#include <kymo/trace.h>
#include <pthread.h>

static int rec(int n) {
  KYMO_SPAN(app, rec, n);
  return n > 0 ? rec(n - 1) + 1 : 0;
}

static void odd(int n);
static void even(int n) {
  KYMO_SPAN_BEGIN(app, even, n);
  if (n > 0)
    odd(n - 1);
  KYMO_SPAN_END(app, even, n);
}
static void odd(int n) {
  KYMO_SPAN_BEGIN(app, odd, n);
  if (n > 0)
    even(n - 1);
  KYMO_SPAN_END(app, odd, n);
}

static void *work(void *unused) {
  for (int i = 0; i < 2; i++)
    rec(9);
  even(9);
  return unused;
}

/* Begins 10 requests, which main ends in another order. */
static void *ask(void *unused) {
  for (int id = 0; id < 10; id++)
    KYMO(request, begin, id);
  return unused;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
  pthread_create(&threads[0], 0, ask, 0);
  pthread_join(threads[0], 0);
  for (int id = 9; id >= 0; id--)
    KYMO(request, end, KYMO_AS(id, id * 7 % 10));
  return 0;
}
