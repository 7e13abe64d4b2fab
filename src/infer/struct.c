/* SPDX-License-Identifier: MIT */
/*
 * A struct in debug information → a record in TDL. Every byte of the struct is a field or FILLER, so the
 * record has the struct's size whatever the members are:
 *
 *   int x : 3;            x: INTEGER 3;                  char name[8];        name: STRING 8;
 *   (padding)             FILLER 13 BITS;                enum state s;        s: UNSIGNED 32 TOKEN state;
 *   struct point p;       p: USE point;                  union u;             u: BYTES 8;   -- and a comment
 *   struct point q[2];    REPEAT TIMES 2 IS q: USE point; END;
 */
#include "base/fail.h"
#include "base/list.h"
#include "base/nearest.h"
#include "infer/dwarf.h"
#include "infer/skeleton.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 4096, GROUPS_MAX = 1000 };

struct known {
  const void *address;
  char name[84];
  bool is_flags, is_signed;
};

struct inference {
  struct tool_skeleton skeleton;
  struct known *known; /* entries that have a list or group */
  size_t known_count, known_capacity;
  bool is_big, is_x86;
  unsigned depth;
};

/* The text of one struct. */
struct fields {
  struct inference *inference;
  struct kymo_strbuf *out;
  const char *indent;
  uint64_t at; /* bits written */
};

static const struct known *find_known(const struct inference *inference, Dwarf_Die *die) {
  for (size_t i = 0; i < inference->known_count; i++)
    if (inference->known[i].address == die->addr)
      return &inference->known[i];
  return NULL;
}

static const struct known *add_known(struct inference *inference, Dwarf_Die *die, const char *name) {
  if (!KYMO_LIST_ROOM(inference->known, inference->known_capacity, inference->known_count)) {
    inference->skeleton.body.failed = true;
    return NULL;
  }
  struct known *known = &inference->known[inference->known_count++];
  *known = (struct known){.address = die->addr};
  snprintf(known->name, sizeof known->name, "%s", name);
  return known;
}

/* ---- enumerations ---- */

static bool is_signed_number(Dwarf_Die *type) {
  uint64_t encoding = kymo_dwarf_number(type, DW_AT_encoding, 0);
  return encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
}

static size_t read_values(Dwarf_Die *type, struct tool_skeleton_value *values, bool *has_minus) {
  Dwarf_Die child;
  size_t count = 0;
  for (int more = kymo_dwarf_first(type, &child); more > 0 && count < VALUES_MAX;
       more = kymo_dwarf_next(&child)) {
    Dwarf_Attribute found;
    Dwarf_Sword number;
    const char *name = dwarf_diename(&child);
    if (dwarf_tag(&child) != DW_TAG_enumerator || !name || !dwarf_attr(&child, DW_AT_const_value, &found) ||
        dwarf_formsdata(&found, &number))
      continue;
    *has_minus |= number < 0;
    values[count++] = (struct tool_skeleton_value){name, (uint64_t)number, (uint64_t)number};
  }
  return count;
}

/* Single bits, at least one of which could not be a consecutive number. */
static bool are_flags(const struct tool_skeleton_value *values, size_t count) {
  uint64_t all = 0;
  for (size_t i = 0; i < count; i++) {
    if (values[i].low & (values[i].low - 1))
      return false;
    all |= values[i].low;
  }
  return all > 3;
}

static const struct known *declare_enumeration(struct inference *inference, Dwarf_Die *type,
                                               const char *name) {
  const struct known *known = find_known(inference, type);
  if (known)
    return *known->name ? known : NULL;
  struct tool_skeleton_value *values = calloc(VALUES_MAX, sizeof *values);
  struct known *made = (struct known *)(uintptr_t)add_known(
      inference, type,
      tool_skeleton_new_name(&inference->skeleton, dwarf_diename(type) ? dwarf_diename(type) : name));
  Dwarf_Die base;
  bool has_minus = false;
  size_t count = values ? read_values(type, values, &has_minus) : 0;
  if (made && count > 0) {
    made->is_signed =
        kymo_dwarf_type(type, &base) && kymo_dwarf_peel(&base, NULL) ? is_signed_number(&base) : has_minus;
    made->is_flags = !made->is_signed && are_flags(values, count);
    tool_skeleton_list(&inference->skeleton, made->name, values, count, made->is_flags, made->is_signed);
    if (count == VALUES_MAX)
      kymo_strbuf_puts(&inference->skeleton.lists, "  -- more values than these were left out\n");
  }
  free(values);
  if (made && count == 0)
    *made->name = '\0';
  return count > 0 ? made : NULL;
}

