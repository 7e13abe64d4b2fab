/* SPDX-License-Identifier: MIT */
/*
 * Names in TSDL: members, options and their labels, references.
 *
 * Readers take one leading underscore off, so members of contexts and payloads get one and can
 * never meet a keyword. In packet headers, packet contexts and event headers names have meaning
 * for readers and stay bare, as LTTng writes them.
 */
#include "base/search.h"
#include "lang/text/cursor.h"
#include "lang/tsdl/writer.h"
#include "schema/model.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- identifiers ---- */

static const char *const keywords[] = {
    "_Bool",  "_Complex", "_Imaginary", "align",   "callsite", "char",    "clock",
    "const",  "double",   "enum",       "env",     "event",    "float",   "floating_point",
    "int",    "integer",  "long",       "short",   "signed",   "stream",  "string",
    "struct", "trace",    "typealias",  "typedef", "unsigned", "variant", "void",
};

static bool is_keyword(const char *text) {
  for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
    if (strcmp(keywords[i], text) == 0)
      return true;
  return false;
}

static bool is_letter_or_digit(char c) { return kymo_is_letter(c) || kymo_is_digit(c); }

/* True for a name that is an identifier after an underscore. */
static bool is_word(const char *text) {
  size_t length = strlen(text);
  for (size_t i = 0; i < length; i++)
    if (!is_letter_or_digit(text[i]))
      return false;
  return length < sizeof(struct tsdl_name) - 16;
}

bool kymo_tsdl_is_identifier(const char *text) {
  return kymo_is_letter(text[0]) && is_word(text) && !is_keyword(text);
}

/* `prefix`, then `text` with '_' for each character that is not allowed; then the number if a character was
 * replaced. */
static struct tsdl_name make_word(const char *prefix, const char *text, uint32_t number) {
  struct tsdl_name name;
  int length = snprintf(name.text, sizeof name.text - 16, "%s%s", prefix, text);
  if ((size_t)length > sizeof name.text - 17)
    length = sizeof name.text - 17;
  for (int i = 0; i < length; i++)
    if (!is_letter_or_digit(name.text[i]))
      name.text[i] = '_';
  if (!is_word(text))
    snprintf(name.text + length, 16, "_%" PRIu32, number);
  return name;
}

struct tsdl_name kymo_tsdl_identifier(const char *text, uint32_t number) {
  bool is_bare = kymo_is_letter(text[0]) && !is_keyword(text);
  return make_word(is_bare ? "" : "_", text, number);
}

struct tsdl_name kymo_tsdl_entry_name(const char *text, uint32_t number) {
  return make_word(kymo_is_letter(text[0]) ? "" : "_", text, number);
}

/* A name whose form without one leading underscore is `name`. */
static struct tsdl_name bare_name(const char *name, uint32_t number) {
  if (name[0] == '_')
    return make_word("_", name, number);
  return kymo_tsdl_identifier(name, number);
}

/* ---- members ---- */

static const struct {
  uint32_t role;
  enum kymo_scope scope;
  const char *name;
} role_names[] = {
    {KYMO_ROLE_MAGIC, KYMO_SCOPE_PACKET_HEADER, "magic"},
    {KYMO_ROLE_UUID, KYMO_SCOPE_PACKET_HEADER, "uuid"},
    {KYMO_ROLE_STREAM_CLASS_ID, KYMO_SCOPE_PACKET_HEADER, "stream_id"},
    {KYMO_ROLE_STREAM_ID, KYMO_SCOPE_PACKET_HEADER, "stream_instance_id"},
    {KYMO_ROLE_TIMESTAMP, KYMO_SCOPE_PACKET_CONTEXT, "timestamp_begin"},
    {KYMO_ROLE_TIMESTAMP_END, KYMO_SCOPE_PACKET_CONTEXT, "timestamp_end"},
    {KYMO_ROLE_PACKET_SIZE, KYMO_SCOPE_PACKET_CONTEXT, "packet_size"},
    {KYMO_ROLE_CONTENT_SIZE, KYMO_SCOPE_PACKET_CONTEXT, "content_size"},
    {KYMO_ROLE_SEQUENCE_NUMBER, KYMO_SCOPE_PACKET_CONTEXT, "packet_seq_num"},
    {KYMO_ROLE_DISCARDED, KYMO_SCOPE_PACKET_CONTEXT, "events_discarded"},
    {KYMO_ROLE_EVENT_CLASS_ID, KYMO_SCOPE_EVENT_HEADER, "id"},
};
enum { ROLE_NAMES = sizeof role_names / sizeof role_names[0] };

