/* SPDX-License-Identifier: MIT */
#include "symbols/file.h"
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SYMBOLS_MAX = 1 << 24, NAMES_MAX = 1 << 30 };

/* ---- build id ---- */

/* Whether the notes hold the id, which is hexadecimal; *any: they hold some. */
static bool match_notes(Elf_Data *notes, const char *build_id, bool *any) {
  GElf_Nhdr note;
  size_t name, id;
  for (size_t at = 0; (at = gelf_getnote(notes, at, &note, &name, &id)) > 0;) {
    const uint8_t *bytes = (const uint8_t *)notes->d_buf + id;
    if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || memcmp((const char *)notes->d_buf + name, "GNU", 4) != 0)
      continue;
    *any = true;
    bool same = strlen(build_id) == 2 * (size_t)note.n_descsz;
    for (size_t i = 0; same && i < note.n_descsz; i++) {
      char hex[3];
      snprintf(hex, sizeof hex, "%02x", bytes[i]);
      same = memcmp(hex, build_id + 2 * i, 2) == 0;
    }
    return same;
  }
  return false;
}

/* A file without build id is the one that had none. */
static bool is_that_file(Elf *elf, const char *build_id) {
  size_t count = 0;
  bool any = false;
  if (elf_getphdrnum(elf, &count))
    return false;
  for (size_t i = 0; i < count && i < INT32_MAX; i++) {
    GElf_Phdr part;
    if (!gelf_getphdr(elf, (int)i, &part) || part.p_type != PT_NOTE)
      continue;
    Elf_Data *notes = elf_getdata_rawchunk(elf, (int64_t)part.p_offset, part.p_filesz,
                                           part.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
    if (notes && match_notes(notes, build_id, &any))
      return true;
  }
  return !any && strcmp(build_id, "-") == 0;
}

/* ---- symbols ---- */

static bool is_wanted(const GElf_Sym *symbol) {
  int type = GELF_ST_TYPE(symbol->st_info);
  return (type == STT_FUNC || type == STT_OBJECT || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF &&
         symbol->st_value;
}

/* Ordered by address; of several names of one, the sized and then the shorter first. */
static int compare(const void *a, const void *b) {
  const struct kymo_symbol_entry *x = a, *y = b;
  if (x->start != y->start)
    return x->start < y->start ? -1 : 1;
  if (!x->size != !y->size)
    return x->size ? -1 : 1;
  size_t m = strlen(x->name), n = strlen(y->name);
  return m != n ? (m < n ? -1 : 1) : strcmp(x->name, y->name);
}

static Elf_Scn *find_section(Elf *elf, uint32_t type, GElf_Shdr *header) {
  for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));)
    if (gelf_getshdr(section, header) && header->sh_type == type)
      return section;
  return NULL;
}

/* What is in a section; NULL if nothing is. One without bytes in the file (SHT_NOBITS) may still have a size. */
static Elf_Data *bytes_of(Elf_Scn *section) {
  Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
  return data && data->d_buf && data->d_size ? data : NULL;
}

static bool read_symbols(struct kymo_symbol_table *table, Elf *elf, uint32_t type) {
  GElf_Shdr header;
  Elf_Scn *section = find_section(elf, type, &header), *strings = section ? elf_getscn(elf, header.sh_link) : NULL;
  Elf_Data *symbols = bytes_of(section), *names = bytes_of(strings);
  size_t count = symbols && header.sh_entsize ? symbols->d_size / header.sh_entsize : 0;
  if (!count || count > SYMBOLS_MAX || !names || names->d_size > NAMES_MAX)
    return false;
  table->list = calloc(count, sizeof *table->list);
  table->names = malloc(names->d_size + 1);
  if (!table->list || !table->names)
    return false;
  memcpy(table->names, names->d_buf, names->d_size);
  table->names[names->d_size] = 0;
  for (size_t i = 0; i < count; i++) {
    GElf_Sym symbol;
    if (gelf_getsym(symbols, (int)i, &symbol) && is_wanted(&symbol) && symbol.st_name < names->d_size)
      table->list[table->count++] =
          (struct kymo_symbol_entry){.start = symbol.st_value, .size = symbol.st_size, .name = table->names + symbol.st_name};
  }
  qsort(table->list, table->count, sizeof *table->list, compare);
  return table->count > 0;
}

/* ---- files ---- */

/* A regular file: a name in a trace must not make anybody wait for a pipe. */
static int open_file(const char *path) {
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
    close(fd);
    return -1;
  }
  return fd;
}

static bool read_file(struct kymo_symbol_table *table, const char *path, const char *build_id, uint32_t type) {
  int fd = open_file(path);
  Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
  bool found = elf && elf_kind(elf) == ELF_K_ELF && is_that_file(elf, build_id) && read_symbols(table, elf, type);
  elf_end(elf);
  if (fd >= 0)
    close(fd);
  if (!found)
    kymo_symbol_table_free(table);
  return found;
}

bool kymo_symbol_table_read(struct kymo_symbol_table *table, const char *path, const char *build_id) {
  char debug[512];
  *table = (struct kymo_symbol_table){0};
  if (elf_version(EV_CURRENT) == EV_NONE)
    return false;
  if (read_file(table, path, build_id, SHT_SYMTAB))
    return true;
  size_t length = strlen(build_id);
  if (length > 2 && length < 256 && strspn(build_id, "0123456789abcdef") == length) {
    snprintf(debug, sizeof debug, "/usr/lib/debug/.build-id/%.2s/%s.debug", build_id, build_id + 2);
    if (read_file(table, debug, build_id, SHT_SYMTAB))
      return true;
  }
  return read_file(table, path, build_id, SHT_DYNSYM);
}

void kymo_symbol_table_free(struct kymo_symbol_table *table) {
  for (size_t i = 0; i < table->count; i++)
    free(table->list[i].title);
  free(table->list);
  free(table->names);
  *table = (struct kymo_symbol_table){0};
}
