/* SPDX-License-Identifier: MIT */
/*
 * Trace classes in details. They do not contain members that only serve the decoder (print/names.c), and
 * positions do not count these. Differences between 2.0 and 2.1:
 *
 *   clock   UUID at the end, "Origin is Unix epoch"      UID after the name, "Origin"
 *   length  "field path [Event payload: 0, 2]"           "field location [Event payload: a, b]"
 */
#include "decode/walk.h"
#include "schema/parts.h"
#include "sink/details/details.h"
#include <stdlib.h>

struct writer {
  struct kymo_details *details;
  const struct kymo_schema *schema;
  const struct kymo_names_part *names;
  const struct kymo_stream_class *stream;
  const struct kymo_event_class *event; /* NULL: in a scope of all events */
};

static void put(struct writer *writer, const char *text) { kymo_strbuf_puts(&writer->details->text, text); }

static void put_name(struct writer *writer, const char *name) {
  kymo_details_indent(writer->details);
  kymo_strbuf_printf(&writer->details->text, "%s:", name ? name : "");
}

static void put_line(struct writer *writer, const char *name, bool value) {
  kymo_details_line(writer->details, name, value ? "Yes" : "No");
}

static void put_count(struct writer *writer, uint64_t count, const char *what) {
  kymo_details_unsigned(writer->details, count);
  kymo_strbuf_printf(&writer->details->text, " %s%s", what, count == 1 ? "" : "s");
}

static bool is_hidden(const struct writer *writer, const struct kymo_type *type) {
  return !type || writer->names->is_hidden[type->id];
}

static bool is_hidden_member(const struct writer *writer, const struct kymo_type *type, uint32_t index) {
  return writer->names->labels[type->id] && writer->names->labels[type->id][index].is_hidden;
}

static uint32_t shown_members(const struct writer *writer, const struct kymo_type *type, uint32_t end) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < end; i++)
    count += !is_hidden_member(writer, type, i);
  return count;
}

/* ---- ranges ---- */

/* Unsigned numbers beyond 2^63 are printed as negative, as in babeltrace2. */
static void put_range(struct writer *writer, uint64_t low, uint64_t high) {
  put(writer, " [");
  kymo_details_signed(writer->details, (int64_t)low);
  if (low != high) {
    put(writer, ", ");
    kymo_details_signed(writer->details, (int64_t)high);
  }
  put(writer, "]");
}

static int compare(uint64_t a, uint64_t b, bool is_signed) {
  if (is_signed)
    return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
  return (a > b) - (a < b);
}

static int by_bounds(const struct kymo_range *a, const struct kymo_range *b, bool is_signed) {
  int order = compare(a->low, b->low, is_signed);
  return order ? order : compare(a->high, b->high, is_signed);
}

static int unsigned_ranges(const void *a, const void *b) { return by_bounds(a, b, false); }

static int signed_ranges(const void *a, const void *b) { return by_bounds(a, b, true); }

static void put_ranges(struct writer *writer, const struct kymo_range *ranges, size_t count, bool is_signed) {
  struct kymo_range *sorted = malloc((count + 1) * sizeof(*sorted));
  if (!sorted) {
    writer->details->text.failed = true;
    return;
  }
  if (count > 0) {
    memcpy(sorted, ranges, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), is_signed ? signed_ranges : unsigned_ranges);
  }
  for (size_t i = 0; i < count; i++)
    put_range(writer, sorted[i].low, sorted[i].high);
  free(sorted);
}

/* ---- mappings ---- */

/* Mappings of one label, in the order of their ranges. */
static int by_label(const struct kymo_mapping *a, const struct kymo_mapping *b, bool is_signed) {
  int order = strcmp(a->name, b->name);
  order = order ? order : compare(a->low, b->low, is_signed);
  return order ? order : compare(a->high, b->high, is_signed);
}

static int unsigned_mappings(const void *a, const void *b) { return by_label(a, b, false); }

static int signed_mappings(const void *a, const void *b) { return by_label(a, b, true); }

