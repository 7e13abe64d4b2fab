/* SPDX-License-Identifier: MIT */
#include "ring/life.h"
#include "ring/ring.h"
#include <errno.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

uint64_t kymo_pid_namespace(void) {
  struct stat st;
  return stat("/proc/self/ns/pid", &st) ? 0 : (uint64_t)st.st_ino;
}

bool kymo_life_hold(int fd) {
  return !flock(fd, LOCK_EX | LOCK_NB);
}

bool kymo_life_is_held(int fd) {
  if (flock(fd, LOCK_SH | LOCK_NB)) /* shared: who asks at the same time is not taken for a process */
    return errno == EWOULDBLOCK;
  flock(fd, LOCK_UN);
  return false;
}

bool kymo_life_by_pid(const struct kymo_pool_header *header) {
  int pid = header->pid;
  if (pid <= 0 || (kill(pid, 0) && errno == ESRCH))
    return false;
  return !header->start_time || kymo_process_start_time(pid) == header->start_time;
}

enum kymo_life kymo_life_of(const struct kymo_pool_header *header, int fd) {
  uint64_t here = kymo_pid_namespace();
  if (here && header->pid_namespace == here)
    return kymo_life_by_pid(header) ? KYMO_LIFE_ALIVE : KYMO_LIFE_DEAD;
  if (header->is_locked)
    return kymo_life_is_held(fd) ? KYMO_LIFE_ALIVE : KYMO_LIFE_DEAD;
  return KYMO_LIFE_UNKNOWN;
}