/* The name that gives a member its role in TSDL, or NULL. Only the first member of a struct with a role can
 * have it; members after the first 64 have none. */
static const char *role_name(enum kymo_scope scope, const struct kymo_type *parent, uint32_t index) {
  uint32_t roles = parent->members[index].type->roles;
  for (size_t i = 0; i < ROLE_NAMES && roles != 0 && index < 64; i++) {
    if (role_names[i].scope != scope || !(roles & role_names[i].role))
      continue;
    uint32_t earlier = 0;
    while (earlier < index && !(parent->members[earlier].type->roles & role_names[i].role))
      earlier++;
    return earlier == index ? role_names[i].name : NULL;
  }
  return NULL;
}

/* Whether a member has this name with an underscore before it. */
static bool is_member(const struct kymo_type *parent, const char *text) {
  for (uint32_t i = 0; i < parent->member_count; i++)
    if (strcmp(parent->members[i].name, text + 1) == 0)
      return true;
  return false;
}

struct tsdl_name kymo_tsdl_padding_name(const struct kymo_type *parent, uint32_t index) {
  struct tsdl_name name;
  do {
    snprintf(name.text, sizeof name.text, "__align_%" PRIu32, index);
    index += parent->member_count;
  } while (is_member(parent, name.text) ||
           is_member(parent, name.text + 1)); /* __x and _x are one name for babeltrace2 2.0 */
  return name;
}

struct tsdl_name kymo_tsdl_member_name(const struct tsdl_writer *writer, enum kymo_scope scope,
                                       const struct kymo_type *parent, uint32_t index) {
  (void)writer;
  const char *name = parent->members[index].name;
  if (scope > KYMO_SCOPE_EVENT_HEADER) {
    struct tsdl_name word = make_word("_", name, index);
    for (uint32_t number = index; !is_word(name) && is_member(parent, word.text);
         word = make_word("_", name, number))
      number += parent->member_count;
    return word;
  }
  const char *by_role = role_name(scope, parent, index);
  return bare_name(by_role ? by_role : name, index);
}

/* ---- choices and labels ---- */

/* The smallest and largest value of a tag, as bits of its own signedness. */
static struct kymo_range domain_of(const struct kymo_type *tag) {
  uint32_t bits = tag->size_bits >= 1 && tag->size_bits <= 64 ? tag->size_bits : 64;
  if (!tag->is_signed)
    return (struct kymo_range){0, UINT64_MAX >> (64 - bits)};
  uint64_t top = UINT64_C(1) << (bits - 1);
  return (struct kymo_range){0 - top, top - 1};
}

static bool is_below(const struct kymo_type *tag, uint64_t a, uint64_t b) {
  return tag->is_signed ? (int64_t)a < (int64_t)b : a < b;
}

/* The lowest range in `from` that ends at or above `low`, or NULL. */
static const struct kymo_range *next_range(const struct kymo_type *tag, const struct choice *from,
                                           uint64_t low) {
  const struct kymo_range *next = NULL;
  for (uint32_t i = 0; i < from->range_count; i++) {
    const struct kymo_range *range = &from->ranges[i];
    if (!is_below(tag, range->high, low) && (!next || is_below(tag, range->low, next->low)))
      next = range;
  }
  return next;
}

