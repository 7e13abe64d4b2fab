/* SPDX-License-Identifier: MIT */
/* Small files of /proc. */
#ifndef KYMO_PROCESS_PROC_H
#define KYMO_PROCESS_PROC_H

#include "process/model.h"
#include <sys/types.h>

enum { PROC_PATH_MAX = 128 };

/* Reads at most size - 1 bytes of a file and adds a zero. The number of bytes, -1 with errno. */
ssize_t proc_read(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The value after "KEY:" in a text of lines, or NULL. */
const char *proc_value(const char *text, const char *key);
/* The name of a process or thread, by its directory in /proc; "" if it cannot be read. */
void proc_name(char out[PROCESS_NAME_MAX], int pid);
/* Bytes of the process's memory. The number of bytes that could be read from the beginning. */
size_t proc_memory(const struct process *process, uint64_t address, void *out, size_t size);

#endif
