/* SPDX-License-Identifier: MIT */
/* Names of filters, looked up in the schemas that the filter is for. */
#include "base/nearest.h"
#include "base/regex.h"
#include "base/strbuf.h"
#include "decode/kernel.h"
#include "filter/fdl/fdl.h"
#include "plan/classes.h"
#include "schema/attribute.h"
#include "schema/parts.h"
#include <string.h>
#include <strings.h>

#define FIELD_DEPTH 64

/* ---- walking over schemas ---- */

/* Calls for each scope of each event class (scopes of a stream class once), payload first. */
struct walk {
  struct fdl_compiler *compiler;
  bool (*visit)(struct walk *walk, const struct kymo_type *scope);
  const char *path;
  struct fdl_field *field;
  struct kymo_nearest *nearest;
  bool has_found; /* in the current class */
  const struct kymo_event_class *class_;
  const struct kymo_schema *schema; /* the current one */
  struct kymo_kernel_names kernel;  /* of it */
};

static bool visit_class(struct walk *walk, const struct kymo_event_class *class_) {
  const struct kymo_stream_class *stream = class_->stream;
  const struct kymo_type *scopes[] = {class_->payload, class_->specific_context, stream->common_context,
                                      stream->packet_context};
  walk->has_found = false;
  walk->class_ = class_;
  for (size_t i = 0; i < sizeof scopes / sizeof *scopes && !walk->has_found; i++)
    if (scopes[i] && !walk->visit(walk, scopes[i]))
      return false;
  return true;
}

/* ---- kinds ---- */

static bool is_unit_of_time(const char *unit) {
  static const char *const units[] = {"ps", "ns", "us", "ms", "s"};
  for (size_t i = 0; unit && i < sizeof units / sizeof *units; i++)
    if (strcmp(unit, units[i]) == 0)
      return true;
  return false;
}

static unsigned kind_of(const struct kymo_type *type) {
  switch (type->kind) {
  case KYMO_KIND_INTEGER:
  case KYMO_KIND_VARINT:
    return type->is_enumeration || type->mapping_count > 0 || type->is_address ? FDL_LABELLED : FDL_NUMBER;
  case KYMO_KIND_BOOLEAN: return FDL_NUMBER;
  case KYMO_KIND_BITMAP: return FDL_FLAGS;
  case KYMO_KIND_FLOAT: return FDL_FRACTION;
  case KYMO_KIND_STRING:
  case KYMO_KIND_TEXT_ARRAY:
  case KYMO_KIND_TEXT_SEQUENCE: return FDL_TEXT;
  case KYMO_KIND_BLOB_ARRAY:
  case KYMO_KIND_BLOB_SEQUENCE: return FDL_BLOB;
  default: return FDL_COMPOUND;
  }
}

static bool add_type(struct fdl_compiler *compiler, struct fdl_field *field, const struct kymo_type *type) {
  for (uint32_t i = 0; i < field->type_count; i++)
    if (field->types[i] == type)
      return true;
  if (field->type_count == field->capacity) {
    uint32_t capacity = field->capacity ? field->capacity * 2 : 4;
    const struct kymo_type **types = kymo_lang_new(&compiler->session, capacity, sizeof *types);
    if (!types)
      return false;
    if (field->type_count)
      memcpy(types, field->types, field->type_count * sizeof *types);
    field->types = types;
    field->capacity = capacity;
  }
  field->types[field->type_count++] = type;
  field->kinds |= kind_of(type);
  field->has_text |= (kind_of(type) & (FDL_TEXT | FDL_BLOB)) != 0;
  field->has_unit |= is_unit_of_time(type->unit);
  field->is_open |= type->is_enumeration && type->mapping_count == 0;
  field->has_addresses |= type->is_address && type->mapping_count == 0;
  return true;
}

