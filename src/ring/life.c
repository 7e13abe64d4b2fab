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

bool kymo_life_hold(int fd) { return !flock(fd, LOCK_EX | LOCK_NB); }

enum kymo_life kymo_life_by_lock(int fd) {
  if (flock(fd, LOCK_SH | LOCK_NB)) /* shared: another process that asks at the same time is not taken for
                                     * the owner */
    return errno == EWOULDBLOCK ? KYMO_LIFE_ALIVE : KYMO_LIFE_UNKNOWN;
  flock(fd, LOCK_UN);
  return KYMO_LIFE_DEAD;
}

static bool is_gone(int pid) { return kill(pid, 0) && errno == ESRCH; }

enum kymo_life kymo_life_by_pid(const struct kymo_pool_header *header) {
  int pid = header->pid;
  uint64_t start_time;
  if (pid <= 0 || is_gone(pid))
    return KYMO_LIFE_DEAD;
  if (!header->start_time)
    return KYMO_LIFE_ALIVE;
  if (!kymo_process_start_time(pid, &start_time)) /* it may have ended meanwhile */
    return is_gone(pid) ? KYMO_LIFE_DEAD : KYMO_LIFE_UNKNOWN;
  return start_time == header->start_time ? KYMO_LIFE_ALIVE : KYMO_LIFE_DEAD;
}

enum kymo_life kymo_life_of(const struct kymo_pool_header *header, int fd) {
  uint64_t here = kymo_pid_namespace();
  if (here && header->pid_namespace == here)
    return kymo_life_by_pid(header);
  if (header->is_locked)
    return kymo_life_by_lock(fd);
  return KYMO_LIFE_UNKNOWN;
}
