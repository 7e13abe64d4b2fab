/* SPDX-License-Identifier: MIT */
/*
 * A call site's entry in the section kymo_sites holds two offsets from itself, to the descriptor and to the
 * text, so no relocation has to be applied; the descriptor is read in the byte order of the file.
 */
#include "tool/program.h"
#include "base/fail.h"
#include <byteswap.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECTIONS_MAX = 4096 };

/* A section with contents. */
struct image {
  uint64_t address, size;
  const uint8_t *data;
};

struct program {
  const char *path;
  Elf *elf;
  bool swap;
  struct image *images;
  size_t image_count;
  struct image sites;
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

static bool load_sections(struct program *p) {
  Elf_Scn *section = NULL;
  size_t names;
  GElf_Shdr header;
  p->images = calloc(SECTIONS_MAX, sizeof *p->images);
  if (!p->images || elf_getshdrstrndx(p->elf, &names))
    return false;
  while ((section = elf_nextscn(p->elf, section)) && p->image_count < SECTIONS_MAX) {
    if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC) || header.sh_type == SHT_NOBITS)
      continue;
    Elf_Data *data = elf_rawdata(section, NULL);
    if (!data || !data->d_buf)
      continue;
    struct image image = {header.sh_addr, data->d_size, data->d_buf};
    p->images[p->image_count++] = image;
    const char *name = elf_strptr(p->elf, names, header.sh_name);
    if (name && !strcmp(name, "kymo_sites"))
      p->sites = image;
  }
  return true;
}

static int damaged(const struct program *p, uint64_t address, struct kymo_error *error) {
  return kymo_fail_at(
      error, KYMO_E_FORMAT, p->path, KYMO_ERROR_NO_OFFSET,
      "the call site at address 0x%llx points outside of the file, or is not one of this kymo's",
      (unsigned long long)address);
}

static int read_site(struct program *p, uint64_t index, struct kymo_point_text *out, bool *is_new,
                     struct kymo_error *error) {
  uint64_t address = p->sites.address + index * 8, left = 0, text_left = 0;
  const uint8_t *entry = p->sites.data + index * 8;
  uint64_t descriptor = address + (uint64_t)(int64_t)(int32_t)read32(p, entry);
  const uint8_t *d = at_address(p, descriptor, &left);
  const uint8_t *text =
      at_address(p, address + 4 + (uint64_t)(int64_t)(int32_t)read32(p, entry + 4), &text_left);
  if (!d || !text || left < sizeof(struct kymo_tracepoint))
    return damaged(p, address, error);
  struct kymo_tracepoint point = {
      .line = read32(p, d + 8), .count = read16(p, d + 12), .flags = read16(p, d + 14)};
  uint64_t codes[KYMO_FIELDS_MAX];
  if (point.count > KYMO_FIELDS_MAX || left < sizeof point + (point.count + 1u) * 8)
    return damaged(p, address, error);
  for (uint32_t i = 0; i < point.count; i++)
    codes[i] = read64(p, d + sizeof point + (i + 1) * 8);
  if (!kymo_point_parse(out, &point, codes, (const char *)text, text_left))
    return damaged(p, address, error);
  *is_new = true;
  for (size_t i = 0; i < p->seen_count; i++)
    *is_new &= p->seen[i] != descriptor;
  p->seen[p->seen_count++] = descriptor;
  return KYMO_OK;
}

static int walk(struct program *p, kymo_program_point *each, void *user, struct kymo_error *error) {
  uint64_t count = p->sites.size / 8;
  int status = KYMO_OK;
  p->seen = count ? malloc(count * sizeof *p->seen) : NULL;
  if (count && !p->seen)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (uint64_t i = 0; i < count && !status; i++) {
    struct kymo_point_text point;
    bool is_new = false;
    status = read_site(p, i, &point, &is_new, error);
    if (!status && is_new)
      each(user, &point);
  }
  return status;
}

int kymo_program_points(const char *path, kymo_program_point *each, void *user, struct kymo_error *error) {
  struct program p = {.path = path};
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return kymo_fail_errno(error, path, "cannot open");
  int status;
  char *ident;
  elf_version(EV_CURRENT);
  p.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
  if (!p.elf || elf_kind(p.elf) != ELF_K_ELF || !(ident = elf_getident(p.elf, NULL)) || !load_sections(&p))
    status = kymo_fail_at(error, KYMO_E_FORMAT, path, 0, "expected an ELF program, found a damaged one: %s",
                          elf_errmsg(-1));
  else {
    p.swap = ident[EI_DATA] != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
    status = walk(&p, each, user, error);
  }
  free(p.seen);
  free(p.images);
  elf_end(p.elf);
  close(fd);
  return status;
}