static struct kymo_mapping *sort_mappings(struct writer *writer, const struct kymo_type *type) {
  struct kymo_mapping *sorted = malloc((type->mapping_count + (size_t)1) * sizeof(*sorted));
  if (sorted && type->mapping_count > 0) {
    memcpy(sorted, type->mappings, type->mapping_count * sizeof(*sorted));
    qsort(sorted, type->mapping_count, sizeof(*sorted),
          type->is_signed ? signed_mappings : unsigned_mappings);
  }
  writer->details->text.failed |= !sorted;
  return sorted;
}

static uint32_t count_labels(const struct kymo_type *type, const struct kymo_mapping *sorted) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < type->mapping_count; i++)
    count += i == 0 || strcmp(sorted[i].name, sorted[i - 1].name) != 0;
  return count;
}

static void put_mappings(struct writer *writer, const struct kymo_type *type,
                         const struct kymo_mapping *sorted) {
  for (uint32_t i = 0; i < type->mapping_count; i++) {
    if (i == 0 || strcmp(sorted[i].name, sorted[i - 1].name) != 0) {
      put(writer, "\n");
      put_name(writer, sorted[i].name);
    }
    put_range(writer, sorted[i].low, sorted[i].high);
  }
}

/* ---- references ---- */

static const struct kymo_type *root_of(const struct writer *writer, enum kymo_scope scope) {
  switch (scope) {
  case KYMO_SCOPE_PACKET_CONTEXT: return writer->stream->packet_context;
  case KYMO_SCOPE_COMMON_CONTEXT: return writer->stream->common_context;
  case KYMO_SCOPE_SPECIFIC_CONTEXT: return writer->event ? writer->event->specific_context : NULL;
  case KYMO_SCOPE_PAYLOAD: return writer->event ? writer->event->payload : NULL;
  default: return NULL;
  }
}

/* One step of a reference: a member by name or position, or the element that contains the field. Returns the
 * type that it leads to. */
static const struct kymo_type *put_step(struct writer *writer, const struct kymo_type *type, uint32_t step,
                                        const char **separator) {
  bool is_element = step == KYMO_STEP_ELEMENT && type->kind != KYMO_KIND_VARIANT;
  uint32_t index = step == KYMO_STEP_ELEMENT ? 0 : step;
  bool is_option = type->kind == KYMO_KIND_VARIANT;
  if (is_element && (!writer->details->as_2_0 || type->kind == KYMO_KIND_OPTIONAL))
    return type->element;
  if (!is_element && index >= type->member_count)
    return NULL;
  if (is_option && !writer->details->as_2_0)
    return type->members[index].type;
  put(writer, *separator);
  *separator = ", ";
  if (is_element)
    put(writer, "<current>");
  else if (writer->details->as_2_0)
    kymo_details_unsigned(writer->details, shown_members(writer, type, index));
  else
    put(writer, type->members[index].name ? type->members[index].name : "");
  return is_element ? type->element : type->members[index].type;
}

/* "field location [Event payload: a, b]". */
static void put_reference(struct writer *writer, const struct kymo_reference *reference) {
  static const char *const scopes[KYMO_SCOPE_COUNT] = {
      "Packet header",        "Packet context",         "Event header",
      "Event common context", "Event specific context", "Event payload",
  };
  const struct kymo_type *type = root_of(writer, reference->scope);
  const char *separator = "";
  kymo_strbuf_printf(&writer->details->text, "field %s [%s: ", writer->details->as_2_0 ? "path" : "location",
                     scopes[reference->scope]);
  for (uint32_t i = 0; type && i < reference->depth; i++)
    type = put_step(writer, type, reference->steps[i], &separator);
  put(writer, "]");
}

/* ---- field classes ---- */

static bool is_enumeration(const struct kymo_type *type) {
  return (type->kind == KYMO_KIND_INTEGER || type->kind == KYMO_KIND_VARINT) &&
         (type->is_enumeration || type->mapping_count > 0);
}

