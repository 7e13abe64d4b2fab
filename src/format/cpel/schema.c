/* SPDX-License-Identifier: MIT */
/* The schema of a CPEL file. */
#include "format/cpel/schema.h"
#include "base/fail.h"
#include "base/holes.h"
#include "base/printfmt.h"
#include "base/strbuf.h"
#include "lang/ctf2/json.h"
#include "schema/build.h"
#include "schema/message.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More codes in one section mean a corrupt file rather than many kinds of events. */
#define CODES_MAX 65536
#define FORMAT_MAX 4096
/* Limits of the texts from formats of codes and tracks: bytes of each, and bytes in total in addition to four
 * times those of the file. */
#define MEMBERS_MAX 3
#define NAME_MAX_BYTES 1024
#define NAMES_BYTES (UINT64_C(16) << 20)

struct maker {
  struct cpel_file *file;
  struct kymo_trace *trace;
  struct kymo_builder *builder;
  struct kymo_error *error;
  const struct kymo_type *context;
  bool tracks_have_strings;         /* they are those of the event section's table */
  const struct cpel_events *events; /* the current section */
  struct kymo_stream_class *stream;
  uint32_t track_width, event_width, vpp_event_width; /* of the columns of a dump */
  uint64_t names_left;                                /* bytes */
};

static int no_memory(struct maker *maker) { return kymo_fail(maker->error, KYMO_E_MEMORY, "out of memory"); }

/* ---- codes ---- */

static int compare_codes(const void *a, const void *b) {
  uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
  return one < other ? -1 : one > other;
}

/* Sorts the codes, each once; returns how many are left. */
static size_t sort_codes(uint32_t *codes, size_t count) {
  size_t kept = 0;
  qsort(codes, count, sizeof *codes, compare_codes);
  for (size_t i = 0; i < count; i++)
    if (kept == 0 || codes[kept - 1] != codes[i])
      codes[kept++] = codes[i];
  return kept;
}

/* The codes of a section, each once; 2 * CODES_MAX fit. Recently seen codes are skipped. */
static size_t find_codes(struct maker *maker, const struct cpel_events *events, uint32_t *codes) {
  uint64_t late[256];
  bool is_big = maker->file->is_big;
  size_t count = 0;
  struct kymo_holes holes = {.bytes_at = kymo_map_bytes, .user = &maker->file->map};
  uint64_t hole = kymo_cpel_hole(&holes, events, 0, events->count);
  const uint8_t *from = maker->file->data + events->at + 12;
  memset(late, 0xff, sizeof late); /* what no code is */
  for (uint64_t i = 0; i < events->count; i++) {
    if (i == hole) {
      i += kymo_cpel_hole_events(&holes, events, i, events->count) - 1;
      hole = kymo_cpel_hole(&holes, events, i + 1, events->count);
      continue;
    }
    uint32_t code = cpel_load(from + i * CPEL_EVENT_SIZE, is_big);
    if (late[code & 255] == code)
      continue;
    late[code & 255] = code;
    if (count == 2 * CODES_MAX && (count = sort_codes(codes, count)) > CODES_MAX) {
      kymo_cpel_damage(maker->file, maker->trace, events->at + i * CPEL_EVENT_SIZE + 12,
                       "more than %d event codes in one section: those not seen before here are left out",
                       CODES_MAX);
      return CODES_MAX;
    }
    codes[count++] = code;
  }
  count = sort_codes(codes, count);
  return count < CODES_MAX ? count : CODES_MAX;
}

/* ---- formats ---- */

/* A format of a definition. Its text is NULL if there is none, or it is invalid. */
struct format {
  const char *text;
  size_t length;
  struct kymo_printfmt parsed;
};

static struct format read_format(struct maker *maker, const struct cpel_definition *definition,
                                 uint32_t offset) {
  const struct cpel_file *file = maker->file;
  const struct cpel_table *table = definition->table;
  struct format format = {0};
  struct kymo_printfmt_fault fault;
  if (!table)
    return format; /* that was reported already */
  format.text = kymo_cpel_string(file->data, file->size, table, offset, &format.length);
  if (!format.text) {
    kymo_cpel_damage(file, maker->trace, table->at,
                     "no string at %" PRIu32 " of table \"%s\", which has %" PRIu32 " bytes", offset,
                     table->name ? table->name : "", table->size);
  } else if (format.length > FORMAT_MAX) {
    kymo_cpel_damage(file, maker->trace, table->at + offset, "a format of %zu bytes (at most %d)",
                     format.length, FORMAT_MAX);
    format.text = NULL;
  } else if (!kymo_printfmt_parse(&format.parsed, &maker->file->arena, format.text, format.length,
                                  file->conversions, &fault)) {
    if (fault.what)
      kymo_cpel_damage(file, maker->trace, table->at + offset + fault.at, "format \"%.60s\", column %zu: %s",
                       format.text, fault.at + 1, fault.what);
    format.text = NULL;
  }
  return format;
}

