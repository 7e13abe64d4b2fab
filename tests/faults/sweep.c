/* SPDX-License-Identifier: MIT */
/*
 * Runs the program that this library is preloaded into once for each call that can fail. All runs are forked
 * before main begins, so a run costs neither exec nor loading:
 *
 *   FAULTS=alloc|alloc+|io|io+|short   what fails; with "+" all calls after it fail too
 *   FAULTS_AT=N                        one run, in which call N fails; nothing else is done
 *   FAULTS_STEP=N  FAULTS_MOST=N       each Nth call only, and at most this number of runs, evenly over
 *                                      all calls
 *   FAULTS_NAME=…                      begins the lines of the report
 *   FAULTS_PROGRAM=…                   the program that this is for; others run as they are
 *   FAULTS_IN=…                        the library whose calls fail
 *   FAULTS_LOOSE=1                     outputs differ from run to run: what counts is the exit status
 *   FAULTS_CHECK=PROGRAM               judges each run, in its folder, with the status of waitpid as
 *                                      argument and the outputs on stdout and stderr as descriptors 3 and 4.
 *                                      Its exit status: 0 all is there, 1 what is missing is reported or
 *                                      counted, else bad, and its first line of output says why
 *
 * Each run is in an empty folder. The files and the standard output are compared with a run in which nothing
 * fails. The report goes to the standard output: a line for each kind of bad end, and one with the figures:
 *
 *   unharmed   all is there, exit status as in the whole run
 *   refused    the exit status is 1 or 3, and a message says why
 *   BAD        crashed, hung, short (less output, but the exit status of the whole run), silent (fails
 *              without a message), blamed (exit status 2: as if the command line were wrong), wrong
 *              (FAULTS_CHECK says so)
 */
#include "shim.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUN_SECONDS 20
#define SHOWN_MAX 12

enum end { UNHARMED, REFUSED, CRASHED, HUNG, SHORT, SILENT, BLAMED, WRONG, ENDS };
static const char *const end_names[ENDS] = {"unharmed", "refused", "crashed", "hung",
                                            "short",    "silent",  "blamed",  "wrong"};

struct outcome {
  int status;             /* as of waitpid; -1: it hung */
  uint64_t output, words; /* hashes of the files, and of the messages */
  size_t output_size, words_size;
  int verdict; /* exit status of FAULTS_CHECK */
  char why[160];
};

static char folder[256]; /* of the runs */
static int output_fd, words_fd;

/* ---- one run ---- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t size) {
  for (const uint8_t *at = bytes, *end = at + size; at < end; at++)
    hash = (hash ^ *at) * UINT64_C(0x100000001b3);
  return hash;
}

static uint64_t mix_file(uint64_t hash, int fd, size_t *size) {
  static char piece[65536];
  off_t at = 0;
  ssize_t got;
  while ((got = pread(fd, piece, sizeof(piece), at)) > 0) {
    hash = mix(hash, piece, (size_t)got);
    at += got;
  }
  *size += (size_t)at;
  return hash;
}

static struct outcome *looked_at;

static int look(const char *path, const struct stat *info, int type, struct FTW *place) {
  (void)place;
  if (type == FTW_F && S_ISREG(info->st_mode)) {
    int fd = open(path, O_RDONLY);
    uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), path, strlen(path));
    looked_at->output += mix_file(hash, fd, &looked_at->output_size); /* in any order */
    close(fd);
  }
  return 0;
}

static int take_away(const char *path, const struct stat *info, int type, struct FTW *place) {
  (void)info;
  if (place->level > 0)
    type == FTW_DP ? rmdir(path) : unlink(path);
  return 0;
}

/* In the child: everything is redirected, then main runs. */
static void become(struct fault_run *run) {
  int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output_fd, STDOUT_FILENO);
  dup2(words_fd, STDERR_FILENO);
  close(nothing);
  close(output_fd);
  close(words_fd);
  unsetenv("FAULTS_CHECK");
  if (chdir(folder) != 0 || !fault_begin(run))
    _exit(125);
}