static const char *choice_name(const struct kymo_type *type) {
  const struct kymo_type *selector = type->selector_type;
  if (type->kind == KYMO_KIND_OPTIONAL && selector && selector->kind == KYMO_KIND_BOOLEAN)
    return "Option (boolean selector)";
  if (type->kind == KYMO_KIND_OPTIONAL)
    return selector && selector->is_signed ? "Option (signed integer selector)"
                                           : "Option (unsigned integer selector)";
  return selector && selector->is_signed ? "Variant (signed integer selector)"
                                         : "Variant (unsigned integer selector)";
}

static const char *class_name(const struct kymo_type *type) {
  switch (type->kind) {
  case KYMO_KIND_BOOLEAN: return "Boolean";
  case KYMO_KIND_BITMAP: return "Bit array";
  case KYMO_KIND_INTEGER:
  case KYMO_KIND_VARINT:
    if (is_enumeration(type))
      return type->is_signed ? "Signed enumeration" : "Unsigned enumeration";
    return type->is_signed ? "Signed integer" : "Unsigned integer";
  case KYMO_KIND_FLOAT: return type->size_bits > 32 ? "Double-precision real" : "Single-precision real";
  case KYMO_KIND_STRING:
  case KYMO_KIND_TEXT_ARRAY:
  case KYMO_KIND_TEXT_SEQUENCE: return "String";
  case KYMO_KIND_BLOB_ARRAY: return "Static BLOB";
  case KYMO_KIND_BLOB_SEQUENCE: return "Dynamic BLOB (with length field)";
  case KYMO_KIND_ARRAY: return "Static array";
  case KYMO_KIND_SEQUENCE: return "Dynamic array (with length field)";
  case KYMO_KIND_STRUCT: return "Structure";
  case KYMO_KIND_UNION: return "Union";
  case KYMO_KIND_VARIANT:
  case KYMO_KIND_OPTIONAL: return choice_name(type);
  }
  return "";
}

static void put_integer_properties(struct writer *writer, const struct kymo_type *type) {
  unsigned bits = type->kind == KYMO_KIND_VARINT ? 64 : type->size_bits;
  kymo_strbuf_printf(&writer->details->text, " (%u-bit, Base %u", bits, type->base ? type->base : 10u);
  if (!is_enumeration(type))
    put(writer, ")");
}

/* Properties on the line of the class itself. */
static void put_properties(struct writer *writer, const struct kymo_type *type) {
  switch (type->kind) {
  case KYMO_KIND_INTEGER:
  case KYMO_KIND_VARINT: put_integer_properties(writer, type); break;
  case KYMO_KIND_STRUCT:
  case KYMO_KIND_UNION:
    put(writer, " (");
    put_count(writer, shown_members(writer, type, type->member_count), "member");
    put(writer, ")");
    break;
  case KYMO_KIND_ARRAY:
  case KYMO_KIND_BLOB_ARRAY:
    put(writer, " (Length ");
    kymo_details_unsigned(writer->details, type->length);
    put(writer, ")");
    break;
  case KYMO_KIND_SEQUENCE:
  case KYMO_KIND_BLOB_SEQUENCE:
    put(writer, " (Length ");
    put_reference(writer, &type->selector);
    put(writer, ")");
    break;
  case KYMO_KIND_OPTIONAL:
    put(writer, " (Selector ");
    put_reference(writer, &type->selector);
    put(writer, ")");
    break;
  case KYMO_KIND_VARIANT:
    put(writer, " (");
    put_count(writer, shown_members(writer, type, type->member_count), "option");
    put(writer, ", Selector ");
    put_reference(writer, &type->selector);
    put(writer, ")");
    break;
  default: break;
  }
}

static void put_class(struct writer *writer, const struct kymo_type *type);

/* The list after a class: on the lines below it, or if user attributes are there, after a title. */
static void open_list(struct writer *writer, const char *title, bool has_attributes) {
  if (!has_attributes) {
    put(writer, ":");
    return;
  }
  put(writer, "\n");
  put_name(writer, title);
  writer->details->indent += 2;
}

