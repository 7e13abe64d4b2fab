/* SPDX-License-Identifier: MIT */
#include "format/perf/tasks.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/search.h"
#include "format/perf/attr.h"
#include <stdlib.h>
#include <string.h>

#define ANCESTORS_MAX 64
#define KERNEL_NAME "[kernel.kallsyms]"
#define MODULE_END ".ko" /* of the file of a module, before what says how it is compressed */

enum { MISC_DATA = 1 << 13, MISC_EXEC = 1 << 13, MISC_BUILD_ID = 1 << 14, KSYMBOL_GONE = 1 };

struct perf_task {
  uint64_t time, start, length, offset, inode;
  uint32_t order, type, major, minor;
  int32_t pid, tid, parent_pid, parent_tid;
  const char *text;     /* the name, or the path of a file */
  const char *build_id; /* NULL: unknown */
  bool is_timed, is_exec;
};

void kymo_perf_tasks_begin(struct perf_tasks *tasks, const struct perf_file *file) {
  *tasks = (struct perf_tasks){.file = file};
}

void kymo_perf_tasks_end(struct perf_tasks *tasks) {
  free(tasks->list);
  free(tasks->names);
  free(tasks->processes);
  free(tasks->modules);
  free(tasks->functions);
  free(tasks->kernel_modules);
  kymo_hash_table_free(&tasks->by_pid);
  kymo_arena_free(&tasks->arena);
}

/* ---- records ---- */

/* The rest of a body as a text. */
static const char *take_text(struct perf_tasks *tasks, struct kymo_bytes *body) {
  const char *text = (const char *)body->data + body->at;
  size_t length = strnlen(text, body->size - body->at);
  return kymo_arena_copy(&tasks->arena, text, length);
}

static bool take_mapping(struct perf_tasks *tasks, struct perf_task *task, struct kymo_bytes *body,
                         uint16_t misc) {
  task->start = kymo_bytes_u64(body);
  task->length = kymo_bytes_u64(body);
  task->offset = kymo_bytes_u64(body);
  if (task->type == PERF_MMAP2) {
    const uint8_t *id = body->data + body->at;
    task->major = kymo_bytes_u32(body);
    task->minor = kymo_bytes_u32(body);
    task->inode = kymo_bytes_u64(body);
    kymo_bytes_take(body, 16);
    if (misc & MISC_BUILD_ID && !body->failed) {
      task->build_id = kymo_perf_hex(&tasks->arena, id + 4, id[0] <= 20 ? id[0] : 20);
      task->major = task->minor = 0;
      task->inode = 0;
    }
  }
  task->text = take_text(tasks, body);
  return task->text != NULL;
}

/* A function of the kernel that is there from now on. */
static bool add_function(struct perf_tasks *tasks, struct kymo_bytes *body) {
  uint64_t start = kymo_bytes_u64(body);
  uint32_t length = kymo_bytes_u32(body);
  kymo_bytes_u16(body);
  bool is_gone = kymo_bytes_u16(body) & KSYMBOL_GONE;
  if (body->failed || is_gone || start + length < start)
    return true;
  if (!KYMO_LIST_ROOM(tasks->functions, tasks->function_capacity, tasks->function_count))
    return false;
  struct perf_function function = {start, start + length, take_text(tasks, body)};
  tasks->functions[tasks->function_count++] = function;
  return function.name != NULL;
}

bool kymo_perf_tasks_add(struct perf_tasks *tasks, const struct perf_record *record, size_t tail_bytes,
                         uint64_t time, bool is_timed) {
  size_t tail = tail_bytes < record->size - PERF_RECORD_HEADER ? tail_bytes : 0;
  struct kymo_bytes body = {.data = record->data,
                            .at = PERF_RECORD_HEADER,
                            .size = record->size - tail,
                            .is_big = tasks->file->is_big};
  uint32_t type = record->type;
  if (type == PERF_KSYMBOL)
    return add_function(tasks, &body);
  bool is_mapping = type == PERF_MMAP || type == PERF_MMAP2;
  if (!is_mapping && type != PERF_COMM && type != PERF_FORK)
    return true;
  if (type == PERF_MMAP && record->misc & MISC_DATA)
    return true;
  struct perf_task task = {.time = time, .is_timed = is_timed, .order = tasks->count, .type = type};
  task.pid = (int32_t)kymo_bytes_u32(&body);
  if (type == PERF_FORK)
    task.parent_pid = (int32_t)kymo_bytes_u32(&body);
  task.tid = (int32_t)kymo_bytes_u32(&body);
  if (type == PERF_FORK)
    task.parent_tid = (int32_t)kymo_bytes_u32(&body);
  task.is_exec = type == PERF_COMM && record->misc & MISC_EXEC;
  bool is_good = true;
  if (is_mapping)
    is_good = take_mapping(tasks, &task, &body, record->misc);
  else if (type == PERF_COMM)
    is_good = (task.text = take_text(tasks, &body)) != NULL;
  if (body.failed) /* it is reported when it is read as an event */
    return true;
  if (!is_good || !KYMO_LIST_ROOM(tasks->list, tasks->capacity, tasks->count))
    return false;
  tasks->list[tasks->count++] = task;
  return true;
}

