/* SPDX-License-Identifier: MIT */
/*
 * Pools are found where they are by default or by KYMO_RINGS, and through the memory maps of processes that
 * listen, since a process may have another place of its own, or another mount namespace.
 */
#include "tool/rings.h"
#include "base/list.h"
#include "live/client.h"
#include "live/exits.h"
#include "live/find.h"
#include "tool/tool.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- texts ---- */

const char *tool_age_text(int64_t ns, char out[TOOL_AGE_MAX]) {
  static const struct {
    const char *name;
    int64_t seconds;
  } units[] = {{"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}};
  int64_t seconds = ns / 1000000000;
  size_t i = 0;
  while (i < 3 && seconds < units[i].seconds)
    i++;
  snprintf(out, TOOL_AGE_MAX, "%" PRId64 " %-3s", seconds / units[i].seconds, units[i].name);
  return out;
}

const char *tool_size_text(uint64_t bytes, char out[TOOL_SIZE_MAX]) {
  static const char units[] = "KMGT";
  double size = (double)bytes / 1024;
  size_t i = 0;
  for (; size >= 1024 && i < 3; i++)
    size /= 1024;
  snprintf(out, TOOL_SIZE_MAX, "%.1f %c", size, units[i]);
  return out;
}

int64_t tool_pool_age_ns(const struct kymo_pool_seen *seen) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)(now.tv_sec - seen->changed.tv_sec) * 1000000000 + now.tv_nsec - seen->changed.tv_nsec;
}

/* ---- how a process ended ---- */

/* Of a process that nobody has waited for the kernel still knows it. */
static void find_end(struct tool_rings *rings, const struct kymo_pool_header *header, enum kymo_life life) {
  int thread, status;
  bool is_known = kymo_exit_of_pool(header, &status, &thread), is_signal = is_known && WIFSIGNALED(status);
  rings->is_dead = life == KYMO_LIFE_DEAD;
  if (!rings->is_dead)
    snprintf(rings->end, sizeof rings->end,
             life == KYMO_LIFE_ALIVE ? "runs" : "may run, in another PID namespace");
  else if (is_signal && thread && thread != header->pid)
    snprintf(rings->end, sizeof rings->end, "%s in thread %d", strsignal(WTERMSIG(status)), thread);
  else if (is_signal)
    snprintf(rings->end, sizeof rings->end, "%s", strsignal(WTERMSIG(status)));
  else if (is_known)
    snprintf(rings->end, sizeof rings->end, "exit status %d", WEXITSTATUS(status));
  else
    snprintf(rings->end, sizeof rings->end, header->finished ? "exit" : "unknown: killed, or _exit");
}

/* ---- finding ---- */

static bool add(struct tool_rings_list *all, const struct kymo_pool_seen *seen, int pid) {
  for (size_t i = 0; i < all->count; i++)
    if (all->list[i].inode == seen->inode && all->list[i].device == seen->device)
      return true;
  if (!KYMO_LIST_ROOM(all->list, all->room, all->count)) {
    all->failed = true;
    return false;
  }
  struct tool_rings *rings = &all->list[all->count++];
  *rings = (struct tool_rings){.pid = pid,
                               .age_ns = tool_pool_age_ns(seen),
                               .bytes = seen->bytes,
                               .owner = (unsigned)seen->owner,
                               .device = seen->device,
                               .inode = seen->inode};
  memcpy(rings->path, seen->path, sizeof rings->path);
  snprintf(rings->program, sizeof rings->program, "%.*s", (int)sizeof seen->header.name, seen->header.name);
  find_end(rings, &seen->header, seen->life);
  return true;
}

static bool add_seen(void *user, const struct kymo_pool_seen *seen) {
  return add(user, seen, seen->header.pid);
}

static bool add_place(void *user, const char *directory) {
  kymo_pools_visit(directory, true, add_seen, user);
  return ((struct tool_rings_list *)user)->failed;
}

struct mapped {
  struct tool_rings_list *all;
  int pid;
};

static bool add_mapped(void *user, const struct kymo_pool_seen *seen) {
  struct mapped *mapped = user;
  return add(mapped->all, seen, mapped->pid);
}

/* The rings of a process that listens, which has a number of the caller's namespace. */
static void add_process(void *user, int pid) {
  struct mapped mapped = {user, pid};
  char path[KYMO_PATH_MAX];
  struct kymo_error error;
  if (kymo_find_pool(path, pid, &error) == KYMO_OK)
    kymo_pools_visit(path, false, add_mapped, &mapped);
}

static int newest_first(const void *a, const void *b) {
  const struct tool_rings *x = a, *y = b;
  return x->age_ns != y->age_ns ? (x->age_ns < y->age_ns ? -1 : 1) : x->pid - y->pid;
}

bool tool_rings_find(struct tool_rings_list *rings) {
  *rings = (struct tool_rings_list){0};
  kymo_client_each(add_process, rings);
  kymo_find_places(add_place, rings);
  if (rings->count)
    qsort(rings->list, rings->count, sizeof *rings->list, newest_first);
  return !rings->failed;
}

void tool_rings_free(struct tool_rings_list *rings) {
  free(rings->list);
  *rings = (struct tool_rings_list){0};
}

/* ---- by name ---- */

