/* SPDX-License-Identifier: MIT */
/*
 * kymo list: lists events. For a trace: its event classes, from the description alone, with level, source
 * line, description and fields. For a program or shared library: its tracepoints, with types by name. For
 * processes: processes.c.
 *
 *   net:rx  info  src/net.c:120  "a packet was received"
 *     port   unsigned short u16
 *     state  enum conn_state u8 { OPEN = 1, CLOSED = 2 }
 *     where  struct point
 *       x  int i32
 */
#include "base/strbuf.h"
#include "live/client.h"
#include "infer/program.h"
#include "record/fields.h"
#include "schema/attribute.h"
#include "tool/input.h"
#include "tool/processes.h"
#include "tool/rings.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct list {
  struct tool_input input;
  bool brief, with_dead;
};

/* ---- command line ---- */

enum { OPTION_DEAD = 256 };

static const struct argp_option options[] = {
    {"brief", 'b', NULL, 0, "Names only", 0},
    {"dead", OPTION_DEAD, NULL, 0,
     "Also dead processes that left rings: since when, how large, how they ended; with PID or NAME (or "
     "a glob): only these",
     0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct list *list = state->input;
  (void)argument;
  switch (key) {
  case 'b': list->brief = true; return 0;
  case OPTION_DEAD: list->with_dead = true; return 0;
  case ARGP_KEY_ARGS:
    list->input.paths = (const char **)state->argv + state->next;
    list->input.count = (size_t)(state->argc - state->next);
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "[PID|NAME|TRACE|PROGRAM...]",
    .doc = "List the processes that can be traced; the tracepoints of a process, with state, level, source "
           "line; the "
           "event classes of traces; or the tracepoints of programs and shared libraries (without running "
           "them).\v"
           "A number is a process ID. For a file with such a name write ./NUMBER.",
};

/* ---- types ---- */

static const char *order_text(const struct kymo_type *type, const struct kymo_schema *schema) {
  if (type->order == schema->order || type->size_bits <= 8)
    return "";
  return type->order == KYMO_ORDER_BIG ? " be" : " le";
}

static void add_number(struct kymo_strbuf *buf, const struct kymo_type *type, uint64_t value) {
  if (type->is_signed)
    kymo_strbuf_printf(buf, "%" PRId64, (int64_t)value);
  else
    kymo_strbuf_printf(buf, "%" PRIu64, value);
}

#define MAPPINGS_SHOWN 8

static void add_mappings(struct kymo_strbuf *buf, const struct kymo_type *type) {
  kymo_strbuf_puts(buf, " {");
  for (uint32_t i = 0; i < type->mapping_count; i++) {
    const struct kymo_mapping *mapping = &type->mappings[i];
    if (i == MAPPINGS_SHOWN) {
      kymo_strbuf_printf(buf, ", %" PRIu32 " more", type->mapping_count - i);
      break;
    }
    kymo_strbuf_printf(buf, "%s %s = ", i ? "," : "", mapping->name);
    add_number(buf, type, mapping->low);
    if (mapping->high != mapping->low) {
      kymo_strbuf_puts(buf, "...");
      add_number(buf, type, mapping->high);
    }
  }
  kymo_strbuf_puts(buf, " }");
}

static void add_integer(struct kymo_strbuf *buf, const struct kymo_type *type,
                        const struct kymo_schema *schema) {
  bool is_enumeration = type->is_enumeration || (type->mapping_count && type->kind != KYMO_KIND_BITMAP);
  bool is_named_so = type->name && !strncmp(type->name, "enum ", 5);
  const char *kind = is_enumeration                   ? is_named_so ? "" : "enum "
                     : type->kind == KYMO_KIND_BITMAP ? "flags "
                                                      : "";
  if (type->kind == KYMO_KIND_VARINT)
    kymo_strbuf_printf(buf, "%svarint %c", kind, type->is_signed ? 'i' : 'u');
  else
    kymo_strbuf_printf(buf, "%s%c%" PRIu32 "%s", kind, type->is_signed ? 'i' : 'u', type->size_bits,
                       order_text(type, schema));
  if (type->is_address || type->base == 16)
    kymo_strbuf_puts(buf, " hex");
  else if (type->base == 8 || type->base == 2)
    kymo_strbuf_puts(buf, type->base == 8 ? " octal" : " binary");
  if (is_enumeration || type->kind == KYMO_KIND_BITMAP)
    add_mappings(buf, type);
}

static const char *encoding_text(enum kymo_encoding encoding) {
  static const char *const names[] = {"", " ascii", " utf8", " utf16le", " utf16be", " utf32le", " utf32be"};
  return names[encoding];
}

static void add_kind(struct kymo_strbuf *buf, const struct kymo_type *type,
                     const struct kymo_schema *schema) {
  switch (type->kind) {
  case KYMO_KIND_BOOLEAN: kymo_strbuf_printf(buf, "bool%" PRIu32, type->size_bits); break;
  case KYMO_KIND_FLOAT:
    kymo_strbuf_printf(buf, "f%" PRIu32 "%s", type->size_bits, order_text(type, schema));
    break;
  case KYMO_KIND_STRING: kymo_strbuf_printf(buf, "string%s", encoding_text(type->encoding)); break;
  case KYMO_KIND_TEXT_ARRAY:
    kymo_strbuf_printf(buf, "text%s[%" PRIu64 "]", encoding_text(type->encoding), type->length);
    break;
  case KYMO_KIND_TEXT_SEQUENCE: kymo_strbuf_printf(buf, "text%s[…]", encoding_text(type->encoding)); break;
  case KYMO_KIND_BLOB_ARRAY: kymo_strbuf_printf(buf, "bytes[%" PRIu64 "]", type->length); break;
  case KYMO_KIND_BLOB_SEQUENCE: kymo_strbuf_puts(buf, "bytes[…]"); break;
  case KYMO_KIND_STRUCT: kymo_strbuf_puts(buf, "struct"); break;
  case KYMO_KIND_UNION: kymo_strbuf_puts(buf, "union"); break;
  case KYMO_KIND_VARIANT: kymo_strbuf_puts(buf, "variant"); break;
  case KYMO_KIND_OPTIONAL: kymo_strbuf_puts(buf, "optional "); break;
  case KYMO_KIND_ARRAY: kymo_strbuf_printf(buf, "[%" PRIu64 "] ", type->length); break;
  case KYMO_KIND_SEQUENCE: kymo_strbuf_puts(buf, "[…] "); break;
  default: add_integer(buf, type, schema); break;
  }
}

/* The name in the source, and the form unless its members show it. */
static void add_type(struct kymo_strbuf *buf, const struct kymo_type *type,
                     const struct kymo_schema *schema) {
  bool has_members = type->kind == KYMO_KIND_STRUCT || type->kind == KYMO_KIND_UNION;
  struct kymo_strbuf kind = {0};
  if (!type->name || !has_members)
    add_kind(&kind, type, schema);
  if (type->name && (!kind.text || strcmp(kind.text, type->name) != 0))
    kymo_strbuf_printf(buf, has_members ? "%s" : "%s ", type->name);
  if (kind.text)
    kymo_strbuf_puts(buf, kind.text);
  buf->failed |= kind.failed;
  kymo_strbuf_free(&kind);
}

/* ---- classes ---- */

/* At most this many lines per class: types are shared, so a small description can mean very many fields. */
#define LINES_SHOWN 1000

struct printing {
  const struct kymo_schema *schema;
  struct kymo_strbuf buf;
  uint32_t lines;
};

static void add_members(struct printing *printing, const struct kymo_type *type, unsigned depth);

/* The rest of a line: the type, through arrays and optionals; then the members inside. */
static void add_field(struct printing *printing, const struct kymo_type *type, unsigned depth) {
  for (;;) {
    const struct kymo_member *only = kymo_element_member(type);
    if (only) {
      type = only->type;
      continue;
    }
    add_type(&printing->buf, type, printing->schema);
    if (type->kind != KYMO_KIND_ARRAY && type->kind != KYMO_KIND_SEQUENCE && type->kind != KYMO_KIND_OPTIONAL)
      break;
    type = type->element;
  }
  kymo_strbuf_puts(&printing->buf, "\n");
  if (type->kind == KYMO_KIND_STRUCT || type->kind == KYMO_KIND_UNION || type->kind == KYMO_KIND_VARIANT)
    add_members(printing, type, depth + 1);
}

static void add_members(struct printing *printing, const struct kymo_type *type, unsigned depth) {
  int width = 0;
  for (uint32_t i = 0; i < type->member_count; i++)
    if (!kymo_member_is_hidden(&type->members[i]) && (int)strlen(type->members[i].name) > width)
      width = (int)strlen(type->members[i].name);
  for (uint32_t i = 0; i < type->member_count; i++) {
    if (kymo_member_is_hidden(&type->members[i]))
      continue;
    if (printing->lines++ == LINES_SHOWN)
      kymo_strbuf_printf(&printing->buf, "%*s(more fields)\n", (int)(2 * depth), "");
    if (printing->lines > LINES_SHOWN)
      return;
    kymo_strbuf_printf(&printing->buf, "%*s%-*s  ", (int)(2 * depth), "", width < 24 ? width : 24,
                       type->members[i].name);
    add_field(printing, type->members[i].type, depth);
  }
}

static void print_class(const struct list *list, const struct kymo_schema *schema,
                        const struct kymo_event_class *class_) {
  struct printing printing = {.schema = schema};
  char number[TOOL_LEVEL_MAX];
  if (class_->name && *class_->name)
    kymo_strbuf_puts(&printing.buf, class_->name);
  else
    kymo_strbuf_printf(&printing.buf, "event %" PRIu64, class_->id);
  if (!list->brief) {
    if (class_->level >= 0)
      kymo_strbuf_printf(&printing.buf, "  %s", tool_level_text(class_->level, number));
    if (class_->source_file)
      kymo_strbuf_printf(&printing.buf, "  %s:%" PRIu32, class_->source_file, class_->source_line);
    size_t length;
    enum kymo_edge edge = kymo_event_class_edge(class_, &length);
    if (edge)
      kymo_strbuf_printf(&printing.buf, "  %s %.*s", edge == KYMO_EDGE_BEGIN ? "begins" : "ends", (int)length,
                         class_->name);
    if (class_->description)
      kymo_strbuf_printf(&printing.buf, "  \"%s\"", class_->description);
  }
  kymo_strbuf_puts(&printing.buf, "\n");
  if (!list->brief && class_->payload)
    add_members(&printing, class_->payload, 1);
  if (!list->brief && class_->specific_context) {
    kymo_strbuf_puts(&printing.buf, "  (context)\n");
    add_members(&printing, class_->specific_context, 2);
  }
  if (printing.buf.failed)
    tool_end_without_memory();
  tool_print_safe(printing.buf.text);
  kymo_strbuf_free(&printing.buf);
}

static int list_trace(const struct list *list, const char *path) {
  struct tool_input input = {.paths = &path, .count = 1, .force_correlate = true};
  struct kymo_trace *trace;
  int status = tool_open(&trace, &input);
  if (status != TOOL_OK)
    return status;
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++) {
    const struct kymo_schema *schema = kymo_trace_part(trace, i)->schema;
    for (uint32_t j = 0; j < schema->stream_count; j++)
      for (uint32_t k = 0; k < schema->streams[j]->event_count; k++)
        print_class(list, schema, schema->streams[j]->events[k]);
  }
  kymo_trace_close(trace);
  return TOOL_OK;
}

/* The call sites of a program become event classes of a temporary schema. */
struct program_listing {
  const struct list *list;
  struct kymo_builder *builder;
  struct kymo_stream_class *stream;
  uint64_t count;
};

static void list_point(void *user, const struct kymo_point_text *point) {
  struct program_listing *listing = user;
  const struct kymo_type *payload = kymo_point_payload(listing->builder, point);
  const struct kymo_event_class *class_ =
      payload ? kymo_point_describe(listing->builder, listing->stream, point, payload, listing->count++)
              : NULL;
  if (!class_ && kymo_builder_has_failed(listing->builder))
    tool_end_without_memory();
  if (class_)
    print_class(listing->list, kymo_builder_schema(listing->builder), class_);
}

static int list_program(const struct list *list, const char *path) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct program_listing listing = {.list = list, .builder = kymo_builder_new()};
  int status = KYMO_E_MEMORY;
  if (listing.builder)
    status = kymo_builder_stream(listing.builder, &(struct kymo_stream_class){0}, &listing.stream, &error);
  if (status == KYMO_OK)
    status = kymo_program_points(path, list_point, &listing, &error);
  kymo_builder_free(listing.builder);
  if (status < 0)
    tool_say_error(&error);
  else if (!listing.count)
    tool_say("%s has no tracepoints", path);
  return status < 0 ? TOOL_FAILED : TOOL_OK;
}

