/* SPDX-License-Identifier: MIT */
/*
 * The schema of a trace in packets (CTF) → a description of its stream files:
 *
 *   RECORD packet     header and context; its content holds the events
 *   RECORD padding    from the packet's content to its end
 *   RECORD name       one for each event class, selected by the id in the PREFIX that all begin with
 *
 * A part that is not translated to TDL here (variants, optional fields, lists of structs) ends its record
 * with `rest`, which takes the packet's other bytes: nothing after it is misread.
 */
#include "base/fail.h"
#include "infer/skeleton.h"
#include "schema/flag.h"
#include "schema/parts.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { GROUP_DEPTH = 16, VALUES_MAX = 1024 };

struct inference {
  struct tool_skeleton skeleton;
  const struct kymo_schema *schema;
  const struct kymo_stream_class *stream;
  const char *clock;   /* its name in the text, or NULL */
  uint32_t align_bits; /* of the events */
};

/* The text of one struct. */
struct fields {
  struct inference *inference;
  struct kymo_strbuf *out;
  const struct kymo_type *type; /* the struct */
  enum kymo_scope scope;
  unsigned depth; /* of groups */
  bool is_odd;    /* may end within a byte */
};

static bool put_members(struct fields *fields);

/* ---- types ---- */

static const char *declare_list(struct fields *fields, const struct kymo_type *type, const char *name) {
  struct tool_skeleton_value values[VALUES_MAX];
  size_t count = 0;
  bool is_flags = type->kind == KYMO_KIND_BITMAP;
  for (uint32_t i = 0; i < type->mapping_count && count < VALUES_MAX;) {
    const struct kymo_mapping *mapping = &type->mappings[i];
    if (is_flags) {
      struct kymo_flag flag = kymo_flag_take(type, &i);
      values[count++] = (struct tool_skeleton_value){flag.name, flag.ones | flag.zeros, flag.ones};
      continue;
    }
    values[count++] = (struct tool_skeleton_value){mapping->name, mapping->low, mapping->high};
    i++;
  }
  const char *given = tool_skeleton_new_name(&fields->inference->skeleton, type->name ? type->name : name);
  tool_skeleton_list(&fields->inference->skeleton, given, values, count, is_flags, type->is_signed);
  if (count == VALUES_MAX)
    kymo_strbuf_puts(&fields->inference->skeleton.lists, "  -- more values than these were left out\n");
  return given;
}

static bool put_integer(struct fields *fields, const struct kymo_type *type, const char *name) {
  struct kymo_strbuf *out = fields->out;
  if (type->bits_reversed)
    return false;
  const char *list = type->mapping_count ? declare_list(fields, type, name) : NULL;
  kymo_strbuf_printf(out, "%s %" PRIu32, type->is_signed ? "INTEGER" : "UNSIGNED", type->size_bits);
  if (type->order != fields->inference->schema->order)
    kymo_strbuf_puts(out, type->order == KYMO_ORDER_BIG ? " BIG" : " LITTLE");
  if (list)
    kymo_strbuf_printf(out, " %s %s", type->kind == KYMO_KIND_BITMAP ? "FLAGS" : "TOKEN", list);
  else if (type->is_address || type->base == 16)
    kymo_strbuf_puts(out, type->is_address ? " SHOW ADDRESS" : " SHOW HEX");
  return true;
}

/* The name of the previous field that contains a length, or NULL. */
static const char *length_of(const struct fields *fields, const struct kymo_type *type) {
  const struct kymo_reference *selector = &type->selector;
  bool is_here = selector->scope == fields->scope && selector->depth == 1 && fields->depth == 0 &&
                 fields->scope != KYMO_SCOPE_PACKET_HEADER; /* its first member is in the prefix */
  return is_here ? tool_skeleton_name(fields->type->members[selector->steps[0]].name) : NULL;
}

static bool is_text(const struct kymo_type *type) { return type->encoding <= KYMO_ENCODING_UTF8; }

