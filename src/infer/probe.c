/* SPDX-License-Identifier: MIT */
#include "infer/probe.h"
#include "base/fail.h"
#include "base/list.h"
#include "base/nearest.h"
#include "infer/dwarf.h"
#include <ctype.h>
#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMETERS_MAX = 16, NAME_MAX_BYTES = 56 };

/* ---- registers ---- */

struct machine {
  int elf;
  const char *registers[32]; /* by number of DWARF, as uprobes name them */
  unsigned arguments[8];     /* numbers of those that the first integers are passed in */
  unsigned argument_count;
};

static const struct machine machines[] = {
    {EM_X86_64,
     {"ax", "dx", "cx", "bx", "si", "di", "bp", "sp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"},
     {5, 4, 1, 2, 8, 9},
     6},
    {EM_AARCH64,
     {"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10",
      "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
      "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30"},
     {0, 1, 2, 3, 4, 5, 6, 7},
     8},
};

/* ---- a file ---- */

struct function {
  const char *name;
  uint64_t address; /* as the file has it */
};

struct parameter {
  const char *name, *type; /* type: of uprobes; NULL: it cannot be recorded */
  const char *place;       /* register; NULL: not known */
};

/* A function in the debug information. */
struct described {
  uint64_t address;
  Dwarf_Die die;
};

struct binary {
  struct kymo_dwarf dwarf;
  const char *path;
  Elf *elf;
  GElf_Addr bias;
  const struct machine *machine; /* NULL: another one */
  struct function *functions;    /* by name */
  size_t count, capacity;
  struct described *described; /* by address */
  size_t described_count, described_capacity;
  bool is_described; /* the debug information was walked */
};

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

static int by_name(const void *one, const void *other) {
  const struct function *a = one, *b = other;
  int order = strcmp(a->name, b->name);
  return order ? order : (a->address > b->address) - (a->address < b->address);
}

/* The same function may be in two tables. */
static void drop_repeated(struct binary *binary) {
  size_t kept = 0;
  if (binary->count)
    qsort(binary->functions, binary->count, sizeof *binary->functions, by_name);
  for (size_t i = 0; i < binary->count; i++)
    if (!kept || by_name(&binary->functions[kept - 1], &binary->functions[i]))
      binary->functions[kept++] = binary->functions[i];
  binary->count = kept;
}

static int read_functions(struct binary *binary, struct kymo_error *error) {
  int count = dwfl_module_getsymtab(binary->dwarf.module);
  for (int i = 1; i < count; i++) {
    GElf_Sym symbol;
    GElf_Word section;
    const char *name = dwfl_module_getsym(binary->dwarf.module, i, &symbol, &section);
    if (!name || !*name || GELF_ST_TYPE(symbol.st_info) != STT_FUNC || section == SHN_UNDEF ||
        !symbol.st_value)
      continue;
    if (!KYMO_LIST_ROOM(binary->functions, binary->capacity, binary->count))
      return no_memory(error);
    binary->functions[binary->count++] = (struct function){name, symbol.st_value - binary->bias};
  }
  drop_repeated(binary);
  return KYMO_OK;
}

/* Without debug information there are functions, but no parameters. */
static int open_binary(struct binary *binary, const char *path, struct kymo_error *error) {
  GElf_Ehdr header;
  *binary = (struct binary){.path = path};
  int status = kymo_dwarf_open(&binary->dwarf, path, error);
  if (status && !(status == KYMO_E_FORMAT && binary->dwarf.module && !binary->dwarf.dwarf))
    return status;
  binary->elf = dwfl_module_getelf(binary->dwarf.module, &binary->bias);
  if (!binary->elf || !gelf_getehdr(binary->elf, &header))
    return kymo_fail_at(error, KYMO_E_FORMAT, path, 0, "expected an ELF file, found a damaged one");
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
    if (machines[i].elf == header.e_machine)
      binary->machine = &machines[i];
  return read_functions(binary, error);
}

