/* SPDX-License-Identifier: MIT */
/*
 * libdw checks little of the data that it reads: an entry is used only after all its attributes were measured
 * (is_sound), and no code here assumes that chains of references end.
 */
#include "infer/dwarf.h"
#include "base/fail.h"
#include "base/guard.h"
#include "infer/program.h"
#include <sys/mman.h>
#include <unistd.h>

/* ---- entries ---- */

static int measure(Dwarf_Attribute *attribute, void *user) {
  (void)attribute;
  (void)user;
  return DWARF_CB_OK;
}

/* Whether all attributes end before the unit does. */
static bool is_sound(Dwarf_Die *die) {
  return dwarf_tag(die) != DW_TAG_invalid && dwarf_getattrs(die, measure, NULL, 0) == 1;
}

int kymo_dwarf_first(Dwarf_Die *parent, Dwarf_Die *child) {
  int none = dwarf_child(parent, child);
  return none ? (none > 0 ? 0 : -1) : is_sound(child) ? 1 : -1;
}

int kymo_dwarf_next(Dwarf_Die *child) {
  Dwarf_Die next;
  int none = dwarf_siblingof(child, &next);
  if (none)
    return none > 0 ? 0 : -1;
  if ((const char *)next.addr <= (const char *)child->addr || !is_sound(&next))
    return -1;
  *child = next;
  return 1;
}

bool kymo_dwarf_is_composite(int tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
         tag == DW_TAG_enumeration_type;
}

const char *kymo_dwarf_unit(Dwarf_Die *die) {
  Dwarf_Die unit;
  const char *name = dwarf_diecu(die, &unit, NULL, NULL) && is_sound(&unit) ? dwarf_diename(&unit) : NULL;
  return name ? name : "?";
}

bool kymo_dwarf_is_c(Dwarf_Die *die) {
  Dwarf_Die unit;
  switch (dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1) {
  case DW_LANG_C89:
  case DW_LANG_C:
  case DW_LANG_C99:
  case DW_LANG_C11: return true;
  default: return false;
  }
}

bool kymo_dwarf_is_outermost(Dwarf_Die *die) {
  Dwarf_Die unit, child;
  if (!dwarf_diecu(die, &unit, NULL, NULL))
    return false;
  for (int more = kymo_dwarf_first(&unit, &child); more > 0; more = kymo_dwarf_next(&child))
    if (child.addr >= die->addr)
      return child.addr == die->addr;
  return false;
}

bool kymo_dwarf_flag(Dwarf_Die *die, unsigned attribute) {
  Dwarf_Attribute found;
  bool is_set = false;
  return dwarf_attr(die, attribute, &found) && !dwarf_formflag(&found, &is_set) && is_set;
}

uint64_t kymo_dwarf_number(Dwarf_Die *die, unsigned attribute, uint64_t otherwise) {
  Dwarf_Attribute found;
  Dwarf_Word value;
  return dwarf_attr(die, attribute, &found) && !dwarf_formudata(&found, &value) ? value : otherwise;
}

static bool refer(Dwarf_Die *from, unsigned attribute, Dwarf_Die *to) {
  Dwarf_Attribute found;
  Dwarf_Die target;
  if (!dwarf_attr(from, attribute, &found) || !dwarf_formref_die(&found, &target) || !is_sound(&target))
    return false;
  *to = target;
  return true;
}

bool kymo_dwarf_type(Dwarf_Die *from, Dwarf_Die *type) {
  if (!refer(from, DW_AT_type, type))
    return false;
  refer(type, DW_AT_signature,
        type); /* with -fdebug-types-section, types are in units that others only declare */
  return true;
}

bool kymo_dwarf_peel(Dwarf_Die *die, Dwarf_Die *named) {
  for (int i = 0; i < KYMO_DWARF_DEPTH; i++) {
    switch (dwarf_tag(die)) {
    case DW_TAG_typedef:
      if (named)
        *named = *die;
      break;
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type: break;
    default: return true;
    }
    if (!kymo_dwarf_type(die, die))
      return false;
  }
  return false;
}

