/* SPDX-License-Identifier: MIT */
/*
 * Pools are found in the default directories or by KYMO_RINGS, and through the memory maps of listening
 * processes, since a process may use another directory, or another mount namespace.
 */
#include "live/rings.h"
#include "base/list.h"
#include "live/client.h"
#include "ring/exits.h"
#include "live/find.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t kymo_pool_age_ns(const struct kymo_pool_seen *seen) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)(now.tv_sec - seen->changed.tv_sec) * 1000000000 + now.tv_nsec - seen->changed.tv_nsec;
}

/* ---- how a process ended ---- */

static void find_end(struct kymo_rings *rings, const struct kymo_pool_header *header, enum kymo_life life) {
  rings->is_dead = life == KYMO_LIFE_DEAD;
  if (rings->is_dead)
    kymo_exit_text(header, rings->end);
  else
    snprintf(rings->end, sizeof rings->end,
             life == KYMO_LIFE_ALIVE ? "runs" : "may run, in another PID namespace");
}

/* ---- finding ---- */

static bool add(struct kymo_rings_list *all, const struct kymo_pool_seen *seen, int pid) {
  for (size_t i = 0; i < all->count; i++)
    if (all->list[i].inode == seen->inode && all->list[i].device == seen->device)
      return true;
  if (!KYMO_LIST_ROOM(all->list, all->room, all->count)) {
    all->failed = true;
    return false;
  }
  struct kymo_rings *rings = &all->list[all->count++];
  *rings = (struct kymo_rings){.pid = pid,
                               .age_ns = kymo_pool_age_ns(seen),
                               .bytes = seen->bytes,
                               .owner = (unsigned)seen->owner,
                               .device = seen->device,
                               .inode = seen->inode};
  memcpy(rings->path, seen->path, sizeof rings->path);
  snprintf(rings->program, sizeof rings->program, "%.*s", (int)sizeof seen->header.name, seen->header.name);
  find_end(rings, &seen->header, seen->life);
  return true;
}

static bool add_seen(void *user, const struct kymo_pool_seen *seen) {
  return add(user, seen, seen->header.pid);
}

static bool add_place(void *user, const char *directory) {
  kymo_pools_visit(directory, true, add_seen, user);
  return ((struct kymo_rings_list *)user)->failed;
}

struct mapped {
  struct kymo_rings_list *all;
  int pid;
};

static bool add_mapped(void *user, const struct kymo_pool_seen *seen) {
  struct mapped *mapped = user;
  return add(mapped->all, seen, mapped->pid);
}

/* The rings of a listening process, which has a number in the caller's namespace. */
static void add_process(void *user, int pid) {
  struct mapped mapped = {user, pid};
  char path[KYMO_PATH_MAX];
  struct kymo_error error;
  if (kymo_find_pool(path, pid, &error) == KYMO_OK)
    kymo_pools_visit(path, false, add_mapped, &mapped);
}

static int newest_first(const void *a, const void *b) {
  const struct kymo_rings *x = a, *y = b;
  return x->age_ns != y->age_ns ? (x->age_ns < y->age_ns ? -1 : 1) : x->pid - y->pid;
}

bool kymo_rings_find(struct kymo_rings_list *rings) {
  *rings = (struct kymo_rings_list){0};
  kymo_client_each(add_process, rings);
  kymo_find_places(add_place, rings);
  if (rings->count)
    qsort(rings->list, rings->count, sizeof *rings->list, newest_first);
  return !rings->failed;
}

void kymo_rings_free(struct kymo_rings_list *rings) {
  free(rings->list);
  *rings = (struct kymo_rings_list){0};
}
