/* SPDX-License-Identifier: MIT */
#include "tool/rings.h"
#include "base/list.h"
#include "live/client.h"
#include "tool/tool.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <kymo/live.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* ---- by name ---- */

/* An ELF file, which is not a trace. */
static bool is_program(const char *path) {
  char magic[4] = "";
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  bool is = fd >= 0 && read(fd, magic, sizeof magic) == (ssize_t)sizeof magic &&
            memcmp(magic, "\177ELF", sizeof magic) == 0;
  if (fd >= 0)
    close(fd);
  return is;
}

/* A user who started ./server is in the directory with the program of that name, too. */
bool tool_rings_may_name(const char *word) {
  struct stat st;
  if (!*word || strcmp(word, "-") == 0 || strchr(word, '/'))
    return false;
  return stat(word, &st) ? errno == ENOENT : S_ISREG(st.st_mode) && is_program(word);
}

/* Rings that were found; `index` selects the matching ones. */
struct named {
  struct kymo_processes *all;
  size_t *index, count;
};

static bool select_named(struct named *named, const char *name, bool living_only) {
  size_t count = kymo_processes_count(named->all);
  named->count = 0;
  for (size_t i = 0; i < count; i++)
    if (strcmp(kymo_processes_text(named->all, i, KYMO_PROCESS_PROGRAM), name) == 0 &&
        !(living_only && kymo_processes_number(named->all, i, KYMO_PROCESS_IS_DEAD)))
      named->index[named->count++] = i;
  return named->count;
}

static void list_candidates(const struct named *named, const char *name) {
  char age[TOOL_AGE_MAX], size[TOOL_SIZE_MAX];
  enum { SHOWN_MAX = 10 };
  tool_say("%zu processes with rings are called \"%s\"; use the number of one:", named->count, name);
  fprintf(stderr, "%9s  %7s  %9s  %s\n", "PID", "AGE", "SIZE", "END");
  for (size_t i = 0; i < named->count && i < SHOWN_MAX; i++) {
    size_t index = named->index[i];
    fprintf(stderr, "%9d  %7s  %9s  %s\n", (int)kymo_processes_number(named->all, index, KYMO_PROCESS_PID),
            tool_age_text(kymo_processes_number(named->all, index, KYMO_PROCESS_AGE_NS), age),
            tool_size_text((uint64_t)kymo_processes_number(named->all, index, KYMO_PROCESS_BYTES), size),
            kymo_processes_text(named->all, index, KYMO_PROCESS_END));
  }
  if (named->count > SHOWN_MAX)
    fprintf(stderr, "the newest %d; kymo list --dead %s shows all\n", SHOWN_MAX, name);
}

int tool_rings_named(char out[KYMO_PATH_MAX], const char *word, bool prefers_living, struct kymo_hint *hint) {
  struct named named = {0};
  struct kymo_error error;
  struct kymo_nearest nearest = kymo_nearest_to(word);
  if (kymo_processes_find(&named.all, KYMO_PROCESSES_RINGS, &error) < 0 ||
      !(named.index = calloc(kymo_processes_count(named.all) + 1, sizeof *named.index)))
    tool_end_without_memory();
  bool is_found = (prefers_living && select_named(&named, word, true)) || select_named(&named, word, false);
  for (size_t i = 0; i < kymo_processes_count(named.all) && !is_found; i++)
    kymo_nearest_consider(&nearest, kymo_processes_text(named.all, i, KYMO_PROCESS_PROGRAM));
  *hint = kymo_nearest_hint(&nearest);
  if (named.count == 1)
    snprintf(out, KYMO_PATH_MAX, "%s", kymo_processes_text(named.all, named.index[0], KYMO_PROCESS_RINGS));
  if (named.count > 1)
    list_candidates(&named, word);
  size_t count = named.count;
  kymo_processes_free(named.all);
  free(named.index);
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

bool tool_take_ctf2(const char *word, struct argp_state *state) {
  bool is_2 = strcmp(word, "2") == 0;
  if (!is_2 && strcmp(word, "1.8") != 0)
    argp_error(state, "--ctf is 1.8 or 2, not \"%s\"", word);
  return is_2;
}