/* ---- types ---- */

static const struct known *declare_group(struct inference *inference, Dwarf_Die *type, const char *name);

/* A number's type, or false: then only its bytes are described. `bits` of it, by bit-field or size. */
static bool put_base(struct fields *fields, Dwarf_Die *type, uint64_t bits) {
  const char *name = dwarf_diename(type);
  switch (kymo_dwarf_number(type, DW_AT_encoding, 0)) {
  case DW_ATE_signed:
  case DW_ATE_signed_char:
  case DW_ATE_unsigned:
  case DW_ATE_unsigned_char:
  case DW_ATE_boolean:
  case DW_ATE_UTF:
  case DW_ATE_address:
    if (bits > 64)
      return false;
    kymo_strbuf_printf(fields->out, "%s %" PRIu64 "%s", is_signed_number(type) ? "INTEGER" : "UNSIGNED", bits,
                       name && strcmp(name, "char") == 0 && bits == 8 ? " SHOW CHAR" : "");
    return true;
  case DW_ATE_float:
    if (bits != 16 && bits != 32 && bits != 64 && bits != 128)
      return false;
    if (bits == 128 && fields->inference->is_x86)
      return false;
    kymo_strbuf_printf(fields->out, "FLOAT %" PRIu64, bits);
    return true;
  default: return false;
  }
}

static bool put_enumeration(struct fields *fields, Dwarf_Die *type, const char *name, uint64_t bits) {
  const struct known *known = declare_enumeration(fields->inference, type, name);
  if (bits > 64)
    return false;
  kymo_strbuf_printf(fields->out, "%s %" PRIu64, known && known->is_signed ? "INTEGER" : "UNSIGNED", bits);
  if (known)
    kymo_strbuf_printf(fields->out, " %s %s", known->is_flags ? "FLAGS" : "TOKEN", known->name);
  return true;
}

/* The type of a value of `bits` that is not a struct; true if more is known of it than its bytes. */
static bool put_scalar(struct fields *fields, Dwarf_Die *type, const char *name, uint64_t bits) {
  switch (dwarf_tag(type)) {
  case DW_TAG_base_type: return put_base(fields, type, bits);
  case DW_TAG_enumeration_type: return put_enumeration(fields, type, name, bits);
  case DW_TAG_pointer_type:
    kymo_strbuf_printf(fields->out, "UNSIGNED %" PRIu64 " SHOW ADDRESS", bits);
    return bits <= 64;
  default: return false;
  }
}

/* ---- members ---- */

/* A member without typedefs, qualifiers and arrays. */
struct member {
  const char *name;  /* or NULL */
  const char *alias; /* of its type */
  Dwarf_Die type;
  uint64_t place, bits; /* of all of it */
  uint64_t elements;    /* of arrays, of whatever dimensions; else 0 */
  bool is_bit_field;
};

/* Offset of a bit-field, counted from the end that TDL counts bits from: the low one if bytes are
 * little-endian. */
static uint64_t place_of(const struct inference *inference, Dwarf_Die *die, uint64_t bits,
                         uint64_t storage_bytes) {
  if (!dwarf_hasattr(die, DW_AT_bit_offset))
    return kymo_dwarf_place_bits(die);
  uint64_t from_high = kymo_dwarf_number(die, DW_AT_bit_offset, 0),
           place = kymo_dwarf_place_bits(die) - from_high;
  storage_bytes = kymo_dwarf_number(die, DW_AT_byte_size, storage_bytes);
  return inference->is_big ? place + from_high : place + storage_bytes * 8 - from_high - bits;
}

