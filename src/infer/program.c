/* SPDX-License-Identifier: MIT */
/*
 * A call site's entry in the section kymo_sites holds two offsets from itself, to the descriptor and to the
 * text, so no relocation has to be applied, except in objects, whose sections get addresses here; the
 * descriptor is read in the byte order of the file.
 */
#include "infer/program.h"
#include "base/fail.h"
#include <byteswap.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <unistd.h>

/* A section with contents. */
struct image {
  uint64_t address, size;
  const uint8_t *data;
  size_t section;        /* its number */
  bool is_sites, is_far; /* is_far: kymo_far_sites, whose entries are addresses */
  uint8_t *own_data;     /* `data`, if it had to be relocated */
};

struct program {
  const char *path;
  Elf *elf;
  bool swap;
  struct image *images;
  size_t image_count, section_names; /* section_names: the number of the section that holds them */
  bool is_object;
  uint64_t end;   /* of an object's sections so far */
  uint64_t *seen; /* descriptors that came already */
  size_t seen_count;
};

bool kymo_is_program(const char *path) {
  char magic[4] = "";
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  bool is = read(fd, magic, sizeof magic) == sizeof magic && !memcmp(magic, ELFMAG, SELFMAG);
  close(fd);
  return is;
}

/* The bytes at an address up to the end of their section, or NULL. */
static const uint8_t *at_address(const struct program *p, uint64_t address, uint64_t *left) {
  for (size_t i = 0; i < p->image_count; i++) {
    const struct image *image = &p->images[i];
    if (address < image->address || address - image->address >= image->size)
      continue;
    *left = image->size - (address - image->address);
    return image->data + (address - image->address);
  }
  return NULL;
}

static uint32_t read32(const struct program *p, const uint8_t *at) {
  uint32_t v;
  memcpy(&v, at, sizeof v);
  return p->swap ? bswap_32(v) : v;
}

static uint64_t read64(const struct program *p, const uint8_t *at) {
  uint64_t v;
  memcpy(&v, at, sizeof v);
  return p->swap ? bswap_64(v) : v;
}

static uint16_t read16(const struct program *p, const uint8_t *at) {
  uint16_t v;
  memcpy(&v, at, sizeof v);
  return p->swap ? bswap_16(v) : v;
}

static struct image *image_of(struct program *p, size_t section) {
  for (size_t i = 0; i < p->image_count; i++)
    if (p->images[i].section == section)
      return &p->images[i];
  return NULL;
}

/* Puts into an entry of a call site how far away its target is: all machines' relocations here mean that. */
static void relocate_one(struct program *p, struct image *sites, const GElf_Rela *rela,
                         const GElf_Sym *symbol, bool is_rel) {
  struct image *target = image_of(p, symbol->st_shndx);
  if (!target || sites->size < 4 || rela->r_offset > sites->size - 4)
    return;
  uint8_t *at = sites->own_data + rela->r_offset;
  uint32_t addend = is_rel ? read32(p, at) : (uint32_t)rela->r_addend;
  uint32_t value = (uint32_t)(target->address + symbol->st_value - sites->address - rela->r_offset) + addend;
  value = p->swap ? bswap_32(value) : value;
  memcpy(at, &value, sizeof value);
}

static bool relocate(struct program *p, Elf_Scn *section, const GElf_Shdr *header) {
  struct image *sites = image_of(p, header->sh_info);
  Elf_Scn *table = elf_getscn(p->elf, header->sh_link);
  if (!sites || !sites->is_sites)
    return true;
  Elf_Data *symbols = table ? elf_getdata(table, NULL) : NULL, *data = elf_getdata(section, NULL);
  if (!symbols || !data)
    return false;
  if (!sites->own_data && !(sites->own_data = malloc(sites->size)))
    return false;
  if (sites->data != sites->own_data)
    sites->data = memcpy(sites->own_data, sites->data, sites->size);
  for (int i = 0;; i++) {
    GElf_Rel rel;
    GElf_Rela rela;
    GElf_Sym symbol;
    bool is_rel = header->sh_type == SHT_REL;
    if (!(is_rel ? gelf_getrel(data, i, &rel) != NULL : gelf_getrela(data, i, &rela) != NULL))
      return true;
    if (is_rel)
      rela = (GElf_Rela){.r_offset = rel.r_offset, .r_info = rel.r_info};
    if (GELF_R_SYM(rela.r_info) <= INT32_MAX && gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &symbol))
      relocate_one(p, sites, &rela, &symbol, is_rel);
  }
}