/* What the domain of the tag has besides the ranges of `some`: at most one range more. */
static void complement(struct tsdl_writer *writer, const struct kymo_type *tag, const struct choice *some,
                       struct choice *none) {
  struct kymo_range domain = domain_of(tag);
  struct kymo_range *gaps = kymo_arena_array(&writer->arena, (size_t)some->range_count + 1, sizeof *gaps);
  if (!gaps) {
    writer->out->failed = true;
    return;
  }
  none->ranges = gaps;
  uint64_t low = domain.low;
  for (const struct kymo_range *range; (range = next_range(tag, some, low)); low = range->high + 1) {
    if (is_below(tag, low, range->low))
      gaps[none->range_count++] = (struct kymo_range){low, range->low - 1};
    if (!is_below(tag, range->high, domain.high))
      return;
  }
  gaps[none->range_count++] = (struct kymo_range){low, domain.high};
}

static void optional_choices(struct tsdl_writer *writer, const struct kymo_type *type,
                             struct choices *choices) {
  static const struct kymo_range zero = {0, 0};
  struct choice *none = &choices->list[0], *some = &choices->list[1];
  none->name = "absent";
  some->name = "present";
  some->type = type->element;
  if (type->presence_count == 0) {
    none->ranges = &zero;
    none->range_count = 1;
    complement(writer, type->selector_type, none, some);
  } else {
    some->ranges = type->presence;
    some->range_count = type->presence_count;
    complement(writer, type->selector_type, some, none);
  }
}

struct choices kymo_tsdl_choices(struct tsdl_writer *writer, const struct kymo_type *type) {
  struct choices choices = {.count = type->kind == KYMO_KIND_OPTIONAL ? 2 : type->member_count};
  choices.list = kymo_arena_array(&writer->arena, choices.count, sizeof *choices.list);
  if (!choices.list) {
    writer->out->failed = true;
    return (struct choices){0};
  }
  if (type->kind == KYMO_KIND_OPTIONAL)
    optional_choices(writer, type, &choices);
  for (uint32_t i = 0; i < type->member_count; i++)
    choices.list[i] = (struct choice){type->members[i].name, type->members[i].type, type->members[i].ranges,
                                      type->members[i].range_count, i};
  return choices;
}

/* True if the tag's mappings of this name are, in order, exactly these ranges. */
static bool mappings_are(const struct kymo_type *tag, const char *name, const struct choice *choice) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < tag->mapping_count; i++) {
    if (strcmp(tag->mappings[i].name, name) != 0)
      continue;
    if (found >= choice->range_count || tag->mappings[i].low != choice->ranges[found].low ||
        tag->mappings[i].high != choice->ranges[found].high)
      return false;
    found++;
  }
  return found > 0 && found == choice->range_count;
}

static bool has_mapping(const struct kymo_type *tag, const char *name) {
  for (uint32_t i = 0; i < tag->mapping_count; i++)
    if (strcmp(tag->mappings[i].name, name) == 0)
      return true;
  return false;
}

/* The label in the tag's own mappings for the choice: its name, or its name with the underscore that was
 * removed when it was read. */
static bool mapped_label(const struct kymo_type *tag, const struct choice *choice, struct tsdl_name *label) {
  snprintf(label->text, sizeof label->text, "_%s", choice->name);
  if (kymo_tsdl_is_identifier(label->text) && mappings_are(tag, label->text, choice))
    return true;
  if (!kymo_tsdl_is_identifier(choice->name) || choice->name[0] == '_' ||
      !mappings_are(tag, choice->name, choice))
    return false;
  snprintf(label->text, sizeof label->text, "%s", choice->name);
  return true;
}

bool kymo_tsdl_choice_is_mapped(const struct kymo_type *type, const struct choice *choice) {
  struct tsdl_name label;
  return mapped_label(type->selector_type, choice, &label);
}

