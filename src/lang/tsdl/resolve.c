/* SPDX-License-Identifier: MIT */
/*
 * References: lengths and tags that are other fields.
 *
 *   n                   a field placed before in a struct around, the nearest first; else one at
 *                       the top of an earlier scope, the latest scope first
 *   a.b.n               from there on down by members and options
 *   event.fields.a.n    absolute: from the root of a scope. On the way that leads to the
 *                       dependent itself, elements of arrays count as the one it is in, and
 *                       options of variants need not be named.
 */
#include "lang/tsdl/compiler.h"
#include <string.h>

/* A reference being followed. */
struct trail {
  struct tsdl_compiler *compiler;
  const struct tsdl_path *path;
  uint32_t name; /* index in the path of the next name */
  enum kymo_scope scope;
  const struct kymo_type *type; /* what the steps lead to, once it is placed */
  uint32_t depth;
  uint32_t steps[TSDL_DEPTH_MAX];
};

static const struct {
  enum kymo_scope scope;
  uint32_t count;
  const char *names[3];
} absolute[] = {
    {KYMO_SCOPE_PACKET_HEADER, 3, {"trace", "packet", "header"}},
    {KYMO_SCOPE_PACKET_CONTEXT, 3, {"stream", "packet", "context"}},
    {KYMO_SCOPE_EVENT_HEADER, 3, {"stream", "event", "header"}},
    {KYMO_SCOPE_COMMON_CONTEXT, 3, {"stream", "event", "context"}},
    {KYMO_SCOPE_SPECIFIC_CONTEXT, 2, {"event", "context", NULL}},
    {KYMO_SCOPE_PAYLOAD, 2, {"event", "fields", NULL}},
};

static const char *name_at(const struct trail *trail) { return trail->path->words[trail->name]->text; }

static bool fail(struct trail *trail, const char *what, const char *why) {
  struct tsdl_session *session = trail->compiler->session;
  return kymo_lang_fail(session, trail->path->at, "%s \"%.100s\"%s", what, name_at(trail), why);
}

static bool add_step(struct trail *trail, uint32_t step) {
  if (trail->depth == TSDL_DEPTH_MAX)
    return fail(trail, "too many steps to", "");
  trail->steps[trail->depth++] = step;
  return true;
}

/* Pays for looking through `count` members: many references into large structs would otherwise
 * cost the square of the text. */
static bool look_through(struct trail *trail, uint32_t count) {
  uint64_t price = count / 8;
  if (trail->compiler->fields_left <= price)
    return fail(trail, "too many references for this number of fields:", "");
  trail->compiler->fields_left -= price;
  return true;
}

/* ---- in placed structures ---- */

static bool no_member(struct trail *trail) {
  const struct kymo_type *type = trail->type;
  struct kymo_nearest nearest = kymo_nearest_to(name_at(trail));
  for (uint32_t i = 0; i < type->member_count; i++)
    kymo_nearest_consider(&nearest, type->members[i].source_name);
  return fail(trail, "there is no member", kymo_nearest_hint(&nearest).text);
}

/* Down by the remaining names. */
static bool descend(struct trail *trail) {
  for (; trail->name < trail->path->count; trail->name++) {
    const struct kymo_type *type = trail->type;
    if (type->kind == KYMO_KIND_ARRAY || type->kind == KYMO_KIND_SEQUENCE)
      return fail(trail, "elements of an array cannot be referred to:", "");
    if (type->kind != KYMO_KIND_STRUCT && type->kind != KYMO_KIND_VARIANT)
      return fail(trail, "the field before this name has no members:", "");
    uint32_t index = 0; /* words are interned: equal names are one address */
    while (index < type->member_count && type->members[index].source_name != name_at(trail))
      index++;
    if (index == type->member_count)
      return no_member(trail);
    if (!look_through(trail, index) || !add_step(trail, index))
      return false;
    trail->type = type->members[index].type;
  }
  return true;
}

/* A placed member of a struct or variant on the way, and down from there. */
static bool enter_member(struct trail *trail, const struct tsdl_frame *frame, uint32_t member) {
  for (uint32_t i = 0; i < frame->depth; i++)
    if (!add_step(trail, trail->compiler->way[i]))
      return false;
  if (!add_step(trail, member))
    return false;
  trail->type = frame->members[member].type;
  trail->name++;
  return descend(trail);
}

/* ---- along the way to the dependent ---- */