/* A string or symbol, cut by the precision and padded to the width. */
static void add_text(struct kymo_strbuf *out, const struct kymo_printfmt_piece *piece, const char *text,
                     size_t length) {
  length = piece->has_precision && piece->precision < length ? piece->precision : length;
  length = length < NAME_MAX_BYTES ? length : NAME_MAX_BYTES;
  int padding = (int)kymo_printfmt_padding(piece, length);
  kymo_strbuf_printf(out, "%*s", piece->left ? 0 : padding, "");
  kymo_strbuf_add(out, text, length);
  kymo_strbuf_printf(out, "%*s", piece->left ? padding : 0, "");
}

static void add_symbol(struct maker *maker, struct kymo_strbuf *out, const struct kymo_printfmt_piece *piece,
                       uint32_t number) {
  const struct cpel_file *file = maker->file;
  const struct cpel_symbol *symbol = kymo_cpel_symbol(file, number);
  struct kymo_strbuf text = {0};
  size_t length = 0;
  const char *name =
      symbol ? kymo_cpel_string(file->data, file->size, symbol->table, symbol->name, &length) : NULL;
  if (name) {
    kymo_strbuf_add(&text, name, length);
    kymo_strbuf_printf(&text, "+0x%" PRIx32, number - symbol->value);
  } else {
    kymo_strbuf_printf(&text, "0x%08" PRIx32, number);
  }
  out->failed |= text.failed;
  if (!text.failed)
    add_text(out, piece, text.text, text.length);
  kymo_strbuf_free(&text);
}

/* What a conversion makes of a code or track. False, and damage: there is no such string. */
static bool add_shown(struct maker *maker, struct kymo_strbuf *out, const struct kymo_printfmt_piece *piece,
                      uint32_t number) {
  const struct cpel_file *file = maker->file;
  char text[KYMO_PRINTFMT_ROOM];
  size_t length;
  switch (piece->conversion) {
  case 0:
  case '%': return true;
  case 'k': add_symbol(maker, out, piece, number); return true;
  case 's': {
    const char *string = kymo_cpel_string(file->data, file->size, maker->events->table, number, &length);
    if (string)
      add_text(out, piece, string, length);
    else
      kymo_cpel_damage(file, maker->trace, maker->events->at,
                       "no string at %" PRIu32 " of table \"%s\" for a code or track", number,
                       maker->events->table_name);
    return string != NULL;
  }
  default:
    kymo_strbuf_add(out, text, (size_t)(kymo_printfmt_number(text, piece, number, 32) - text));
    return true;
  }
}

/* A format of events or tracks gets the code or track; the text is in the schema. NULL: out of memory, or
 * damage. */
static char *render(struct maker *maker, const struct kymo_printfmt *format, uint32_t number) {
  struct kymo_strbuf out = {0};
  bool is_good = true;
  for (size_t i = 0; i < format->count && is_good && out.length <= NAME_MAX_BYTES; i++) {
    kymo_strbuf_add(&out, format->pieces[i].text, format->pieces[i].length);
    is_good = add_shown(maker, &out, &format->pieces[i], number);
  }
  if (out.length > NAME_MAX_BYTES || out.length > maker->names_left) {
    kymo_cpel_damage(maker->file, maker->trace, maker->events->at,
                     "names of more than %d bytes, or more than the file has bytes for", NAME_MAX_BYTES);
    is_good = false;
  }
  char *copy = out.failed || !is_good ? NULL : kymo_builder_text(maker->builder, out.text ? out.text : "");
  maker->file->arena.failed |= out.failed;
  maker->names_left -= copy ? out.length : 0;
  kymo_strbuf_free(&out);
  return copy;
}

static char *copy_text(struct maker *maker, const char *text, size_t length) {
  char *copy = kymo_builder_alloc(maker->builder, length + 1);
  if (copy)
    memcpy(copy, text, length);
  return copy;
}

static void widen(uint32_t *width, size_t length) {
  if (length > *width)
    *width = (uint32_t)length;
}

/* ---- types ---- */