/* The type at the end of a path: inside of optionals and variants, and the elements of arrays. */
static bool take_type(struct fdl_compiler *compiler, struct fdl_field *field, const struct kymo_type *type) {
  while (type->kind == KYMO_KIND_OPTIONAL || type->kind == KYMO_KIND_ARRAY ||
         type->kind == KYMO_KIND_SEQUENCE) {
    field->is_many |= type->kind != KYMO_KIND_OPTIONAL;
    type = type->element;
  }
  const struct kymo_member *only = kymo_element_member(type);
  if (only)
    return take_type(compiler, field, only->type);
  if (type->kind != KYMO_KIND_VARIANT)
    return add_type(compiler, field, type);
  for (uint32_t i = 0; i < type->member_count; i++)
    if (!take_type(compiler, field, type->members[i].type))
      return false;
  return true;
}

/* ---- finding ---- */

static const struct kymo_type *inner(const struct kymo_type *type, bool *is_many) {
  while (type->kind == KYMO_KIND_OPTIONAL || type->kind == KYMO_KIND_ARRAY ||
         type->kind == KYMO_KIND_SEQUENCE) {
    *is_many |= type->kind != KYMO_KIND_OPTIONAL;
    type = type->element;
  }
  return type;
}

/* Names of members may contain dots: every split is tried, the longest name first. */
static const struct kymo_member *find_member(const struct kymo_type *type, const char *path, bool *is_many) {
  const struct kymo_member *member;
  type = inner(type, is_many);
  while ((member = kymo_element_member(type)) != NULL)
    type = inner(member->type, is_many);
  for (size_t length = strlen(path); length > 0; length--) {
    bool was_many = *is_many;
    if ((path[length] != 0 && path[length] != '.') || !(member = kymo_member_named(type, path, length)))
      continue;
    const struct kymo_member *found =
        path[length] ? find_member(member->type, path + length + 1, is_many) : member;
    if (found)
      return found;
    *is_many = was_many;
  }
  return NULL;
}

static bool visit_find(struct walk *walk, const struct kymo_type *scope) {
  bool is_many = false;
  const struct kymo_member *member = find_member(scope, walk->path, &is_many);
  if (!member)
    return true;
  const struct kymo_type *shown =
      scope == walk->class_->payload
          ? kymo_kernel_shown(&walk->kernel, walk->class_, member->name, member->type)
          : NULL;
  walk->has_found = true;
  walk->field->is_many |= is_many;
  if (shown && shown->element && shown->is_address)
    walk->field->kinds |= FDL_BLOB; /* a network address, as numbers or as a whole */
  return take_type(walk->compiler, walk->field, shown ? shown : member->type);
}

/* ---- elements of lists ---- */

/* An element of the list in this scope, or NULL. */
static const struct kymo_type *element_of(const struct kymo_type *scope, const struct fdl_each *each) {
  bool is_many = false;
  const struct kymo_type *around = each->outer ? element_of(scope, each->outer) : scope;
  const struct kymo_member *list = around ? find_member(around, each->path, &is_many) : NULL;
  const struct kymo_type *type = list ? list->type : NULL;
  is_many = false;
  const struct kymo_type *element = type ? inner(type, &is_many) : NULL;
  return is_many ? element : NULL;
}

static bool visit_element(struct walk *walk, const struct kymo_type *scope) {
  const struct fdl_field *field = walk->field;
  const struct kymo_type *element = element_of(scope, field->each);
  const struct kymo_member *member = NULL;
  bool is_many = false;
  if (!element || (*field->inner && !(member = find_member(element, field->inner, &is_many))))
    return true;
  walk->has_found = true;
  walk->field->is_many |= is_many;
  return take_type(walk->compiler, walk->field, member ? member->type : element);
}

static bool visit_element_class(struct walk *walk, const struct kymo_event_class *class_) {
  return visit_class(walk, class_);
}