/* A member's or option's class, and its own user attributes. */
static void put_member_class(struct writer *writer, const struct kymo_member *member) {
  if (!member->attributes) {
    put(writer, " ");
    put_class(writer, member->type);
    return;
  }
  put(writer, "\n");
  writer->details->indent += 2;
  put_name(writer, "Field class");
  put(writer, " ");
  put_class(writer, member->type);
  put(writer, "\n");
  kymo_details_attributes(writer->details, member->attributes);
  writer->details->indent -= 2;
}

static void put_members(struct writer *writer, const struct kymo_type *type) {
  bool is_variant = type->kind == KYMO_KIND_VARIANT;
  for (uint32_t i = 0; i < type->member_count; i++) {
    const struct kymo_member *member = &type->members[i];
    if (is_hidden_member(writer, type, i))
      continue;
    put(writer, "\n");
    put_name(writer, member->name);
    if (is_variant) {
      put_ranges(writer, member->ranges, member->range_count,
                 type->selector_type && type->selector_type->is_signed);
      put(writer, ":");
    }
    put_member_class(writer, member);
  }
}

static void put_enumeration(struct writer *writer, const struct kymo_type *type, bool has_attributes) {
  struct kymo_mapping *sorted = sort_mappings(writer, type);
  if (sorted && type->mapping_count > 0) {
    open_list(writer, "Mappings", has_attributes);
    put_mappings(writer, type, sorted);
    writer->details->indent -= has_attributes ? 2 : 0;
  }
  free(sorted);
}

static void put_optional(struct writer *writer, const struct kymo_type *type) {
  const struct kymo_type *selector = type->selector_type;
  if (selector && selector->kind == KYMO_KIND_BOOLEAN) {
    put_line(writer, "Selector is reversed", false);
  } else {
    put_name(writer, "Selector ranges");
    put_ranges(writer, type->presence, type->presence_count, selector && selector->is_signed);
    put(writer, "\n");
  }
  put_name(writer, "Content");
  put(writer, " ");
  put_class(writer, type->element);
}

/* Properties on lines of their own. */
static void put_parts(struct writer *writer, const struct kymo_type *type, bool has_attributes) {
  switch (type->kind) {
  case KYMO_KIND_INTEGER:
  case KYMO_KIND_VARINT:
  case KYMO_KIND_BITMAP: put_enumeration(writer, type, has_attributes); break;
  case KYMO_KIND_STRUCT:
  case KYMO_KIND_UNION:
  case KYMO_KIND_VARIANT:
    if (shown_members(writer, type, type->member_count) == 0)
      break;
    open_list(writer, type->kind == KYMO_KIND_VARIANT ? "Options" : "Members", has_attributes);
    put_members(writer, type);
    writer->details->indent -= has_attributes ? 2 : 0;
    break;
  case KYMO_KIND_ARRAY:
  case KYMO_KIND_SEQUENCE:
    put(writer, has_attributes ? "\n" : ":\n");
    put_name(writer, "Element");
    put(writer, " ");
    put_class(writer, type->element);
    break;
  case KYMO_KIND_OPTIONAL:
    put(writer, has_attributes ? "\n" : ":\n");
    put_optional(writer, type);
    break;
  default: break;
  }
}

/* Counts of labels, after the class's name. */
static void put_label_count(struct writer *writer, const struct kymo_type *type) {
  bool is_bits = type->kind == KYMO_KIND_BITMAP;
  if (!is_enumeration(type) && !(is_bits && type->mapping_count > 0))
    return;
  struct kymo_mapping *sorted = sort_mappings(writer, type);
  if (sorted) {
    put(writer, is_bits ? " " : ", ");
    put_count(writer, count_labels(type, sorted), is_bits ? "flag" : "mapping");
    put(writer, ")"); /* babeltrace2 never opens that of flags either */
  }
  free(sorted);
}

static void put_class(struct writer *writer, const struct kymo_type *type) {
  struct kymo_details *details = writer->details;
  details->is_too_long |= details->text.length > KYMO_DETAILS_MAX;
  if (details->is_too_long)
    return;
  put(writer, class_name(type));
  put_properties(writer, type);
  put_label_count(writer, type);
  details->indent += 2;
  size_t before = details->text.length;
  put(writer, ":\n");
  bool has_attributes = kymo_details_attributes(details, type->attributes);
  if (!has_attributes && !details->text.failed)
    details->text.length = before;
  put_parts(writer, type, has_attributes);
  details->indent -= 2;
}