static bool same_ranges(const struct choice *a, const struct choice *b) {
  return a->range_count == b->range_count &&
         (a->range_count == 0 || memcmp(a->ranges, b->ranges, a->range_count * sizeof *a->ranges) == 0);
}

/* The choices of a dependent, computed once. */
static struct choices choices_of(struct tsdl_writer *writer, struct dependent *dependent) {
  if (!dependent->choices) {
    dependent->choices = kymo_arena_alloc(&writer->arena, sizeof *dependent->choices);
    if (!dependent->choices) {
      writer->out->failed = true;
      return (struct choices){0};
    }
    *dependent->choices = kymo_tsdl_choices(writer, dependent->type);
  }
  return *dependent->choices;
}

/* The number of earlier dependents of the same tag with a choice of this name that means other values: these
 * labels are taken. */
static uint32_t count_taken(struct tsdl_writer *writer, const struct kymo_type *type,
                            const struct choice *choice) {
  const struct kymo_reference *tag = &type->selector;
  struct dependents dependents = kymo_tsdl_dependents(writer, tag->scope, tag->steps, tag->depth);
  uint32_t taken = 0;
  for (uint32_t i = 0; i < dependents.count && dependents.list[i].type != type; i++) {
    struct choices others = choices_of(writer, &dependents.list[i]);
    for (uint32_t at = 0; at < others.count; at++) {
      if (strcmp(others.list[at].name, choice->name) != 0)
        continue;
      if (same_ranges(&others.list[at], choice))
        return taken;
      taken++;
    }
  }
  return taken;
}

struct tsdl_name kymo_tsdl_label(struct tsdl_writer *writer, const struct kymo_type *type,
                                 const struct choice *choice) {
  struct tsdl_name label;
  if (mapped_label(type->selector_type, choice, &label))
    return label;
  label = bare_name(choice->name, choice->index);
  if (choice->index > 0 && strcmp(label.text, "_") == 0) /* CTF 2 has options without names */
    snprintf(label.text, sizeof label.text, "__%" PRIu32, choice->index);
  uint32_t taken = count_taken(writer, type, choice) + has_mapping(type->selector_type, label.text);
  size_t length = strlen(label.text);
  if (taken > 0 && length < sizeof label.text - 16)
    snprintf(label.text + length, 16, "_%" PRIu32, taken + 1);
  return label;
}

/* ---- dependents ---- */

static void add_dependent(struct tsdl_writer *writer, struct dependents *to, const struct kymo_type *type) {
  if ((to->count & (to->count - 1)) == 0) {
    struct dependent *list = kymo_arena_array(&writer->arena, (size_t)to->count * 2 + 1, sizeof *list);
    if (!list) {
      writer->out->failed = true;
      return;
    }
    if (to->count > 0)
      memcpy(list, to->list, to->count * sizeof *list);
    to->list = list;
  }
  to->list[to->count] = (struct dependent){.type = type, .index = to->count};
  to->count++;
}

/* Ways in lexicographic order: a way is followed by those that continue it. */
static int compare_ways(const uint32_t *a, uint32_t a_depth, const uint32_t *b, uint32_t b_depth) {
  for (uint32_t i = 0; i < a_depth && i < b_depth; i++)
    if (a[i] != b[i])
      return a[i] < b[i] ? -1 : 1;
  return a_depth == b_depth ? 0 : a_depth < b_depth ? -1 : 1;
}

static int compare_dependents(const void *left, const void *right) {
  const struct dependent *a = left, *b = right;
  const struct kymo_reference *x = &a->type->selector, *y = &b->type->selector;
  int order = compare_ways(x->steps, x->depth, y->steps, y->depth);
  return order ? order : a->index < b->index ? -1 : a->index > b->index;
}

