/* SPDX-License-Identifier: MIT */
/*
 * Field locations: lengths and selectors that are other fields.
 *
 *   {"path": ["n"]}                                  a member of the innermost structure around
 *   {"path": [null, "n"]}                            … of the one around that
 *   {"origin": "event-record-payload", "path": […]}  from the root of a scope
 *
 * A null after a name removes it, whatever it names. Names are those of members; arrays, optionals and
 * variants on the way are not named. On the way that leads to the dependent itself, elements and options are
 * those that it is in.
 */
#include "lang/ctf2/compiler.h"
#include "schema/model.h"
#include <string.h>

struct trail {
  struct ctf2_compiler *compiler;
  const struct ctf2_hints *hints;
  struct ctf2_value name; /* the item of the current path */
  bool is_last;
  size_t options; /* of the hints, taken so far */
  enum kymo_scope scope;
  const struct ctf2_frame *frame;  /* the structure on the way that the location has come to, or NULL … */
  const struct kymo_type *type;    /* … and it has come to this, which is placed */
  const struct kymo_type *variant; /* the first variant whose option is ambiguous, or NULL */
  uint32_t name_count;             /* after it */
  const char *names[CTF2_DEPTH_MAX];
  uint32_t depth;
  uint32_t steps[CTF2_DEPTH_MAX];
};

static const char *name_of(const struct trail *trail) { return json_string_value(trail->name.json); }

static bool add_step(struct trail *trail, uint32_t step) {
  if (trail->depth == CTF2_DEPTH_MAX)
    return kymo_ctf2_fail(&trail->name, "too many steps");
  trail->steps[trail->depth++] = step;
  return true;
}

/* The index of a member. *ok false after reporting, also for a name that two members have. Looking through
 * many members is paid for: many locations in large structures would otherwise cost the square of the
 * text. */
static uint32_t find_member(struct trail *trail, const struct kymo_member *members, uint32_t count,
                            bool *ok) {
  uint64_t price = count / 8;
  uint32_t found = count;
  *ok = trail->compiler->fields_left > price ||
        kymo_ctf2_fail(&trail->name, "too many locations for this number of fields");
  if (!*ok)
    return count;
  trail->compiler->fields_left -= price;
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(members[i].name, name_of(trail)) != 0)
      continue;
    if (found < count)
      *ok = kymo_ctf2_fail(&trail->name, "there are two members \"%.100s\"", name_of(trail));
    found = i;
  }
  return found;
}

/* ---- in placed structures ---- */

/* The option of a variant beside the way: that of our hint, the only one, or any that is present. */
static bool enter_variant(struct trail *trail) {
  uint64_t option = 0;
  if (trail->hints->has_options) {
    struct ctf2_value index = kymo_ctf2_element(&trail->hints->options, trail->options++);
    if (!index.json)
      return kymo_ctf2_fail(&trail->hints->options, "expected more options");
    if (!kymo_ctf2_unsigned(&index, &option))
      return false;
    if (option >= trail->type->member_count)
      return kymo_ctf2_fail(&index, "there is no such option");
  } else if (trail->type->member_count > 1) {
    if (!trail->variant)
      trail->variant = trail->type;
    trail->type = trail->type->members[0].type;
    return add_step(trail, KYMO_STEP_ELEMENT);
  }
  trail->type = trail->type->members[option].type;
  return add_step(trail, (uint32_t)option);
}

/* From the member just found to the structure or number in it. */
static bool unpack(struct trail *trail) {
  while (trail->type->kind == KYMO_KIND_OPTIONAL || trail->type->kind == KYMO_KIND_VARIANT) {
    if (trail->type->kind == KYMO_KIND_VARIANT) {
      if (!enter_variant(trail))
        return false;
      continue;
    }
    trail->type = trail->type->element;
    if (!add_step(trail, KYMO_STEP_ELEMENT))
      return false;
  }
  bool is_array = trail->type->kind == KYMO_KIND_ARRAY || trail->type->kind == KYMO_KIND_SEQUENCE;
  return !is_array || kymo_ctf2_fail(&trail->name, "elements of an array cannot be located");
}

