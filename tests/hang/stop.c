/* SPDX-License-Identifier: MIT */
/*
 * Before a command that starts workers: the one with the number $STOP_WORKER, from 1, stops as soon as it
 * begins, so it never ends. Its process number goes to the file "stopped".
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

pid_t fork(void) {
  static long count;
  pid_t (*next)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
  const char *number = getenv("STOP_WORKER");
  count++;
  pid_t pid = next();
  if (pid || !number || strtol(number, NULL, 10) != count)
    return pid;
  FILE *file = fopen("stopped", "w");
  if (!file || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file))
    _exit(1);
  raise(SIGSTOP);
  return 0;
}
