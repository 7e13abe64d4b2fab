/* SPDX-License-Identifier: MIT */
/* The load map of a part: the files in the process, their addresses, and when. */
#ifndef KYMO_SOURCE_MODULES_H
#define KYMO_SOURCE_MODULES_H

#include <kymo/read.h>

struct kymo_module {
  uint64_t loaded, unloaded; /* cycles of the trace's clock; unloaded UINT64_MAX: not at all */
  uint64_t bias, start,
      end; /* added to the file's addresses; it covers addresses from start up to, but not including, end */
  /* hexadecimal, "-" if it has none; "": unknown, and then device and number say whether a file is the one
   * that was loaded */
  const char *build_id, *path;
  uint32_t major, minor;
  uint64_t inode;    /* 0: unknown */
  bool is_by_offset; /* `bias` is added to offsets in the file, not to its addresses */
};

/* The load maps of formats whose traces have many processes, and the names of a kernel's functions. `event`
 * has the process and the time; NULL: any, if all agree. Results live as long as the part. */
struct kymo_load_map {
  void *user;
  const struct kymo_module *(*module)(void *user, const struct kymo_event *event, uint64_t address);
  /* The function of the kernel that an address is in, and where it begins; NULL: none. */
  const char *(*function)(void *user, const struct kymo_event *event, uint64_t address, uint64_t *begin);
  /* A number, never 0: the answers for two events of the same number are the same for each address. */
  uint64_t (*view)(void *user, const struct kymo_event *event);
};

/* Adds a module, which is copied; they come in the order in which they were loaded. KYMO_E_MEMORY. */
int kymo_part_add_module(struct kymo_trace *trace, struct kymo_part *part, const struct kymo_module *module,
                         struct kymo_error *error);
/* The newest module that starts there was unloaded. */
void kymo_part_unload_module(struct kymo_part *part, uint64_t start, uint64_t cycles);
bool kymo_part_has_modules(const struct kymo_part *part);
/* The format's own load map, or NULL. */
const struct kymo_load_map *kymo_part_load_map(const struct kymo_part *part);
/* The module at an address at that time; NULL: unknown. A module that is noticed after it was loaded is
 * valid from the unloading of the previous one. */
const struct kymo_module *kymo_part_module(const struct kymo_part *part, uint64_t address, uint64_t cycles);

#endif