static const struct kymo_type *integer(struct maker *maker, struct kymo_type type) {
  type.kind = KYMO_KIND_INTEGER;
  type.align_bits = 8;
  type.size_bits = type.size_bits ? type.size_bits : 32;
  return kymo_builder_type(maker->builder, &type);
}

/* Of these members, up to the first without name; NULL if one has no type. */
static const struct kymo_type *structure(struct maker *maker, const struct kymo_member list[MEMBERS_MAX]) {
  uint32_t count = 0;
  while (count < MEMBERS_MAX && list[count].name)
    count++;
  return kymo_builder_struct(maker->builder, list, count);
}

#define STRUCTURE(maker, ...) structure(maker, (const struct kymo_member[MEMBERS_MAX]){__VA_ARGS__})

/* {track}: an enumeration of the defined tracks. */
static const struct kymo_type *make_context(struct maker *maker) {
  const struct cpel_file *file = maker->file;
  struct kymo_mapping *mappings =
      kymo_builder_alloc(maker->builder, (file->track_count + 1) * sizeof *mappings);
  uint32_t count = 0;
  if (!mappings)
    return NULL;
  for (size_t i = 0; i < file->track_count; i++) {
    const struct cpel_definition *track = &file->track_definitions[i];
    struct format format = read_format(maker, track, track->format);
    char *name = format.text ? render(maker, &format.parsed, track->key) : NULL;
    if (!name)
      continue;
    widen(&maker->track_width, format.length);
    for (size_t k = 0; k < format.parsed.count; k++)
      maker->tracks_have_strings |= format.parsed.pieces[k].conversion == 's';
    mappings[count++] = (struct kymo_mapping){name, track->key, track->key};
  }
  const struct kymo_type *type = integer(
      maker, (struct kymo_type){.mappings = mappings, .mapping_count = count, .is_enumeration = count > 0});
  return STRUCTURE(maker, {.name = "track", .type = type});
}

/* Of the first conversion that shows the datum as a number. */
static const struct kymo_type *make_datum(struct maker *maker, const struct kymo_printfmt *format) {
  for (size_t i = 0; format && i < format->count; i++)
    switch (format->pieces[i].conversion) {
    case 'd':
    case 'i': return integer(maker, (struct kymo_type){.is_signed = true, .base = 10});
    case 'o': return integer(maker, (struct kymo_type){.base = 8});
    case 'x':
    case 'X':
    case 'I': return integer(maker, (struct kymo_type){.base = 16});
    case 'k': return integer(maker, (struct kymo_type){.base = 16, .is_address = true});
    case 'u':
    case 'c': return integer(maker, (struct kymo_type){.base = 10});
    }
  return integer(maker, (struct kymo_type){.base = 10});
}

static const struct kymo_type *make_payload(struct maker *maker, const struct kymo_printfmt *format,
                                            enum cpel_payload *payload) {
  bool has_text = false, has_symbol = false, has_number = false;
  for (size_t i = 0; format && i < format->count; i++) {
    char conversion = format->pieces[i].conversion;
    has_text |= conversion == 's';
    has_symbol |= conversion == 'k';
    has_number |= conversion && !strchr("%s", conversion);
  }
  const struct kymo_type *datum = make_datum(maker, format);
  const struct kymo_type *text = kymo_builder_type(
      maker->builder, &(struct kymo_type){.kind = KYMO_KIND_STRING, .encoding = KYMO_ENCODING_UTF8});
  if (has_text)
    *payload = has_symbol ? CPEL_DATUM_TEXT_SYMBOL : has_number ? CPEL_DATUM_TEXT : CPEL_TEXT;
  else
    *payload = has_symbol ? CPEL_DATUM_SYMBOL : CPEL_DATUM;
  switch (*payload) {
  case CPEL_TEXT: return STRUCTURE(maker, {.name = "text", .type = text});
  case CPEL_DATUM_TEXT:
    return STRUCTURE(maker, {.name = "datum", .type = datum}, {.name = "text", .type = text});
  case CPEL_DATUM_SYMBOL:
    return STRUCTURE(maker, {.name = "datum", .type = datum}, {.name = "symbol", .type = text});
  case CPEL_DATUM_TEXT_SYMBOL:
    return STRUCTURE(maker, {.name = "datum", .type = datum}, {.name = "text", .type = text},
                     {.name = "symbol", .type = text});
  default: return STRUCTURE(maker, {.name = "datum", .type = datum});
  }
}

/* ---- events ---- */

/* That the template is a format of the datum, and what VPP's own dump shows instead, where it differs from
 * what the format's page says. */
