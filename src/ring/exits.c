/* SPDX-License-Identifier: MIT */
#include "ring/exits.h"
#include "ring/life.h"
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The kernel's answer to PIDFD_GET_INFO, in its first version; older headers do not have it. */
struct pidfd_answer {
  uint64_t mask, cgroup;
  uint32_t pid, tgid, ppid, ids[8];
  int32_t exit_code;
};
_Static_assert(sizeof(struct pidfd_answer) == 64, "the first version of struct pidfd_info");
#define ASK_INFO _IOWR(0xFF, 11, struct pidfd_answer)
#define HAS_EXIT (UINT64_C(1) << 3)

static bool is_over(int process) { return poll(&(struct pollfd){process, POLLIN, 0}, 1, 0) > 0; }

/* The end of the second field of /proc/PID/stat, the name, which may contain anything; NULL: there is no such
 * process. */
static const char *read_stat(int pid, char text[1024]) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *file = fopen(path, "re");
  size_t n = file ? fread(text, 1, 1023, file) : 0;
  if (file)
    fclose(file);
  text[n] = 0;
  const char *at = strrchr(text, ')');
  return at && at[1] == ' ' ? at : NULL;
}

int kymo_exit_age_ms(int pid) {
  char text[1024];
  struct timespec now;
  const char *at = read_stat(pid, text);
  if (!at || at[2] == 'Z' || clock_gettime(CLOCK_BOOTTIME, &now))
    return INT_MAX;
  for (int field = 2; at && field < 22; field++)
    at = strchr(at + 1, ' ');
  double age = at ? (double)now.tv_sec + (double)now.tv_nsec / 1e9 -
                        (double)strtoull(at + 1, NULL, 10) / (double)sysconf(_SC_CLK_TCK)
                  : -1;
  return age < 0 || age > 3600 ? INT_MAX : (int)(age * 1000);
}

/* Field 22 of /proc/PID/stat is the start time, field 52 the status for its parent. */
bool kymo_exit_of_zombie(int pid, uint64_t start_time, int *status) {
  char text[1024];
  const char *at = read_stat(pid, text);
  if (!at || at[2] != 'Z')
    return false;
  for (int field = 2; at && field < 52; field++) {
    at = strchr(at + 1, ' ');
    if (at && field == 21 && start_time && strtoull(at + 1, NULL, 10) != start_time)
      return false;
  }
  *status = at ? (int)strtol(at + 1, NULL, 10) : 0;
  return true;
}

enum kymo_exit kymo_exit_of(int process, int pid, int *status) {
  if (!is_over(process))
    return KYMO_EXIT_NOT_YET;
  bool is_zombie = kymo_exit_of_zombie(pid, 0, status);
  struct pidfd_answer answer = {.mask = HAS_EXIT};
  bool answers = !ioctl(process, ASK_INFO, &answer);
  if (answers && (answer.mask & HAS_EXIT)) /* which is set once the parent has waited */
    *status = answer.exit_code;
  else if (!is_zombie)
    return answers ? KYMO_EXIT_NOT_YET : KYMO_EXIT_UNKNOWN; /* not yet: between the two */
  return KYMO_EXIT_KNOWN;
}

bool kymo_exit_of_pool(const struct kymo_pool_header *header, int *status, int *thread) {
  *status = (int)__atomic_load_n(&header->crash_signal, __ATOMIC_ACQUIRE); /* partner: on_fatal of crash.c */
  *thread = *status ? header->crash_tid : 0;
  return *status || (header->pid_namespace == kymo_pid_namespace() &&
                     kymo_exit_of_zombie(header->pid, header->start_time, status));
}

void kymo_exit_status_text(int status, int thread, char out[KYMO_EXIT_TEXT_MAX]) {
  if (WIFEXITED(status))
    snprintf(out, KYMO_EXIT_TEXT_MAX, "exit status %d", WEXITSTATUS(status));
  else if (thread)
    snprintf(out, KYMO_EXIT_TEXT_MAX, "%s in thread %d", strsignal(WTERMSIG(status)), thread);
  else
    snprintf(out, KYMO_EXIT_TEXT_MAX, "%s", strsignal(WTERMSIG(status)));
}

void kymo_exit_text(const struct kymo_pool_header *header, char out[KYMO_EXIT_TEXT_MAX]) {
  int thread, status;
  if (kymo_exit_of_pool(header, &status, &thread))
    kymo_exit_status_text(status, thread, out);
  else
    snprintf(out, KYMO_EXIT_TEXT_MAX, header->finished ? "exit" : "unknown: killed, or _exit");
}