/* The field or its stand-in in one class. */
static bool find_in_class(struct walk *walk, const struct kymo_event_class *class_, const char *path) {
  struct fdl_field *field = walk->field;
  const struct kymo_environment *entry = kymo_stand_in_environment(walk->schema, path);
  const char *alias;
  walk->path = path;
  if (!visit_class(walk, class_))
    return false;
  if (!walk->has_found && entry) {
    field->kinds |= entry->text ? FDL_TEXT : FDL_NUMBER;
    field->has_text |= entry->text != NULL;
    return true;
  }
  for (size_t i = 0; !walk->has_found && (alias = kymo_stand_in_alias(path, i)) != NULL; i++) {
    walk->path = alias;
    if (!visit_class(walk, class_))
      return false;
  }
  if (walk->has_found)
    return true;
  switch (kymo_stand_in_of(path)) {
  case KYMO_STAND_IN_EVENT:
    field->is_event = true;
    field->kinds |= FDL_TEXT;
    break;
  case KYMO_STAND_IN_GROUP:
    field->is_group = true;
    field->kinds |= FDL_TEXT;
    break;
  case KYMO_STAND_IN_LEVEL: return class_->level < 0 || add_type(walk->compiler, field, &kymo_level_type);
  case KYMO_STAND_IN_TIME: field->kinds |= FDL_MOMENT; break;
  case KYMO_STAND_IN_STREAM:
  case KYMO_STAND_IN_SEQUENCE: field->kinds |= FDL_NUMBER; break;
  default: break;
  }
  return true;
}

static bool for_each_class(struct fdl_compiler *compiler, struct walk *walk,
                           bool (*each)(struct walk *walk, const struct kymo_event_class *class_)) {
  for (size_t i = 0; i < compiler->schema_count; i++) {
    walk->schema = compiler->schemas[i];
    walk->kernel = kymo_kernel_names_begin(&compiler->session.common.temp, compiler->schemas[i]);
    for (uint32_t j = 0; j < compiler->schemas[i]->stream_count; j++)
      for (uint32_t k = 0; k < compiler->schemas[i]->streams[j]->event_count; k++)
        if (!each(walk, compiler->schemas[i]->streams[j]->events[k]))
          return false;
  }
  return true;
}

static bool find_each(struct walk *walk, const struct kymo_event_class *class_) {
  return find_in_class(walk, class_, walk->field->path);
}

/* ---- suggestions ---- */

/* The names of all members, with the names of the enclosing ones. */
static bool suggest_members(struct walk *walk, const struct kymo_type *type, const char *prefix,
                            unsigned depth) {
  bool is_many = false;
  const struct kymo_member *only;
  type = inner(type, &is_many);
  while ((only = kymo_element_member(type)) != NULL)
    type = inner(only->type, &is_many);
  if (type->kind < KYMO_KIND_STRUCT || type->kind == KYMO_KIND_OPTIONAL || depth > FIELD_DEPTH)
    return true;
  for (uint32_t i = 0; i < type->member_count; i++) {
    if (kymo_member_is_hidden(&type->members[i]))
      continue;
    const char *name = type->members[i].name;
    size_t length = strlen(prefix) + (*prefix != 0) + strlen(name);
    char *path = kymo_lang_new(&walk->compiler->session, length + 1, 1);
    if (!path)
      return false;
    stpcpy(stpcpy(stpcpy(path, prefix), *prefix ? "." : ""), name);
    kymo_nearest_consider(walk->nearest, path);
    if (depth < 3 && !suggest_members(walk, type->members[i].type, path, depth + 1))
      return false;
  }
  return true;
}

static bool visit_suggest(struct walk *walk, const struct kymo_type *scope) {
  return suggest_members(walk, scope, "", 1);
}

static bool suggest_each(struct walk *walk, const struct kymo_event_class *class_) {
  return visit_class(walk, class_);
}

/* Hints for names of other tools, for which the nearest name would be a wrong suggestion; NULL: there is
 * none. */
static const char *hint_of(const char *text) {
  if (strcasecmp(text, "DURATION") == 0)
    return "; only the events that an ACTIVITY of the filter adds have a DURATION";
  if (strcasecmp(text, "vpid") == 0)
    return "; pid is the process";
  if (strcasecmp(text, "procname") == 0 || strcasecmp(text, "program") == 0)
    return "; process is the name of the process";
  if (strcasecmp(text, "pid") == 0 || strcasecmp(text, "process") == 0)
    return "; the traces do not contain their processes; tid and thread are the thread";
  return NULL;
}