static char *event_attributes(struct maker *maker, bool has_format, const char *event, const char *datum) {
  struct kymo_strbuf out = {0};
  struct ctf2_json json = {.out = &out};
  kymo_ctf2_open_flat(&json, NULL, '{');
  if (has_format)
    kymo_ctf2_put_text(&json, KYMO_MESSAGE_NAME, KYMO_MESSAGE_CPEL);
  if (event || datum)
    kymo_ctf2_open_flat(&json, "cpel", '{');
  if (event)
    kymo_ctf2_put_text(&json, "vpp-event", event);
  if (datum)
    kymo_ctf2_put_text(&json, "vpp-datum", datum);
  if (event || datum)
    kymo_ctf2_close(&json, '}');
  kymo_ctf2_close(&json, '}');
  char *copy = out.failed ? NULL : kymo_builder_text(maker->builder, out.text);
  kymo_strbuf_free(&out);
  return copy;
}

/* No definition: event E%d, no datum. VPP: the code, and the datum in base 16. */
static bool describe_unknown(struct maker *maker, struct kymo_event_class *event) {
  char name[16], code[16];
  snprintf(name, sizeof name, "E%" PRId32, (int32_t)event->id);
  snprintf(code, sizeof code, "%" PRId32, (int32_t)event->id);
  event->name = kymo_builder_text(maker->builder, name);
  event->template_text = "";
  event->attributes = event_attributes(maker, false, code, "0x%08x");
  return event->name && event->attributes;
}

static bool describe_known(struct maker *maker, const struct cpel_definition *definition,
                           struct kymo_event_class *event, struct kymo_printfmt *datum) {
  struct format name = {0}, format = {0};
  const char *table = definition->table && definition->table->name ? definition->table->name : "";
  if (definition->format)
    name = read_format(maker, definition, definition->format);
  if (definition->datum_format)
    format = read_format(maker, definition, definition->datum_format);
  const char *shown = name.text ? render(maker, &name.parsed, (uint32_t)event->id) : NULL;
  if (!shown && !describe_unknown(maker, event))
    return false;
  if (shown)
    event->name = shown;
  event->template_text = format.text ? copy_text(maker, format.text, format.length) : "";
  bool has_format = format.text && format.length,
       is_plain = !has_format && definition->format && definition->datum_format;
  event->attributes = NULL;
  if (!is_plain)
    event->attributes = event_attributes(maker, has_format, definition->format ? NULL : table,
                                         definition->datum_format ? NULL : table);
  *datum = format.parsed;
  return event->name && event->template_text && (event->attributes || is_plain);
}

/* The columns of a dump are as wide as the formats of all definitions, as they stand. */
static void measure_events(struct maker *maker) {
  const struct cpel_file *file = maker->file;
  for (size_t i = 0; i < file->event_count; i++) {
    const struct cpel_definition *definition = &file->event_definitions[i];
    size_t length = 0, vpp_length = 0;
    kymo_cpel_string(file->data, file->size, definition->table, definition->format, &vpp_length);
    length = definition->format ? vpp_length : strlen("E%d");
    widen(&maker->event_width, length);
    widen(&maker->vpp_event_width, vpp_length);
  }
}

static int add_class(struct maker *maker, struct cpel_class *class_) {
  const struct cpel_file *file = maker->file;
  const struct cpel_definition *definition =
      kymo_cpel_find(file->event_definitions, file->event_count, class_->code);
  struct kymo_event_class event = {.id = class_->code, .level = -1, .group = ""};
  struct kymo_printfmt datum = {0};
  bool is_described =
      definition ? describe_known(maker, definition, &event, &datum) : describe_unknown(maker, &event);
  event.payload = make_payload(maker, datum.pieces ? &datum : NULL, &class_->payload);
  if (!is_described || !event.payload)
    return no_memory(maker);
  return kymo_builder_event(maker->builder, maker->stream, &event, NULL, maker->error);
}

/* ---- streams ---- */

static char *stream_attributes(struct maker *maker) {
  struct kymo_strbuf out = {0};
  struct ctf2_json json = {.out = &out};
  kymo_ctf2_open_flat(&json, NULL, '{');
  kymo_ctf2_open_flat(&json, "cpel", '{');
  kymo_ctf2_put_uint(&json, "track-width", maker->track_width);
  kymo_ctf2_put_uint(&json, "event-width", maker->event_width);
  kymo_ctf2_put_uint(&json, "vpp-event-width", maker->vpp_event_width);
  kymo_ctf2_close(&json, '}');
  kymo_ctf2_close(&json, '}');
  char *copy = out.failed ? NULL : kymo_builder_text(maker->builder, out.text);
  kymo_strbuf_free(&out);
  return copy;
}

