/* SPDX-License-Identifier: MIT */
/*
 * Which event classes begin something, and which end it: those that users name, or those of tracers for
 * functions.
 *
 *   roles[class number]   KYMO_PAIR_BEGINS, KYMO_PAIR_ENDS
 *   kinds[class number]   of spans (KYMO_SPAN_BEGIN, …) a number of their kind, if both edges of the
 *                         kind have a role; else 0
 */
#ifndef KYMO_STAT_EDGES_H
#define KYMO_STAT_EDGES_H

#include "print/number.h"

enum { KYMO_PAIR_BEGINS = 1, KYMO_PAIR_ENDS = 2 };

struct kymo_edges {
  const struct kymo_trace *trace;
  const struct kymo_numbers *numbers;
  uint8_t *roles;
  uint64_t *kinds;
};

/* Initialises; no class has a role. */
int kymo_edges_begin(struct kymo_edges *edges, const struct kymo_trace *trace,
                     const struct kymo_numbers *numbers, struct kymo_error *error);
void kymo_edges_end(struct kymo_edges *edges);
/* Adds the role to the classes for which `is` returns true; returns their number. */
typedef bool kymo_edge_test(void *user, const struct kymo_event_class *class_);
size_t kymo_edges_add(struct kymo_edges *edges, uint8_t role, kymo_edge_test *is, void *user);
/* Gives their roles to the edges of all spans, and the kinds: of spans that are declared, also to those
 * without the other edge; and of pairs with the names that tracers use ("x_begin" and "x_end", "x_entry" and
 * "x_exit", "syscall_entry_x" and "syscall_exit_x"). *count becomes their number. KYMO_E_MEMORY. */
int kymo_edges_add_spans(struct kymo_edges *edges, size_t *count);
/* The name of the kind of spans that an edge belongs to: *length bytes. */
const char *kymo_edges_kind_name(const struct kymo_event_class *class_, size_t *length);
/* Computes the kinds from the roles. KYMO_E_MEMORY. */
int kymo_edges_find_kinds(struct kymo_edges *edges);
/* Whether a class with a role is the edge of a span, or of a function, whose begin and end are in one
 * thread. */
bool kymo_edges_are_of_threads(const struct kymo_edges *edges);
/* Gives the roles to the classes of functions that are entered and left. Returns the name of the field with
 * the function's address; NULL: the trace has no such classes. */
const char *kymo_edges_add_functions(struct kymo_edges *edges);
/* If all classes that have a role are of functions: the field that is the function's address; else NULL. */
const char *kymo_edges_function_field(const struct kymo_edges *edges);

#endif