static bool put_scalar(struct fields *fields, const struct kymo_type *type, const char *name) {
  switch (type->kind) {
  case KYMO_KIND_INTEGER:
  case KYMO_KIND_BOOLEAN:
  case KYMO_KIND_BITMAP: return put_integer(fields, type, name);
  case KYMO_KIND_FLOAT:
    kymo_strbuf_printf(fields->out, "FLOAT %" PRIu32, type->size_bits);
    return type->align_bits >= 8 && !type->bits_reversed && type->order == fields->inference->schema->order;
  case KYMO_KIND_VARINT:
    kymo_strbuf_puts(fields->out, type->is_signed ? "VARINT SLEB" : "VARINT LEB");
    return true;
  case KYMO_KIND_STRING: kymo_strbuf_puts(fields->out, "STRING ENDED 0"); return is_text(type);
  case KYMO_KIND_TEXT_ARRAY:
    kymo_strbuf_printf(fields->out, "STRING %" PRIu64, type->length);
    return is_text(type);
  case KYMO_KIND_BLOB_ARRAY: kymo_strbuf_printf(fields->out, "BYTES %" PRIu64, type->length); return true;
  default: return false;
  }
}

static bool put_list(struct fields *fields, const struct kymo_type *type, const char *name) {
  const struct kymo_type *element = type->element;
  bool has_gaps = element->size_bits % 8 || element->align_bits > 8;
  if (type->kind == KYMO_KIND_ARRAY)
    kymo_strbuf_printf(fields->out, "ARRAY %" PRIu64 " OF ", type->length);
  else
    kymo_strbuf_printf(fields->out, "ARRAY %s OF ", length_of(fields, type));
  return !has_gaps && put_scalar(fields, element, name);
}

static bool put_type(struct fields *fields, const struct kymo_type *type, const char *name) {
  const char *length;
  switch (type->kind) {
  case KYMO_KIND_ARRAY: return put_list(fields, type, name);
  case KYMO_KIND_SEQUENCE: return length_of(fields, type) && put_list(fields, type, name);
  case KYMO_KIND_TEXT_SEQUENCE:
  case KYMO_KIND_BLOB_SEQUENCE:
    length = length_of(fields, type);
    kymo_strbuf_printf(fields->out, "%s %s", type->kind == KYMO_KIND_TEXT_SEQUENCE ? "STRING" : "BYTES",
                       length ? length : "?");
    return length && is_text(type);
  default: return put_scalar(fields, type, name);
  }
}

/* ---- fields ---- */

static void put_time(struct fields *fields, const struct kymo_type *type, struct kymo_strbuf *text) {
  if (!fields->inference->clock || type->kind != KYMO_KIND_INTEGER || !(type->roles & KYMO_ROLE_TIMESTAMP))
    return;
  kymo_strbuf_printf(text, " TIME %s ", fields->inference->clock);
  if (fields->scope == KYMO_SCOPE_PACKET_CONTEXT)
    kymo_strbuf_puts(text, "BASE");
  else if (type->size_bits < 64)
    kymo_strbuf_printf(text, "LOW %" PRIu32, type->size_bits);
  else
    kymo_strbuf_puts(text, "POINT");
}

/* Fields that only serve to find others are read and not shown. */
static void put_name(struct fields *fields, const struct kymo_member *member) {
  bool is_time = fields->scope == KYMO_SCOPE_EVENT_HEADER && member->type->roles & KYMO_ROLE_TIMESTAMP;
  bool is_id = fields->scope == KYMO_SCOPE_EVENT_HEADER && member->type->roles & KYMO_ROLE_EVENT_CLASS_ID;
  bool is_magic = fields->scope == KYMO_SCOPE_PACKET_HEADER && member->type->roles & KYMO_ROLE_MAGIC;
  kymo_strbuf_printf(fields->out, "    %s: ",
                     is_time && fields->inference->clock ? "ACQUISITION"
                     : is_id                             ? "_id"
                     : is_magic                          ? "_magic"
                                                         : tool_skeleton_name(member->name));
}