static const struct kymo_clock *make_clock(struct maker *maker, const struct cpel_events *events,
                                           uint32_t index) {
  char name[24], text[80], origin[40];
  snprintf(name, sizeof name, "%s", maker->file->format);
  if (index)
    snprintf(name, sizeof name, "%s%" PRIu32, maker->file->format, index);
  snprintf(text, sizeof text, "%" PRIu32 " ticks a %s%s", events->clock,
           events->is_per_microsecond ? "microsecond" : "second", events->is_assumed ? ", assumed" : "");
  struct kymo_clock clock = {.name = kymo_builder_text(maker->builder, name),
                             .frequency = events->frequency,
                             .description = kymo_builder_text(maker->builder, text)};
  /* the clocks of one file can be compared, those of two cannot */
  snprintf(origin, sizeof origin, "%08" PRIx32 "-%" PRIx64, maker->file->date, maker->file->size);
  clock.origin_namespace = "cpel";
  clock.origin_name = "file";
  clock.origin_uid = kymo_builder_text(maker->builder, origin);
  return clock.name && clock.description && clock.origin_uid ? kymo_builder_clock(maker->builder, &clock)
                                                             : NULL;
}

/* The tracks of the current section: those of the previous one, unless their names are strings of its own. */
static bool set_context(struct maker *maker, const struct cpel_events *events) {
  bool is_same = maker->context && (!maker->tracks_have_strings || events->table == maker->events->table);
  maker->events = events;
  if (!is_same)
    maker->context = make_context(maker);
  return maker->context != NULL;
}

static int add_stream(struct maker *maker, uint32_t index, struct cpel_classes *classes) {
  const struct cpel_events *events = &maker->file->events[index];
  if (!set_context(maker, events))
    return no_memory(maker);
  const struct kymo_clock *clock = make_clock(maker, events, index);
  const struct kymo_type *time =
      integer(maker, (struct kymo_type){.size_bits = 64, .roles = KYMO_ROLE_TIMESTAMP, .clock = clock});
  const struct kymo_type *code = integer(maker, (struct kymo_type){.roles = KYMO_ROLE_EVENT_CLASS_ID});
  struct kymo_stream_class stream = {
      .id = index,
      .clock = clock,
      .common_context = maker->context,
      .event_header = STRUCTURE(maker, {.name = "time", .type = time}, {.name = "code", .type = code}),
      .attributes = stream_attributes(maker)};
  uint32_t *codes = calloc(2 * CODES_MAX, sizeof *codes);
  int status = clock && stream.event_header && stream.attributes && codes ? KYMO_OK : no_memory(maker);
  if (status == KYMO_OK)
    status = kymo_builder_stream(maker->builder, &stream, &maker->stream, maker->error);
  if (status == KYMO_OK) {
    classes->count = find_codes(maker, events, codes);
    classes->list = kymo_arena_array(&maker->file->arena, classes->count + 1, sizeof *classes->list);
    status = classes->list ? KYMO_OK : no_memory(maker);
  }
  for (size_t i = 0; i < classes->count && status == KYMO_OK; i++) {
    classes->list[i].code = codes[i];
    status = add_class(maker, &classes->list[i]);
  }
  free(codes);
  return status;
}

struct kymo_schema *kymo_cpel_schema(struct cpel_file *file, struct kymo_trace *trace,
                                     struct cpel_classes *classes, struct kymo_error *error) {
  struct maker maker = {.file = file,
                        .trace = trace,
                        .builder = kymo_builder_new(),
                        .error = error,
                        .names_left = NAMES_BYTES + 4 * file->size};
  struct kymo_environment date = {.name = "cpel_date", .integer = file->date};
  int status = maker.builder ? KYMO_OK : no_memory(&maker);
  if (status == KYMO_OK) {
    struct kymo_schema *schema = kymo_builder_schema(maker.builder);
    schema->order = KYMO_ORDER_LITTLE;
    schema->major = 1;
    if (file->has_date && kymo_builder_environment(maker.builder, &date) != KYMO_OK)
      status = no_memory(&maker);
    measure_events(&maker);
  }
  for (uint32_t i = 0; i < file->events_count && status == KYMO_OK; i++)
    status = add_stream(&maker, i, &classes[i]);
  if (status == KYMO_OK && file->arena.failed) /* some format or name is missing */
    status = no_memory(&maker);
  return kymo_builder_end(maker.builder, status, error);
}