/* ---- names ---- */

static bool add_name(struct perf_tasks *tasks, int32_t tid, uint64_t since, const char *text) {
  if (!KYMO_LIST_ROOM(tasks->names, tasks->name_capacity, tasks->name_count))
    return false;
  struct perf_name *name = &tasks->names[tasks->name_count];
  *name = (struct perf_name){.tid = tid, .order = tasks->name_count++, .since = since};
  size_t length = strnlen(text, PERF_NAME_BYTES - 1);
  memcpy(name->text, text, length);
  return true;
}

/* The names that threads have in the end, for those that are forked from them. */
struct latest {
  struct kymo_hash_table table; /* indices in names */
};

static uint32_t hash_of(int32_t number) {
  struct kymo_keyed hash;
  kymo_keyed_begin(&hash);
  kymo_keyed_add(&hash, (uint32_t)number);
  return (uint32_t)kymo_keyed_end(&hash);
}

/* The item of a thread in the table, or 0. */
static uintptr_t find_latest(const struct perf_tasks *tasks, const struct latest *latest, int32_t tid) {
  uint32_t hash = hash_of(tid);
  uintptr_t item;
  for (uint32_t at = hash; (item = kymo_hash_table_next(&latest->table, hash, &at)) != 0;)
    if (tasks->names[item - 1].tid == tid)
      break;
  return item;
}

static bool note_name(struct perf_tasks *tasks, struct latest *latest, int32_t tid, uint64_t since,
                      const char *text) {
  uintptr_t old = find_latest(tasks, latest, tid);
  if (!add_name(tasks, tid, since, text))
    return false;
  uintptr_t new = tasks->name_count;
  if (!old)
    return kymo_hash_table_add(&latest->table, NULL, hash_of(tid), new);
  kymo_hash_table_change(&latest->table, hash_of(tid), old, new);
  return true;
}

static bool inherit_name(struct perf_tasks *tasks, struct latest *latest, const struct perf_task *fork) {
  uintptr_t parent = find_latest(tasks, latest, fork->parent_tid);
  char text[PERF_NAME_BYTES];
  if (!parent)
    return true;
  memcpy(text, tasks->names[parent - 1].text, sizeof text);
  return note_name(tasks, latest, fork->tid, fork->time, text);
}

static int by_thread(const void *one, const void *other) {
  const struct perf_name *a = one, *b = other;
  if (a->tid != b->tid)
    return a->tid < b->tid ? -1 : 1;
  return a->order < b->order ? -1 : a->order > b->order; /* the order of time */
}

const struct perf_name *kymo_perf_name(const struct perf_tasks *tasks, int32_t tid, uint64_t time,
                                       uint64_t *until) {
  const struct perf_name *names = tasks->names;
  uint32_t after = KYMO_COUNT_BEFORE(tasks->name_count, i,
                                     names[i].tid < tid || (names[i].tid == tid && names[i].since <= time));
  *until = after < tasks->name_count && names[after].tid == tid ? names[after].since : UINT64_MAX;
  return after > 0 && names[after - 1].tid == tid ? &names[after - 1] : NULL;
}

/* ---- processes ---- */

/* The item of the newest process of this number, or 0. */
static uintptr_t find_process(const struct perf_tasks *tasks, int32_t pid) {
  uint32_t hash = hash_of(pid);
  uintptr_t item;
  for (uint32_t at = hash; (item = kymo_hash_table_next(&tasks->by_pid, hash, &at)) != 0;)
    if (tasks->processes[item - 1].pid == pid)
      break;
  return item;
}

/* A process begins; the index of it in *out. */
static bool begin_process(struct perf_tasks *tasks, int32_t pid, uint64_t since, uint32_t parent,
                          uint32_t *out) {
  uintptr_t old = find_process(tasks, pid);
  if (!KYMO_LIST_ROOM(tasks->processes, tasks->process_capacity, tasks->process_count))
    return false;
  *out = tasks->process_count;
  tasks->processes[tasks->process_count++] =
      (struct perf_process){.pid = pid,
                            .before = old ? (uint32_t)(old - 1) : PERF_NOWHERE,
                            .parent = parent,
                            .last = PERF_NOWHERE,
                            .since = since};
  if (!old)
    return kymo_hash_table_add(&tasks->by_pid, NULL, hash_of(pid), tasks->process_count);
  kymo_hash_table_change(&tasks->by_pid, hash_of(pid), old, tasks->process_count);
  return true;
}