static void fail_unknown(struct fdl_compiler *compiler, const struct tdl_path *path, const char *text) {
  struct kymo_nearest nearest = kymo_nearest_to(text);
  struct walk walk = {.compiler = compiler, .visit = visit_suggest, .nearest = &nearest};
  const char *name;
  for (struct fdl_definition *definition = compiler->definitions; definition; definition = definition->next)
    kymo_nearest_consider(&nearest, definition->name.word->text);
  for (size_t i = 0; (name = kymo_stand_in_name(i)) != NULL; i++)
    kymo_nearest_consider(&nearest, name);
  if (for_each_class(compiler, &walk, suggest_each))
    kymo_tdl_fail(&compiler->session, path->names[0].at, "E31", "no event has a field \"%s\"%s", text,
                  hint_of(text) ? hint_of(text) : kymo_nearest_hint(&nearest).text);
}

static const char *join_path(struct fdl_compiler *compiler, const struct tdl_path *path) {
  size_t size = 1;
  for (uint32_t i = 0; i < path->count; i++)
    size += path->names[i].word->length + 1;
  char *text = kymo_lang_new(&compiler->session, size, 1), *end = text;
  for (uint32_t i = 0; text && i < path->count; i++) {
    end = stpcpy(end, i ? "." : "");
    end = stpcpy(end, path->names[i].word->text);
  }
  return text;
}

/* The events that activities add have a DURATION. */
static bool has_activity(const struct fdl_compiler *compiler) {
  const struct fdl_definition *definition = compiler->definitions;
  while (definition && !definition->from)
    definition = definition->next;
  return definition != NULL;
}

/* Event classes, and their fields, are defined by the files of some descriptions. */
static bool is_late(const struct fdl_compiler *compiler, bool (*are_late)(const struct kymo_plan *plan)) {
  bool is = false;
  for (size_t i = 0; i < compiler->schema_count && !is; i++) {
    struct kymo_error error;
    struct kymo_plan *plan =
        compiler->schemas[i]->plan_size > 0 ? kymo_plan_open(compiler->schemas[i], "", &error) : NULL;
    is = plan && are_late(plan);
    kymo_plan_close(plan);
  }
  return is;
}

bool kymo_fdl_is_little(const struct fdl_compiler *compiler, const struct fdl_field *field) {
  bool is = false;
  for (size_t i = 0; i < compiler->schema_count && !is; i++) {
    struct kymo_error error;
    struct kymo_plan *plan =
        compiler->schemas[i]->plan_size > 0 ? kymo_plan_open(compiler->schemas[i], "", &error) : NULL;
    is = plan && kymo_plan_is_little(plan, field->path);
    kymo_plan_close(plan);
  }
  return is;
}

/* A name that no event class has yet may be a field of any sort. */
static bool take_late(struct fdl_compiler *compiler, struct fdl_field *field, const struct tdl_path *path) {
  if (!is_late(compiler, kymo_plan_defines_late))
    return false;
  field->kinds = FDL_ANY_NUMBER | FDL_TEXT | FDL_BLOB;
  field->has_text = field->is_open = field->is_late = true;
  kymo_tdl_warn(&compiler->session, path->names[0].at, "W24",
                "\"%s\" is no field that is known now; the trace may have it", field->path);
  return true;
}

/* The innermost list around that begins the path. */
static const struct fdl_each *find_around(const struct fdl_compiler *compiler, const struct tdl_path *path) {
  const struct fdl_each *each = compiler->each;
  for (; each; each = each->outer) {
    uint32_t same = 0, count = each->names->count;
    while (same < count && same < path->count && each->names->names[same].word == path->names[same].word)
      same++;
    if (same == count)
      break;
  }
  return each;
}

/* The rest of a path in the elements of a list. */
static const char *join_rest(struct fdl_compiler *compiler, const struct tdl_path *path,
                             const struct fdl_each *each) {
  uint32_t count = each ? each->names->count : 0;
  struct tdl_path rest = {.names = path->names + count, .count = path->count - count};
  return join_path(compiler, &rest);
}