/* Calls for each section until one call fails. A section that cannot be read is a failure: its call sites
 * would be missing. */
static bool each_section(struct program *p,
                         bool (*visit)(struct program *p, Elf_Scn *section, const GElf_Shdr *header)) {
  size_t count;
  if (elf_getshdrnum(p->elf, &count))
    return false;
  for (size_t i = 1; i < count; i++) {
    GElf_Shdr header;
    Elf_Scn *section = elf_getscn(p->elf, i);
    if (!section || !gelf_getshdr(section, &header) || !visit(p, section, &header))
      return false;
  }
  return true;
}

static bool relocate_if_table(struct program *p, Elf_Scn *section, const GElf_Shdr *header) {
  return (header->sh_type != SHT_REL && header->sh_type != SHT_RELA) || relocate(p, section, header);
}

static bool load_section(struct program *p, Elf_Scn *section, const GElf_Shdr *header) {
  if (!(header->sh_flags & SHF_ALLOC) || header->sh_type == SHT_NOBITS || !header->sh_size)
    return true;
  Elf_Data *data = elf_rawdata(section, NULL);
  const char *name = elf_strptr(p->elf, p->section_names, header->sh_name);
  if (!data || !data->d_buf || !name)
    return false;
  struct image *image = &p->images[p->image_count++];
  *image = (struct image){.address = p->is_object ? p->end : header->sh_addr,
                          .size = data->d_size,
                          .data = data->d_buf,
                          .section = elf_ndxscn(section),
                          .is_sites = !strcmp(name, "kymo_sites")};
  /* not linked, or linked for machines whose relocations carry the addresses: zeroes */
  image->is_far =
      !strcmp(name, "kymo_far_sites") && image->size >= 8 && !p->is_object && read32(p, image->data);
  image->is_sites |= image->is_far;
  p->end += data->d_size;
  return true;
}

static bool load_sections(struct program *p) {
  size_t count;
  if (elf_getshdrnum(p->elf, &count) || elf_getshdrstrndx(p->elf, &p->section_names))
    return false;
  p->images = calloc(count + 1, sizeof *p->images);
  return p->images && each_section(p, load_section) && (!p->is_object || each_section(p, relocate_if_table));
}

static int damaged(const struct program *p, uint64_t address, struct kymo_error *error) {
  return kymo_fail_at(
      error, KYMO_E_FORMAT, p->path, KYMO_ERROR_NO_OFFSET,
      "the call site at address 0x%llx points outside of the file, or belongs to another version of kymo",
      (unsigned long long)address);
}

/* What an entry leads to. */
struct site {
  uint64_t address, descriptor; /* of the entry and of the descriptor */
  const char *text;
  uint64_t text_left;
};

static int find_site(struct program *p, const struct image *sites, uint64_t index, struct site *site,
                     struct kymo_error *error) {
  const uint8_t *entry = sites->data + index * 8;
  site->address = sites->address + index * 8;
  site->descriptor = (uint64_t)(int64_t)(int32_t)read32(p, entry) + (sites->is_far ? 0 : site->address);
  uint64_t text = (uint64_t)(int64_t)(int32_t)read32(p, entry + 4) + (sites->is_far ? 0 : site->address + 4);
  site->text = (const char *)at_address(p, text, &site->text_left);
  return site->text ? KYMO_OK : damaged(p, site->address, error);
}

static int read_site(struct program *p, const struct site *site, struct kymo_point_text *out,
                     struct kymo_error *error) {
  uint64_t left = 0;
  const uint8_t *d = at_address(p, site->descriptor, &left);
  if (!d || left < sizeof(struct kymo_tracepoint))
    return damaged(p, site->address, error);
  struct kymo_tracepoint point = {
      .line = read32(p, d + 8), .count = read16(p, d + 12), .flags = read16(p, d + 14)};
  uint64_t codes[KYMO_FIELDS_MAX];
  if (point.count > KYMO_FIELDS_MAX || left < sizeof point + (point.count + 1u) * 8)
    return damaged(p, site->address, error);
  for (uint32_t i = 0; i < point.count; i++)
    codes[i] = read64(p, d + sizeof point + (i + 1) * 8);
  bool is_sound = kymo_point_parse(out, &point, codes, site->text, site->text_left);
  out->names_only = true; /* pointers to listings want relocations */
  if (!is_sound)
    return damaged(p, site->address, error);
  return KYMO_OK;
}