static void put_scope(struct writer *writer, const char *name, const struct kymo_type *type) {
  if (is_hidden(writer, type))
    return;
  put_name(writer, name);
  put(writer, " ");
  put_class(writer, type);
  put(writer, "\n");
}

/* ---- event classes ---- */

/* Attributes as lines of their own. */
static void put_attributes(struct writer *writer, const char *json) {
  if (kymo_details_attributes(writer->details, json))
    put(writer, "\n");
}

static void put_level(struct writer *writer, int32_t level) {
  static const char *const levels[] = {
      "Emergency",      "Alert",        "Critical",         "Error",           "Warning",
      "Notice",         "Info",         "Debug (system)",   "Debug (program)", "Debug (process)",
      "Debug (module)", "Debug (unit)", "Debug (function)", "Debug (line)",    "Debug",
  };
  if (level >= 0 && level < (int32_t)(sizeof(levels) / sizeof(levels[0])))
    kymo_details_line(writer->details, "Log level", levels[level]);
}

/* "Namespace `…`, UID `…`" and the separator after it: 2.1. */
static bool put_identity(struct kymo_details *details, const char *space, const char *uid) {
  if (details->as_2_0)
    return false;
  if (space)
    kymo_strbuf_printf(&details->text, "Namespace `%s`", space);
  if (uid)
    kymo_strbuf_printf(&details->text, "%sUID `%s`", space ? ", " : "", uid);
  return space || uid;
}

/* "KIND `NAME` (ID N):\n". */
static void put_head(struct writer *writer, const char *kind, const char *name, const char *attributes) {
  char *space = kymo_details_identity(attributes, "namespace"),
       *uid = kymo_details_identity(attributes, "uid");
  kymo_details_indent(writer->details);
  put(writer, kind);
  if (name && *name)
    kymo_strbuf_printf(&writer->details->text, " `%s`", name);
  put(writer, " (");
  if (put_identity(writer->details, space, uid))
    put(writer, ", ");
  put(writer, "ID ");
  free(space);
  free(uid);
}

static void put_event_class(struct writer *writer) {
  const struct kymo_event_class *class_ = writer->event;
  put_head(writer, "Event class", class_->name, class_->attributes);
  kymo_details_unsigned(writer->details, class_->id);
  put(writer, "):\n");
  writer->details->indent += 2;
  put_attributes(writer, class_->attributes);
  put_level(writer, class_->level);
  if (class_->uri)
    kymo_details_line(writer->details, "EMF URI", class_->uri);
  put_scope(writer, "Specific context field class", class_->specific_context);
  put_scope(writer, "Payload field class", class_->payload);
  writer->details->indent -= 2;
}

/* ---- stream classes ---- */

/* Whether a field of the type has the role. */
static bool has_role(const struct kymo_type *type, uint32_t role, unsigned depth) {
  if (!type || depth > KYMO_WALK_DEPTH)
    return false;
  for (uint32_t i = 0; i < type->member_count; i++)
    if (has_role(type->members[i].type, role, depth + 1))
      return true;
  return (type->roles & role) || has_role(type->element, role, depth + 1);
}

static void put_uuid(struct writer *writer, const char *name, const uint8_t uuid[16]) {
  char text[40];
  *kymo_put_uuid(text, uuid) = 0;
  kymo_details_line(writer->details, name, text);
}

static void put_number(struct writer *writer, const char *name, int64_t value, bool is_signed) {
  put_name(writer, name);
  put(writer, " ");
  if (is_signed)
    kymo_details_signed(writer->details, value);
  else
    kymo_details_unsigned(writer->details, (uint64_t)value);
  put(writer, "\n");
}

/* A property that the model keeps among the attributes. */
static void put_kept(struct writer *writer, const char *name, const char *attributes, const char *property) {
  char *text = kymo_details_identity(attributes, property);
  if (text)
    kymo_details_line(writer->details, name, text);
  free(text);
}