static struct fdl_field *look_up(struct fdl_compiler *compiler, const struct tdl_path *path,
                                 const struct fdl_each *each) {
  const char *text = join_path(compiler, path), *rest = join_rest(compiler, path, each);
  struct fdl_field *field = compiler->fields;
  if (!text || !rest)
    return NULL;
  while (field && (field->each != each || strcmp(field->path, text) != 0))
    field = field->next;
  if (field || !(field = kymo_lang_new(&compiler->session, 1, sizeof *field)))
    return field;
  field->path = text;
  field->inner = rest;
  field->each = each;
  struct walk walk = {.compiler = compiler, .visit = each ? visit_element : visit_find, .field = field};
  if (!for_each_class(compiler, &walk, each ? visit_element_class : find_each))
    return NULL;
  field->next = compiler->fields;
  compiler->fields = field;
  return field;
}

const struct fdl_field *kymo_fdl_find(struct fdl_compiler *compiler, const struct tdl_path *path) {
  const struct fdl_each *each = find_around(compiler, path);
  struct fdl_field *field = look_up(compiler, path, each);
  if (!field)
    return NULL;
  if (!each && strcmp(field->path, "DURATION") == 0 && has_activity(compiler)) {
    field->kinds |= FDL_NUMBER;
    field->has_unit = true;
  }
  if (!field->kinds && !take_late(compiler, field, path)) {
    fail_unknown(compiler, path, field->path);
    return NULL;
  }
  if (compiler->each && !each && field->is_many) {
    kymo_tdl_fail(&compiler->session, path->names[0].at, "E41",
                  "expected one value, or what is in an element of \"%s\", found a sequence",
                  join_path(compiler, compiler->each->names));
    return NULL;
  }
  return field;
}

struct fdl_each *kymo_fdl_find_list(struct fdl_compiler *compiler, const struct tdl_path *path) {
  struct fdl_each *outer = compiler->each, *each = kymo_lang_new(&compiler->session, 1, sizeof *each);
  const struct fdl_field *field = each ? kymo_fdl_find(compiler, path) : NULL;
  if (!field)
    return NULL;
  bool is_element = field->each && !*field->inner;
  if ((!field->is_many && !field->is_late) || is_element) {
    kymo_tdl_fail(&compiler->session, path->names[0].at, "E41", "expected a sequence, found %s",
                  kymo_fdl_kind_name(field->kinds));
    return NULL;
  }
  while (outer && outer != field->each)
    outer = outer->outer;
  *each = (struct fdl_each){.outer = outer, .names = path, .path = field->inner};
  const struct fdl_field *element = look_up(compiler, path, each);
  if (element && !element->kinds && !field->is_late)
    kymo_tdl_fail(&compiler->session, path->names[0].at, "E41",
                  "expected a sequence, found %s in the elements of one", kymo_fdl_kind_name(field->kinds));
  return compiler->session.common.failed ? NULL : each;
}

uint32_t kymo_fdl_add_path(struct fdl_compiler *compiler, const struct fdl_field *field) {
  return kymo_filter_add_text(&compiler->builder, field->inner, strlen(field->inner));
}

bool kymo_fdl_find_key(struct fdl_compiler *compiler, const struct tdl_path *path, uint32_t *text) {
  const struct fdl_field *field = kymo_fdl_find(compiler, path);
  if (!field)
    return false;
  if (field->is_many || field->kinds == FDL_COMPOUND)
    return kymo_tdl_fail(&compiler->session, path->names[0].at, "E41", "expected one value, found %s",
                         field->is_many ? "a sequence" : "a struct");
  *text = kymo_fdl_add_path(compiler, field);
  return true;
}

/* ---- interpretations ---- */

static bool has_name(const char *name, struct tdl_bytes label) {
  return name && strlen(name) == label.length && memcmp(name, label.data, label.length) == 0;
}

struct labels {
  struct walk walk;
  struct tdl_bytes label;
  bool is_known, of_groups;
};

