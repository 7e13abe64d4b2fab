/* SPDX-License-Identifier: MIT */
#include "symbols/file.h"
#include "base/fail.h"
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { SYMBOLS_MAX = 1 << 24, NAMES_MAX = 1 << 30, BUILD_ID_TEXT = 512 };

/* ---- build id ---- */

/* Whether the notes contain the id, which is hexadecimal; *any: they contain some id. */
static bool match_notes(Elf_Data *notes, const char *build_id, bool *any) {
  GElf_Nhdr note;
  size_t name, id;
  for (size_t at = 0; (at = gelf_getnote(notes, at, &note, &name, &id)) > 0;) {
    const uint8_t *bytes = (const uint8_t *)notes->d_buf + id;
    if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
        memcmp((const char *)notes->d_buf + name, "GNU", 4) != 0)
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

static int fail(const char *path, struct kymo_error *error) {
  return kymo_fail_at(error, KYMO_E_SYSTEM, path, KYMO_ERROR_NO_OFFSET,
                      "cannot read its symbols, addresses are shown: %s", elf_errmsg(-1));
}

/* KYMO_E_ABSENT: it is another file. A file without build id matches a load map without one. */
static int check_file(Elf *elf, const char *path, const char *build_id, struct kymo_error *error) {
  size_t count = 0;
  bool any = false;
  if (elf_getphdrnum(elf, &count))
    return fail(path, error);
  for (size_t i = 0; i < count && i < INT32_MAX; i++) {
    GElf_Phdr part;
    if (!gelf_getphdr(elf, (int)i, &part))
      return fail(path, error);
    if (part.p_type != PT_NOTE || !part.p_filesz)
      continue;
    Elf_Data *notes = elf_getdata_rawchunk(elf, (int64_t)part.p_offset, part.p_filesz,
                                           part.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
    if (!notes)
      return fail(path, error);
    if (match_notes(notes, build_id, &any))
      return KYMO_OK;
  }
  return !any && strcmp(build_id, "-") == 0 ? KYMO_OK : KYMO_E_ABSENT;
}

/* ---- symbols ---- */

static bool is_wanted(const GElf_Sym *symbol) {
  int type = GELF_ST_TYPE(symbol->st_info);
  return (type == STT_FUNC || type == STT_OBJECT || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF &&
         symbol->st_value;
}

/* Ordered by address; among several with one address, the one with a size and then the shorter name first. */
static int compare(const void *a, const void *b) {
  const struct kymo_symbol_entry *x = a, *y = b;
  if (x->start != y->start)
    return x->start < y->start ? -1 : 1;
  if (!x->size != !y->size)
    return x->size ? -1 : 1;
  size_t m = strlen(x->name), n = strlen(y->name);
  return m != n ? (m < n ? -1 : 1) : strcmp(x->name, y->name);
}

/* The first section of the type. KYMO_E_ABSENT: there is none. */
static int find_section(Elf *elf, const char *path, uint32_t type, Elf_Scn **section, GElf_Shdr *header,
                        struct kymo_error *error) {
  size_t count;
  GElf_Ehdr head;
  if (elf_getshdrnum(elf, &count) || !gelf_getehdr(elf, &head))
    return fail(path, error);
  if (!count && head.e_shoff) /* which libelf treats as a file without sections */
    return kymo_fail_at(
        error, KYMO_E_SYSTEM, path, KYMO_ERROR_NO_OFFSET,
        "cannot read its symbols, addresses are shown: expected sections at byte %llu, found the end of the "
        "file",
        (unsigned long long)head.e_shoff);
  for (size_t i = 1; i < count; i++) {
    *section = elf_getscn(elf, i);
    if (!*section || !gelf_getshdr(*section, header))
      return fail(path, error);
    if (header->sh_type == type)
      return KYMO_OK;
  }
  return KYMO_E_ABSENT;
}

/* The contents of a section. KYMO_E_ABSENT: nothing. One without bytes in the file (SHT_NOBITS) may still
 * have a size. */
static int bytes_of(Elf_Scn *section, const char *path, Elf_Data **data, struct kymo_error *error) {
  *data = section ? elf_getdata(section, NULL) : NULL;
  if (!*data)
    return fail(path, error);
  return (*data)->d_buf && (*data)->d_size ? KYMO_OK : KYMO_E_ABSENT;
}

static void free_symbols(struct kymo_symbol_table *table) {
  for (size_t i = 0; i < table->count; i++)
    free(table->list[i].title);
  free(table->list);
  free(table->names);
  table->list = NULL;
  table->names = NULL;
  table->count = 0;
}

static int read_symbols(struct kymo_symbol_table *table, Elf *elf, const char *path, uint32_t type,
                        struct kymo_error *error) {
  GElf_Shdr header;
  Elf_Scn *section = NULL;
  Elf_Data *symbols = NULL, *names = NULL;
  int status = find_section(elf, path, type, &section, &header, error);
  if (status == KYMO_OK)
    status = bytes_of(section, path, &symbols, error);
  if (status == KYMO_OK)
    status = bytes_of(elf_getscn(elf, header.sh_link), path, &names, error);
  size_t count = status == KYMO_OK && header.sh_entsize ? symbols->d_size / header.sh_entsize : 0;
  if (!count || count > SYMBOLS_MAX || names->d_size > NAMES_MAX)
    return status == KYMO_OK ? KYMO_E_ABSENT : status;
  table->list = calloc(count, sizeof *table->list);
  table->names = malloc(names->d_size + 1);
  if (!table->list || !table->names)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  memcpy(table->names, names->d_buf, names->d_size);
  table->names[names->d_size] = 0;
  for (size_t i = 0; i < count; i++) {
    GElf_Sym symbol;
    if (gelf_getsym(symbols, (int)i, &symbol) && is_wanted(&symbol) && symbol.st_name < names->d_size)
      table->list[table->count++] = (struct kymo_symbol_entry){
          .start = symbol.st_value, .size = symbol.st_size, .name = table->names + symbol.st_name};
  }
  qsort(table->list, table->count, sizeof *table->list, compare);
  return table->count > 0 ? KYMO_OK : KYMO_E_ABSENT;
}

/* ---- files ---- */

/* A regular file: a name in a trace must not make us block on a pipe. KYMO_E_ABSENT: there is none. */
static int open_file(const char *path, int *fd, struct kymo_error *error) {
  struct stat st;
  *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (*fd < 0 && (errno == EACCES || errno == EPERM))
    return kymo_fail_at(error, KYMO_E_USAGE, path, KYMO_ERROR_NO_OFFSET,
                        "cannot read its symbols, addresses are shown: %m");
  bool is_no_file = *fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ENXIO || errno == ELOOP ||
                                errno == ENAMETOOLONG);
  if (is_no_file)
    return KYMO_E_ABSENT;
  if (*fd < 0 || fstat(*fd, &st) != 0)
    return kymo_fail_errno(error, path, "cannot read its symbols, addresses are shown");
  return S_ISREG(st.st_mode) ? KYMO_OK : KYMO_E_ABSENT;
}

/* The id in the notes of a file, as hexadecimal digits; false: there is none. */
static bool find_build_id(Elf *elf, char *out, size_t room) {
  size_t count = 0, name, id;
  for (size_t i = 0; elf_getphdrnum(elf, &count) == 0 && i < count && i < INT32_MAX; i++) {
    GElf_Phdr part;
    GElf_Nhdr note;
    Elf_Data *notes = NULL;
    if (gelf_getphdr(elf, (int)i, &part) && part.p_type == PT_NOTE && part.p_filesz)
      notes = elf_getdata_rawchunk(elf, (int64_t)part.p_offset, part.p_filesz,
                                   part.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
    for (size_t at = 0; notes && (at = gelf_getnote(notes, at, &note, &name, &id)) > 0;) {
      const uint8_t *bytes = (const uint8_t *)notes->d_buf;
      if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || memcmp(bytes + name, "GNU", 4) != 0 ||
          2 * (size_t)note.n_descsz >= room)
        continue;
      for (size_t k = 0; k < note.n_descsz; k++)
        snprintf(out + 2 * k, 3, "%02x", bytes[id + k]);
      return note.n_descsz > 0;
    }
  }
  return false;
}

/* Whether it is the file that was loaded, as far as its number says that. */
static bool is_numbered(int fd, const struct kymo_module *module) {
  struct stat st;
  return module->inode && fstat(fd, &st) == 0 && st.st_ino == module->inode &&
         major(st.st_dev) == module->major && minor(st.st_dev) == module->minor;
}

/* The segments, before the symbols: a debug file has no bytes of them. */
static int read_segments(struct kymo_symbol_table *table, Elf *elf, const char *path,
                         struct kymo_error *error) {
  size_t count = 0;
  if (table->segments)
    return KYMO_OK;
  if (elf_getphdrnum(elf, &count))
    return fail(path, error);
  table->segments = count < UINT16_MAX ? calloc(count + 1, sizeof *table->segments) : NULL;
  if (!table->segments)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (size_t i = 0; i < count; i++) {
    GElf_Phdr part;
    if (!gelf_getphdr(elf, (int)i, &part))
      return fail(path, error);
    if (part.p_type == PT_LOAD)
      table->segments[table->segment_count++] =
          (struct kymo_symbol_segment){part.p_offset, part.p_filesz, part.p_vaddr};
  }
  return KYMO_OK;
}

/* A file with this build id; without one, of the module's number: then its build id is in *build_id. */
static int read_file(struct kymo_symbol_table *table, const char *path, const struct kymo_module *module,
                     char build_id[BUILD_ID_TEXT], uint32_t type, struct kymo_error *error) {
  int fd, status = open_file(path, &fd, error);
  Elf *elf = status == KYMO_OK ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
  if (status == KYMO_OK && !elf)
    status = fail(path, error);
  if (status == KYMO_OK && elf_kind(elf) != ELF_K_ELF)
    status = KYMO_E_ABSENT;
  if (status == KYMO_OK && build_id[0])
    status = check_file(elf, path, build_id, error);
  else if (status == KYMO_OK && !is_numbered(fd, module))
    status = KYMO_E_ABSENT;
  else if (status == KYMO_OK && !find_build_id(elf, build_id, BUILD_ID_TEXT))
    snprintf(build_id, BUILD_ID_TEXT, "-");
  if (status == KYMO_OK && module->is_by_offset)
    status = read_segments(table, elf, path, error);
  if (status == KYMO_OK)
    status = read_symbols(table, elf, path, type, error);
  elf_end(elf);
  if (fd >= 0)
    close(fd);
  if (status != KYMO_OK)
    free_symbols(table);
  return status;
}

int kymo_symbol_table_read(struct kymo_symbol_table *table, const struct kymo_module *module,
                           struct kymo_error *error) {
  const char *path = module->path;
  char debug[BUILD_ID_TEXT + 64], build_id[BUILD_ID_TEXT];
  *table = (struct kymo_symbol_table){0};
  snprintf(build_id, sizeof build_id, "%s", module->build_id);
  if (elf_version(EV_CURRENT) == EV_NONE)
    return KYMO_E_ABSENT;
  int status = read_file(table, path, module, build_id, SHT_SYMTAB, error);
  size_t length = strlen(build_id);
  if (status == KYMO_E_ABSENT && length > 2 && length < 256 &&
      strspn(build_id, "0123456789abcdef") == length) {
    snprintf(debug, sizeof debug, "/usr/lib/debug/.build-id/%.2s/%s.debug", build_id, build_id + 2);
    status = read_file(table, debug, module, build_id, SHT_SYMTAB, error);
  }
  return status == KYMO_E_ABSENT ? read_file(table, path, module, build_id, SHT_DYNSYM, error) : status;
}

uint64_t kymo_symbol_table_address(const struct kymo_symbol_table *table, uint64_t offset) {
  for (size_t i = 0; i < table->segment_count; i++) {
    const struct kymo_symbol_segment *segment = &table->segments[i];
    if (offset >= segment->offset && offset - segment->offset < segment->size)
      return segment->address + (offset - segment->offset);
  }
  return UINT64_MAX;
}

void kymo_symbol_table_free(struct kymo_symbol_table *table) {
  free_symbols(table);
  free(table->segments);
  *table = (struct kymo_symbol_table){0};
}
