/* SPDX-License-Identifier: MIT */
/* Spans in spans, pairs by a key, numbers and texts on three threads. */
#include <kymo/trace.h>
#include <pthread.h>

static void *work(void *from) {
  unsigned long first = (unsigned long)from * 10000;
  for (unsigned i = 0; i < 1000; i++) {
    unsigned long id = first + i;
    const char *name = i % 7 ? "often" : i % 2 ? "<b>some times</b>" : "rarely";
    int size = (int)(i * 37 % 1400) - 100 + (i == 500 ? 100000 : 0);
    KYMO_SPAN(app, outer);
    KYMO(job, begin, id, name);
    if (i % 3) {
      KYMO_SPAN(app, inner);
      KYMO(job, step, i, size);
    }
    KYMO(job, end, id);
  }
  return 0;
}

int main(void) {
  pthread_t threads[3];
  for (unsigned long i = 0; i < 3; i++)
    pthread_create(&threads[i], 0, work, (void *)i);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], 0);
  return 0;
}