static const char *build_id_of(const struct perf_file *file, const char *path) {
  const struct perf_build_id *ids = file->build_ids;
  uint32_t at = KYMO_COUNT_BEFORE(file->build_id_count, i, strcmp(ids[i].path, path) < 0);
  return at < file->build_id_count && strcmp(ids[at].path, path) == 0 ? ids[at].id : NULL;
}

static void take_kernel(struct perf_tasks *tasks, const struct perf_task *task) {
  size_t length = strlen(KERNEL_NAME);
  if (strncmp(task->text, KERNEL_NAME, length) != 0 || tasks->kernel_end)
    return;
  tasks->kernel_start = task->start;
  tasks->kernel_end = task->start + task->length;
  tasks->kernel_anchor = task->offset;
  tasks->kernel_symbol = task->text + length;
  tasks->kernel_build_id = task->build_id ? task->build_id : build_id_of(tasks->file, KERNEL_NAME);
}

/* "[ext4]", also for "/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko.xz", where "-" is "_". NULL: this is no
 * module, or there is no memory, which *is_good says. */
static const char *kernel_module_name(struct perf_tasks *tasks, const char *text, bool *is_good) {
  const char *slash = strrchr(text, '/'), *begin = slash ? slash + 1 : text + 1;
  const char *end = slash ? strstr(begin, MODULE_END) : strchr(text, ']');
  bool is_file = text[0] == '/' && end && (end[strlen(MODULE_END)] == '\0' || end[strlen(MODULE_END)] == '.');
  bool is_name =
      text[0] == '[' && end && strncmp(text, "[kernel.", 8) != 0 && strncmp(text, "[guest.", 7) != 0;
  if ((!is_file && !is_name) || end == begin)
    return NULL;
  size_t length = (size_t)(end - begin);
  char *name = kymo_arena_alloc(&tasks->arena, length + 3);
  *is_good = name != NULL;
  if (!name)
    return NULL;
  name[0] = '[';
  for (size_t i = 0; i < length; i++)
    name[i + 1] = begin[i] == '-' ? '_' : begin[i];
  memcpy(name + length + 1, "]", 2);
  return name;
}

static bool add_kernel_module(struct perf_tasks *tasks, const struct perf_task *task) {
  bool is_good = true;
  const char *name = kernel_module_name(tasks, task->text, &is_good);
  if (!name || task->start + task->length < task->start)
    return is_good;
  if (!KYMO_LIST_ROOM(tasks->kernel_modules, tasks->kernel_module_capacity, tasks->kernel_module_count))
    return false;
  tasks->kernel_modules[tasks->kernel_module_count++] =
      (struct perf_function){task->start, task->start + task->length, name};
  return true;
}

static bool add_module(struct perf_tasks *tasks, const struct perf_task *task) {
  uintptr_t item = find_process(tasks, task->pid);
  uint32_t process = (uint32_t)(item - 1);
  if (task->start + task->length < task->start || task->text[0] != '/' || task->text[1] == '/')
    return true;
  if (!item && !begin_process(tasks, task->pid, 0, PERF_NOWHERE, &process))
    return false;
  if (!KYMO_LIST_ROOM(tasks->modules, tasks->module_capacity, tasks->module_count))
    return false;
  const char *build_id = task->build_id ? task->build_id : build_id_of(tasks->file, task->text);
  tasks->modules[tasks->module_count] = (struct perf_module){.module = {.loaded = task->time,
                                                                        .unloaded = UINT64_MAX,
                                                                        .bias = task->start - task->offset,
                                                                        .start = task->start,
                                                                        .end = task->start + task->length,
                                                                        .build_id = build_id ? build_id : "",
                                                                        .path = task->text,
                                                                        .major = task->major,
                                                                        .minor = task->minor,
                                                                        .inode = task->inode,
                                                                        .is_by_offset = true},
                                                             .before = tasks->processes[process].last};
  tasks->processes[process].last = tasks->module_count++;
  return true;
}

/* A process that perf has found at its start says nothing about the files of its parent. */
static bool fork_process(struct perf_tasks *tasks, const struct perf_task *task) {
  uintptr_t parent = find_process(tasks, task->parent_pid);
  uint32_t process;
  if (task->pid == task->parent_pid || !task->is_timed)
    return true;
  return begin_process(tasks, task->pid, task->time, parent ? (uint32_t)(parent - 1) : PERF_NOWHERE,
                       &process);
}