/* ---- layout ---- */

uint64_t kymo_dwarf_place_bits(Dwarf_Die *member) {
  Dwarf_Attribute found;
  Dwarf_Word bytes = 0;
  Dwarf_Op *expression;
  size_t length;
  if (dwarf_hasattr(member, DW_AT_data_bit_offset))
    return kymo_dwarf_number(member, DW_AT_data_bit_offset, 0);
  if (!dwarf_attr(member, DW_AT_data_member_location, &found))
    return 0;
  if (dwarf_formudata(&found, &bytes)) { /* DWARF 2 writes an expression */
    if (dwarf_getlocation(&found, &expression, &length) || length != 1 ||
        expression->atom != DW_OP_plus_uconst)
      return UINT64_MAX;
    bytes = expression->number;
  }
  return bytes * 8 + kymo_dwarf_number(member, DW_AT_bit_offset, 0);
}

uint64_t kymo_dwarf_elements(Dwarf_Die *array, unsigned *dimensions) {
  Dwarf_Die child;
  uint64_t total = 1;
  *dimensions = 0;
  for (int more = kymo_dwarf_first(array, &child); more > 0; more = kymo_dwarf_next(&child)) {
    if (dwarf_tag(&child) != DW_TAG_subrange_type)
      return 0;
    uint64_t count = kymo_dwarf_number(&child, DW_AT_count, 0);
    if (!count) /* without either, there is no end: 0 */
      count = kymo_dwarf_number(&child, DW_AT_upper_bound, UINT64_MAX) + 1;
    if (__builtin_mul_overflow(total, count, &total) || total > UINT32_MAX)
      return 0;
    ++*dimensions;
  }
  return *dimensions ? total : 0;
}

uint64_t kymo_dwarf_size_bytes(Dwarf_Die *type) {
  uint64_t factor = 1;
  Dwarf_Die at = *type;
  for (int i = 0; i < KYMO_DWARF_DEPTH && kymo_dwarf_peel(&at, NULL); i++) {
    unsigned dimensions;
    uint64_t size = kymo_dwarf_number(&at, DW_AT_byte_size, 0);
    if (size)
      return size > UINT32_MAX || factor > UINT32_MAX ? 0 : size * factor;
    if (dwarf_tag(&at) == DW_TAG_pointer_type) {
      uint8_t address_bytes = 0;
      Dwarf_Die unit;
      return dwarf_diecu(&at, &unit, &address_bytes, NULL) ? address_bytes * factor : 0;
    }
    if (dwarf_tag(&at) == DW_TAG_atomic_type && kymo_dwarf_type(&at, &at))
      continue;
    if (dwarf_tag(&at) != DW_TAG_array_type ||
        __builtin_mul_overflow(factor, kymo_dwarf_elements(&at, &dimensions), &factor) ||
        !kymo_dwarf_type(&at, &at))
      return 0;
  }
  return 0;
}

/* ---- files ---- */

/* libdw maps files: a missing page would end the command. */
static struct kymo_guard *guard(Elf *elf) {
  size_t size = 0;
  const char *bytes = elf ? elf_rawfile(elf, &size) : NULL;
  return bytes ? kymo_guard_begin(bytes, size, PROT_READ | PROT_WRITE) : NULL;
}