static void put_alignment(struct fields *fields, const struct kymo_type *type) {
  bool is_first = fields->scope == KYMO_SCOPE_EVENT_HEADER &&
                  type == fields->type->members[0].type; /* the record's ALIGN does this */
  if ((type->align_bits > 8 && !is_first) || (type->align_bits == 8 && fields->is_odd))
    kymo_strbuf_printf(fields->out, "    FILLER ALIGN %" PRIu32 ";\n", type->align_bits / 8);
  fields->is_odd =
      type->kind < KYMO_KIND_STRING && (type->size_bits % 8 || (fields->is_odd && type->align_bits < 8));
}

static bool put_group(struct fields *fields, const struct kymo_member *member) {
  struct inference *inference = fields->inference;
  struct kymo_strbuf text = {0};
  struct fields inner = {.inference = inference,
                         .out = &text,
                         .type = member->type,
                         .scope = fields->scope,
                         .depth = fields->depth + 1,
                         .is_odd = fields->is_odd};
  if (inner.depth > GROUP_DEPTH || member->type->member_count == 0 || !put_members(&inner)) {
    kymo_strbuf_free(&text);
    return member->type->member_count == 0;
  }
  const char *group = tool_skeleton_new_name(&inference->skeleton, member->name);
  kymo_strbuf_printf(&inference->skeleton.groups, "  GROUP %s IS\n%s  END;\n", group,
                     text.text ? text.text : "");
  kymo_strbuf_printf(fields->out, "    %s: USE %s;\n", tool_skeleton_name(member->name), group);
  fields->is_odd = inner.is_odd;
  fields->out->failed |= text.failed;
  kymo_strbuf_free(&text);
  return true;
}

static bool put_member(struct fields *fields, const struct kymo_member *member) {
  struct kymo_strbuf *real = fields->out, type = {0};
  if (member->type->align_bits > 8 && member->type->align_bits > fields->inference->align_bits &&
      fields->scope > KYMO_SCOPE_PACKET_CONTEXT)
    return false; /* its begin is only known in the packet */
  put_alignment(fields, member->type);
  if (member->type->kind == KYMO_KIND_STRUCT)
    return put_group(fields, member);
  fields->out = &type;
  bool is_said = put_type(fields, member->type, member->name);
  fields->out = real;
  if (is_said) {
    put_time(fields, member->type, &type);
    put_name(fields, member);
    kymo_strbuf_printf(real, "%s;\n", type.text ? type.text : "");
  }
  real->failed |= type.failed;
  kymo_strbuf_free(&type);
  return is_said;
}

static bool put_members(struct fields *fields) {
  for (uint32_t i = 0; fields->type && i < fields->type->member_count; i++)
    if (!put_member(fields, &fields->type->members[i]))
      return false;
  return true;
}

/* The members of a scope's struct, or of none. A part that cannot be described ends them with `rest`. */
static bool put_scope(struct inference *inference, const struct kymo_type *type, enum kymo_scope scope) {
  struct fields fields = {
      .inference = inference, .out = &inference->skeleton.body, .type = type, .scope = scope};
  if (put_members(&fields))
    return true;
  kymo_strbuf_puts(
      fields.out,
      "    rest: BYTES TO END;  -- and from here on by hand: what comes next is not said by this skeleton\n");
  inference->skeleton.unknown++;
  return false;
}

/* ---- records ---- */

static const struct kymo_member *find_role(const struct kymo_type *type, uint32_t role) {
  for (uint32_t i = 0; type && i < type->member_count; i++)
    if (type->members[i].type->roles & role)
      return &type->members[i];
  return NULL;
}

