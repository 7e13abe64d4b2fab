/* SPDX-License-Identifier: MIT */
#include "record/describe.h"
#include "ring/layout.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- the macro's arguments ---- */

/* The length of the first argument in `text`: up to a comma outside brackets and quotes. */
static size_t argument_length(const char *text, size_t size) {
  int depth = 0;
  char quote = 0;
  size_t i = 0;
  for (; i < size; i++) {
    char c = text[i];
    if (quote) {
      if (c == '\\')
        i++;
      else if (c == quote)
        quote = 0;
    } else if (c == '"' || c == '\'')
      quote = c;
    else if (strchr("([{", c))
      depth++;
    else if (strchr(")]}", c))
      depth--;
    else if (c == ',' && !depth)
      break;
  }
  return i < size ? i : size;
}

struct slice {
  const char *at;
  size_t length;
};

static struct slice trim(struct slice s) {
  while (s.length && isspace((unsigned char)*s.at))
    s.at++, s.length--;
  while (s.length && isspace((unsigned char)s.at[s.length - 1]))
    s.length--;
  return s;
}

/* Takes the first argument off *rest. */
static struct slice next_argument(struct slice *rest) {
  struct slice argument = {rest->at, argument_length(rest->at, rest->length)};
  size_t step = argument.length < rest->length ? argument.length + 1 : rest->length;
  rest->at += step;
  rest->length -= step;
  return trim(argument);
}

static bool starts(struct slice s, const char *with) {
  return s.length >= strlen(with) && !memcmp(s.at, with, strlen(with));
}

/* "KYMO_HEX(flags, p->flags)" and, when another macro has expanded it, "(kymo_value, flags, …, kymo_field)"
 * name their field; anything else is its own name. */
static struct slice field_name(struct slice s) {
  bool expanded =
      s.length && *s.at == '(' && s.length > 12 && !memcmp(s.at + s.length - 11, "kymo_field)", 11);
  if (!expanded && !(starts(s, "KYMO_") && s.at[s.length - 1] == ')'))
    return s;
  const char *open = memchr(s.at, '(', s.length);
  if (!open)
    return s;
  struct slice inner = {open + 1, s.length - (size_t)(open + 1 - s.at) - 1};
  if (expanded)
    next_argument(&inner);
  return next_argument(&inner);
}

/* p->port[3] becomes p_port_3. */
static void identifier(char *out, size_t size, struct slice s, uint32_t number) {
  size_t n = 0;
  for (size_t i = 0; i < s.length && n + 1 < size; i++) {
    unsigned char c = (unsigned char)s.at[i];
    if (isalnum(c) || c == '_')
      out[n++] = (char)c;
    else if (n && out[n - 1] != '_')
      out[n++] = '_';
  }
  while (n && out[n - 1] == '_' && !(s.length && s.at[s.length - 1] == '_'))
    n--;
  out[n] = 0;
  if (!n)
    snprintf(out, size, "field%u", number);
  else if (isdigit((unsigned char)out[0])) {
    memmove(out + 1, out, n < size - 1 ? n + 1 : n);
    out[0] = 'v';
    out[size - 1] = 0;
  }
}

/* A second `len` becomes len_2. */
static void make_unique(struct kymo_point_text *out, uint32_t index) {
  char plain[64];
  memcpy(plain, out->field[index], sizeof plain);
  for (uint32_t copy = 2, i = 0; i < index;) {
    if (strcmp(out->field[i], out->field[index])) {
      i++;
      continue;
    }
    snprintf(out->field[index], sizeof out->field[index], "%.*s_%u", 58, plain, copy++);
    i = 0;
  }
}

bool kymo_point_parse(struct kymo_point_text *out, const struct kymo_tracepoint *point, const uint64_t *codes,
                      const char *text, size_t size) {
  const char *end = memchr(text, 0, size);
  if (!end || point->count > KYMO_FIELDS_MAX)
    return false;
  struct slice rest = {text, (size_t)(end - text)};
  out->count = point->count;
  out->line = point->line;
  out->file = memchr(end + 1, 0, size - (size_t)(end + 1 - text)) ? end + 1 : "";
  struct slice name = next_argument(&rest);
  if (point->flags & KYMO_POINT_NAMED_)
    snprintf(out->name, sizeof out->name, "%.*s", (int)name.length, name.at);
  else {
    struct slice second = next_argument(&rest);
    snprintf(out->name, sizeof out->name, "%.*s:%.*s", (int)name.length, name.at, (int)second.length,
             second.at);
  }
  if (!name.length)
    return false;
  for (uint32_t i = 0; i < out->count; i++) {
    struct slice field = next_argument(&rest);
    if (!field.length)
      return false;
    identifier(out->field[i], sizeof out->field[i], field_name(field), i + 1);
    make_unique(out, i);
    out->code[i] = codes[i];
  }
  return true;
}

