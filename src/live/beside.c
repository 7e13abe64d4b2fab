/* SPDX-License-Identifier: MIT */
#include "live/beside.h"
#include "base/fail.h"
#include "ring/clocks.h"
#include "ring/layout.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAMES_ROOM = 64 }; /* for the longest path below the directory */

/* ---- files ---- */

bool kymo_beside_is(const char *name) {
  return strcmp(name, KYMO_KERNEL_DIRECTORY) == 0 || strcmp(name, KYMO_SAMPLES_DIRECTORY) == 0;
}

int kymo_beside_make(char out[KYMO_PATH_MAX], const char *directory, const char *name,
                     const struct kymo_session_clock *clock, struct kymo_error *error) {
  char path[KYMO_PATH_MAX], origin[KYMO_CLOCK_ORIGIN_MAX];
  if ((size_t)snprintf(path, sizeof path, "%s/%s", directory, name) >= sizeof path - NAMES_ROOM)
    return kymo_fail(error, KYMO_E_LIMIT, "the path is too long: %s", directory);
  if (mkdir(path, 0777))
    return kymo_fail_errno(error, path, "cannot make the directory");
  memcpy(out, path, sizeof path);
  snprintf(path + strlen(path), NAMES_ROOM, "/clock"); /* it has space, see above */
  FILE *file = fopen(path, "wxe");
  kymo_session_clock_put_origin(clock, origin);
  bool is_whole = file && fprintf(file, "%s\n", origin) > 0;
  is_whole = file && !fclose(file) && is_whole;
  return is_whole ? KYMO_OK : kymo_fail_errno(error, path, "cannot write");
}

int kymo_beside_begin_clocks(const char *directory, const struct kymo_session_clock *clock, int *file,
                             struct kymo_error *error) {
  char path[KYMO_PATH_MAX + 32], text[KYMO_CLOCKS_HEAD_MAX];
  struct kymo_clocks_head head = {.is_counter = clock->is_counter, .frequency = clock->frequency};
  kymo_boot_id(head.boot);
  gethostname(head.host, sizeof head.host - 1);
  snprintf(path, sizeof path, "%s/%s", directory, KYMO_HIDDEN);
  if (mkdir(path, 0777))
    return kymo_fail_errno(error, path, "cannot make the directory");
  snprintf(path, sizeof path, "%s/%s", directory, KYMO_HIDDEN_CLOCKS);
  *file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  size_t length = kymo_clocks_put_head(text, &head);
  if (*file < 0 || write(*file, text, length) != (ssize_t)length)
    return kymo_fail_errno(error, path, "cannot write");
  return KYMO_OK;
}

bool kymo_beside_note_clocks(int file, const struct kymo_session_clock *clock) {
  struct kymo_clock_snapshot snapshot;
  char line[KYMO_CLOCKS_LINE_MAX];
  kymo_clocks_look(clock->is_counter, &snapshot);
  size_t length = kymo_clocks_put(line, &snapshot);
  return write(file, line, length) >= 0;
}

int kymo_beside_note_lost(const char *directory, uint64_t count, struct kymo_error *error) {
  char path[KYMO_PATH_MAX + 32];
  snprintf(path, sizeof path, "%s/lost", directory);
  FILE *file = fopen(path, "we");
  bool is_whole = file && fprintf(file, "%" PRIu64 "\n", count) > 0;
  if (file && fclose(file))
    is_whole = false;
  return is_whole ? KYMO_OK : kymo_fail_errno(error, path, "cannot write");
}

void kymo_beside_remove(const char *directory) {
  static const char *const files[] = {"clock", "lost", KYMO_HIDDEN_CLOCKS, KYMO_HIDDEN};
  char path[KYMO_PATH_MAX + 32];
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    snprintf(path, sizeof path, "%s/%s", directory, files[i]);
    if (unlink(path) && errno == EISDIR)
      rmdir(path);
  }
  rmdir(directory);
}

/* ---- the thread ---- */

int kymo_beside_thread_new(struct kymo_beside_thread *thread, struct kymo_error *error) {
  thread->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return thread->end < 0 ? kymo_fail(error, KYMO_E_SYSTEM, "cannot make an eventfd: %s", strerror(errno))
                         : KYMO_OK;
}

int kymo_beside_thread_begin(struct kymo_beside_thread *thread, void *(*work)(void *), void *argument,
                             struct kymo_error *error) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int reason = pthread_create(&thread->thread, NULL, work, argument);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  thread->is_running = !reason;
  return reason ? kymo_fail(error, KYMO_E_SYSTEM, "cannot start a thread: %s", strerror(reason)) : KYMO_OK;
}

bool kymo_beside_thread_wait(const struct kymo_beside_thread *thread, int milliseconds) {
  return poll(&(struct pollfd){thread->end, POLLIN, 0}, 1, milliseconds) > 0;
}

void kymo_beside_thread_end(struct kymo_beside_thread *thread) {
  uint64_t one = 1;
  if (!thread->is_running)
    return;
  while (write(thread->end, &one, sizeof one) < 0 && errno == EINTR)
    ;
  pthread_join(thread->thread, NULL);
  thread->is_running = false;
}

void kymo_beside_thread_free(struct kymo_beside_thread *thread) {
  kymo_beside_thread_end(thread);
  if (thread->end >= 0)
    close(thread->end);
}
