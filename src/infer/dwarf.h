/* SPDX-License-Identifier: MIT */
/*
 * The types in the debug information of an ELF file, of any machine, through libdw. A corrupt file leads to
 * an error or an end, never to a loop: entries are in sequence, chains have at most KYMO_DWARF_DEPTH entries.
 */
#ifndef KYMO_INFER_DWARF_H
#define KYMO_INFER_DWARF_H

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <kymo/error.h>
#include <stdbool.h>

enum { KYMO_DWARF_DEPTH = 64 };

struct kymo_dwarf {
  const char *path; /* the caller's */
  Dwfl *dwfl;
  Dwfl_Module *module;
  Dwarf *dwarf;
  struct kymo_guard *guards[2]; /* of the file, and of the one with its debug information; or NULL */
  const char *missing; /* the file of a split unit (.dwo) that the walk did not find, or NULL; borrowed */
};

/* Opens the debug information in `path`, or in the file that its build id or debug link names. KYMO_E_FORMAT
 * if there is none, or if it is not an ELF file. kymo_dwarf_close closes it, also after an error. */
int kymo_dwarf_open(struct kymo_dwarf *dwarf, const char *path, struct kymo_error *error);
/* Returns `status`, or KYMO_E_FORMAT with the error if a file was truncated meanwhile: then libdw has read
 * zeros, whatever it returned. */
int kymo_dwarf_close(struct kymo_dwarf *dwarf, int status, struct kymo_error *error);

/* Called for an entry outside of functions and namespaces; false ends the walk. */
typedef bool kymo_dwarf_each(void *user, Dwarf_Die *die);
/* Walks the entries of all units in the file's order. KYMO_E_FORMAT if they are damaged. */
int kymo_dwarf_walk(struct kymo_dwarf *dwarf, kymo_dwarf_each *each, void *user, struct kymo_error *error);

/* The children: for (more = first; more > 0; more = next). Negative: damaged. */
int kymo_dwarf_first(Dwarf_Die *parent, Dwarf_Die *child);
int kymo_dwarf_next(Dwarf_Die *child);

/* Whether entries of a tag are structs (or classes), unions or enumerations. */
bool kymo_dwarf_is_composite(int tag);
/* The name of the source file that a unit was compiled from; "?" if it has none. Borrowed. */
const char *kymo_dwarf_unit(Dwarf_Die *die);
/* Whether the entry's unit is in C, where all types with a name can be named from everywhere in a file. */
bool kymo_dwarf_is_c(Dwarf_Die *die);
/* Whether the only entry around this one is its unit. */
bool kymo_dwarf_is_outermost(Dwarf_Die *die);
/* A flag or number of an entry; `otherwise` if it has none. */
bool kymo_dwarf_flag(Dwarf_Die *die, unsigned attribute);
uint64_t kymo_dwarf_number(Dwarf_Die *die, unsigned attribute, uint64_t otherwise);
/* The type of a member, typedef, array …; false if it has none (void) or is damaged. `from` may be `type`. */
bool kymo_dwarf_type(Dwarf_Die *from, Dwarf_Die *type);
/* The type without const, volatile, atomic and, if asked for, typedefs; the last typedef met is in *named
 * (may be NULL). */
bool kymo_dwarf_peel(Dwarf_Die *die, Dwarf_Die *named);
/* Where a member begins, in bits from the begin of its struct. */
uint64_t kymo_dwarf_place_bits(Dwarf_Die *member);
/* The number of elements in all dimensions of the array; 0 if it is unknown, or too large for memory. */
uint64_t kymo_dwarf_elements(Dwarf_Die *array, unsigned *dimensions);
/* The size of a peeled or unpeeled type in bytes; 0 if it is unknown. */
uint64_t kymo_dwarf_size_bytes(Dwarf_Die *type);

#endif
