/* SPDX-License-Identifier: MIT */
/* Two threads that wait for one lock, as often as it takes until one waited. It has no tracepoints. */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
  for (int i = 0; i < 20; i++) {
    pthread_mutex_lock(&table_lock);
    usleep(1000);
    pthread_mutex_unlock(&table_lock);
  }
  return unused;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, work, NULL);
  work(NULL);
  pthread_join(other, NULL);
  return 0;
}
