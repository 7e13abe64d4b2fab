/* SPDX-License-Identifier: MIT */
/*
 * The load map: which files are at which addresses of the process, so that readers can name addresses. One
 * line for each load or unload since the last look (docs/recording.md describes the form). The dynamic linker
 * counts both, so a look that finds nothing new costs little.
 */
#include "base/list.h"
#include "base/strbuf.h"
#include "record/session.h"
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

struct module {
  uint64_t start, end;
  bool is_there; /* was seen in this look */
};

static struct {
  struct kymo_strbuf text;
  size_t written;
  int reason; /* errno of the last module that could not be recorded; 0: all are recorded */
  unsigned long long loads, unloads;
  struct module *list;
  size_t count, capacity;
} modules;

/* ---- one module ---- */

static void put_build_id(struct kymo_strbuf *out, const struct dl_phdr_info *info) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    if (part->p_type != PT_NOTE)
      continue;
    const uint8_t *at = (const uint8_t *)(info->dlpi_addr + part->p_vaddr), *end = at + part->p_memsz;
    while (at < end && (size_t)(end - at) >= sizeof(ElfW(Nhdr))) { /* the last one may lack its padding */
      const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(const void *)at;
      const uint8_t *name = at + sizeof *note, *id = name + ((note->n_namesz + 3) & ~3u);
      at = id + ((note->n_descsz + 3) & ~3u);
      if (note->n_type != NT_GNU_BUILD_ID || note->n_namesz != 4 || memcmp(name, "GNU", 4) || at > end)
        continue;
      for (uint32_t k = 0; k < note->n_descsz; k++)
        kymo_strbuf_printf(out, "%02x", id[k]);
      return;
    }
  }
  kymo_strbuf_puts(out, "-");
}

static void find_range(const struct dl_phdr_info *info, struct module *out) {
  *out = (struct module){UINT64_MAX, 0, true};
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD)
      continue;
    uint64_t start = info->dlpi_addr + part->p_vaddr, end = start + part->p_memsz;
    out->start = start < out->start ? start : out->start;
    out->end = end > out->end ? end : out->end;
  }
}

/* A path is one line, whatever bytes it contains. */
static void put_path(struct kymo_strbuf *out, const char *path) {
  for (; *path; path++)
    kymo_strbuf_add(out, *path == '\n' ? "?" : path, 1);
  kymo_strbuf_puts(out, "\n");
}

static void note_load(const struct dl_phdr_info *info, const struct module *module, uint64_t now) {
  char path[PATH_MAX];
  const char *name = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
  if (!strchr(name, '/')) /* the kernel's own */
    return;
  if (!realpath(name, path)) {
    if (errno != ENOENT && errno != ENOTDIR) /* else the file is already gone */
      modules.reason = errno;
    return;
  }
  kymo_strbuf_printf(&modules.text, "load %" PRIu64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " ", now,
                     (uint64_t)info->dlpi_addr, module->start, module->end);
  put_build_id(&modules.text, info);
  kymo_strbuf_puts(&modules.text, " ");
  put_path(&modules.text, path);
}

/* ---- all ---- */

static bool is_known(const struct module *module) {
  for (size_t i = 0; i < modules.count; i++)
    if (modules.list[i].start == module->start && modules.list[i].end == module->end)
      return modules.list[i].is_there = true;
  return false;
}

static int see(struct dl_phdr_info *info, size_t size, void *now) {
  struct module module;
  (void)size;
  find_range(info, &module);
  if (module.start >= module.end || is_known(&module))
    return 0;
  if (!KYMO_LIST_ROOM(modules.list, modules.capacity, modules.count)) {
    modules.reason = ENOMEM;
    return 1;
  }
  modules.list[modules.count++] = module;
  note_load(info, &module, *(const uint64_t *)now);
  return 0;
}

static void note_unloads(uint64_t now) {
  size_t kept = 0;
  for (size_t i = 0; i < modules.count; i++) {
    struct module *module = &modules.list[i];
    if (module->is_there)
      modules.list[kept++] = *module;
    else
      kymo_strbuf_printf(&modules.text, "unload %" PRIu64 " %" PRIx64 "\n", now, module->start);
  }
  modules.count = kept;
}

/* Each module comes with the counters; those of the first are enough. */
static int compare_counts(struct dl_phdr_info *info, size_t size, void *is_new) {
  (void)size;
  *(bool *)is_new = info->dlpi_adds != modules.loads || info->dlpi_subs != modules.unloads;
  modules.loads = info->dlpi_adds;
  modules.unloads = info->dlpi_subs;
  return 1;
}

static void look(void) {
  bool is_new = false;
  dl_iterate_phdr(compare_counts, &is_new);
  if (!is_new)
    return;
  uint64_t now = kymo_session_clock_read(&kymo_session_.clock);
  if (!modules.text.length)
    kymo_strbuf_puts(&modules.text, "kymo-modules 1\n");
  for (size_t i = 0; i < modules.count; i++)
    modules.list[i].is_there = false;
  dl_iterate_phdr(see, &now);
  note_unloads(now);
}

struct kymo_pool_file kymo_modules_file(void) {
  return (struct kymo_pool_file){KYMO_HIDDEN_MODULES, modules.text.text ? modules.text.text : "",
                                 modules.text.length, modules.written};
}

/* The events are complete without it, but addresses in these modules may have no names. */
static void warn_if_lacking(void) {
  int reason = modules.text.failed ? ENOMEM : modules.reason;
  if (reason)
    kymo_warn("the load map lacks modules, so that addresses in them have no names: ",
              strerrordesc_np(reason), NULL);
  modules.reason = 0;
}

void kymo_modules_begin(void) {
  look();
  modules.written = modules.text.failed ? 0 : modules.text.length;
  warn_if_lacking();
}

void kymo_modules_follow(void) {
  if (!kymo_pool_is_ours())
    return;
  look();
  struct kymo_pool_file file = kymo_modules_file();
  if (file.length > file.written && !modules.text.failed) {
    if (kymo_pool_append(&file))
      modules.written = file.length;
    else
      modules.reason = errno;
  }
  warn_if_lacking();
}

bool kymo_modules_note_(void) {
  if (!kymo_pool_is_ours() || !kymo_try_lock())
    return false;
  kymo_modules_follow();
  kymo_unlock();
  return true;
}
