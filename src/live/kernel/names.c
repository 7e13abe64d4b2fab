/* SPDX-License-Identifier: MIT */
#include "live/kernel/names.h"
#include "base/arena.h"
#include "base/dir.h"
#include "base/fail.h"
#include "base/list.h"
#include "lang/ftrace/ftrace.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NAME_BYTES = 16, PAIRS_MAX = 2, TIDS_MAX = 1 << 22, IDS = 65536 };

/* Where an event has a name, and the number of the thread that it is of. */
struct pair {
  uint32_t name, tid; /* offsets in the record */
};

struct source {
  struct pair pairs[PAIRS_MAX];
  unsigned count;
};

/* The newest name of a thread. */
struct named {
  uint64_t time; /* when it was said */
  char name[NAME_BYTES];
};

struct kymo_kernel_names {
  struct named *by_tid; /* of TIDS_MAX; only pages that are used cost memory */
  struct source *sources;
  uint32_t source_count, source_capacity;
  int32_t last;        /* the highest number that has a name */
  uint16_t by_id[IDS]; /* number of the source + 1; 0: none */
};

struct kymo_kernel_names *kymo_kernel_names_new(void) {
  struct kymo_kernel_names *names = calloc(1, sizeof *names);
  void *memory = mmap(NULL, TIDS_MAX * sizeof(struct named), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (!names || memory == MAP_FAILED) {
    if (memory != MAP_FAILED)
      munmap(memory, TIDS_MAX * sizeof(struct named));
    free(names);
    return NULL;
  }
  names->by_tid = memory;
  return names;
}

void kymo_kernel_names_free(struct kymo_kernel_names *names) {
  if (!names)
    return;
  munmap(names->by_tid, TIDS_MAX * sizeof(struct named));
  free(names->sources);
  free(names);
}

static void put(struct kymo_kernel_names *names, int32_t tid, const char *name, uint64_t time) {
  if (tid <= 0 || tid >= TIDS_MAX || !*name)
    return;
  struct named *named = &names->by_tid[tid];
  if (named->time > time)
    return;
  named->time = time;
  names->last = tid > names->last ? tid : names->last;
  memcpy(named->name, name, NAME_BYTES);
}

/* ---- what events say ---- */

static const struct kymo_ftrace_field *find(const struct kymo_ftrace_format *format, const char *name) {
  for (uint32_t i = 0; i < format->count; i++)
    if (!strcmp(format->fields[i].name, name))
      return &format->fields[i];
  return NULL;
}

static struct source find_pairs(const struct kymo_ftrace_format *format) {
  static const char *const pairs[][2] = {
      {"comm", "pid"}, {"newcomm", "pid"}, {"prev_comm", "prev_pid"}, {"next_comm", "next_pid"}};
  struct source source = {.count = 0};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs && source.count < PAIRS_MAX; i++) {
    const struct kymo_ftrace_field *name = find(format, pairs[i][0]), *tid = find(format, pairs[i][1]);
    if (name && tid && name->place == KYMO_FTRACE_FIXED && name->is_text && name->size == NAME_BYTES &&
        tid->place == KYMO_FTRACE_FIXED && tid->size == 4)
      source.pairs[source.count++] = (struct pair){name->offset, tid->offset};
  }
  return source;
}

static void learn_one(struct kymo_kernel_names *names, const char *text, size_t length) {
  const struct kymo_ftrace_machine machine = {__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long)};
  struct kymo_arena arena = {0};
  struct kymo_ftrace_format format;
  struct kymo_error unused;
  if (kymo_ftrace_parse(&format, &arena, &machine, text, length, "format", &unused) == KYMO_OK) {
    struct source source = find_pairs(&format);
    size_t count = names->source_count;
    if (source.count && format.id < IDS && count < UINT16_MAX - 1 &&
        KYMO_LIST_ROOM(names->sources, names->source_capacity, count)) {
      names->sources[names->source_count++] = source;
      names->by_id[format.id] = (uint16_t)names->source_count;
    }
  }
  kymo_arena_free(&arena);
}

void kymo_kernel_names_learn(struct kymo_kernel_names *names, const struct kymo_kernel_events *events,
                             const char *tracefs) {
  for (size_t i = 0; i < events->count; i++) {
    struct kymo_strbuf text = {0};
    char path[256];
    if (!events->list[i].is_on || !strcmp(events->list[i].group, "syscalls"))
      continue; /* fields of system calls are of programs */
    snprintf(path, sizeof path, "events/%s/%s/format", events->list[i].group, events->list[i].name);
    kymo_tracefs_read_if_there(tracefs, path, &text);
    if (text.text)
      learn_one(names, text.text, text.length);
    kymo_strbuf_free(&text);
  }
}

void kymo_kernel_names_take(void *user, const uint8_t *record, size_t size, uint64_t time) {
  struct kymo_kernel_names *names = user;
  uint16_t id;
  if (size < sizeof id)
    return;
  memcpy(&id, record, sizeof id);
  if (!names->by_id[id])
    return;
  const struct source *source = &names->sources[names->by_id[id] - 1];
  for (unsigned i = 0; i < source->count; i++) {
    const struct pair *pair = &source->pairs[i];
    int32_t tid;
    if (pair->name > size - NAME_BYTES || pair->tid > size - sizeof tid || size < NAME_BYTES)
      continue;
    memcpy(&tid, record + pair->tid, sizeof tid);
    put(names, tid, (const char *)record + pair->name, time);
  }
}

/* ---- threads that run ---- */

static void look_at(struct kymo_kernel_names *names, const char *path, int tid, uint64_t time) {
  char name[NAME_BYTES + 1] = "";
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t size = fd >= 0 ? read(fd, name, sizeof name - 1) : -1;
  if (fd >= 0)
    close(fd);
  if (size <= 0)
    return;
  name[strcspn(name, "\n")] = '\0';
  put(names, tid, name, time);
}

static void look_at_process(struct kymo_kernel_names *names, const char *pid, uint64_t time) {
  char path[600];
  bool is_cut = false;
  snprintf(path, sizeof path, "/proc/%.200s/task", pid);
  DIR *dir = opendir(path);
  for (struct dirent *e; dir && (e = kymo_dir_next(dir, &is_cut));) {
    int tid = (int)strtol(e->d_name, NULL, 10);
    snprintf(path, sizeof path, "/proc/%.200s/task/%.200s/comm", pid, e->d_name);
    if (tid > 0)
      look_at(names, path, tid, time);
  }
  if (dir)
    closedir(dir);
}

void kymo_kernel_names_look(struct kymo_kernel_names *names, uint64_t time) {
  bool is_cut = false;
  DIR *dir = opendir("/proc");
  for (struct dirent *e; dir && (e = kymo_dir_next(dir, &is_cut));)
    if (strtol(e->d_name, NULL, 10) > 0)
      look_at_process(names, e->d_name, time);
  if (dir)
    closedir(dir);
}

/* ---- writing ---- */

int kymo_kernel_names_write(const struct kymo_kernel_names *names, const char *path,
                            struct kymo_error *error) {
  FILE *file = fopen(path, "we");
  bool is_whole = file;
  for (int tid = 1; file && tid <= names->last; tid++) {
    char text[NAME_BYTES + 1] = "";
    memcpy(text, names->by_tid[tid].name, NAME_BYTES);
    text[strcspn(text, "\n")] = '\0';
    if (text[0])
      is_whole &= fprintf(file, "%d %s\n", tid, text) > 0;
  }
  if (file && fclose(file))
    is_whole = false;
  return is_whole ? KYMO_OK : kymo_fail_errno(error, path, "cannot write");
}