static void put_clock_identity(struct writer *writer, const struct kymo_clock *clock) {
  put_kept(writer, "Namespace", clock->attributes, "namespace");
  if (clock->name)
    kymo_details_line(writer->details, "Name", clock->name);
  if (clock->has_uuid)
    put_uuid(writer, "UID", clock->uuid);
  else
    put_kept(writer, "UID", clock->attributes, "uid");
}

static void put_clock_origin(struct writer *writer, const struct kymo_clock *clock) {
  if (clock->origin_is_epoch)
    kymo_details_line(writer->details, "Origin", "Unix epoch");
  if (clock->origin_is_epoch || !clock->origin_name)
    return;
  put_name(writer, "Origin");
  put(writer, "\n");
  writer->details->indent += 2;
  if (clock->origin_namespace)
    kymo_details_line(writer->details, "Namespace", clock->origin_namespace);
  kymo_details_line(writer->details, "Name", clock->origin_name);
  if (clock->origin_uid)
    kymo_details_line(writer->details, "UID", clock->origin_uid);
  writer->details->indent -= 2;
}

/* CTF 2 may leave out the precision; an explicit 0 is kept among the attributes. */
static bool has_precision(const struct writer *writer, const struct kymo_clock *clock) {
  if (clock->precision > 0 || writer->schema->major < 2)
    return true;
  char *text = kymo_details_identity(clock->attributes, "precision");
  bool is_said = text != NULL;
  free(text);
  return is_said;
}

static void put_clock(struct writer *writer, const struct kymo_clock *clock) {
  bool as_2_0 = writer->details->as_2_0;
  put_name(writer, "Default clock class");
  put(writer, "\n");
  writer->details->indent += 2;
  if (!as_2_0)
    put_clock_identity(writer, clock);
  else if (clock->name)
    kymo_details_line(writer->details, "Name", clock->name);
  put_attributes(writer, clock->attributes);
  if (clock->description)
    kymo_details_line(writer->details, "Description", clock->description);
  put_number(writer, "Frequency (Hz)", (int64_t)clock->frequency, false);
  if (as_2_0 || has_precision(writer, clock))
    put_number(writer, "Precision (cycles)", (int64_t)clock->precision, false);
  if (!as_2_0)
    put_kept(writer, "Accuracy (cycles)", clock->attributes, "accuracy");
  put_number(writer, as_2_0 ? "Offset (s)" : "Offset from origin (s)",
             (int64_t)((uint64_t)clock->offset_seconds + clock->offset_cycles / clock->frequency), true);
  put_number(writer, as_2_0 ? "Offset (cycles)" : "Offset from origin (cycles)",
             (int64_t)(clock->offset_cycles % clock->frequency), false);
  if (as_2_0)
    put_line(writer, "Origin is Unix epoch", clock->origin_is_epoch);
  else
    put_clock_origin(writer, clock);
  if (as_2_0 && clock->has_uuid)
    put_uuid(writer, "UUID", clock->uuid);
  writer->details->indent -= 2;
}

static void put_support(struct writer *writer) {
  const struct kymo_stream_class *class_ = writer->stream;
  const struct kymo_type *context = class_->packet_context;
  bool has_begin = class_->clock && has_role(context, KYMO_ROLE_TIMESTAMP, 0);
  bool has_end = class_->clock && has_role(context, KYMO_ROLE_TIMESTAMP_END, 0);
  bool has_events = has_role(context, KYMO_ROLE_DISCARDED, 0);
  bool has_packets = has_role(context, KYMO_ROLE_SEQUENCE_NUMBER, 0);
  put_line(writer, "Supports packets", true);
  put_line(writer, "Packets have beginning default clock snapshot", has_begin);
  put_line(writer, "Packets have end default clock snapshot", has_end);
  put_line(writer, "Supports discarded events", has_events);
  if (has_events)
    put_line(writer, "Discarded events have default clock snapshots", has_begin && has_end);
  put_line(writer, "Supports discarded packets", has_packets);
  if (has_packets)
    put_line(writer, "Discarded packets have default clock snapshots", has_begin && has_end);
}

