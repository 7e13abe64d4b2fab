/* SPDX-License-Identifier: MIT */
/* A process, its threads, and its children with theirs. */
#ifndef KYMO_LIVE_TREE_H
#define KYMO_LIVE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Called for each thread; false: it is not counted. */
typedef bool kymo_tree_visitor(void *user, pid_t pid, pid_t tid);

/* Visits the threads that are there now. Returns how many are counted. */
size_t kymo_tree_walk(pid_t pid, kymo_tree_visitor *visit, void *user);

#endif