int kymo_dwarf_open(struct kymo_dwarf *dwarf, const char *path, struct kymo_error *error) {
  static char *no_path;
  static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                           .find_debuginfo = dwfl_standard_find_debuginfo,
                                           .section_address = dwfl_offline_section_address,
                                           .debuginfo_path = &no_path};
  Dwarf_Addr bias;
  *dwarf = (struct kymo_dwarf){.path = path};
  if (access(path, R_OK))
    return kymo_fail_errno(error, path, "cannot open");
  if (!kymo_is_program(path)) /* libdwfl would unpack compressed files of any size */
    return kymo_fail_at(error, KYMO_E_FORMAT, path, 0,
                        "expected an ELF program, library or object, found something else");
  dwarf->dwfl = dwfl_begin(&callbacks);
  if (dwarf->dwfl)
    dwarf->module = dwfl_report_offline(dwarf->dwfl, path, path, -1);
  if (!dwarf->module)
    return kymo_fail_at(error, KYMO_E_FORMAT, path, 0, "expected an ELF file, found a damaged one: %s",
                        dwfl_errmsg(-1));
  Elf *elf = dwfl_module_getelf(dwarf->module, &bias);
  dwarf->guards[0] = guard(elf);
  dwfl_report_end(dwarf->dwfl, NULL, NULL);
  dwarf->dwarf = dwfl_module_getdwarf(dwarf->module, &bias);
  if (dwarf->dwarf && dwarf_getelf(dwarf->dwarf) != elf)
    dwarf->guards[1] = guard(dwarf_getelf(dwarf->dwarf));
  if (!dwarf->dwarf)
    return kymo_fail_at(error, KYMO_E_FORMAT, path, KYMO_ERROR_NO_OFFSET,
                        "expected debug information, found none (%s); compile with -g and do not strip",
                        dwfl_errmsg(-1));
  return KYMO_OK;
}

int kymo_dwarf_close(struct kymo_dwarf *dwarf, int status, struct kymo_error *error) {
  size_t missing = SIZE_MAX;
  for (int i = 0; i < 2; i++) {
    size_t own = kymo_guard_missing(dwarf->guards[i]);
    missing = own < missing ? own : missing;
    if (dwarf->guards[i])
      kymo_guard_end(dwarf->guards[i]);
  }
  if (dwarf->dwfl)
    dwfl_end(dwarf->dwfl);
  if (missing == SIZE_MAX)
    return status;
  return kymo_fail_at(error, KYMO_E_FORMAT, dwarf->path, missing,
                      "the file was cut while it was read, or cannot be read here");
}

static int damaged(const struct kymo_dwarf *dwarf, Dwarf_Die *die, struct kymo_error *error) {
  const char *message = dwarf_errmsg(0);
  return kymo_fail_at(error, KYMO_E_FORMAT, dwarf->path, KYMO_ERROR_NO_OFFSET,
                      "the debug information is corrupt after byte 0x%llx of its section: %s",
                      (unsigned long long)(die ? dwarf_dieoffset(die) : 0),
                      message ? message : "entries overlap");
}

int kymo_dwarf_walk(struct kymo_dwarf *dwarf, kymo_dwarf_each *each, void *user, struct kymo_error *error) {
  Dwarf_CU *unit = NULL;
  Dwarf_Die head, split, child, *last = NULL;
  uint8_t kind;
  int none;
  while (!(none = dwarf_get_units(dwarf->dwarf, unit, &unit, NULL, &kind, &head, &split))) {
    last = &head;
    if (!is_sound(&head))
      return damaged(dwarf, last, error);
    if (kind == DW_UT_skeleton && !split.addr && !dwarf->missing) {
      Dwarf_Attribute name;
      dwarf->missing =
          dwarf_attr(&head, DW_AT_dwo_name, &name) || dwarf_attr(&head, DW_AT_GNU_dwo_name, &name)
              ? dwarf_formstring(&name)
              : "?";
    }
    int more = kymo_dwarf_first(kind == DW_UT_skeleton && split.addr ? &split : &head, &child);
    for (; more > 0; more = kymo_dwarf_next(&child))
      if (!each(user, &child))
        return KYMO_OK;
    if (more < 0)
      return damaged(dwarf, last, error);
  }
  return none < 0 ? damaged(dwarf, last, error) : KYMO_OK;
}
