/* SPDX-License-Identifier: MIT */
/*
 * What events are grouped by: the value of a field, the track (CPEL's track, else thread or processor), the
 * name of the event. Groups are found by a number or the hash of a text; their names for people are created
 * once.
 */
#ifndef KYMO_STAT_GROUPS_H
#define KYMO_STAT_GROUPS_H

#include "base/arena.h"
#include "base/table.h"
#include "print/who.h"
#include "stat/samples.h"
#include "symbols/symbols.h"

/* The first and the last event of a group whose times go from one event to the next (stat/pairs.h). */
struct kymo_group_ends {
  struct kymo_group_end {
    int64_t time_ns;
    uint64_t number; /* of the event */
    uint64_t losses; /* in all streams before it */
    bool is_epoch;
  } first, last;
  uint64_t loss;   /* the losses that count for the last one (stat/gaps.h) … */
  uint32_t stream; /* … and where */
};

/* The measurements of one group; its use is the owner's. */
struct kymo_stat_group {
  uint64_t key;
  bool is_text; /* the key is the hash of a text */
  const char *name;
  struct kymo_samples samples;
  uint64_t calls, errors; /* of functions */
  int64_t outer_ns, self_ns;
  struct kymo_group_ends *ends;    /* or NULL */
  double weighted;                 /* sum of the samples, each times its number from 0 */
  bool is_kept;                    /* while groups are spilled: there are pointers to it … */
  struct kymo_stat_group *forward; /* … which shall point to this one */
};

/* Two runs of a group that was spilled are joined: the owner adds what was between them. False: out of
 * memory. */
typedef bool kymo_group_joiner(void *user, struct kymo_stat_group *group, const struct kymo_group_end *before,
                               const struct kymo_group_end *after);

#define KYMO_GROUPS_LATE 256
#define KYMO_GROUP_OVERHEAD 48 /* bytes of a group besides itself, its name and its samples */

struct kymo_groups {
  struct kymo_arena arena;
  struct kymo_stat_group **list;
  size_t count, capacity;
  struct kymo_hash_table table; /* struct kymo_stat_group, by key; of no use after kymo_groups_settle */
  size_t bytes, bytes_limit;    /* their approximate memory, and its limit; 0: no limit */
  struct kymo_spill *spill;     /* what was written to a file (stat/spill.h), or NULL */
  kymo_group_joiner *joiner;    /* of groups that have ends, set by the owner; or NULL */
  void *user;
  struct kymo_arena merged_arena; /* of the groups that were read back … */
  uint64_t merged;                /* … and how many there were, some of which may be left out … */
  uint64_t ended;                 /* … and how many have ends */
  struct kymo_stat_group *late[KYMO_GROUPS_LATE]; /* recently used ones, by the lowest bits of the key */
};

/* Whether the group's name begins with `prefix`; NULL: any does. */
bool kymo_group_is_wanted(const struct kymo_stat_group *group, const char *prefix);
/* Adds a group to the table, which has none with this key. False: out of memory. */
bool kymo_groups_put(struct kymo_groups *groups, struct kymo_stat_group *group);
/* The group with this key; if there is none, it is created and gets the name. NULL: out of memory. */
struct kymo_stat_group *kymo_groups_add(struct kymo_groups *groups, uint64_t key, bool is_text,
                                        const char *name, size_t length);
/* Frees the runs (stat/spill.c). */
void kymo_spill_free(struct kymo_spill *spill);
/* Frees the groups and what was measured. */
void kymo_groups_free(struct kymo_groups *groups);

#define KYMO_GROUPING_THREADS 64 /* a power of two */

/* How the events of a trace are grouped. */
struct kymo_grouping {
  const char *by; /* the path of a field … */
  enum { KYMO_GROUP_ALL, KYMO_GROUP_EVENT, KYMO_GROUP_TRACK, KYMO_GROUP_FIELD } kind; /* … or its meaning */
  struct kymo_trace *trace;
  struct kymo_whos *whos;       /* begun by the owner */
  uint32_t *fields;             /* by class number: the field, after the first lookup */
  uint64_t *hosts;              /* by part: what distinguishes hosts */
  struct kymo_symbols *symbols; /* names of addresses; NULL: there are none */
  /* numbers of threads, by the lowest bits of the version of the struct kymo_who */
  struct kymo_thread_number {
    uint64_t version, number;
  } * threads;
};

/* Initialises grouping by `by`, which must stay valid: NULL (all are one group), "track", "event", or the
 * path of a field. KYMO_E_MEMORY; KYMO_E_USAGE if no event class has such a field. */
int kymo_grouping_begin(struct kymo_grouping *grouping, const char *by, struct kymo_trace *trace,
                        struct kymo_whos *whos, struct kymo_error *error);
void kymo_grouping_end(struct kymo_grouping *grouping);
/* The group of an event in `groups`, created if there is none. KYMO_OK, KYMO_E_ABSENT if the event has no
 * such field, KYMO_E_MEMORY. */
int kymo_grouping_find(const struct kymo_grouping *grouping, struct kymo_groups *groups,
                       const struct kymo_event *event, struct kymo_stat_group **out);
/* A number that distinguishes the event's value from others, without creating a group: for tracks that are
 * threads their number, since names of threads change, and their host. Results as above, without
 * KYMO_E_MEMORY unless a track is requested. */
int kymo_grouping_number(const struct kymo_grouping *grouping, const struct kymo_event *event,
                         uint64_t *number);
/* The field by which events are grouped, as a number; false: the event has no such integer. */
bool kymo_grouping_integer(const struct kymo_grouping *grouping, const struct kymo_event *event,
                           int64_t *out);

/* Whether the field by which events are grouped is a floating-point number in any event class … */
bool kymo_grouping_is_float(const struct kymo_grouping *grouping);
/* … and then, as one; false: the event has no such number. */
bool kymo_grouping_float(const struct kymo_grouping *grouping, const struct kymo_event *event, double *out);

/* The unit of the field by which events are grouped, or NULL: it has none, or another one in another event
 * class. Borrowed. */
const char *kymo_grouping_unit(const struct kymo_grouping *grouping);

#endif