static int events_by_id(const void *a, const void *b) {
  uint64_t one = (*(const struct kymo_event_class *const *)a)->id;
  uint64_t other = (*(const struct kymo_event_class *const *)b)->id;
  return (one > other) - (one < other);
}

static int streams_by_id(const void *a, const void *b) {
  uint64_t one = (*(const struct kymo_stream_class *const *)a)->id;
  uint64_t other = (*(const struct kymo_stream_class *const *)b)->id;
  return (one > other) - (one < other);
}

/* A copy of a list of pointers, in order; the caller frees it. */
static void *sorted(struct writer *writer, const void *list, size_t count,
                    int (*order)(const void *, const void *)) {
  void *copy = malloc((count + 1) * sizeof(void *));
  writer->details->text.failed |= !copy;
  if (copy && count > 0) {
    memcpy(copy, list, count * sizeof(void *));
    qsort(copy, count, sizeof(void *), order);
  }
  return copy;
}

static void put_event_classes(struct writer *writer) {
  const struct kymo_stream_class *stream = writer->stream;
  const struct kymo_event_class **events = sorted(writer, stream->events, stream->event_count, events_by_id);
  for (uint32_t i = 0; events && i < stream->event_count; i++) {
    writer->event = events[i];
    put_event_class(writer);
  }
  writer->event = NULL;
  free(events);
}

static void put_stream_class(struct writer *writer) {
  const struct kymo_stream_class *class_ = writer->stream;
  put_head(writer, "Stream class", class_->name, class_->attributes);
  kymo_details_unsigned(writer->details, class_->id);
  put(writer, "):\n");
  writer->details->indent += 2;
  put_attributes(writer, class_->attributes);
  put_support(writer);
  if (class_->clock)
    put_clock(writer, class_->clock);
  put_scope(writer, "Packet context field class", class_->packet_context);
  put_scope(writer, "Event common context field class", class_->common_context);
  put_event_classes(writer);
  writer->details->indent -= 2;
}

/* ---- the trace class ---- */

void kymo_details_trace_class(struct kymo_details *details, const struct kymo_schema *schema,
                              const struct kymo_names_part *names) {
  struct writer writer = {.details = details, .schema = schema, .names = names};
  const struct kymo_stream_class **streams =
      sorted(&writer, schema->streams, schema->stream_count, streams_by_id);
  put(&writer, "Trace class");
  put(&writer, schema->stream_count > 0 ? ":\n" : "");
  details->indent += 2;
  put_attributes(&writer, schema->attributes);
  for (uint32_t i = 0; streams && i < schema->stream_count; i++) {
    writer.stream = streams[i];
    put_stream_class(&writer);
  }
  details->indent -= 2;
  free(streams);
}

struct kymo_details_trace kymo_details_trace_of(const struct kymo_schema *schema) {
  const struct kymo_environment *tracer = kymo_schema_environment(schema, "tracer_name");
  bool is_lttng = tracer && tracer->text && strncmp(tracer->text, "lttng-", 6) == 0;
  char uuid[40];
  if (schema->major >= 2)
    return (struct kymo_details_trace){kymo_details_identity(schema->attributes, "namespace"),
                                       kymo_details_identity(schema->attributes, "uid"), false};
  *kymo_put_uuid(uuid, schema->uuid) = 0;
  struct kymo_details_trace trace = {is_lttng ? strdup("lttng.org,2009") : NULL,
                                     schema->has_uuid ? strdup(uuid) : NULL, false};
  trace.failed = (is_lttng && !trace.space) || (schema->has_uuid && !trace.uid);
  return trace;
}

void kymo_details_trace_identity(struct kymo_details *details, const struct kymo_schema *schema) {
  struct kymo_details_trace trace = kymo_details_trace_of(schema);
  if ((trace.space || trace.uid) && !details->as_2_0) {
    kymo_strbuf_puts(&details->text, " (");
    put_identity(details, trace.space, trace.uid);
    kymo_strbuf_puts(&details->text, ")");
  }
  details->text.failed |= trace.failed;
  free(trace.space);
  free(trace.uid);
}