/* False if its offset or size is unknown. */
static bool read_member(const struct inference *inference, Dwarf_Die *die, struct member *member) {
  Dwarf_Die named = {0};
  *member = (struct member){.name = dwarf_diename(die)};
  if (!kymo_dwarf_type(die, &member->type))
    return false;
  uint64_t bytes = kymo_dwarf_size_bytes(&member->type);
  bool is_there = kymo_dwarf_peel(&member->type, &named);
  for (unsigned i = 0; is_there && i < KYMO_DWARF_DEPTH; i++) {
    unsigned dimensions;
    if (dwarf_tag(&member->type) == DW_TAG_array_type) {
      uint64_t elements = kymo_dwarf_elements(&member->type, &dimensions);
      member->elements = (member->elements ? member->elements : 1) * elements;
      if (!elements || member->elements > UINT32_MAX)
        return false;
    } else if (dwarf_tag(&member->type) != DW_TAG_atomic_type)
      break;
    named = (Dwarf_Die){0};
    is_there = kymo_dwarf_type(&member->type, &member->type) && kymo_dwarf_peel(&member->type, &named);
  }
  member->alias = named.addr ? dwarf_diename(&named) : NULL;
  member->is_bit_field = dwarf_hasattr(die, DW_AT_bit_size);
  member->bits = member->is_bit_field ? kymo_dwarf_number(die, DW_AT_bit_size, 0) : bytes * 8;
  member->place =
      member->is_bit_field ? place_of(inference, die, member->bits, bytes) : kymo_dwarf_place_bits(die);
  return is_there && bytes > 0 && member->bits > 0;
}

static void put_filler(struct fields *fields, uint64_t bits) {
  uint64_t to_boundary = (8 - fields->at % 8) % 8, odd = bits < to_boundary ? bits : to_boundary;
  uint64_t rest = bits - odd;
  if (odd)
    kymo_strbuf_printf(fields->out, "%sFILLER %" PRIu64 " BITS;\n", fields->indent, odd);
  if (rest / 8)
    kymo_strbuf_printf(fields->out, "%sFILLER %" PRIu64 " BYTES;\n", fields->indent, rest / 8);
  if (rest % 8)
    kymo_strbuf_printf(fields->out, "%sFILLER %" PRIu64 " BITS;\n", fields->indent, rest % 8);
  fields->at += bits;
}

static void put_comment(struct fields *fields, const char *name, const char *text) {
  kymo_strbuf_printf(fields->out, "%s-- ", fields->indent);
  tool_skeleton_comment(fields->out, name ? name : "?");
  kymo_strbuf_printf(fields->out, ": %s\n", text);
  fields->inference->skeleton.unknown++;
}

static void put_group(struct fields *fields, const struct member *member, const char *group) {
  struct kymo_strbuf *out = fields->out;
  if (member->elements)
    kymo_strbuf_printf(out, "%sREPEAT TIMES %" PRIu64 " IS ", fields->indent, member->elements);
  else
    kymo_strbuf_puts(out, fields->indent);
  if (member->name)
    kymo_strbuf_printf(out, "%s: ", tool_skeleton_name(member->name));
  kymo_strbuf_printf(out, "USE %s;%s\n", group, member->elements ? " END;" : "");
}