static bool enter_type(struct trail *trail) {
  const struct kymo_type *type = trail->type;
  bool ok;
  if (type->kind != KYMO_KIND_STRUCT && type->kind != KYMO_KIND_UNION)
    return kymo_ctf2_fail(&trail->name, "the field before this name has no members");
  uint32_t index = find_member(trail, type->members, type->member_count, &ok);
  if (!ok)
    return false;
  if (index == type->member_count)
    return kymo_ctf2_fail(&trail->name, "there is no member \"%.100s\"", name_of(trail));
  trail->type = type->members[index].type;
  if (trail->variant && trail->name_count < CTF2_DEPTH_MAX)
    trail->names[trail->name_count++] = type->members[index].name;
  return add_step(trail, index) && unpack(trail);
}

/* ---- along the way to the dependent ---- */

/* Reports why a name is not that of a placed member. */
static bool fail_in_frame(struct trail *trail) {
  const struct ctf2_frame *frame = trail->frame;
  for (size_t i = frame->placed; i < json_array_size(frame->names->json); i++) {
    json_t *name = json_object_get(json_array_get(frame->names->json, i), "name");
    if (json_is_string(name) && strcmp(json_string_value(name), name_of(trail)) == 0)
      return kymo_ctf2_fail(&trail->name,
                            i == frame->placed ? "this is what the location is in" : "this is a later field");
  }
  return kymo_ctf2_fail(&trail->name, "there is no member \"%.100s\"", name_of(trail));
}

static bool enter_frame(struct trail *trail) {
  const struct ctf2_compiler *compiler = trail->compiler;
  const struct ctf2_frame *frame = trail->frame, *next = frame + 1;
  bool ok;
  uint32_t index = find_member(trail, frame->members, frame->placed, &ok);
  if (!ok)
    return false;
  trail->depth = frame->depth;
  memcpy(trail->steps, compiler->way, frame->depth * sizeof compiler->way[0]);
  if (index < frame->placed) {
    trail->frame = NULL;
    trail->type = frame->members[index].type;
    return add_step(trail, index) && unpack(trail);
  }
  bool is_around = next < compiler->frames + compiler->frame_count && !trail->is_last &&
                   strcmp(frame->members[frame->placed].name, name_of(trail)) == 0;
  if (!is_around)
    return fail_in_frame(trail);
  trail->frame = next;
  return true;
}

/* ---- the path ---- */

/* A varint in a wrapper of ours is the wrapper's member. */
static bool is_wrapped(const struct trail *trail) {
  return trail->type && trail->type->kind == KYMO_KIND_VARINT && trail->type->align_bits > 8 &&
         trail->is_last && strcmp(name_of(trail), "value") == 0;
}

static bool take_name(struct trail *trail) {
  if (is_wrapped(trail))
    return true;
  return trail->frame ? enter_frame(trail) : enter_type(trail);
}

/* One structure further out. */
static bool take_null(struct trail *trail) {
  if (!trail->frame || trail->frame == trail->compiler->frames)
    return kymo_ctf2_fail(&trail->name, "there is no structure around this one");
  trail->frame--;
  return true;
}

/* Where the path begins. */
static bool begin(struct trail *trail, const struct ctf2_value *location) {
  static const char *const origins[] = {"packet-header",
                                        "packet-context",
                                        "event-record-header",
                                        "event-record-common-context",
                                        "event-record-specific-context",
                                        "event-record-payload",
                                        NULL};
  struct ctf2_compiler *compiler = trail->compiler;
  struct ctf2_value origin;
  uint32_t index = compiler->scope;
  bool is_absolute = kymo_ctf2_get(location, "origin", &origin);
  if (is_absolute && !kymo_ctf2_word(&origin, origins, &index))
    return false;
  trail->scope = (enum kymo_scope)index;
  if (trail->scope > compiler->scope)
    return kymo_ctf2_fail(&origin, "this scope comes later");
  if (trail->scope < compiler->scope) {
    trail->type = compiler->roots[trail->scope];
    return trail->type || kymo_ctf2_fail(&origin, "this scope has no field class");
  }
  if (compiler->frame_count == 0)
    return kymo_ctf2_fail(location, "there is no structure around this one");
  trail->frame = &compiler->frames[is_absolute ? 0 : compiler->frame_count - 1];
  return true;
}