static bool is_new(struct program *p, uint64_t descriptor) {
  for (size_t i = 0; i < p->seen_count; i++)
    if (p->seen[i] == descriptor)
      return false;
  p->seen[p->seen_count++] = descriptor;
  return true;
}

/* Who is called for a call site: one of the two. */
struct visitor {
  kymo_program_point *point;
  kymo_program_text *text;
  void *user;
};

static int visit(struct program *p, const struct site *site, const struct visitor *visitor,
                 struct kymo_error *error) {
  struct kymo_point_text point;
  if (visitor->text) {
    visitor->text(visitor->user, site->text, strnlen(site->text, site->text_left));
    return KYMO_OK;
  }
  int status = read_site(p, site, &point, error);
  if (!status && is_new(p, site->descriptor))
    visitor->point(visitor->user, &point);
  return status;
}

static int walk(struct program *p, const struct visitor *visitor, struct kymo_error *error) {
  uint64_t count = 0;
  int status = KYMO_OK;
  for (size_t i = 0; i < p->image_count; i++)
    count += p->images[i].is_sites ? p->images[i].size / 8 : 0;
  p->seen = count ? malloc(count * sizeof *p->seen) : NULL;
  if (count && !p->seen)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (size_t i = 0; i < p->image_count && !status; i++)
    for (uint64_t j = 0; p->images[i].is_sites && j < p->images[i].size / 8 && !status; j++) {
      struct site site;
      status = find_site(p, &p->images[i], j, &site, error);
      if (!status)
        status = visit(p, &site, visitor, error);
    }
  return status;
}

static int read_program(const char *path, const struct visitor *visitor, struct kymo_error *error) {
  struct program p = {.path = path};
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return kymo_fail_errno(error, path, "cannot open");
  int status;
  char *ident;
  GElf_Ehdr header;
  elf_version(EV_CURRENT);
  p.elf = elf_begin(fd, ELF_C_READ, NULL);
  bool is_elf = p.elf && elf_kind(p.elf) == ELF_K_ELF && (ident = elf_getident(p.elf, NULL)) &&
                gelf_getehdr(p.elf, &header);
  if (is_elf) {
    p.swap = ident[EI_DATA] != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
    p.is_object = header.e_type == ET_REL;
  }
  if (!is_elf || !load_sections(&p))
    status = kymo_fail_at(error, KYMO_E_FORMAT, path, 0, "expected an ELF program, found a corrupt one: %s",
                          elf_errmsg(-1));
  else
    status = walk(&p, visitor, error);
  for (size_t i = 0; i < p.image_count; i++)
    free(p.images[i].own_data);
  free(p.seen);
  free(p.images);
  elf_end(p.elf);
  close(fd);
  return status;
}

int kymo_program_points(const char *path, kymo_program_point *each, void *user, struct kymo_error *error) {
  return read_program(path, &(struct visitor){.point = each, .user = user}, error);
}

int kymo_program_texts(const char *path, kymo_program_text *each, void *user, struct kymo_error *error) {
  return read_program(path, &(struct visitor){.text = each, .user = user}, error);
}

/* ---- misspelt names ---- */

struct nearest_point {
  struct kymo_nearest nearest;
  char name[KYMO_NEAREST_LENGTH_MAX + 1];
};

/* Texts of call sites live no longer than the call. */
static void consider(void *user, const struct kymo_point_text *point) {
  struct nearest_point *found = user;
  const char *before = found->nearest.best;
  kymo_nearest_consider(&found->nearest, point->name);
  if (found->nearest.best != before) {
    memcpy(found->name, point->name, strlen(point->name) + 1);
    found->nearest.best = found->name;
  }
}

struct kymo_hint kymo_point_hint(const char *program, const char *pattern) {
  struct nearest_point found = {.nearest = kymo_nearest_to(pattern)};
  struct kymo_error error;
  char path[4096];
  const char *directories = strchr(program, '/') ? NULL : getenv("PATH");
  bool is_over = !directories;
  if (is_over)
    kymo_program_points(program, consider, &found, &error);
  while (!is_over && *directories) {
    size_t length = strcspn(directories, ":");
    if ((size_t)snprintf(path, sizeof path, "%.*s/%s", (int)length, directories, program) < sizeof path &&
        !access(path, X_OK)) {
      kymo_program_points(path, consider, &found, &error);
      is_over = true;
    }
    directories += length;
    directories += *directories == ':';
  }
  return kymo_nearest_hint(&found.nearest);
}