static bool replay(struct perf_tasks *tasks, struct latest *latest, const struct perf_task *task) {
  uint32_t process;
  switch (task->type) {
  case PERF_COMM:
    return (!task->is_exec || begin_process(tasks, task->pid, task->time, PERF_NOWHERE, &process)) &&
           note_name(tasks, latest, task->tid, task->time, task->text);
  case PERF_FORK: return inherit_name(tasks, latest, task) && fork_process(tasks, task);
  default:
    if (task->pid != -1)
      return add_module(tasks, task);
    take_kernel(tasks, task);
    return add_kernel_module(tasks, task);
  }
}

static int by_time(const void *one, const void *other) {
  const struct perf_task *a = one, *b = other;
  if (a->time != b->time)
    return a->time < b->time ? -1 : 1;
  return a->order < b->order ? -1 : a->order > b->order;
}

static int by_start(const void *one, const void *other) {
  const struct perf_function *a = one, *b = other;
  return a->start < b->start ? -1 : a->start > b->start;
}

bool kymo_perf_tasks_finish(struct perf_tasks *tasks) {
  struct latest latest = {0};
  bool is_good = true;
  if (tasks->count)
    qsort(tasks->list, tasks->count, sizeof *tasks->list, by_time);
  for (uint32_t i = 0; i < tasks->count && is_good; i++)
    is_good = replay(tasks, &latest, &tasks->list[i]);
  kymo_hash_table_free(&latest.table);
  free(tasks->list);
  tasks->list = NULL;
  if (tasks->name_count)
    qsort(tasks->names, tasks->name_count, sizeof *tasks->names, by_thread);
  if (tasks->function_count)
    qsort(tasks->functions, tasks->function_count, sizeof *tasks->functions, by_start);
  if (tasks->kernel_module_count)
    qsort(tasks->kernel_modules, tasks->kernel_module_count, sizeof *tasks->kernel_modules, by_start);
  return is_good;
}

/* ---- load map ---- */

static bool is_in(const struct kymo_module *module, uint64_t address) {
  return address >= module->start && address < module->end;
}

/* The newest module of a process, and then of those that it is forked from, that is there at that time. */
static const struct kymo_module *find_module(const struct perf_tasks *tasks, uint32_t process,
                                             uint64_t address, uint64_t time) {
  for (unsigned i = 0; i < ANCESTORS_MAX && process != PERF_NOWHERE; i++) {
    const struct perf_process *at = &tasks->processes[process];
    for (uint32_t m = at->last; m != PERF_NOWHERE; m = tasks->modules[m].before) {
      const struct kymo_module *module = &tasks->modules[m].module;
      if (is_in(module, address) && module->loaded <= time)
        return module;
    }
    time = at->since;
    process = at->parent;
  }
  return NULL;
}

/* The process of this number at a time, or PERF_NOWHERE; the next one begins at *until. */
static uint32_t process_at(const struct perf_tasks *tasks, int32_t pid, uint64_t time, uint64_t *until) {
  uintptr_t item = find_process(tasks, pid);
  uint32_t process = item ? (uint32_t)(item - 1) : PERF_NOWHERE;
  *until = UINT64_MAX;
  while (item && tasks->processes[process].since > time && tasks->processes[process].before != PERF_NOWHERE) {
    *until = tasks->processes[process].since;
    process = tasks->processes[process].before;
  }
  return process;
}

const struct kymo_module *kymo_perf_module(const struct perf_tasks *tasks, int32_t pid, uint64_t address,
                                           uint64_t time) {
  uint64_t until;
  return find_module(tasks, process_at(tasks, pid, time, &until), address, time);
}

uint64_t kymo_perf_files_until(const struct perf_tasks *tasks, int32_t pid, uint64_t time) {
  uint64_t until;
  uint32_t process = process_at(tasks, pid, time, &until);
  uint32_t m = process == PERF_NOWHERE ? PERF_NOWHERE : tasks->processes[process].last;
  for (; m != PERF_NOWHERE && tasks->modules[m].module.loaded > time; m = tasks->modules[m].before)
    until = tasks->modules[m].module.loaded < until ? tasks->modules[m].module.loaded : until;
  return until;
}

const struct kymo_module *kymo_perf_any_module(const struct perf_tasks *tasks, uint64_t address) {
  const struct kymo_module *found = NULL;
  for (uint32_t i = 0; i < tasks->module_count; i++) {
    const struct kymo_module *module = &tasks->modules[i].module;
    if (!is_in(module, address))
      continue;
    if (found && (module->bias != found->bias || strcmp(module->path, found->path) != 0 ||
                  strcmp(module->build_id, found->build_id) != 0))
      return NULL;
    found = module;
  }
  return found;
}