static int wait_for(pid_t child) {
  int fd = (int)syscall(SYS_pidfd_open, child, 0), status;
  struct pollfd end = {.fd = fd, .events = POLLIN};
  bool hangs = fd >= 0 && poll(&end, 1, RUN_SECONDS * 1000) == 0;
  if (hangs)
    kill(child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  close(fd);
  return hangs ? -1 : status;
}

/* In a child: becomes FAULTS_CHECK. */
static void become_check(int why, int status) {
  char text[16];
  snprintf(text, sizeof(text), "%d", status);
  if (dup2(why, STDOUT_FILENO) < 0 || dup2(output_fd, 3) < 0 || dup2(words_fd, 4) < 0 || chdir(folder) != 0)
    _exit(125);
  execl(getenv("FAULTS_CHECK"), getenv("FAULTS_CHECK"), text, (char *)NULL);
  _exit(127);
}

static void ask_check(struct outcome *outcome) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    _exit(125);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0)
    become_check(ends[1], outcome->status);
  close(ends[1]);
  ssize_t size = read(ends[0], outcome->why, sizeof(outcome->why) - 1);
  outcome->why[size > 0 ? size : 0] = '\0';
  outcome->why[strcspn(outcome->why, "\n")] = '\0';
  close(ends[0]);
  int status = wait_for(child);
  outcome->verdict = status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}

/* Returns in the parent, with true; in the child with false. */
static bool run_once(struct fault_run *run, struct outcome *outcome) {
  run->count = run->failed = 0;
  run->depth = 0;
  if (ftruncate(output_fd, 0) != 0 || ftruncate(words_fd, 0) != 0)
    _exit(125);
  lseek(output_fd, 0, SEEK_SET);
  lseek(words_fd, 0, SEEK_SET);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    become(run);
    return false;
  }
  *outcome = (struct outcome){.status = wait_for(child)};
  outcome->words = mix_file(0, words_fd, &outcome->words_size);
  outcome->output = mix_file(0, output_fd, &outcome->output_size);
  looked_at = outcome;
  if (!getenv("FAULTS_CHECK"))
    nftw(folder, look, 16, FTW_PHYS);
  else if (outcome->status != -1)
    ask_check(outcome);
  nftw(folder, take_away, 16, FTW_DEPTH | FTW_PHYS);
  return true;
}

/* ---- all runs ---- */

static enum end judge(const struct outcome *whole, const struct outcome *got, bool is_loose) {
  if (got->status == -1)
    return HUNG;
  if (WIFSIGNALED(got->status) || (WEXITSTATUS(got->status) >= 126 && !getenv("FAULTS_CHECK")))
    return CRASHED;
  if (getenv("FAULTS_CHECK"))
    return got->verdict == 0 ? UNHARMED : got->verdict == 1 ? REFUSED : WRONG;
  bool has_words = got->words_size > 0 && got->words != whole->words;
  bool is_same = is_loose || (got->output == whole->output && got->output_size == whole->output_size);
  if (got->status == whole->status)
    return is_same || (WEXITSTATUS(got->status) != 0 && has_words) ? UNHARMED : SHORT;
  if (WEXITSTATUS(got->status) == 0)
    return SHORT;
  if (WEXITSTATUS(got->status) == 2)
    return BLAMED;
  return has_words ? REFUSED : SILENT;
}

static void show_words(void) {
  char line[300];
  ssize_t size = pread(words_fd, line, sizeof(line) - 1, 0);
  line[size > 0 ? size : 0] = '\0';
  line[strcspn(line, "\n")] = '\0';
  printf("    %s\n", line);
}

/* Where the call was: places in the program, as addr2line takes them. */
extern int dladdr(const void *address, void *info);
struct place {
  const char *file;
  void *base;
  const char *name;
  void *address;
};

static void show_stack(const struct fault_run *run) {
  printf("   ");
  for (int i = 0; i < run->depth; i++) {
    struct place place;
    if (!dladdr(run->stack[i], &place))
      continue;
    const char *file = strrchr(place.file, '/');
    printf(" %s+0x%zx", file ? file + 1 : place.file,
           (size_t)((char *)run->stack[i] - (char *)place.base - 1));
  }
  printf("\n");
}

static const char *text_of(const char *name, const char *otherwise) {
  const char *text = getenv(name);
  return text && *text ? text : otherwise;
}