/* ---- schema ---- */

static const enum kymo_byte_order native =
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? KYMO_ORDER_LITTLE : KYMO_ORDER_BIG;

static const struct kymo_type *integer(struct kymo_builder *b, uint32_t bits, bool is_signed, uint8_t base) {
  return kymo_builder_type(b, &(struct kymo_type){.kind = KYMO_KIND_INTEGER,
                                                  .align_bits = 8,
                                                  .size_bits = bits,
                                                  .order = native,
                                                  .is_signed = is_signed,
                                                  .base = base});
}

static const struct kymo_type *scalar(struct kymo_builder *b, uint32_t type, uint8_t base) {
  uint32_t bits = (type & 15) * 8;
  switch (type & 0xf0) {
  case KYMO_TYPE_SIGNED_: return integer(b, bits, true, base);
  case KYMO_TYPE_CHAR_: return integer(b, bits, (char)-1 < 0, base);
  case KYMO_TYPE_FLOAT_:
    return kymo_builder_type(
        b, &(struct kymo_type){.kind = KYMO_KIND_FLOAT, .align_bits = 8, .size_bits = bits, .order = native});
  case KYMO_TYPE_POINTER_:
    return kymo_builder_type(b, &(struct kymo_type){.kind = KYMO_KIND_INTEGER,
                                                    .align_bits = 8,
                                                    .size_bits = bits,
                                                    .order = native,
                                                    .base = 16,
                                                    .is_address = true});
  case KYMO_TYPE_BOOL_:
    return kymo_builder_type(
        b,
        &(struct kymo_type){.kind = KYMO_KIND_BOOLEAN, .align_bits = 8, .size_bits = bits, .order = native});
  default: return integer(b, bits, false, base);
  }
}

/* Members of one payload under construction. */
struct members {
  struct kymo_builder *builder;
  const struct kymo_point_text *point; /* or NULL */
  struct kymo_member *member;
  uint32_t count;
};

static bool add(struct members *m, const char *name, const struct kymo_type *type) {
  char *copy = kymo_arena_copy(kymo_builder_arena(m->builder), name, strlen(name));
  if (!copy || !type)
    return false;
  m->member[m->count++] = (struct kymo_member){.name = copy, .source_name = copy, .type = type};
  return true;
}

static bool is_taken(const struct members *m, const char *name) {
  for (uint32_t i = 0; i < m->count; i++)
    if (!strcmp(m->member[i].name, name))
      return true;
  for (uint32_t i = 0; i < m->point->count; i++)
    if (!strcmp(m->point->field[i], name))
      return true;
  return false;
}

/* A 32-bit count "_NAME_length" and behind it the elements, as LTTng names them. */
static bool add_counted(struct members *m, const char *name, const struct kymo_type *element, bool is_blob) {
  char length[96];
  snprintf(length, sizeof length, "_%s_length", name);
  for (uint32_t copy = 2; is_taken(m, length); copy++)
    snprintf(length, sizeof length, "_%s_length_%u", name, copy);
  uint32_t *step = kymo_arena_alloc(kymo_builder_arena(m->builder), sizeof *step);
  const struct kymo_type *count = integer(m->builder, 32, false, 0);
  if (!step || !add(m, length, count))
    return false;
  *step = m->count - 1;
  return add(m, name,
             kymo_builder_type(m->builder, &(struct kymo_type){.kind = is_blob ? KYMO_KIND_BLOB_SEQUENCE
                                                                               : KYMO_KIND_SEQUENCE,
                                                               .align_bits = 8,
                                                               .element = is_blob ? NULL : element,
                                                               .selector = {KYMO_SCOPE_PAYLOAD, 1, step},
                                                               .selector_type = count}));
}