static void put_clock(struct inference *inference, struct kymo_strbuf *out) {
  const struct kymo_clock *clock = inference->stream->clock;
  char date[40];
  struct tm parts;
  if (!inference->clock)
    return;
  uint64_t ns = (uint64_t)((unsigned __int128)clock->offset_cycles * 1000000000 / clock->frequency);
  time_t seconds = (time_t)clock->offset_seconds + (time_t)(ns / 1000000000);
  kymo_strbuf_printf(out, "  CLOCK %s IS", inference->clock);
  if (clock->origin_is_epoch && gmtime_r(&seconds, &parts) &&
      strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts))
    kymo_strbuf_printf(out, " EPOCH \"%s.%09uZ\"", date, (unsigned)(ns % 1000000000));
  kymo_strbuf_printf(out, " RATE %" PRIu64 ";\n", clock->frequency);
}

static void put_event(struct inference *inference, const struct kymo_event_class *event, const char *name) {
  struct kymo_strbuf *out = &inference->skeleton.body;
  kymo_strbuf_printf(out, "  RECORD %s EVENT WITH event_begin", name);
  if (find_role(inference->stream->event_header, KYMO_ROLE_EVENT_CLASS_ID))
    kymo_strbuf_printf(out, " WHEN _id=%" PRIu64, event->id);
  if (inference->align_bits > 8)
    kymo_strbuf_printf(out, " ALIGN %" PRIu32, inference->align_bits / 8);
  kymo_strbuf_puts(out, " IS\n");
  if (put_scope(inference, event->specific_context, KYMO_SCOPE_SPECIFIC_CONTEXT))
    put_scope(inference, event->payload, KYMO_SCOPE_PAYLOAD);
  kymo_strbuf_puts(out, "  END;\n");
}

/* "a OR b": the names of the records of all event classes, which are the same each time. */
static void put_names(struct inference *inference, struct kymo_strbuf *out) {
  struct tool_skeleton names = {0};
  for (uint32_t i = 0; i < inference->stream->event_count; i++) {
    const char *name = strrchr(inference->stream->events[i]->name, ':');
    name = tool_skeleton_new_name(&names, name ? name + 1 : inference->stream->events[i]->name);
    kymo_strbuf_printf(out, "%s%s", i ? i % 8 ? " OR " : "\n      OR " : "", name);
  }
  out->failed |= names.failed;
  tool_skeleton_free(&names);
}

static void put_packet(struct inference *inference) {
  struct kymo_strbuf *out = &inference->skeleton.body;
  const struct kymo_schema *schema = inference->schema;
  const struct kymo_member *content = find_role(inference->stream->packet_context, KYMO_ROLE_CONTENT_SIZE);
  const struct kymo_member *whole = find_role(inference->stream->packet_context, KYMO_ROLE_PACKET_SIZE);
  struct kymo_type rest = *schema->packet_header;
  char content_name[84], whole_name[84];
  snprintf(content_name, sizeof content_name, "%s", tool_skeleton_name(content->name));
  snprintf(whole_name, sizeof whole_name, "%s", tool_skeleton_name(whole->name));
  kymo_strbuf_puts(out, "  PREFIX packet_begin IS _magic: UNSIGNED 32; END;\n"
                        "  RECORD packet SEGMENT WITH packet_begin WHEN _magic=0xc1fc1fc1 ");
  kymo_strbuf_printf(out, "LENGTH %s/8 HOLDS ", content_name);
  put_names(inference, out);
  kymo_strbuf_puts(out, " IS\n");
  rest.members++, rest.member_count--;
  if (put_scope(inference, &rest, KYMO_SCOPE_PACKET_HEADER))
    put_scope(inference, inference->stream->packet_context, KYMO_SCOPE_PACKET_CONTEXT);
  kymo_strbuf_printf(out,
                     "  END;\n  RECORD padding CONTROL WITH packet_begin WHEN _magic<>0xc1fc1fc1 "
                     "LENGTH (packet.%s-packet.%s)/8 IS END;\n",
                     whole_name, content_name);
}

