/* SPDX-License-Identifier: MIT */
/*
 * What perf.data says about threads and processes: their names, and the files that they have loaded, at any
 * time. It is collected in a pass over all records before events are read, since they are asked in any order.
 *
 *   COMM, FORK                 thread: names, each since some time
 *   FORK, COMM after exec      process: begins anew, with or without the files of its parent
 *   MMAP, MMAP2                files of a process, the later ones over the earlier ones
 *   MMAP, MMAP2 of process -1  the kernel, and its modules
 *   KSYMBOL                    functions that the kernel has made (BPF)
 */
#ifndef KYMO_FORMAT_PERF_TASKS_H
#define KYMO_FORMAT_PERF_TASKS_H

#include "base/table.h"
#include "format/perf/records.h"
#include "source/modules.h"

#define PERF_NAME_BYTES 48 /* of a thread, with its zero */

struct perf_name {
  int32_t tid;
  uint32_t order;
  uint64_t since;
  char text[PERF_NAME_BYTES];
};

struct perf_process {
  int32_t pid;
  uint32_t before; /* an earlier process of this number, or PERF_NOWHERE */
  uint32_t parent; /* whose files it has, too; or PERF_NOWHERE */
  uint32_t last;   /* the newest of its modules, or PERF_NOWHERE */
  uint64_t since;
};

struct perf_module {
  struct kymo_module module;
  uint32_t before; /* of the same process, or PERF_NOWHERE */
};

struct perf_function {
  uint64_t start, end;
  const char *name;
};

struct perf_task; /* a record of those above */

struct perf_tasks {
  struct kymo_arena arena;
  const struct perf_file *file;
  struct perf_task *list; /* until they are finished */
  uint32_t count, capacity;
  struct perf_name *names;
  uint32_t name_count, name_capacity;
  struct perf_process *processes;
  uint32_t process_count, process_capacity;
  struct kymo_hash_table by_pid; /* the newest process of each number */
  struct perf_module *modules;
  uint32_t module_count, module_capacity;
  struct perf_function *functions; /* ordered by start */
  uint32_t function_count, function_capacity;
  struct perf_function *kernel_modules; /* "[ext4]", ordered by start */
  uint32_t kernel_module_count, kernel_module_capacity;
  uint64_t kernel_start, kernel_end, kernel_anchor; /* 0: unknown; anchor: address of kernel_symbol */
  const char *kernel_symbol;                        /* "_text", or NULL */
  const char *kernel_build_id;                      /* or NULL */
};

void kymo_perf_tasks_begin(struct perf_tasks *tasks, const struct perf_file *file);
void kymo_perf_tasks_end(struct perf_tasks *tasks);
/* Keeps a record, if it is one of these: its body ends before the thread, time and id at its end. False: out
 * of memory. */
bool kymo_perf_tasks_add(struct perf_tasks *tasks, const struct perf_record *record, size_t tail_bytes,
                         uint64_t time, bool is_timed);
/* After the last one. False: out of memory. */
bool kymo_perf_tasks_finish(struct perf_tasks *tasks);
/* The name of a thread at a time, or NULL; *until: the time of its next name. */
const struct perf_name *kymo_perf_name(const struct perf_tasks *tasks, int32_t tid, uint64_t time,
                                       uint64_t *until);
/* The file at an address of a process at a time; NULL: unknown. */
const struct kymo_module *kymo_perf_module(const struct perf_tasks *tasks, int32_t pid, uint64_t address,
                                           uint64_t time);
/* The time up to which the process has the same files as at this one. */
uint64_t kymo_perf_files_until(const struct perf_tasks *tasks, int32_t pid, uint64_t time);
/* The one file that is at this address in all processes that have one there; NULL: none, or several. */
const struct kymo_module *kymo_perf_any_module(const struct perf_tasks *tasks, uint64_t address);

#endif