/* Texts, bytes, numbers and lists of these. */
static void put_plain(struct fields *fields, struct member *member) {
  struct kymo_strbuf *out = fields->out;
  const char *type_name = dwarf_diename(&member->type);
  uint64_t each = member->elements ? member->bits / member->elements : member->bits;
  bool is_base = dwarf_tag(&member->type) == DW_TAG_base_type,
       is_bytes = member->elements && is_base && each == 8;
  kymo_strbuf_printf(out, "%s%s: ", fields->indent, tool_skeleton_name(member->name));
  if (is_bytes) {
    bool is_text = type_name && strcmp(type_name, "char") == 0;
    kymo_strbuf_printf(out, "%s %" PRIu64 ";\n", is_text ? "STRING" : "BYTES", member->bits / 8);
    return;
  }
  struct kymo_strbuf *real = out, type = {0};
  fields->out = &type;
  bool is_known = put_scalar(fields, &member->type, member->alias ? member->alias : member->name, each);
  fields->out = real;
  if (!is_known)
    kymo_strbuf_printf(out, "BYTES %" PRIu64 ";\n", member->bits / 8);
  else if (member->elements)
    kymo_strbuf_printf(out, "ARRAY %" PRIu64 " OF %s;\n", member->elements, type.text);
  else
    kymo_strbuf_printf(out, "%s;\n", type.text ? type.text : "");
  out->failed |= type.failed;
  kymo_strbuf_free(&type);
  if (!is_known)
    put_comment(fields, member->name, "its bytes; TDL has no type like the one in the debug information");
}

static bool put_member(struct fields *fields, Dwarf_Die *die, uint64_t end) {
  struct member member;
  if (!read_member(fields->inference, die, &member)) {
    put_comment(fields, dwarf_diename(die), "left out: its size or place is not constant");
    return true;
  }
  if (member.place == UINT64_MAX || member.place < fields->at || member.bits > end ||
      member.place > end - member.bits)
    return false;
  put_filler(fields, member.place - fields->at);
  int tag = dwarf_tag(&member.type);
  bool is_struct = tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
  const struct known *group =
      is_struct ? declare_group(fields->inference, &member.type, member.alias ? member.alias : member.name)
                : NULL;
  if (group)
    put_group(fields, &member, group->name);
  else
    put_plain(fields, &member);
  fields->at += member.bits;
  return true;
}

/* All members of a struct and the gaps between and after them. False if they overlap. */
static bool put_members(struct fields *fields, Dwarf_Die *type) {
  Dwarf_Die child;
  uint64_t end = kymo_dwarf_size_bytes(type) * 8;
  int more;
  for (more = kymo_dwarf_first(type, &child); more > 0; more = kymo_dwarf_next(&child)) {
    int tag = dwarf_tag(&child);
    bool is_static = kymo_dwarf_flag(&child, DW_AT_external);
    if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) && !is_static && !put_member(fields, &child, end))
      return false;
  }
  if (more == 0)
    put_filler(fields, end - fields->at);
  return more == 0;
}

/* The GROUP of a struct, declared once; NULL if it cannot be described. */
static const struct known *declare_group(struct inference *inference, Dwarf_Die *type, const char *name) {
  const struct known *known = find_known(inference, type);
  if (known)
    return *known->name ? known : NULL;
  if (inference->depth >= KYMO_DWARF_DEPTH / 2 || inference->known_count >= GROUPS_MAX ||
      !add_known(inference, type, ""))
    return NULL;
  size_t place = inference->known_count - 1;
  struct kymo_strbuf text = {0};
  struct fields fields = {.inference = inference, .out = &text, .indent = "    "};
  inference->depth++;
  bool is_good = kymo_dwarf_size_bytes(type) && put_members(&fields, type);
  inference->depth--;
  if (is_good) {
    const char *given =
        tool_skeleton_new_name(&inference->skeleton, dwarf_diename(type) ? dwarf_diename(type) : name);
    snprintf(inference->known[place].name, sizeof inference->known[place].name, "%s", given);
    kymo_strbuf_printf(&inference->skeleton.groups, "  GROUP %s IS\n%s  END;\n", given,
                       text.text ? text.text : "");
  }
  inference->skeleton.groups.failed |= text.failed;
  kymo_strbuf_free(&text);
  return is_good ? &inference->known[place] : NULL;
}

/* ---- the whole ---- */

struct search {
  const char *name; /* without "struct " */
  Dwarf_Die found;
  struct kymo_nearest nearest;
};