static void put_records(struct inference *inference) {
  struct kymo_strbuf *out = &inference->skeleton.body;
  struct tool_skeleton names = {0};
  put_packet(inference);
  kymo_strbuf_puts(out, "  PREFIX event_begin IS\n");
  if (put_scope(inference, inference->stream->event_header, KYMO_SCOPE_EVENT_HEADER))
    put_scope(inference, inference->stream->common_context, KYMO_SCOPE_COMMON_CONTEXT);
  kymo_strbuf_puts(out, "  END;\n");
  for (uint32_t i = 0; i < inference->stream->event_count; i++) {
    const char *name = strrchr(inference->stream->events[i]->name, ':');
    put_event(inference, inference->stream->events[i],
              tool_skeleton_new_name(&names, name ? name + 1 : inference->stream->events[i]->name));
  }
  out->failed |= names.failed;
  tool_skeleton_free(&names);
}

/* ---- the whole ---- */

static bool is_fit(const struct kymo_schema *schema, const struct kymo_stream_class *stream) {
  const struct kymo_type *header = schema->packet_header;
  bool has_magic = header && header->member_count > 0 && header->members[0].type->roles & KYMO_ROLE_MAGIC;
  bool has_sizes = find_role(stream->packet_context, KYMO_ROLE_CONTENT_SIZE) &&
                   find_role(stream->packet_context, KYMO_ROLE_PACKET_SIZE);
  return has_magic && has_sizes && stream->event_count > 0 && stream->event_header &&
         stream->event_header->member_count > 0;
}

static void put_head(struct inference *inference, struct kymo_strbuf *out) {
  const struct kymo_schema *schema = inference->schema;
  const char *group = inference->stream->events[0]->group;
  kymo_strbuf_printf(out, "-- The files of stream class %" PRIu64 ", from the description of the trace.\n",
                     inference->stream->id);
  if (schema->stream_count > 1)
    kymo_strbuf_printf(out, "-- There are %" PRIu32 " stream classes, each of files of its own.\n",
                       schema->stream_count);
  if (inference->skeleton.unknown)
    kymo_strbuf_printf(out, "-- Places to be completed by hand: %u. They are called `rest`.\n",
                       inference->skeleton.unknown);
  kymo_strbuf_printf(out, "TRACE %s;\n  BYTES %s;\n", tool_skeleton_name(group && *group ? group : "trace"),
                     schema->order == KYMO_ORDER_BIG ? "BIG" : "LITTLE");
}

int tool_infer_trace(struct kymo_strbuf *out, const struct kymo_schema *schema, const char *path,
                     struct kymo_error *error) {
  const struct kymo_stream_class *stream = schema->stream_count ? schema->streams[0] : NULL;
  if (!stream || !is_fit(schema, stream))
    return kymo_fail_at(
        error, KYMO_E_UNKNOWN, path, KYMO_ERROR_NO_OFFSET,
        "expected events in packets with a magic number, content_size and packet_size, found something else");
  struct inference inference = {
      .schema = schema, .stream = stream, .align_bits = stream->event_header->align_bits};
  struct tool_skeleton *skeleton = &inference.skeleton;
  char clock[84] = "";
  if (stream->clock)
    snprintf(clock, sizeof clock, "%s",
             tool_skeleton_name(stream->clock->name ? stream->clock->name : "clock"));
  inference.clock = *clock ? clock : NULL;
  put_records(&inference);
  put_head(&inference, out);
  put_clock(&inference, out);
  kymo_strbuf_printf(out, "%s%s%s  LAYOUT REPEAT packet OR padding;\nEND TRACE.\n",
                     skeleton->lists.text ? skeleton->lists.text : "",
                     skeleton->groups.text ? skeleton->groups.text : "",
                     skeleton->body.text ? skeleton->body.text : "");
  out->failed |=
      skeleton->failed || skeleton->lists.failed || skeleton->groups.failed || skeleton->body.failed;
  tool_skeleton_free(skeleton);
  return KYMO_OK;
}