static bool add_field(struct members *m, const char *name, uint64_t code) {
  uint32_t type = code & 255, kind = code >> 8 & 255;
  uint8_t base = code >> 16 & 255;
  struct kymo_builder *b = m->builder;
  switch (kind) {
  case KYMO_KIND_BLOB_: return add_counted(m, name, NULL, true);
  case KYMO_KIND_ARRAY_: return add_counted(m, name, scalar(b, type, base), false);
  case KYMO_KIND_FIXED_:
    return add(m, name,
               kymo_builder_type(b, &(struct kymo_type){.kind = KYMO_KIND_BLOB_ARRAY,
                                                        .align_bits = 8,
                                                        .length = code >> 32,
                                                        .size_bits = (uint32_t)(code >> 32) * 8}));
  default:
    if (type != KYMO_TYPE_TEXT_)
      return add(m, name, scalar(b, type, base));
    return add(m, name,
               kymo_builder_type(b, &(struct kymo_type){.kind = KYMO_KIND_STRING,
                                                        .align_bits = 8,
                                                        .encoding = KYMO_ENCODING_UTF8}));
  }
}

static const struct kymo_type *structure(struct members *m) {
  return kymo_builder_type(m->builder, &(struct kymo_type){.kind = KYMO_KIND_STRUCT,
                                                           .align_bits = 8,
                                                           .member_count = m->count,
                                                           .members = m->member});
}

const struct kymo_event_class *kymo_point_describe(struct kymo_builder *builder,
                                                   struct kymo_stream_class *stream,
                                                   const struct kymo_point_text *point, uint64_t id) {
  struct kymo_arena *arena = kymo_builder_arena(builder);
  struct members m = {builder, point,
                      kymo_arena_array(arena, 2 * KYMO_FIELDS_MAX, sizeof(struct kymo_member)), 0};
  if (!m.member)
    return NULL;
  for (uint32_t i = 0; i < point->count; i++)
    if (!add_field(&m, point->field[i], point->code[i]))
      return NULL;
  const char *colon = strchr(point->name, ':');
  struct kymo_event_class *out = NULL;
  struct kymo_event_class event = {
      .id = id,
      .group = kymo_arena_copy(arena, point->name, colon ? (size_t)(colon - point->name) : 0),
      .name = kymo_arena_copy(arena, point->name, strlen(point->name)),
      .level = -1,
      .source_file = kymo_arena_copy(arena, point->file, strlen(point->file)),
      .source_line = point->line,
      .payload = structure(&m),
  };
  if (!event.group || !event.name || !event.source_file || !event.payload)
    return NULL;
  return kymo_builder_event(builder, stream, &event, &out, NULL) ? NULL : out;
}

/* struct kymo_packet_header (ring/layout.h), member by member. */
static const struct kymo_type *packet_header(struct kymo_builder *b) {
  struct members m = {b, NULL, kymo_arena_array(kymo_builder_arena(b), 4, sizeof(struct kymo_member)), 0};
  if (!m.member)
    return NULL;
  struct kymo_type magic = *integer(b, 32, false, 16), id = *integer(b, 32, false, 0),
                   instance = *integer(b, 64, false, 0);
  magic.roles = KYMO_ROLE_MAGIC;
  id.roles = KYMO_ROLE_STREAM_CLASS_ID;
  instance.roles = KYMO_ROLE_STREAM_ID;
  struct kymo_type uuid = {
      .kind = KYMO_KIND_BLOB_ARRAY, .align_bits = 8, .length = 16, .size_bits = 128, .roles = KYMO_ROLE_UUID};
  bool ok = add(&m, "magic", kymo_builder_type(b, &magic)) && add(&m, "uuid", kymo_builder_type(b, &uuid)) &&
            add(&m, "stream_id", kymo_builder_type(b, &id)) &&
            add(&m, "stream_instance_id", kymo_builder_type(b, &instance));
  return ok ? structure(&m) : NULL;
}

static bool add_role(struct members *m, const char *name, uint32_t role, const struct kymo_clock *clock) {
  struct kymo_type type = {.kind = KYMO_KIND_INTEGER,
                           .align_bits = 8,
                           .size_bits = 64,
                           .order = native,
                           .roles = role,
                           .clock = clock};
  return add(m, name, kymo_builder_type(m->builder, &type));
}

