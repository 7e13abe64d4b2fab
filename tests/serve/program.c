/* SPDX-License-Identifier: MIT */
/* Spans in spans, pairs by a key, on three threads. */
#include <kymo/trace.h>
#include <pthread.h>

static void *work(void *from) {
  for (unsigned i = 0; i < 2000; i++) {
    unsigned long id = (unsigned long)from * 10000 + i;
    KYMO_SPAN(app, outer);
    KYMO(job, begin, id);
    if (i % 3) {
      KYMO_SPAN(app, inner);
      KYMO(job, step, i, "text");
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