static int close_binary(struct binary *binary, int status, struct kymo_error *error) {
  free(binary->functions);
  free(binary->described);
  return kymo_dwarf_close(&binary->dwarf, status, error);
}

/* Where an address is in the file; UINT64_MAX: it is not loaded from there. */
static uint64_t offset_of(const struct binary *binary, uint64_t address) {
  size_t count = 0;
  GElf_Phdr part;
  elf_getphdrnum(binary->elf, &count);
  for (size_t i = 0; i < count && i < INT_MAX; i++)
    if (gelf_getphdr(binary->elf, (int)i, &part) && part.p_type == PT_LOAD && address >= part.p_vaddr &&
        address - part.p_vaddr < part.p_filesz)
      return address - part.p_vaddr + part.p_offset;
  return UINT64_MAX;
}

/* ---- parameters ---- */

static bool look_at(void *user, Dwarf_Die *die) {
  struct binary *binary = user;
  Dwarf_Addr begin;
  if (dwarf_tag(die) != DW_TAG_subprogram || dwarf_lowpc(die, &begin))
    return true;
  if (!KYMO_LIST_ROOM(binary->described, binary->described_capacity, binary->described_count))
    return false;
  binary->described[binary->described_count++] = (struct described){begin, *die};
  return true;
}

static int by_address(const void *one, const void *other) {
  const struct described *a = one, *b = other;
  return (a->address > b->address) - (a->address < b->address);
}

/* The function that begins at an address, or NULL. What is damaged describes nothing. */
static struct described *find_described(struct binary *binary, uint64_t address) {
  const struct described wanted = {.address = address};
  struct kymo_error unused;
  if (binary->dwarf.dwarf && !binary->is_described) {
    kymo_dwarf_walk(&binary->dwarf, look_at, binary, &unused);
    if (binary->described_count)
      qsort(binary->described, binary->described_count, sizeof *binary->described, by_address);
  }
  binary->is_described = true;
  return binary->described_count ? bsearch(&wanted, binary->described, binary->described_count,
                                           sizeof *binary->described, by_address)
                                 : NULL;
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *type) {
  Dwarf_Attribute attribute;
  return dwarf_attr_integrate(die, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, type) &&
         kymo_dwarf_peel(type, NULL);
}

