/* SPDX-License-Identifier: MIT */
/*
 * life HOW [ARGUMENT…]: lives as programs do, recording life:step every millisecond until it is killed.
 * Prints its number, or numbers.
 *
 *   fork N            and so do N children
 *   exec PROGRAM …    at last the program instead
 *   daemon FILE       in the background: two forks, a new session, all descriptors closed, its number in
 *                     FILE
 *   chroot DIR [fork] with another root; in a child made after that
 *   user UID          as another user
 *   threads N         and so do N threads, every 100 milliseconds
 *   limit N           with space for N descriptors
 *   server            and makes a child each time, which records life:child and ends by _exit
 */
#include <kymo/trace.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void *live(void *number) {
  for (int i = 0;; i++) {
    KYMO(life, step, i, KYMO_AS(number, (int)(intptr_t)number));
    usleep(number ? 100000 : 1000); /* a thousand of them must not keep the machine from work */
  }
  return NULL;
}

static void live_and_tell(void) {
  printf("%d\n", (int)getpid());
  fflush(stdout);
  live(NULL);
}

static void become_daemon(const char *file) {
  if (fork())
    _exit(0);
  setsid();
  if (fork())
    _exit(0);
  FILE *out = fopen(file, "w");
  if (!out || chdir("/"))
    _exit(2);
  fprintf(out, "%d\n", (int)getpid());
  fclose(out);
  for (int fd = 0; fd < 1024; fd++)
    close(fd);
  for (int i = 0; i < 8; i++) /* other files have the numbers now */
    if (open("/dev/null", O_RDWR) < 0)
      _exit(2);
  live(NULL);
}

static int change_root(char **arguments) {
  if (chroot(arguments[0]) || chdir("/"))
    return 2;
  if (arguments[1] && fork()) {
    pause();
    return 0;
  }
  live_and_tell();
  return 0;
}

static void serve(void) {
  printf("%d\n", (int)getpid());
  fflush(stdout);
  for (int i = 0;; i++) {
    KYMO(life, step, i);
    pid_t child = fork();
    if (!child) {
      KYMO(life, child, i);
      _exit(0);
    }
    waitpid(child, NULL, 0);
    usleep(1000);
  }
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  long number = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
  if (!strcmp(how, "fork")) {
    for (long i = 0; i < number; i++)
      if (!fork())
        live_and_tell();
  } else if (!strcmp(how, "exec")) {
    usleep(50000);
    execv(argv[2], argv + 2);
    return 2;
  } else if (!strcmp(how, "daemon"))
    become_daemon(argv[2]);
  else if (!strcmp(how, "chroot"))
    return change_root(argv + 2);
  else if (!strcmp(how, "user")) {
    if (setgroups(0, NULL) || setgid((gid_t)number) || setuid((uid_t)number))
      return 2;
  } else if (!strcmp(how, "threads")) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    for (intptr_t i = 0; i < number; i++) {
      pthread_t thread;
      if (pthread_create(&thread, &small, live, (void *)i))
        return 2;
    }
  } else if (!strcmp(how, "limit")) {
    struct rlimit limit = {(rlim_t)number, (rlim_t)number};
    if (setrlimit(RLIMIT_NOFILE, &limit))
      return 2;
  } else if (!strcmp(how, "server"))
    serve();
  live_and_tell();
  return 0;
}
