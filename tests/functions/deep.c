/* SPDX-License-Identifier: MIT */
/* Functions that call themselves and each other, in two threads; one is left by a jump, and main by
 * exit(). */
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

int fib(int n);
int rec(int n);
int odd(int n);
int even(int n);
int jumper(int n);
void leaper(int n);
void quit(void);

int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int rec(int n) { return n ? rec(n - 1) + 1 : 0; }
int odd(int n) { return n ? even(n - 1) : 0; }
int even(int n) { return n ? odd(n - 1) : 1; }

static jmp_buf place;
void leaper(int n) { longjmp(place, n); }
int jumper(int n) {
  int came = setjmp(place);
  if (!came)
    leaper(n);
  return came;
}

static void *work(void *unused) __attribute__((no_instrument_function));
static void *work(void *unused) {
  fib(10);
  return unused;
}

void quit(void) { exit(0); }

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
  rec(99);
  even(20);
  jumper(7);
  quit();
}