/* The type that uprobes record it as; *is_integer: it is passed where integers are. */
static const char *name_type(Dwarf_Die *type, bool *is_integer) {
  static const char *const names[2][9] = {{[1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64"},
                                          {[1] = "s8", [2] = "s16", [4] = "s32", [8] = "s64"}};
  Dwarf_Die target;
  uint64_t size = kymo_dwarf_size_bytes(type);
  int tag = dwarf_tag(type);
  *is_integer = true;
  if (tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type)
    return "x64";
  if (tag == DW_TAG_pointer_type) {
    bool is_text = type_of(type, &target) && dwarf_tag(&target) == DW_TAG_base_type &&
                   kymo_dwarf_size_bytes(&target) == 1;
    return is_text ? "string" : "x64";
  }
  uint64_t encoding = kymo_dwarf_number(type, DW_AT_encoding, 0);
  bool is_signed =
      encoding == DW_ATE_signed || encoding == DW_ATE_signed_char || tag == DW_TAG_enumeration_type;
  *is_integer =
      (tag == DW_TAG_enumeration_type || (tag == DW_TAG_base_type && encoding != DW_ATE_float)) && size <= 8;
  return *is_integer ? names[is_signed][size] : NULL;
}

/* The register that a parameter is in at an address. */
static const char *find_place(const struct binary *binary, Dwarf_Die *parameter, uint64_t address,
                              bool is_begin, int order) {
  const struct machine *machine = binary->machine;
  Dwarf_Attribute location;
  Dwarf_Op *code;
  size_t length;
  bool is_known = machine && dwarf_attr(parameter, DW_AT_location, &location) &&
                  dwarf_getlocation_addr(&location, address, &code, &length, 1) == 1 && length == 1;
  if (is_known && code->atom >= DW_OP_reg0 && code->atom <= DW_OP_reg31)
    return machine->registers[code->atom - DW_OP_reg0];
  bool is_stored_later = is_known && code->atom == DW_OP_fbreg && is_begin;
  return is_stored_later && order >= 0 && (unsigned)order < machine->argument_count
             ? machine->registers[machine->arguments[order]]
             : NULL;
}

/* The parameters of the function at an address. Returns how many; -1: no debug information has it. */
static int find_parameters(struct binary *binary, const struct function *function, uint64_t offset,
                           struct parameter out[PARAMETERS_MAX], const char **returned) {
  struct described *described = find_described(binary, function->address);
  Dwarf_Die child, type;
  int count = 0, order = 0;
  bool is_integer;
  *returned = NULL;
  if (!described)
    return -1;
  if (type_of(&described->die, &type))
    *returned = name_type(&type, &is_integer);
  for (int more = kymo_dwarf_first(&described->die, &child); more > 0 && count < PARAMETERS_MAX;
       more = kymo_dwarf_next(&child)) {
    if (dwarf_tag(&child) != DW_TAG_formal_parameter)
      continue;
    struct parameter *parameter = &out[count++];
    *parameter = (struct parameter){.name = dwarf_diename(&child)};
    bool has_type = type_of(&child, &type);
    is_integer = false;
    parameter->type = has_type ? name_type(&type, &is_integer) : NULL;
    parameter->place =
        find_place(binary, &child, function->address + offset, offset == 0, is_integer ? order : -1);
    bool is_float = has_type && dwarf_tag(&type) == DW_TAG_base_type && !is_integer;
    /* after a struct, or what is larger than a register, the place of the others is not simple */
    order = order < 0 ? -1 : is_integer ? order + 1 : is_float ? order : -1;
  }
  return count;
}

/* ---- the text of a probe ---- */

struct wanted {
  char *copy, *binary, *function, *arguments; /* arguments: NULL or the list without parentheses */
  uint64_t offset;
  bool is_return;
};

static int refuse(const char *text, const char *why, struct kymo_error *error) {
  return kymo_fail(error, KYMO_E_USAGE,
                   "\"%s\": %s; a probe is BINARY:FUNCTION[+OFFSET|%%return][(ARGUMENT[=TYPE],…)]", text,
                   why);
}

/* Takes "(…)", then "+OFFSET" or "%return", off the end. */
static int parse(struct wanted *wanted, const char *text, struct kymo_error *error) {
  *wanted = (struct wanted){.copy = strdup(text)};
  if (!wanted->copy)
    return no_memory(error);
  char *open = strchr(wanted->copy, '('), *end;
  if (open) {
    size_t length = strlen(open);
    if (open[length - 1] != ')')
      return refuse(text, "the list of arguments does not end with )", error);
    open[length - 1] = '\0';
    *open = '\0';
    wanted->arguments = open + 1;
  }
  char *colon = strrchr(wanted->copy, ':');
  if (!colon || colon == wanted->copy || !colon[1])
    return refuse(text, "there is no function in it", error);
  *colon = '\0';
  wanted->binary = wanted->copy;
  wanted->function = colon + 1;
  char *more = strpbrk(wanted->function, "+%");
  if (more && *more == '%') {
    wanted->is_return = strcmp(more, "%return") == 0;
    if (!wanted->is_return)
      return refuse(text, "only %return may follow the function so", error);
  } else if (more) {
    wanted->offset = strtoull(more + 1, &end, 0);
    if (!isdigit((unsigned char)more[1]) || *end)
      return refuse(text, "a number must follow the +", error);
  }
  if (more)
    *more = '\0';
  return KYMO_OK;
}

static int find_function(const struct binary *binary, const char *name, const struct function **out,
                         struct kymo_error *error) {
  struct kymo_nearest nearest = kymo_nearest_to(name);
  size_t count = 0;
  for (size_t i = 0; i < binary->count; i++) {
    kymo_nearest_consider(&nearest, binary->functions[i].name);
    if (strcmp(binary->functions[i].name, name) != 0)
      continue;
    *out = &binary->functions[i];
    count++;
  }
  if (!count)
    return kymo_fail(error, KYMO_E_USAGE, "%s has no function \"%s\"%s", binary->path, name,
                     kymo_nearest_hint(&nearest).text);
  return count == 1
             ? KYMO_OK
             : kymo_fail(error, KYMO_E_USAGE, "%s has %zu functions \"%s\": which one is meant is unknown",
                         binary->path, count, name);
}

/* ---- arguments ---- */

static const char *known_type(const char *text) {
  static const char *const types[] = {"u8",  "u16", "u32", "u64", "s8",  "s16",   "s32",
                                      "s64", "x8",  "x16", "x32", "x64", "string"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (!strcmp(types[i], text))
      return types[i];
  return NULL;
}

static bool is_name(const char *text) {
  if (!isalpha((unsigned char)*text) && *text != '_')
    return false;
  while (isalnum((unsigned char)*text) || *text == '_')
    text++;
  return !*text;
}

struct place {
  const char *type, *where; /* where: a register, or "$retval" */
};

/* "arg2": the second register of the calling convention. */
static const char *find_numbered(const struct binary *binary, const char *name) {
  unsigned number =
      !strncmp(name, "arg", 3) && isdigit((unsigned char)name[3]) && !name[4] ? (unsigned)(name[3] - '0') : 0;
  return binary->machine && number && number <= binary->machine->argument_count
             ? binary->machine->registers[binary->machine->arguments[number - 1]]
             : NULL;
}

static int find_argument(struct binary *binary, const struct wanted *wanted, const struct function *function,
                         const char *name, struct place *out, struct kymo_error *error) {
  struct parameter parameters[PARAMETERS_MAX];
  const char *returned;
  int count = find_parameters(binary, function, wanted->offset, parameters, &returned);
  if (wanted->is_return) {
    *out = (struct place){returned, "$retval"};
    return KYMO_OK;
  }
  struct kymo_nearest nearest = kymo_nearest_to(name);
  for (int i = 0; i < count; i++) {
    if (!parameters[i].name)
      continue;
    kymo_nearest_consider(&nearest, parameters[i].name);
    *out = (struct place){parameters[i].type, parameters[i].place};
    if (!strcmp(parameters[i].name, name))
      return out->where ? KYMO_OK
                        : kymo_fail(error, KYMO_E_USAGE, "%s: the argument \"%s\" is in no register there",
                                    function->name, name);
  }
  *out = (struct place){NULL, wanted->offset ? NULL : find_numbered(binary, name)};
  if (out->where)
    return KYMO_OK;
  return count < 0 ? kymo_fail(error, KYMO_E_USAGE,
                               "%s: there is no debug information on it; without it arguments are arg1=TYPE, "
                               "arg2=TYPE, …",
                               function->name)
                   : kymo_fail(error, KYMO_E_USAGE, "%s has no argument \"%s\"%s", function->name, name,
                               kymo_nearest_hint(&nearest).text);
}

static int add_argument(struct kymo_strbuf *out, struct binary *binary, const struct wanted *wanted,
                        const struct function *function, char *text, struct kymo_error *error) {
  char *equals = strchr(text, '=');
  struct place place;
  if (equals)
    *equals = '\0';
  if (!is_name(text))
    return kymo_fail(error, KYMO_E_USAGE, "%s: \"%s\" is no name of an argument", function->name, text);
  int status = find_argument(binary, wanted, function, text, &place, error);
  if (status)
    return status;
  const char *type = equals ? known_type(equals + 1) : place.type;
  if (!type)
    return kymo_fail(error, KYMO_E_USAGE,
                     "%s: the type of \"%s\" must be u8, u16, u32, u64, s8, …, x8, … (base 16) or "
                     "string%s%s",
                     function->name, text, equals ? ", not " : "", equals ? equals + 1 : "");
  bool is_text = !strcmp(type, "string"), is_register = place.where[0] != '$';
  kymo_strbuf_printf(out, " %s=%s%s%s%s:%s", text, is_text ? "+0(" : "", is_register ? "%" : "", place.where,
                     is_text ? ")" : "", type);
  return KYMO_OK;
}

static int add_arguments(struct kymo_strbuf *out, struct binary *binary, const struct wanted *wanted,
                         const struct function *function, struct kymo_error *error) {
  int status = KYMO_OK;
  for (char *at = wanted->arguments, *next; at && *at && !status; at = next) {
    size_t length = strcspn(at, ",");
    next = at + length + (at[length] == ',');
    at[length] = '\0';
    at += strspn(at, " ");
    status = add_argument(out, binary, wanted, function, at, error);
  }
  return status;
}

/* Names of events are identifiers. */
static void put_name(struct kymo_strbuf *out, const struct wanted *wanted) {
  char name[NAME_MAX_BYTES];
  snprintf(name, sizeof name, "%s", wanted->function);
  for (char *c = name; *c; c++)
    if (!isalnum((unsigned char)*c))
      *c = '_';
  kymo_strbuf_printf(out, "%s %s", wanted->is_return ? "r" : "p", name);
  if (wanted->is_return)
    kymo_strbuf_puts(out, "__return");
  if (wanted->offset)
    kymo_strbuf_printf(out, "_%" PRIu64, wanted->offset);
}

static int put_line(struct kymo_strbuf *out, struct binary *binary, const struct wanted *wanted,
                    struct kymo_error *error) {
  const struct function *function = NULL;
  int status = find_function(binary, wanted->function, &function, error);
  if (status)
    return status;
  uint64_t offset = offset_of(binary, function->address + wanted->offset);
  char *path = realpath(binary->path, NULL);
  if (!path || offset == UINT64_MAX || strpbrk(path, " \t\n"))
    status = kymo_fail(error, KYMO_E_USAGE, "%s: %s", binary->path,
                       !path                  ? strerror(errno)
                       : offset == UINT64_MAX ? "the code is not in this file"
                                              : "the kernel takes no path with blanks");
  if (!status) {
    put_name(out, wanted);
    kymo_strbuf_printf(out, " %s:0x%" PRIx64, path, offset);
    status = add_arguments(out, binary, wanted, function, error);
  }
  free(path);
  return status ? status : out->failed ? no_memory(error) : KYMO_OK;
}

int kymo_probe_line(struct kymo_strbuf *out, const char *text, struct kymo_error *error) {
  struct wanted wanted;
  struct binary binary;
  int status = parse(&wanted, text, error);
  if (!status) {
    status = open_binary(&binary, wanted.binary, error);
    if (!status)
      status = put_line(out, &binary, &wanted, error);
    status = close_binary(&binary, status, error);
  }
  free(wanted.copy);
  return status;
}

/* ---- the list ---- */

static void put_function(struct kymo_strbuf *out, struct binary *binary, const struct function *function) {
  struct parameter parameters[PARAMETERS_MAX];
  const char *returned;
  int count = find_parameters(binary, function, 0, parameters, &returned);
  bool is_first = true;
  kymo_strbuf_puts(out, function->name);
  for (int i = 0; i < count; i++) {
    if (!parameters[i].name || !parameters[i].type || !parameters[i].place)
      continue;
    kymo_strbuf_printf(out, "%s%s=%s", is_first ? "(" : ", ", parameters[i].name, parameters[i].type);
    is_first = false;
  }
  if (!is_first)
    kymo_strbuf_puts(out, ")");
}

int kymo_functions_list(const char *path, kymo_function_each *each, void *user, struct kymo_error *error) {
  struct binary binary;
  int status = open_binary(&binary, path, error);
  for (size_t i = 0; !status && i < binary.count; i++) {
    struct kymo_strbuf text = {0};
    if (offset_of(&binary, binary.functions[i].address) == UINT64_MAX)
      continue;
    put_function(&text, &binary, &binary.functions[i]);
    if (text.failed)
      status = no_memory(error);
    else
      each(user, text.text);
    kymo_strbuf_free(&text);
  }
  return close_binary(&binary, status, error);
}
