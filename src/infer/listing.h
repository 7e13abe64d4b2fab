/* SPDX-License-Identifier: MIT */
/*
 * Listings (KYMO_STRUCT_TYPE …, <kymo/types.h>) of types found in debug information:
 *
 *   add each definition ──► one entry per name ──► write: types of an entry's members before it
 */
#ifndef KYMO_INFER_LISTING_H
#define KYMO_INFER_LISTING_H

#include "infer/dwarf.h"
#include "infer/types.h"
#include <stddef.h>

struct kymo_listing;

/* How and where a type is requested. */
struct kymo_listing_wish {
  const char *spelling; /* the typedef's name under which the program traces it; NULL: by its tag */
  size_t rank;          /* types of smaller ranks are written first, those of one rank by name */
  enum kymo_types_kind kind;
  bool is_glob; /* not requested by its name: if it cannot be listed, this is not reported */
};

/* NULL if there is no memory. The caller owns `dwarf`, which must live longer. */
struct kymo_listing *kymo_listing_new(struct kymo_dwarf *dwarf);
void kymo_listing_free(struct kymo_listing *listing);

/* Whether the entry is a struct, union or enumeration that C has a name for, or a typedef that leads to one.
 */
bool kymo_listing_takes(Dwarf_Die *die);
/* Adds such an entry to be written: of several definitions of one name the first, and the units that define
 * it differently. False if there is no memory, or if it is not such an entry. */
bool kymo_listing_add(struct kymo_listing *listing, Dwarf_Die *die, const struct kymo_listing_wish *wish);

/* Writes all that was added. The whole file is searched for types that are only declared. */
int kymo_listing_write(struct kymo_listing *listing, struct kymo_types_made *made, struct kymo_error *error);

#endif
