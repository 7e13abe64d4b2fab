/* SPDX-License-Identifier: MIT */
#include "trace/plugin.h"
#include "base/fail.h"
#include "base/file.h"
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* No plug-in is larger. */
#define FILE_LIMIT ((uint64_t)256 << 20)

/* ---- the file before it is loaded ---- */

struct image {
  const uint8_t *bytes;
  size_t size;
};

/* Copies `count` bytes at `offset`; false: the file ends before. */
static bool copy(const struct image *image, void *into, uint64_t offset, size_t count) {
  if (offset > image->size || count > image->size - offset)
    return false;
  memcpy(into, image->bytes + offset, count);
  return true;
}

static bool get_section(const struct image *image, const ElfW(Ehdr) * header, uint32_t index,
                        ElfW(Shdr) * section) {
  return index < header->e_shnum && header->e_shentsize == sizeof *section &&
         copy(image, section, header->e_shoff + (uint64_t)index * sizeof *section, sizeof *section);
}

/* Whether the texts at `names` contain this one, with its zero, at `at`. */
static bool is_named(const struct image *image, const ElfW(Shdr) * names, uint64_t at, const char *name) {
  size_t size = strlen(name) + 1;
  return at < names->sh_size && names->sh_offset <= image->size && at <= image->size - names->sh_offset &&
         size <= image->size - names->sh_offset - at &&
         memcmp(image->bytes + names->sh_offset + at, name, size) == 0;
}

static bool table_defines(const struct image *image, const ElfW(Shdr) * table, const ElfW(Shdr) * names,
                          const char *name) {
  ElfW(Sym) symbol;
  for (uint64_t at = 0; at < table->sh_size && copy(image, &symbol, table->sh_offset + at, sizeof symbol);
       at += sizeof symbol)
    if (symbol.st_shndx != SHN_UNDEF && is_named(image, names, symbol.st_name, name))
      return true;
  return false;
}

static bool defines(const struct image *image, const ElfW(Ehdr) * header, const char *name) {
  ElfW(Shdr) table, names;
  for (uint32_t i = 0; get_section(image, header, i, &table); i++)
    if (table.sh_type == SHT_DYNSYM) /* there is only one */
      return get_section(image, header, table.sh_link, &names) && table_defines(image, &table, &names, name);
  return false;
}

static bool is_shared_object(const struct image *image, ElfW(Ehdr) * header) {
  return copy(image, header, 0, sizeof *header) && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
         header->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
         header->e_ident[EI_DATA] == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB) &&
         header->e_type == ET_DYN;
}

static int check_file(const char *path, const char *symbol, struct kymo_error *error) {
  struct image image = {0};
  ElfW(Ehdr) header;
  uint8_t *bytes;
  int status = kymo_file_read(path, FILE_LIMIT, &bytes, &image.size, error);
  if (status != KYMO_OK)
    return status;
  image.bytes = bytes;
  if (!is_shared_object(&image, &header))
    status = kymo_fail_at(error, KYMO_E_FORMAT, path, KYMO_ERROR_NO_OFFSET,
                          "expected a shared object of this machine, found other bytes");
  else if (!defines(&image, &header, symbol))
    status = kymo_fail_at(error, KYMO_E_FORMAT, path, KYMO_ERROR_NO_OFFSET,
                          "expected a shared object that exports %s, found none of that name", symbol);
  free(bytes);
  return status;
}

/* ---- loading ---- */

/* The linker's own message, without the name of the file, which the error has already. */
static int fail_loading(struct kymo_error *error, const char *path, const char *loaded) {
  const char *why = dlerror();
  size_t length = strlen(loaded);
  if (why && strncmp(why, loaded, length) == 0 && strncmp(why + length, ": ", 2) == 0)
    why += length + 2;
  return kymo_fail_at(error, KYMO_E_SYSTEM, path, KYMO_ERROR_NO_OFFSET, "cannot be loaded: %s",
                      why ? why : "for no known reason");
}

static int load(struct kymo_plugin *plugin, const char *path, const char *symbol, struct kymo_error *error) {
  char here[PATH_MAX + 2];
  const char *loaded = path;
  if (!strchr(path, '/')) { /* dlopen would search the system's libraries */
    snprintf(here, sizeof here, "./%s", path);
    loaded = here;
  }
  plugin->handle = dlopen(loaded, RTLD_NOW | RTLD_LOCAL);
  plugin->descriptor = plugin->handle ? dlsym(plugin->handle, symbol) : NULL;
  return plugin->descriptor ? KYMO_OK : fail_loading(error, path, loaded);
}

static int check_descriptor(struct kymo_plugin *plugin, const char *path, const struct kymo_plugin_kind *kind,
                            struct kymo_error *error) {
  struct kymo_plugin_head head;
  uint32_t least = kind->least_bytes ? kind->least_bytes : kind->size_bytes;
  memcpy(&head, plugin->descriptor, sizeof head);
  if (head.abi_version != kind->abi_version)
    return kymo_fail_at(error, KYMO_E_UNKNOWN, path, KYMO_ERROR_NO_OFFSET,
                        "expected %s of version %u, found version %u", kind->symbol, kind->abi_version,
                        head.abi_version);
  if (head.size_bytes < least || head.size_bytes > kind->size_bytes)
    return kymo_fail_at(error, KYMO_E_UNKNOWN, path, KYMO_ERROR_NO_OFFSET,
                        "expected %s of %u to %u bytes, found %u%s", kind->symbol, least, kind->size_bytes,
                        head.size_bytes,
                        head.size_bytes > kind->size_bytes ? ": it is made for a newer kymo" : "");
  plugin->size_bytes = head.size_bytes;
  return KYMO_OK;
}

int kymo_plugin_open(struct kymo_plugin *plugin, const char *path, const struct kymo_plugin_kind *kind,
                     struct kymo_error *error) {
  *plugin = (struct kymo_plugin){0};
  int status = check_file(path, kind->symbol, error);
  if (status == KYMO_OK)
    status = load(plugin, path, kind->symbol, error);
  if (status == KYMO_OK)
    status = check_descriptor(plugin, path, kind, error);
  if (status != KYMO_OK)
    kymo_plugin_close(plugin);
  return status;
}

void kymo_plugin_close(struct kymo_plugin *plugin) {
  if (plugin->handle)
    dlclose(plugin->handle);
  *plugin = (struct kymo_plugin){0};
}

/* ---- names ---- */

static bool is_there(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

char *kymo_plugin_split(char *text) {
  char *first = strchr(text, ':');
  if (!first || is_there(text))
    return NULL;
  for (char *colon = first; colon; colon = strchr(colon + 1, ':')) {
    *colon = '\0';
    if (is_there(text))
      return colon + 1;
    *colon = ':';
  }
  *first = '\0';
  return first + 1;
}
