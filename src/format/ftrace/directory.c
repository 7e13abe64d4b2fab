/* SPDX-License-Identifier: MIT */
/*
 * Events of the kernel as `kymo record --kernel` keeps them (src/live/kernel/kernel.h): a directory with the
 * sections of a trace.dat of version 6 in `head.dat`, the raw pages of each CPU in `cpuN`, the origin of the
 * clock in `clock`, names of threads in `names`.
 */
#include "format/ftrace/directory.h"
#include "base/dir.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/list.h"
#include "base/path.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_BYTES 4096
#define NAMES_LIMIT (UINT64_C(1) << 30)

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* "cpu12" */
static bool read_number(const char *name, uint32_t *id) {
  int length = 0;
  return sscanf(name, "cpu%" SCNu32 "%n", id, &length) == 1 && length && !name[length] &&
         strlen(name) <= sizeof "cpu" + 9;
}

bool kymo_ftrace_is_directory(const char *path) {
  struct stat info;
  uint32_t id;
  bool is_cut = false, has_pages = false;
  DIR *dir = stat(path, &info) == 0 && S_ISDIR(info.st_mode) ? opendir(path) : NULL;
  for (struct dirent *e; dir && !has_pages && (e = kymo_dir_next(dir, &is_cut));)
    has_pages = read_number(e->d_name, &id);
  if (dir)
    closedir(dir);
  return has_pages;
}

/* ---- beside the pages ---- */

/* Of two names of a thread the first counts: those of the recorder come before those in the head. */
static int take_names(struct ftrace_file *file, const char *directory, struct kymo_error *error) {
  char path[PATH_BYTES];
  uint8_t *text = NULL;
  size_t size = 0;
  if (!kymo_path_join(path, sizeof path, directory, "names"))
    return KYMO_OK;
  int status = kymo_file_read_if_there(path, NAMES_LIMIT, &text, &size, error);
  if (status != KYMO_OK || !text)
    return status;
  uint8_t *all = realloc(text, size + file->names.length + 1);
  if (!all || !KYMO_LIST_ROOM(file->unpacked, file->unpacked_capacity, file->unpacked_count)) {
    free(all ? all : text);
    return no_memory(error);
  }
  if (file->names.length)
    memcpy(all + size, file->names.text, file->names.length);
  file->unpacked[file->unpacked_count++] = all;
  file->names = (struct ftrace_text){(const char *)all, size + file->names.length, 0};
  return KYMO_OK;
}

/* ---- pages ---- */

static int by_id(const void *one, const void *other) {
  const struct ftrace_cpu *a = one, *b = other;
  return (a->id > b->id) - (a->id < b->id);
}

static int add_cpu(struct ftrace_file *file, struct ftrace_buffer *buffer, const char *directory,
                   const char *name, uint32_t id, struct kymo_error *error) {
  char path[PATH_BYTES];
  struct stat info;
  if (!kymo_path_join(path, sizeof path, directory, name))
    return kymo_fail(error, KYMO_E_LIMIT, "the path is too long: %s/%s", directory, name);
  if (stat(path, &info))
    return kymo_fail_errno(error, path, "cannot look at");
  const char *copy = kymo_arena_copy(&file->arena, path, strlen(path));
  if (!copy)
    return no_memory(error);
  if (S_ISREG(info.st_mode))
    buffer->cpus[buffer->cpu_count++] = (struct ftrace_cpu){id, 0, (uint64_t)info.st_size, copy};
  return KYMO_OK;
}

static int take_pages(struct ftrace_file *file, const char *directory, struct kymo_error *error) {
  enum { CPUS_MAX = 65536 };
  struct ftrace_buffer *buffer = &file->buffers[0];
  struct dirent **entries = NULL;
  int count = scandir(directory, &entries, NULL, NULL), status = KYMO_OK;
  if (count < 0)
    return kymo_fail_errno(error, directory, "cannot list");
  buffer->cpu_count = 0;
  buffer->is_packed = false;
  buffer->cpus = kymo_arena_array(&file->arena, (size_t)count + 1, sizeof *buffer->cpus);
  if (!buffer->cpus)
    status = no_memory(error);
  for (int i = 0; i < count; i++) {
    uint32_t id;
    if (status == KYMO_OK && buffer->cpu_count < CPUS_MAX && read_number(entries[i]->d_name, &id))
      status = add_cpu(file, buffer, directory, entries[i]->d_name, id, error);
    free(entries[i]);
  }
  free(entries);
  if (status == KYMO_OK && buffer->cpu_count)
    qsort(buffer->cpus, buffer->cpu_count, sizeof *buffer->cpus, by_id);
  return status;
}

int kymo_ftrace_take_directory(struct ftrace_file *file, const char *directory, struct kymo_error *error) {
  file->directory = kymo_arena_copy(&file->arena, directory, strlen(directory));
  file->buffer_count = 1; /* a head has no instances */
  if (!file->directory)
    return no_memory(error);
  int status = kymo_beside_read(&file->beside, directory, &file->arena, error);
  if (status == KYMO_OK)
    status = take_names(file, directory, error);
  return status == KYMO_OK ? take_pages(file, directory, error) : status;
}
