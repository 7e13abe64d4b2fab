/* SPDX-License-Identifier: MIT */
/* The rings of living and dead processes, wherever pools are: by name, and what became of their processes. */
#ifndef KYMO_TOOL_RINGS_H
#define KYMO_TOOL_RINGS_H

#include "base/nearest.h"
#include "ring/places.h"
#include "ring/pools.h"
#include "ring/ring.h"
#include <argp.h>
#include <stddef.h>

enum { TOOL_AGE_MAX = 24, TOOL_SIZE_MAX = 24, TOOL_END_MAX = 96 };

struct tool_rings {
  char path[KYMO_PATH_MAX];       /* of the pool's directory */
  char program[KYMO_PROGRAM_MAX]; /* its name */
  int pid;                        /* what it calls itself, or the caller if that is known */
  bool is_dead;
  int64_t age_ns; /* since its files were changed last */
  uint64_t bytes;
  unsigned owner;
  uint64_t device, inode;
  char end[TOOL_END_MAX]; /* "runs", or how it ended */
};

struct tool_rings_list {
  struct tool_rings *list;
  size_t count, room;
  bool failed;
};

/* All rings that the caller may read, by age, the newest first; the list is to be freed. False: out of
 * memory. */
bool tool_rings_find(struct tool_rings_list *rings);
void tool_rings_free(struct tool_rings_list *rings);

/*
 * The rings that a word of the command line names: `out` is the directory of the pool whose program has this
 * name, if only one has. With `prefers_living`, of living processes if there are any. TOOL_OK; TOOL_USAGE
 * after listing several candidates; TOOL_FAILED, and nothing is said, if there are none: `hint` then names a
 * program whose name is near.
 */
int tool_rings_named(char out[KYMO_PATH_MAX], const char *word, bool prefers_living, struct kymo_hint *hint);
/*
 * The process that a word of the command line names, to be asked: its number, or the name of a program of
 * which one process alone listens. TOOL_OK; TOOL_USAGE after listing several candidates, TOOL_FAILED if there
 * are none, with nothing said and a `hint`.
 */
int tool_process_named(int *pid, const char *word, struct kymo_hint *hint);
/* The same for a parser, which it ends with words if there is no such process. */
int tool_take_process(const char *word, struct argp_state *state);
/* Whether a word can be a name: it is no path, and nothing but a program is there that is called so. */
bool tool_rings_may_name(const char *word);

/* "3 min", "1.2 M" in columns that are as wide everywhere. */
const char *tool_age_text(int64_t ns, char out[TOOL_AGE_MAX]);
const char *tool_size_text(uint64_t bytes, char out[TOOL_SIZE_MAX]);
/* Of a pool that was seen: the time since it was changed. */
int64_t tool_pool_age_ns(const struct kymo_pool_seen *seen);

#endif