/* A member of a described type by its word; type->count if there is none. */
static uint32_t find_member(const struct tsdl_type *type, const struct tsdl_word *word) {
  uint32_t index = 0;
  while (index < type->count && type->members[index].word != word)
    index++;
  return index;
}

static bool fail_in_frame(struct trail *trail, const struct tsdl_frame *frame, uint32_t found, uint32_t own) {
  if (found == frame->type->count)
    return fail(trail, "there is no field", "");
  if (found == own)
    return fail(trail, "a reference to what it is part of:", "");
  return fail(trail,
              frame->type->kind == TSDL_KIND_VARIANT ? "a reference to another option of its own variant:"
                                                     : "a reference to a later field:",
              "");
}

/* From the root of the scope that is being placed. */
static bool follow_way(struct trail *trail) {
  struct tsdl_compiler *compiler = trail->compiler;
  for (uint32_t i = 0; i < compiler->frame_count; i++) {
    const struct tsdl_frame *frame = &compiler->frames[i];
    bool is_last = i + 1 == compiler->frame_count, is_variant = frame->type->kind == TSDL_KIND_VARIANT;
    if (!look_through(trail, frame->type->count))
      return false;
    uint32_t own = compiler->way[frame->depth],
             found = find_member(frame->type, trail->path->words[trail->name]);
    if (found < own && !is_variant)
      return enter_member(trail, frame, found);
    if (is_variant && found == frame->type->count && !is_last)
      continue;
    if (found != own || is_last || trail->name + 1 == trail->path->count)
      return fail_in_frame(trail, frame, found, own);
    trail->name++;
  }
  return fail(trail, "there is no field", "");
}

/* ---- where to begin ---- */

static bool matches(const struct tsdl_path *path, const char *const *names, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (i >= path->count || strcmp(path->words[i]->text, names[i]) != 0)
      return false;
  return true;
}

static bool begin_absolute(struct trail *trail, enum kymo_scope scope, uint32_t names) {
  trail->scope = scope;
  trail->name = names - 1;
  if (trail->path->count == names)
    return fail(trail, "expected a field of the scope after", "");
  if (scope > trail->compiler->scope)
    return fail(trail, "a reference to a later scope:", "");
  trail->name = names;
  if (scope == trail->compiler->scope)
    return follow_way(trail);
  trail->type = trail->compiler->roots[scope];
  return trail->type ? descend(trail) : fail(trail, "its scope is not described:", "");
}

/* At the top of an earlier scope. */
static bool begin_outside(struct trail *trail) {
  for (int scope = (int)trail->compiler->scope - 1; scope >= 0; scope--) {
    const struct kymo_type *root = trail->compiler->roots[scope];
    if (root && !look_through(trail, root->member_count))
      return false;
    for (uint32_t i = 0; root && i < root->member_count; i++) {
      if (root->members[i].source_name != name_at(trail))
        continue;
      trail->scope = (enum kymo_scope)scope;
      trail->type = root;
      return descend(trail);
    }
  }
  return fail(trail, "no field before this place is named",
              kymo_tsdl_declared_hint(trail->compiler->session, TSDL_SPACE_FIELD, name_at(trail)).text);
}

static bool begin(struct trail *trail) {
  const struct tsdl_path *path = trail->path;
  for (size_t i = 0; i < sizeof absolute / sizeof absolute[0]; i++)
    if (matches(path, absolute[i].names, absolute[i].count))
      return begin_absolute(trail, absolute[i].scope, absolute[i].count);
  if (path->words[0]->keyword)
    return fail(trail, "expected a field or a scope such as event.fields, found the keyword", "");
  const struct tsdl_decl *decl = path->words[0]->decls[TSDL_SPACE_FIELD];
  if (!decl)
    return begin_outside(trail);
  trail->scope = trail->compiler->scope;
  return enter_member(trail, &trail->compiler->frames[decl->frame], decl->member);
}

const struct kymo_type *kymo_tsdl_resolve(struct tsdl_compiler *compiler, const struct tsdl_path *path,
                                          struct kymo_reference *reference) {
  struct trail trail = {.compiler = compiler, .path = path};
  if (!begin(&trail))
    return NULL;
  uint32_t *steps = kymo_lang_keep(compiler->session, trail.depth, sizeof *steps);
  if (!steps)
    return NULL;
  memcpy(steps, trail.steps, trail.depth * sizeof *steps);
  *reference = (struct kymo_reference){trail.scope, trail.depth, steps};
  return trail.type;
}
