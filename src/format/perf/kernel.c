/* SPDX-License-Identifier: MIT */
#include "format/perf/kernel.h"
#include "base/file.h"
#include "base/search.h"
#include "format/perf/attr.h"
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define NOTES_PATH "/sys/kernel/notes"
#define SYMBOLS_PATH "/proc/kallsyms"
#define NOTES_MAX (UINT64_C(1) << 20)
#define SYMBOLS_MAX (UINT64_C(256) << 20)

void kymo_perf_kernel_begin(struct perf_kernel *kernel, const struct perf_tasks *tasks) {
  *kernel = (struct perf_kernel){.tasks = tasks};
}

void kymo_perf_kernel_end(struct perf_kernel *kernel) {
  kymo_ftrace_names_end(&kernel->names);
  free(kernel->text);
}

/* ---- the running kernel ---- */

/* The GNU build id in the notes is this one. */
static bool has_build_id(const uint8_t *notes, size_t size, const char *build_id) {
  enum { GNU_BUILD_ID = 3 };
  struct kymo_arena arena = {0};
  struct kymo_bytes bytes = {.data = notes, .size = size, .is_big = KYMO_HOST_IS_BIG};
  bool is_same = false;
  while (!bytes.failed && bytes.at < bytes.size && !is_same) {
    uint32_t name_size = kymo_bytes_u32(&bytes), id_size = kymo_bytes_u32(&bytes);
    uint32_t type = kymo_bytes_u32(&bytes);
    const uint8_t *name = kymo_bytes_take(&bytes, ((size_t)name_size + 3) / 4 * 4);
    const uint8_t *id = kymo_bytes_take(&bytes, ((size_t)id_size + 3) / 4 * 4);
    if (!name || !id || type != GNU_BUILD_ID || name_size != 4 || memcmp(name, "GNU", 4) != 0)
      continue;
    const char *hex = kymo_perf_hex(&arena, id, id_size);
    is_same = hex && strcmp(hex, build_id) == 0;
  }
  kymo_arena_free(&arena);
  return is_same;
}

/* By its build id, or if the file does not have it, by its release. */
static bool is_running(const char *build_id, const char *release) {
  struct utsname running;
  uint8_t *notes = NULL;
  size_t size = 0;
  if (!build_id)
    return release && uname(&running) == 0 && strcmp(running.release, release) == 0;
  bool is_same = kymo_input_read(NOTES_PATH, NOTES_MAX, &notes, &size, NULL) == KYMO_OK &&
                 has_build_id(notes, size, build_id);
  free(notes);
  return is_same;
}

/* The address of a symbol; 0: there is none. */
static uint64_t address_of(const struct ftrace_names *names, const char *name) {
  for (size_t i = 0; i < names->function_count; i++)
    if (strcmp(names->functions[i].name, name) == 0)
      return names->functions[i].address;
  return 0;
}

/* Whether the running kernel has the addresses of the file: an address of 0 is one that we may not see. If
 * the file has no build id, both ends of the code must be the same. */
static bool is_at_same_place(const struct perf_kernel *kernel) {
  const struct perf_tasks *tasks = kernel->tasks;
  uint64_t address = tasks->kernel_symbol ? address_of(&kernel->names, tasks->kernel_symbol) : 0;
  bool is_same_size = address_of(&kernel->names, "_etext") == tasks->kernel_end;
  return address && address == tasks->kernel_anchor && (tasks->kernel_build_id || is_same_size);
}

/* ---- functions ---- */

/* The code of the kernel itself: what else the table names may have moved. */
static void find_end(struct perf_kernel *kernel) {
  uint64_t end = address_of(&kernel->names, "_etext");
  kernel->end = kernel->tasks->kernel_end;
  if (end && end < kernel->end)
    kernel->end = end;
}

static void begin(struct perf_kernel *kernel) {
  const struct perf_tasks *tasks = kernel->tasks;
  const struct ftrace_file *formats = &tasks->file->formats;
  size_t size = 0;
  uint64_t none;
  kernel->is_begun = true;
  kernel->names.file = formats;
  if (!tasks->kernel_end)
    return;
  if (formats->functions.length) {
    kymo_ftrace_function(&kernel->names, 0, &none);
    kernel->is_known = true;
  } else if (is_running(tasks->kernel_build_id, tasks->file->release) &&
             kymo_input_read(SYMBOLS_PATH, SYMBOLS_MAX, &kernel->text, &size, NULL) == KYMO_OK) {
    kernel->running.functions = (struct ftrace_text){.text = (const char *)kernel->text, .length = size};
    kernel->names.file = &kernel->running;
    kymo_ftrace_function(&kernel->names, 0, &none);
    kernel->is_known = is_at_same_place(kernel);
    kernel->names.file = formats;
  }
  find_end(kernel);
}

/* In a list that is ordered by start. */
static const char *find_in(const struct perf_function *functions, uint32_t count, uint64_t address,
                           uint64_t *from) {
  uint32_t at = KYMO_COUNT_BEFORE(count, i, functions[i].start <= address);
  if (at == 0 || address >= functions[at - 1].end)
    return NULL;
  *from = functions[at - 1].start;
  return functions[at - 1].name;
}

const char *kymo_perf_function(struct perf_kernel *kernel, uint64_t address, uint64_t *from) {
  const struct perf_tasks *tasks = kernel->tasks;
  if (!kernel->is_begun)
    begin(kernel);
  if (kernel->is_known && address >= tasks->kernel_start && address < kernel->end)
    return kymo_ftrace_function(&kernel->names, address, from);
  const char *name = find_in(tasks->functions, tasks->function_count, address, from);
  return name ? name : find_in(tasks->kernel_modules, tasks->kernel_module_count, address, from);
}

const char *kymo_perf_printk(struct perf_kernel *kernel, uint64_t address) {
  if (!kernel->is_begun)
    begin(kernel);
  return kymo_ftrace_printk(&kernel->names, address);
}
