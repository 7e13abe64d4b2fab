/* SPDX-License-Identifier: MIT */
/* Says "ready", and how often it got which signal within a while after the first. */
#include <kymo/trace.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t counts[NSIG], total;

static void on_signal(int signal) {
  counts[signal]++;
  total++;
}

int main(int argc, char **argv) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};
  struct sigaction action = {.sa_handler = on_signal};
  sigset_t mask;
  int wanted = argc > 1 ? argv[1][0] - '0' : 1;
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    sigaction(signals[i], &action, NULL);
  sigprocmask(SIG_BLOCK, NULL, &mask);
  for (int s = 1; s < 32; s++)
    if (sigismember(&mask, s))
      printf("%s is blocked\n", strsignal(s));
  printf("ready\n");
  fflush(stdout);
  for (int i = 0; i < 2500 && total < wanted; i++)
    nanosleep(&(struct timespec){0, 2000000}, NULL);
  for (int i = 0; i < 100; i++)
    nanosleep(&(struct timespec){0, 2000000}, NULL);
  for (int s = 1; s < 32; s++)
    if (counts[s])
      printf("SIG%s %d\n", sigabbrev_np(s), (int)counts[s]);
  KYMO(signals, seen, KYMO_AS(total, (int)total));
  return 0;
}