static bool see_class_name(struct walk *walk, const struct kymo_event_class *class_) {
  struct labels *labels = (struct labels *)walk;
  const char *name = labels->of_groups ? class_->group : class_->name;
  labels->is_known |= has_name(name, labels->label);
  if (name && !labels->is_known)
    kymo_nearest_consider(walk->nearest, name);
  return true;
}

bool kymo_fdl_check_label(struct fdl_compiler *compiler, const struct fdl_field *field,
                          struct tdl_bytes label, uint32_t at) {
  char *text = kymo_lang_new(&compiler->session, label.length + (size_t)1, 1);
  if (!text)
    return false;
  memcpy(text, label.data, label.length);
  struct kymo_nearest nearest = kymo_nearest_to(text);
  struct labels labels = {
      .walk = {.compiler = compiler, .nearest = &nearest}, .label = label, .of_groups = field->is_group};
  for (uint32_t i = 0; i < field->type_count; i++)
    for (uint32_t j = 0; j < field->types[i]->mapping_count; j++) {
      labels.is_known |= has_name(field->types[i]->mappings[j].name, label);
      kymo_nearest_consider(&nearest, field->types[i]->mappings[j].name);
    }
  for (const struct fdl_definition *definition = compiler->definitions; definition && field->is_event;
       definition = definition->next)
    labels.is_known |= definition->from && has_name(definition->name.word->text, label);
  if (field->is_event || field->is_group)
    for_each_class(compiler, &labels.walk, see_class_name);
  if (labels.is_known || field->has_addresses)
    return true;
  if (field->is_open || (field->is_event && is_late(compiler, kymo_plan_names_late))) {
    kymo_tdl_warn(&compiler->session, at, "W24", "\"%s\" is no name that is known now; the trace may have it",
                  text);
    return true;
  }
  return kymo_tdl_fail(&compiler->session, at, "E32", "%s is never \"%s\"%s", field->path, text,
                       kymo_nearest_hint(&nearest).text);
}

struct matches {
  struct walk walk;
  struct kymo_regex_memory *memory;
  bool has_some;
};

static bool see_match(struct walk *walk, const struct kymo_event_class *class_) {
  struct matches *matches = (struct matches *)walk;
  const char *name = class_->name ? class_->name : "";
  matches->has_some = kymo_regex_matches(matches->memory, (const uint8_t *)name, strlen(name));
  return !matches->has_some;
}

bool kymo_fdl_some_event(struct fdl_compiler *compiler, const struct kymo_regex *regex) {
  struct matches matches = {.walk = {.compiler = compiler}, .memory = kymo_regex_memory_new(regex)};
  if (!matches.memory || is_late(compiler, kymo_plan_names_late) ||
      is_late(compiler, kymo_plan_defines_late) || has_activity(compiler))
    matches.has_some = true;
  else
    for_each_class(compiler, &matches.walk, see_match);
  kymo_regex_memory_free(matches.memory);
  return matches.has_some;
}

static bool see_kind(struct walk *walk, const struct kymo_event_class *class_) {
  struct labels *labels = (struct labels *)walk;
  const char *colon = class_->name ? strchr(class_->name, ':') : NULL;
  labels->is_known |= kymo_filter_is_kind(class_, (const char *)labels->label.data);
  if (class_->name)
    kymo_nearest_consider(walk->nearest, colon ? colon + 1 : class_->name);
  return true;
}

bool kymo_fdl_check_kind(struct fdl_compiler *compiler, const struct tdl_name *name) {
  struct kymo_nearest nearest = kymo_nearest_to(name->word->text);
  struct labels labels = {.walk = {.compiler = compiler, .nearest = &nearest},
                          .label = {(const uint8_t *)name->word->text, name->word->length}};
  for_each_class(compiler, &labels.walk, see_kind);
  if (labels.is_known)
    return true;
  return kymo_tdl_fail(&compiler->session, name->at, "E31", "there is no kind of records \"%s\"%s",
                       name->word->text, kymo_nearest_hint(&nearest).text);
}