/* The items that remain after nulls have removed the names before them: indices, at most as many as the path
 * has. Returns their number, or 0 after reporting. */
static size_t reduce(const struct ctf2_value *path, size_t *items) {
  size_t count = 0;
  for (size_t i = 0; i < json_array_size(path->json); i++) {
    struct ctf2_value item = kymo_ctf2_element(path, i);
    bool is_null = json_is_null(item.json), is_name = json_is_string(item.json);
    if (!is_null && !is_name)
      return kymo_ctf2_expected(&item, "a name or null");
    if (is_null && i + 1 == json_array_size(path->json))
      return kymo_ctf2_expected(&item, "a name at the end");
    if (is_null && count > 0 && json_is_string(json_array_get(path->json, items[count - 1])))
      count--;
    else
      items[count++] = i;
  }
  return count > 0 ? count : kymo_ctf2_expected(path, "at least one name");
}

static bool follow(struct trail *trail, const struct ctf2_value *path) {
  struct ctf2_session *session = trail->compiler->session;
  size_t *items = kymo_lang_new(session, json_array_size(path->json), sizeof *items);
  if (!items)
    return false;
  size_t count = reduce(path, items);
  for (size_t i = 0; i < count; i++) {
    trail->name = kymo_ctf2_element(path, items[i]);
    trail->is_last = i + 1 == count;
    if (!(json_is_null(trail->name.json) ? take_null(trail) : take_name(trail)))
      return false;
  }
  return count > 0;
}

/* If any option of a variant may be meant, all must have the field. */
static bool check_options(struct trail *trail) {
  uint64_t price = trail->variant ? trail->variant->member_count : 0;
  if (trail->compiler->fields_left <= price)
    return kymo_ctf2_fail(&trail->name, "too many locations for this number of fields");
  trail->compiler->fields_left -= price;
  return !trail->variant || kymo_options_have(trail->variant, trail->names, trail->name_count, trail->type) ||
         kymo_ctf2_fail(&trail->name,
                        "not all options of the variant have this, or have numbers of one sign");
}

static bool is_number(const struct kymo_type *type) {
  return type && (type->kind == KYMO_KIND_INTEGER || type->kind == KYMO_KIND_VARINT ||
                  type->kind == KYMO_KIND_BOOLEAN);
}

bool kymo_ctf2_resolve(struct ctf2_compiler *compiler, const struct ctf2_value *location,
                       const struct ctf2_hints *hints, struct kymo_type *type) {
  static const char *const known[] = {"origin", "path", NULL};
  struct ctf2_value path;
  struct trail trail = {.compiler = compiler, .hints = hints};
  if (!kymo_ctf2_object(location) || !kymo_ctf2_only(location, known) ||
      !kymo_ctf2_need(location, "path", &path) || !kymo_ctf2_array(&path) || !begin(&trail, location) ||
      !follow(&trail, &path))
    return false;
  if (!is_number(trail.type))
    return kymo_ctf2_fail(&trail.name, "expected an integer or a boolean");
  if (!check_options(&trail))
    return false;
  uint32_t *steps = kymo_lang_keep(compiler->session, trail.depth, sizeof *steps);
  if (!steps)
    return false;
  memcpy(steps, trail.steps, trail.depth * sizeof *steps);
  type->selector = (struct kymo_reference){trail.scope, trail.depth, steps};
  type->selector_type = trail.type;
  return true;
}