/* The depth of a finished schema is bounded. */
static void gather(struct tsdl_writer *writer, enum kymo_scope scope, const struct kymo_type *type) {
  if (!type)
    return;
  if (type->selector_type && type->selector.scope == scope)
    add_dependent(writer, &writer->dependents[scope], type);
  gather(writer, scope, type->element);
  for (uint32_t i = 0; i < type->member_count; i++)
    gather(writer, scope, type->members[i].type);
}

static void gather_event(struct tsdl_writer *writer, enum kymo_scope scope,
                         const struct kymo_event_class *event) {
  gather(writer, scope, event->specific_context);
  gather(writer, scope, event->payload);
}

static void gather_stream(struct tsdl_writer *writer, enum kymo_scope scope,
                          const struct kymo_stream_class *stream) {
  gather(writer, scope, stream->packet_context);
  gather(writer, scope, stream->event_header);
  gather(writer, scope, stream->common_context);
  for (uint32_t i = 0; i < stream->event_count; i++)
    gather_event(writer, scope, stream->events[i]);
}

/* All of a scope. */
static const struct dependents *gather_all(struct tsdl_writer *writer, enum kymo_scope scope) {
  struct dependents *dependents = &writer->dependents[scope];
  if (dependents->is_ready)
    return dependents;
  *dependents = (struct dependents){.is_ready = true};
  if (scope >= KYMO_SCOPE_SPECIFIC_CONTEXT) {
    if (writer->event)
      gather_event(writer, scope, writer->event);
  } else if (scope > KYMO_SCOPE_PACKET_HEADER) {
    if (writer->stream)
      gather_stream(writer, scope, writer->stream);
  } else {
    gather(writer, scope, writer->schema->packet_header);
    for (uint32_t i = 0; i < writer->schema->stream_count; i++)
      gather_stream(writer, scope, writer->schema->streams[i]);
  }
  if (dependents->count > 1)
    qsort(dependents->list, dependents->count, sizeof *dependents->list, compare_dependents);
  return dependents;
}

/* The first one whose way is not before this one. */
static uint32_t find_way(const struct dependents *dependents, const uint32_t *way, uint32_t depth) {
  return KYMO_COUNT_BEFORE(dependents->count, i,
                           compare_ways(dependents->list[i].type->selector.steps,
                                        dependents->list[i].type->selector.depth, way, depth) < 0);
}

struct dependents kymo_tsdl_dependents(struct tsdl_writer *writer, enum kymo_scope scope, const uint32_t *way,
                                       uint32_t depth) {
  const struct dependents *all = gather_all(writer, scope);
  uint32_t first = find_way(all, way, depth), end = first;
  for (; end < all->count; end++) {
    const struct kymo_reference *reference = &all->list[end].type->selector;
    if (compare_ways(reference->steps, reference->depth, way, depth) != 0)
      break;
  }
  return (struct dependents){
      .is_ready = true, .count = end - first, .list = all->list ? all->list + first : NULL};
}

bool kymo_tsdl_is_looked_into(struct tsdl_writer *writer) {
  const struct dependents *all = gather_all(writer, writer->scope);
  uint32_t depth = writer->depth;
  for (uint32_t i = find_way(all, writer->way, depth); i < all->count; i++) {
    const struct kymo_reference *reference = &all->list[i].type->selector;
    if (reference->depth < depth || compare_ways(reference->steps, depth, writer->way, depth) != 0)
      return false;
    if (reference->depth > depth)
      return true;
  }
  return false;
}

/* ---- references ---- */

static const char *const scope_paths[KYMO_SCOPE_COUNT] = {
    "trace.packet.header",  "stream.packet.context", "stream.event.header",
    "stream.event.context", "event.context",         "event.fields",
};

/* The name of the option that a step into a variant takes. */
static struct tsdl_name option_name(struct tsdl_writer *writer, const struct kymo_type *variant,
                                    uint32_t index) {
  struct choices choices = kymo_tsdl_choices(writer, variant);
  if (index >= choices.count)
    return (struct tsdl_name){""};
  return kymo_tsdl_label(writer, variant, &choices.list[index]);
}