static int list_one(const struct list *list, const char *word) {
  struct kymo_hint hint;
  int pid = kymo_pid_of(word), found = TOOL_OK;
  if (pid < 0 && tool_rings_may_name(word) && !kymo_is_program(word))
    found = tool_process_named(&pid, word, &hint);
  if (found == TOOL_USAGE)
    return found;
  if (pid > 0)
    return tool_list_process(pid, list->brief);
  return kymo_is_program(word) ? list_program(list, word) : list_trace(list, word);
}

static int run(int argc, char **argv) {
  struct list list = {0};
  tool_parse(&parser, argc, argv, 0, NULL, &list);
  bool is_of_processes = list.with_dead || !list.input.count;
  const struct tool_listed listed = {
      .brief = list.brief, .with_dead = list.with_dead, .words = list.input.paths, .count = list.input.count};
  int worst = is_of_processes ? tool_list_processes(&listed) : TOOL_OK;
  for (size_t i = 0; i < list.input.count && !is_of_processes; i++) {
    int status = list_one(&list, list.input.paths[i]);
    worst = status > worst ? status : worst;
  }
  int output = tool_close_output();
  return output != TOOL_OK ? output : worst;
}

const struct tool_command tool_list = {
    .name = "list",
    .summary = "list processes, tracepoints, and event classes of traces",
    .run = run,
};
