/* SPDX-License-Identifier: MIT */
/*
 * Identifiers, field locations and attributes of CTF 2.
 *
 * A location names members of structures only; arrays, optionals and variants on the way are not named. That
 * is exact on the way that leads to the dependent itself; for variants beside that way the option is
 * ambiguous, and an attribute of ours names it.
 */
#include "lang/ctf2/writer.h"
#include "schema/model.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- clocks ---- */

struct ctf2_name kymo_ctf2_clock_id(const struct ctf2_writer *writer, const struct kymo_clock *clock) {
  struct ctf2_name name;
  if (writer->clocks_have_names)
    snprintf(name.text, sizeof name.text, "%s", clock->name);
  else
    snprintf(name.text, sizeof name.text, "%" PRIu32, clock->index);
  return name;
}

/* ---- locations ---- */

static const char *const scope_names[KYMO_SCOPE_COUNT] = {
    "packet-header",
    "packet-context",
    "event-record-header",
    "event-record-common-context",
    "event-record-specific-context",
    "event-record-payload",
};

/* Adds the names that a step into `type` takes to the path. */
static void put_step(struct ctf2_writer *writer, const struct kymo_type *type, uint32_t step) {
  if (type->kind == KYMO_KIND_STRUCT || type->kind == KYMO_KIND_UNION)
    kymo_ctf2_put_text(&writer->json, NULL, type->members[step].name);
  if (kymo_ctf2_is_wrapped(kymo_type_step(type, step)))
    kymo_ctf2_put_text(&writer->json, NULL, CTF2_WRAPPER_MEMBER);
}

/* True if the reference is to a member of the innermost structure around the dependent. */
static bool is_sibling(const struct ctf2_writer *writer, const struct kymo_reference *reference) {
  return reference->scope == writer->scope && reference->depth == writer->struct_depth + 1 &&
         memcmp(reference->steps, writer->way, writer->struct_depth * sizeof writer->way[0]) == 0;
}

void kymo_ctf2_put_location(struct ctf2_writer *writer, const char *key, const struct kymo_type *type) {
  const struct kymo_reference *reference = &type->selector;
  bool is_relative = is_sibling(writer, reference);
  kymo_ctf2_open_flat(&writer->json, key, '{');
  if (!is_relative)
    kymo_ctf2_put_text(&writer->json, "origin", scope_names[reference->scope]);
  kymo_ctf2_open(&writer->json, "path", '[');
  const struct kymo_type *at = writer->roots[reference->scope];
  for (uint32_t i = 0; i < reference->depth; i++) {
    if (!is_relative || i + 1 == reference->depth)
      put_step(writer, at, reference->steps[i]);
    at = kymo_type_step(at, reference->steps[i]);
  }
  kymo_ctf2_close(&writer->json, ']');
  kymo_ctf2_close(&writer->json, '}');
}

/* How many of the reference's steps are those of the way to the dependent. */
static uint32_t common_steps(const struct ctf2_writer *writer, const struct kymo_reference *reference) {
  uint32_t common = 0;
  if (reference->scope != writer->scope)
    return 0;
  while (common < reference->depth && common < writer->depth &&
         reference->steps[common] == writer->way[common])
    common++;
  return common;
}

/* The next step from `*step` on that takes one of several options beside the way; false: there is none. */
static bool next_option(const struct ctf2_writer *writer, const struct kymo_reference *reference,
                        uint32_t *step) {
  const struct kymo_type *at = writer->roots[reference->scope];
  uint32_t common = common_steps(writer, reference);
  for (uint32_t i = 0; i < reference->depth; i++) {
    bool is_one = at->kind == KYMO_KIND_VARIANT && reference->steps[i] != KYMO_STEP_ELEMENT;
    if (i >= *step && i >= common && is_one) {
      *step = i;
      return true;
    }
    at = kymo_type_step(at, reference->steps[i]);
  }
  return false;
}

bool kymo_ctf2_location_is_vague(const struct ctf2_writer *writer, const struct kymo_type *type) {
  uint32_t step = 0;
  return type->selector_type && next_option(writer, &type->selector, &step);
}

void kymo_ctf2_put_options(struct ctf2_writer *writer, const char *key, const struct kymo_type *type) {
  kymo_ctf2_open_flat(&writer->json, key, '[');
  for (uint32_t step = 0; next_option(writer, &type->selector, &step); step++)
    kymo_ctf2_put_uint(&writer->json, NULL, type->selector.steps[step]);
  kymo_ctf2_close(&writer->json, ']');
}

/* ---- attributes ---- */

struct ctf2_attributes kymo_ctf2_attributes(const char *users) {
  bool is_good = users && kymo_ctf2_has_members(users) && !strstr(users, "\"" CTF2_OWN_SPACE "\"");
  return (struct ctf2_attributes){.users = is_good ? users : NULL};
}

void kymo_ctf2_own(struct ctf2_writer *writer, struct ctf2_attributes *attributes, const char *space) {
  if (attributes->space && strcmp(attributes->space, space) == 0)
    return;
  if (attributes->space)
    kymo_ctf2_close(&writer->json, '}');
  else
    kymo_ctf2_open_flat(&writer->json, "attributes", '{');
  attributes->space = space;
  kymo_ctf2_open(&writer->json, space, '{');
}

void kymo_ctf2_own_text(struct ctf2_writer *writer, struct ctf2_attributes *attributes, const char *key,
                        const char *text) {
  if (!text)
    return;
  kymo_ctf2_own(writer, attributes, CTF2_OWN_SPACE);
  kymo_ctf2_put_text(&writer->json, key, text);
}

void kymo_ctf2_own_flag(struct ctf2_writer *writer, struct ctf2_attributes *attributes, const char *key) {
  kymo_ctf2_own(writer, attributes, CTF2_OWN_SPACE);
  kymo_ctf2_put_bool(&writer->json, key, true);
}

void kymo_ctf2_attributes_end(struct ctf2_writer *writer, struct ctf2_attributes *attributes) {
  if (attributes->space)
    kymo_ctf2_close(&writer->json, '}');
  else if (attributes->users)
    kymo_ctf2_open_flat(&writer->json, "attributes", '{');
  else
    return;
  if (attributes->users)
    kymo_ctf2_put_members(&writer->json, attributes->users);
  kymo_ctf2_close(&writer->json, '}');
}
