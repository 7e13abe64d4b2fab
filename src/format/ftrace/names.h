/* SPDX-License-Identifier: MIT */
/* Names in trace.dat: of functions (kallsyms), of formats of trace_printk, of threads. */
#ifndef KYMO_FORMAT_FTRACE_NAMES_H
#define KYMO_FORMAT_FTRACE_NAMES_H

#include "format/ftrace/file.h"
#include "source/kernel.h"

#define FTRACE_NAME_BYTES 16 /* of a thread, with its zero */

/* A line "ADDRESS … NAME". */
struct ftrace_named {
  uint64_t address;
  const char *name;
  uint32_t order; /* of equal addresses, the later line comes first */
};

/* All is found at the first question: many readers ask none. */
struct ftrace_names {
  struct kymo_arena arena;
  const struct ftrace_file *file;
  struct ftrace_named *functions, *printks;
  size_t function_count, printk_count;
  bool has_functions, has_printks;
  struct ftrace_thread {
    int32_t tid;
    uint32_t order; /* of several lines with one number, the first one is right, as in trace-cmd */
    char name[FTRACE_NAME_BYTES];
  } * threads;
  size_t thread_count;
};

/* Reads the names of threads. False: out of memory. */
bool kymo_ftrace_names_begin(struct ftrace_names *names, const struct ftrace_file *file);
void kymo_ftrace_names_end(struct ftrace_names *names);
/* The name of a thread, padded with zeros: "<idle>" of 0, "<...>" if the file does not say it. */
const char *kymo_ftrace_thread_name(const struct ftrace_names *names, int32_t tid);
/* The functions of struct kymo_kernel; `names` is a struct ftrace_names. */
const char *kymo_ftrace_function(void *names, uint64_t address, uint64_t *begin);
const char *kymo_ftrace_printk(void *names, uint64_t address);

#endif
