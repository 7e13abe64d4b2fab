/* SPDX-License-Identifier: MIT */
/*
 * Names of functions of the kernel that perf.data was recorded on: from kallsyms in the file, which perf no
 * longer writes; else from /proc/kallsyms, if the same kernel runs here, at the same addresses. An address in
 * a module has the name of the module, "[ext4]", since modules are at other addresses after each boot.
 */
#ifndef KYMO_FORMAT_PERF_KERNEL_H
#define KYMO_FORMAT_PERF_KERNEL_H

#include "format/ftrace/names.h"
#include "format/perf/tasks.h"

struct perf_kernel {
  const struct perf_tasks *tasks;
  struct ftrace_file running; /* only its kallsyms */
  uint8_t *text;              /* of /proc/kallsyms, or NULL */
  struct ftrace_names names;
  uint64_t end; /* of the code of the kernel */
  bool is_begun, is_known;
};

void kymo_perf_kernel_begin(struct perf_kernel *kernel, const struct perf_tasks *tasks);
void kymo_perf_kernel_end(struct perf_kernel *kernel);
/* The function or module at an address, and where it begins; NULL: unknown. The functions are found at the
 * first question. */
const char *kymo_perf_function(struct perf_kernel *kernel, uint64_t address, uint64_t *begin);
/* The format of trace_printk at an address; NULL: none. */
const char *kymo_perf_printk(struct perf_kernel *kernel, uint64_t address);

#endif
