/* SPDX-License-Identifier: MIT */
/*
 * A definition of a record while it is made: from a record of the file (runtime.c), or from definitions that
 * name each other (nested.c).
 */
#ifndef KYMO_PLAN_DEFINITION_H
#define KYMO_PLAN_DEFINITION_H

#include "plan/machine.h"

#define KYMO_PLAN_FIELDS 1024 /* of one definition */

/* As struct kymo_plan_field, with borrowed names. */
struct kymo_plan_member {
  struct kymo_expr_value name, path; /* path absent: the name */
  struct kymo_expr_value key, absent;
  struct kymo_expr_value unit; /* a text, or absent */
  uint32_t key_table, letter, override, count, size, inner_count, order;
  bool is_inner, has_scale;
  double scale, over, offset;
};

struct kymo_plan_definition {
  struct kymo_plan_machine *machine;
  const struct kymo_plan_recipe *recipe; /* the first one */
  const struct kymo_plan_recipe *source; /* that of the fields that are added now */
  struct kymo_expr_value name;
  bool has_length, is_unresolved;
  uint64_t length;
  const char *wrong;              /* or NULL … */
  struct kymo_expr_value culprit; /* … and the wrong piece: the place of its bytes is known … */
  uint32_t at;                    /* … or this is the place, in bytes from the record's start; NONE:
                                   * unknown */
  struct kymo_expr_value field;   /* the name of its field; absent: it has none */
  struct kymo_plan_member *members;
  uint32_t count;
};

/* False: out of memory. The caller frees the members. */
bool kymo_plan_definition_begin(struct kymo_plan_definition *d, struct kymo_plan_machine *machine,
                                const struct kymo_plan_recipe *recipe);
/* The one record of this definition, which the first pass has found or finds now. NULL: it was not found, or
 * out of memory. */
struct kymo_plan_record *kymo_plan_definition_keep(const struct kymo_plan_definition *d);
/* Notes what is wrong with the definition, unless something was before. */
void kymo_plan_definition_fail(struct kymo_plan_definition *d, const char *wrong,
                               const struct kymo_expr_value *culprit, const struct kymo_expr_value *field);
/* Bytes of an element of a type, 0 if they are not constant. */
uint64_t kymo_plan_type_bytes(const struct kymo_plan_type *type);

#endif