static void report(const struct fault_run *run, const char *kind, const unsigned long *ends) {
  printf("%s %s: %lu calls", text_of("FAULTS_NAME", program_invocation_short_name), kind, run->count);
  for (int i = 0; i < ENDS; i++)
    if (ends[i])
      printf(", %lu %s", ends[i], end_names[i]);
  printf("\n");
}

/* True in a run, false when all are done. */
static bool sweep(struct fault_run *run, const char *kind) {
  struct outcome whole, got;
  unsigned long ends[ENDS] = {0}, shown = 0;
  run->at = 0;
  if (!run_once(run, &whole))
    return true;
  unsigned long count = run->count, step = strtoul(text_of("FAULTS_STEP", "1"), NULL, 0);
  unsigned long most = strtoul(text_of("FAULTS_MOST", "0"), NULL, 0);
  if (most && count / most + 1 > step)
    step = count / most + 1;
  if (run->kind == FAULT_SHORT) { /* all of them at once */
    run->stays = true;
    step = count + 1;
  }
  if (whole.status == -1 || WIFSIGNALED(whole.status) ||
      WEXITSTATUS(whole.status) >= (getenv("FAULTS_CHECK") ? 125 : 2) || whole.verdict) {
    printf("%s %s: CANNOT RUN %s\n", text_of("FAULTS_NAME", ""), kind, whole.why);
    show_words();
    return false;
  }
  for (unsigned long at = 1; at <= count; at += step) {
    run->at = at;
    if (!run_once(run, &got))
      return true;
    enum end end = judge(&whole, &got, getenv("FAULTS_LOOSE") != NULL);
    ends[end]++;
    if (end <= REFUSED || shown++ >= strtoul(text_of("FAULTS_SHOWN", "12"), NULL, 0))
      continue;
    printf("  BAD %s: %s %lu of %lu (%s), status 0x%x, %zu bytes of %zu %s\n", end_names[end], kind, at,
           count, run->call, (unsigned)got.status, got.output_size, whole.output_size, got.why);
    show_words();
    show_stack(run);
  }
  run->count = count;
  report(run, kind, ends);
  return false;
}

static enum fault_kind kind_of(const char *text) {
  return strncmp(text, "alloc", 5) == 0 ? FAULT_ALLOC : strncmp(text, "io", 2) == 0 ? FAULT_IO : FAULT_SHORT;
}

static bool sweep_all(struct fault_run *run, char *kinds) {
  for (char *kind; (kind = strsep(&kinds, ",")) != NULL;) {
    run->kind = kind_of(kind);
    run->stays = strchr(kind, '+') != NULL;
    if (sweep(run, kind))
      return true;
  }
  return false;
}

/* After the numbers that FAULTS_CHECK gets. */
static int memory_file(const char *name) {
  int low = memfd_create(name, MFD_CLOEXEC), fd = fcntl(low, F_DUPFD_CLOEXEC, 10);
  close(low);
  return fd;
}

__attribute__((constructor)) static void begin(void) {
  const char *kinds = getenv("FAULTS"), *program = getenv("FAULTS_PROGRAM");
  if (!kinds || (program && strcmp(program, program_invocation_short_name) != 0))
    return;
  char *copy = strdup(kinds);
  unsetenv("FAULTS"); /* programs that this one starts run as they are */
  unsetenv("LD_PRELOAD");
  struct fault_run *run = mmap(NULL, sizeof(*run), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (getenv("FAULTS_AT")) {
    run->at = strtoul(getenv("FAULTS_AT"), NULL, 0);
    run->kind = kind_of(copy);
    run->stays = strchr(copy, '+') || run->kind == FAULT_SHORT;
    if (!fault_begin(run))
      _exit(125);
    return;
  }
  output_fd = memory_file("output");
  words_fd = memory_file("words");
  snprintf(folder, sizeof(folder), "%s/faults.XXXXXX", text_of("TMPDIR", "/tmp"));
  if (!mkdtemp(folder))
    _exit(125);
  if (sweep_all(run, copy)) {
    free(copy);
    return;
  }
  rmdir(folder);
  fflush(stdout);
  _exit(0);
}