/* An ELF file, which is no trace. */
static bool is_program(const char *path) {
  char magic[4] = "";
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  bool is = fd >= 0 && read(fd, magic, sizeof magic) == (ssize_t)sizeof magic &&
            memcmp(magic, "\177ELF", sizeof magic) == 0;
  if (fd >= 0)
    close(fd);
  return is;
}

/* Who has started ./server stands beside the program that is called so, too. */
bool tool_rings_may_name(const char *word) {
  struct stat st;
  if (!*word || strcmp(word, "-") == 0 || strchr(word, '/'))
    return false;
  return stat(word, &st) ? errno == ENOENT : S_ISREG(st.st_mode) && is_program(word);
}

/* Those of this name, put first. */
static size_t select_named(struct tool_rings_list *all, const char *name, bool living_only) {
  size_t count = 0;
  for (size_t i = 0; i < all->count; i++)
    if (strcmp(all->list[i].program, name) == 0 && (!living_only || !all->list[i].is_dead)) {
      struct tool_rings found = all->list[i];
      memmove(&all->list[count + 1], &all->list[count], (i - count) * sizeof found);
      all->list[count++] = found;
    }
  return count;
}

static void tell_candidates(const struct tool_rings *list, size_t count, const char *name) {
  char age[TOOL_AGE_MAX], size[TOOL_SIZE_MAX];
  enum { SHOWN_MAX = 10 };
  tool_say("%zu processes with rings are called \"%s\"; use the number of one:", count, name);
  fprintf(stderr, "%9s  %7s  %9s  %s\n", "PID", "AGE", "SIZE", "END");
  for (size_t i = 0; i < count && i < SHOWN_MAX; i++)
    fprintf(stderr, "%9d  %7s  %9s  %s\n", list[i].pid, tool_age_text(list[i].age_ns, age),
            tool_size_text(list[i].bytes, size), list[i].end);
  if (count > SHOWN_MAX)
    fprintf(stderr, "the newest %d; kymo list --dead %s shows all\n", SHOWN_MAX, name);
}

int tool_rings_named(char out[KYMO_PATH_MAX], const char *word, bool prefers_living, struct kymo_hint *hint) {
  struct tool_rings_list all;
  struct kymo_nearest nearest = kymo_nearest_to(word);
  if (!tool_rings_find(&all))
    tool_end_without_memory();
  size_t count = prefers_living ? select_named(&all, word, true) : 0;
  if (!count)
    count = select_named(&all, word, false);
  for (size_t i = 0; i < all.count && !count; i++)
    kymo_nearest_consider(&nearest, all.list[i].program);
  *hint = kymo_nearest_hint(&nearest);
  if (count == 1)
    memcpy(out, all.list[0].path, sizeof all.list[0].path);
  if (count > 1)
    tell_candidates(all.list, count, word);
  tool_rings_free(&all);
  return count == 1 ? TOOL_OK : count ? TOOL_USAGE : TOOL_FAILED;
}

/* ---- processes ---- */

enum { NAME_MAX_SHOWN = 256 };

struct named_processes {
  const char *word;
  int *list;
  size_t count, room;
  struct kymo_nearest nearest;
  char near[NAME_MAX_SHOWN];
};

/* The program's file, without its directory; "" if it cannot be seen. */
static const char *program_of(int pid, char out[NAME_MAX_SHOWN]) {
  char link[64], path[KYMO_PATH_MAX];
  snprintf(link, sizeof link, "/proc/%d/exe", pid);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  const char *slash = strrchr(path, '/');
  snprintf(out, NAME_MAX_SHOWN, "%.*s", NAME_MAX_SHOWN - 1, slash ? slash + 1 : path);
  return out;
}

static void add_named(void *user, int pid) {
  struct named_processes *named = user;
  char program[NAME_MAX_SHOWN];
  program_of(pid, program);
  const char *best = named->nearest.best;
  kymo_nearest_consider(&named->nearest, program);
  if (named->nearest.best != best) { /* which has to live on */
    memcpy(named->near, program, sizeof program);
    named->nearest.best = named->near;
  }
  if (strcmp(program, named->word) != 0)
    return;
  if (!KYMO_LIST_ROOM(named->list, named->room, named->count))
    tool_end_without_memory();
  named->list[named->count++] = pid;
}

int tool_process_named(int *pid, const char *word, struct kymo_hint *hint) {
  struct named_processes named = {.word = word, .nearest = kymo_nearest_to(word)};
  *hint = (struct kymo_hint){""};
  *pid = kymo_pid_of(word);
  if (*pid > 0)
    return TOOL_OK;
  if (!*word || strchr(word, '/'))
    return TOOL_FAILED;
  kymo_client_each(add_named, &named);
  if (named.count > 1) {
    tool_say("%zu processes are called \"%s\"; use the number of one:", named.count, word);
    for (size_t i = 0; i < named.count; i++)
      fprintf(stderr, "%9d\n", named.list[i]);
  }
  *hint = kymo_nearest_hint(&named.nearest);
  *pid = named.count == 1 ? named.list[0] : -1;
  free(named.list);
  return named.count == 1 ? TOOL_OK : named.count ? TOOL_USAGE : TOOL_FAILED;
}

int tool_take_process(const char *word, struct argp_state *state) {
  struct kymo_hint hint;
  int pid, status = tool_process_named(&pid, word, &hint);
  if (status == TOOL_USAGE)
    exit(TOOL_USAGE);
  if (status != TOOL_OK)
    argp_error(state, "expected the number or name of a process, found \"%s\"%s", word, hint.text);
  return pid;
}
