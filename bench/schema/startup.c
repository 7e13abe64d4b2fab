/* SPDX-License-Identifier: MIT */
/*
 * Time from the start of a program to its main, in a program of many tracepoints (those come from objects
 * that bench/schema/run generates; without them POINTS is not defined). Started with a number, it starts
 * itself that often without one and prints the nanoseconds that each took, one a line.
 */
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

#ifdef POINTS
/* clang-format off */
#define MODULE(n) void trace_module##n(unsigned x);
MODULE(0) MODULE(1) MODULE(2) MODULE(3) MODULE(4) MODULE(5) MODULE(6) MODULE(7) MODULE(8) MODULE(9)
#undef MODULE
#define MODULE(n) trace_module##n(x);
static void trace_all(unsigned x) {
  MODULE(0) MODULE(1) MODULE(2) MODULE(3) MODULE(4) MODULE(5) MODULE(6) MODULE(7) MODULE(8) MODULE(9)
}
/* clang-format on */
#else
static void trace_all(unsigned x) { (void)x; }
#endif

/* Nanoseconds from here to the main of a child; ends the program if there is none. */
static int64_t start_one(const char *program) {
  int pipes[2];
  posix_spawn_file_actions_t actions;
  char *arguments[] = {(char *)(uintptr_t)program, NULL};
  pid_t child;
  int64_t in_main = 0;
  int status = -1;
  if (pipe(pipes) != 0 || posix_spawn_file_actions_init(&actions) != 0)
    exit(1);
  posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
  int64_t begin = now_ns();
  if (posix_spawn(&child, program, &actions, NULL, arguments, environ) != 0)
    exit(1);
  close(pipes[1]);
  if (read(pipes[0], &in_main, sizeof in_main) != sizeof in_main || waitpid(child, &status, 0) != child ||
      status != 0)
    exit(1);
  close(pipes[0]);
  posix_spawn_file_actions_destroy(&actions);
  return in_main - begin;
}

int main(int argc, char **argv) {
  int64_t in_main = now_ns();
  if (argc < 2)
    return write(STDOUT_FILENO, &in_main, sizeof in_main) == sizeof in_main ? 0 : 1;
  long times = strtol(argv[1], NULL, 10);
  if (times < 0)
    trace_all((unsigned)times);
  for (long i = 0; i < times; i++)
    printf("%lld\n", (long long)start_one(argv[0]));
  return 0;
}