static const struct kymo_type *packet_context(struct kymo_builder *b, const struct kymo_clock *clock) {
  struct members m = {b, NULL, kymo_arena_array(kymo_builder_arena(b), 16, sizeof(struct kymo_member)), 0};
  if (!m.member)
    return NULL;
  struct kymo_type name = {.kind = KYMO_KIND_TEXT_ARRAY,
                           .align_bits = 8,
                           .length = 16,
                           .size_bits = 128,
                           .encoding = KYMO_ENCODING_UTF8};
  bool ok = add_role(&m, "timestamp_begin", KYMO_ROLE_TIMESTAMP, clock) &&
            add_role(&m, "timestamp_end", KYMO_ROLE_TIMESTAMP_END, clock) &&
            add_role(&m, "content_size", KYMO_ROLE_CONTENT_SIZE, NULL) &&
            add_role(&m, "packet_size", KYMO_ROLE_PACKET_SIZE, NULL) &&
            add_role(&m, "packet_seq_num", KYMO_ROLE_SEQUENCE_NUMBER, NULL) &&
            add_role(&m, "events_discarded", KYMO_ROLE_DISCARDED, NULL) &&
            add(&m, "first_event", integer(b, 64, false, 0)) &&
            add(&m, "event_count", integer(b, 32, false, 0)) &&
            add(&m, "discarded_large", integer(b, 32, false, 0)) &&
            add(&m, "discarded_nested", integer(b, 32, false, 0)) &&
            add(&m, "tid", integer(b, 32, true, 0)) && add(&m, "thread_name", kymo_builder_type(b, &name));
  return ok ? structure(&m) : NULL;
}

/* One 64-bit word, 16 bits of id and 48 of time; each event begins on an 8-byte border. */
static const struct kymo_type *event_header(struct kymo_builder *b, const struct kymo_clock *clock) {
  struct members m = {b, NULL, kymo_arena_array(kymo_builder_arena(b), 2, sizeof(struct kymo_member)), 0};
  if (!m.member)
    return NULL;
  struct kymo_type id = {.kind = KYMO_KIND_INTEGER,
                         .align_bits = 64,
                         .size_bits = 16,
                         .order = native,
                         .roles = KYMO_ROLE_EVENT_CLASS_ID};
  struct kymo_type time = {.kind = KYMO_KIND_INTEGER,
                           .align_bits = 1,
                           .size_bits = 48,
                           .order = native,
                           .roles = KYMO_ROLE_TIMESTAMP,
                           .clock = clock};
  bool ok = add(&m, "id", kymo_builder_type(b, &id)) && add(&m, "timestamp", kymo_builder_type(b, &time));
  return ok ? structure(&m) : NULL;
}

static bool environment(struct kymo_builder *b, const char *name, const char *text, int64_t integer_value) {
  struct kymo_arena *arena = kymo_builder_arena(b);
  char *copy = text ? kymo_arena_copy(arena, text, strlen(text)) : NULL;
  return !kymo_builder_environment(b, &(struct kymo_environment){name, copy, integer_value});
}

struct kymo_builder *kymo_trace_describe(const struct kymo_trace_text *trace,
                                         struct kymo_stream_class **stream) {
  struct kymo_builder *b = kymo_builder_new();
  if (!b)
    return NULL;
  struct kymo_schema *schema = kymo_builder_schema(b);
  schema->order = native;
  schema->major = 1;
  schema->minor = 8;
  schema->has_uuid = true;
  const struct kymo_clock *clock = kymo_builder_clock(
      b, &(struct kymo_clock){.name = trace->clock->is_counter ? "counter" : "monotonic",
                              .description =
                                  trace->clock->is_counter ? "The processor's counter" : "CLOCK_MONOTONIC",
                              .frequency = trace->clock->frequency,
                              .offset_seconds = trace->clock->offset_seconds,
                              .offset_cycles = trace->clock->offset_cycles,
                              .origin_is_epoch = true});
  bool ok = clock && environment(b, "hostname", trace->host, 0) &&
            environment(b, "procname", trace->program, 0) && environment(b, "vpid", NULL, 0) &&
            environment(b, "tracer_name", "kymo", 0);
  schema->packet_header = ok ? packet_header(b) : NULL;
  struct kymo_stream_class class_ = {.id = 0, .clock = clock};
  if (schema->packet_header) {
    class_.packet_context = packet_context(b, clock);
    class_.event_header = event_header(b, clock);
  }
  if (class_.packet_context && class_.event_header && !kymo_builder_stream(b, &class_, stream, NULL))
    return b;
  kymo_builder_free(b);
  return NULL;
}