static bool look(void *user, Dwarf_Die *die) {
  struct search *search = user;
  int tag = dwarf_tag(die);
  bool is_struct = tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
  const char *name = is_struct || tag == DW_TAG_typedef ? dwarf_diename(die) : NULL;
  Dwarf_Die type = *die;
  if (!name || !kymo_dwarf_peel(&type, NULL) || kymo_dwarf_flag(&type, DW_AT_declaration))
    return true;
  if (dwarf_tag(&type) != DW_TAG_structure_type && dwarf_tag(&type) != DW_TAG_class_type)
    return true;
  if (strcmp(name, search->name) == 0)
    search->found = type;
  else
    kymo_nearest_consider(&search->nearest, name);
  return !search->found.addr;
}

static void put_whole(struct inference *inference, struct kymo_strbuf *out, const struct search *search,
                      const char *path, uint64_t bytes) {
  const struct tool_skeleton *skeleton = &inference->skeleton;
  const char *name = tool_skeleton_name(search->name), *slash = strrchr(path, '/');
  kymo_strbuf_printf(out, "-- Structs of %" PRIu64 " bytes, one after another, as ", bytes);
  tool_skeleton_comment(out, slash ? slash + 1 : path);
  kymo_strbuf_puts(
      out,
      " has them in memory.\n"
      "-- The debug information does not say which field is the time (a CLOCK, and ACQUISITION as its name), "
      "which\n"
      "-- units fields have, and what the file begins with.\n");
  kymo_strbuf_printf(out, "TRACE %s;\n  BYTES %s;\n%s%s", name, inference->is_big ? "BIG" : "LITTLE",
                     skeleton->lists.text ? skeleton->lists.text : "",
                     skeleton->groups.text ? skeleton->groups.text : "");
  kymo_strbuf_printf(out,
                     "  RECORD %s EVENT LENGTH %" PRIu64 " IS\n%s  END;\n  LAYOUT REPEAT %s;\nEND TRACE.\n",
                     name, bytes, skeleton->body.text ? skeleton->body.text : "", name);
  out->failed |=
      skeleton->failed || skeleton->lists.failed || skeleton->groups.failed || skeleton->body.failed;
}

static int infer(struct kymo_dwarf *dwarf, struct kymo_strbuf *out, const char *name,
                 struct kymo_error *error) {
  struct search search = {.name = strncmp(name, "struct ", 7) ? name : name + 7};
  search.nearest = kymo_nearest_to(search.name);
  int status = kymo_dwarf_walk(dwarf, look, &search, error);
  if (status < 0)
    return status;
  uint64_t bytes = search.found.addr ? kymo_dwarf_size_bytes(&search.found) : 0;
  if (!bytes)
    return kymo_fail_at(error, KYMO_E_UNKNOWN, dwarf->path, KYMO_ERROR_NO_OFFSET,
                        "expected a struct \"%.100s\" in the debug information, found %s%s", search.name,
                        search.found.addr ? "one without a size" : "none",
                        kymo_nearest_hint(&search.nearest).text);
  GElf_Ehdr head;
  Elf *elf = dwarf_getelf(dwarf->dwarf);
  bool has_head = elf && gelf_getehdr(elf, &head);
  struct inference inference = {.is_big = has_head && head.e_ident[EI_DATA] == ELFDATA2MSB,
                                .is_x86 =
                                    has_head && (head.e_machine == EM_386 || head.e_machine == EM_X86_64)};
  struct fields fields = {.inference = &inference, .out = &inference.skeleton.body, .indent = "    "};
  add_known(&inference, &search.found, "");
  if (put_members(&fields, &search.found))
    put_whole(&inference, out, &search, dwarf->path, bytes);
  else
    status = kymo_fail_at(error, KYMO_E_FORMAT, dwarf->path, KYMO_ERROR_NO_OFFSET,
                          "expected members of \"%.100s\" one after another, found some that overlap",
                          search.name);
  tool_skeleton_free(&inference.skeleton);
  free(inference.known);
  return status;
}

int tool_infer_struct(struct kymo_strbuf *out, const char *path, const char *name, struct kymo_error *error) {
  struct kymo_dwarf dwarf;
  int status = kymo_dwarf_open(&dwarf, path, error);
  if (status >= 0)
    status = infer(&dwarf, out, name, error);
  return kymo_dwarf_close(&dwarf, status, error);
}
