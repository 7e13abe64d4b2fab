/* SPDX-License-Identifier: MIT */
/*
 * What types are made of. Programs see these structs through the functions of kymo/schema.h alone, since
 * lists of them are arrays: a member that is added here moves the next element.
 */
#ifndef KYMO_SCHEMA_PARTS_H
#define KYMO_SCHEMA_PARTS_H

#include <kymo/schema.h>

struct kymo_member {
  const char *name;        /* as users see it: without the leading underscore of TSDL */
  const char *source_name; /* as it is written in the description */
  const struct kymo_type *type;
  const struct kymo_range *ranges; /* variant: selector values that choose this option */
  uint32_t range_count;
  const char *attributes; /* CTF 2 user attributes as JSON text, or NULL */
};

/* A named range of an enumeration, or of bit numbers of a bit map; see kymo_mapping_get. */
struct kymo_mapping {
  const char *name;
  uint64_t low, high;
};

#endif