/* The type that one step leads to, and the names that the step adds to a path ("" for none). */
static const struct kymo_type *take_step(struct tsdl_writer *writer, enum kymo_scope scope,
                                         const struct kymo_type *type, uint32_t step,
                                         struct tsdl_name *name) {
  name->text[0] = '\0';
  if (type->kind == KYMO_KIND_STRUCT)
    *name = kymo_tsdl_member_name(writer, scope, type, step);
  else if (type->kind == KYMO_KIND_VARIANT)
    *name = option_name(writer, type, step);
  else if (type->kind == KYMO_KIND_OPTIONAL)
    *name = option_name(writer, type, 1);
  return kymo_type_step(type, step);
}

/* True if a struct or variant between the common root and the dependent has a member of the
 * reference's first name: looked up from inside, that one would be found. */
static bool is_shadowed(struct tsdl_writer *writer, const struct kymo_reference *reference, uint32_t common) {
  const struct kymo_type *type = writer->roots[writer->scope];
  struct tsdl_name first, name;
  for (uint32_t i = 0; i < common; i++)
    type = take_step(writer, writer->scope, type, writer->way[i], &name);
  take_step(writer, writer->scope, type, reference->steps[common], &first);
  for (uint32_t i = common; i < writer->depth; i++) {
    type = take_step(writer, writer->scope, type, writer->way[i], &name);
    if (strcmp(name.text, first.text) == 0)
      return true;
    if (i + 1 >= writer->depth || type->kind != KYMO_KIND_STRUCT)
      continue;
    for (uint32_t at = 0; at < type->member_count; at++)
      if (strcmp(kymo_tsdl_member_name(writer, writer->scope, type, at).text, first.text) == 0)
        return true;
  }
  return false;
}

/* How many steps the reference and the way have in common, or 0 if it must be absolute. */
static uint32_t common_steps(struct tsdl_writer *writer, const struct kymo_reference *reference,
                             bool *is_relative) {
  *is_relative = false;
  if (reference->scope != writer->scope)
    return 0;
  uint32_t common = 0;
  while (common + 1 < reference->depth && common < writer->depth &&
         reference->steps[common] == writer->way[common])
    common++;
  *is_relative = !is_shadowed(writer, reference, common);
  return common;
}

void kymo_tsdl_write_reference(struct tsdl_writer *writer, const struct kymo_type *dependent) {
  const struct kymo_reference *reference = &dependent->selector;
  const struct kymo_type *type = writer->roots[reference->scope];
  bool is_relative;
  uint32_t common = common_steps(writer, reference, &is_relative);
  const char *gap = "";
  uint32_t reach = is_relative ? common : 0;
  writer->reach = reach < writer->reach ? reach : writer->reach;
  if (!is_relative) {
    kymo_strbuf_puts(writer->out, scope_paths[reference->scope]);
    gap = ".";
  }
  for (uint32_t i = 0; i < reference->depth && type; i++) {
    struct tsdl_name name;
    type = take_step(writer, reference->scope, type, reference->steps[i], &name);
    if ((is_relative && i < common) || !name.text[0])
      continue;
    kymo_strbuf_printf(writer->out, "%s%s", gap, name.text);
    gap = ".";
  }
}

void kymo_tsdl_write_quoted(struct kymo_strbuf *out, const char *text) {
  kymo_strbuf_add(out, "\"", 1);
  for (const char *at = text; *at; at++) {
    unsigned char byte = (unsigned char)*at;
    if (byte == '"' || byte == '\\')
      kymo_strbuf_printf(out, "\\%c", byte);
    else if (byte == '\n')
      kymo_strbuf_puts(out, "\\n");
    else if (byte < 0x20 || byte == 0x7f)
      kymo_strbuf_printf(out, "\\%03o", byte);
    else
      kymo_strbuf_add(out, at, 1);
  }
  kymo_strbuf_add(out, "\"", 1);
}
