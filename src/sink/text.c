/* SPDX-License-Identifier: MIT */
/*
 * text: kymo's own lines for people, grep and awk. One line an event:
 *
 *   [14:03:05.123456789] +0.000001234 worker/4711@1 net:rx port = 80, state = OPEN | vpid = 4700
 *   └─ local time ─────┘ └─ delta ──┘ └─ who ─────┘ └name┘ └─ payload ───────────┘ └─ contexts ┘
 *
 * Lines that are no events begin with '#': the date, when it changes, and losses, in their place
 * in time. A clock without epoch shows seconds from its origin. Who is thread name, thread id and
 * processor as far as the trace tells, else '#' and the number of the stream; in front of it stands
 * the host, if there are several.
 *
 * Options: "date" puts the date into every line.
 */
#include "base/fail.h"
#include "read/step.h"
#include "sink/clock.h"
#include "sink/print.h"
#include "sink/unicode.h"
#include <stdlib.h>

#define COLOR_NAME "\033[36m"
#define COLOR_EVENT "\033[1m"
#define COLOR_LOSS "\033[31m"
#define COLOR_TIME "\033[2m"
#define COLOR_OFF "\033[0m"

#define HOST_TEXT 64

/* Who wrote the last event of a stream, as text: at most 64 + 1 + 32 + 1 + 20 + 1 + 20 bytes. */
struct stream_view {
  uint64_t version; /* of the struct kymo_who */
  uint32_t length;
  char text[144 + KYMO_PIECE_SLACK];
};

struct kymo_sink_state {
  struct stream_view **streams;       /* by stream number; NULL until the first event */
  const struct kymo_who_places *said; /* of the scope being walked, what stands elsewhere in the line */
  struct kymo_clock_text clock;
  bool color, always_date, many_hosts;
  int year, day; /* of the last date line */
  bool has_last;
  int64_t last_ns;
  struct kymo_print print; /* last, since most of it is for walking */
};

/* ---- values ---- */

static char *put_integer(char *at, const struct kymo_type *type, uint64_t value) {
  unsigned bits = type->kind == KYMO_KIND_VARINT || type->size_bits > 64 ? 64 : type->size_bits;
  uint64_t cut = value & UINT64_MAX >> (64 - bits);
  switch (type->is_address ? 16 : type->base) {
  case 2: memcpy(at, "0b", 2); return kymo_put_binary(at + 2, cut, bits);
  case 8: *at = '0'; return cut ? kymo_put_octal(at + 1, cut) : at + 1;
  case 16: memcpy(at, "0x", 2); return kymo_put_hex(at + 2, cut, false);
  default: return type->is_signed ? kymo_put_i64(at, (int64_t)value) : kymo_put_u64(at, value);
  }
}

/* 0: as it is; 'u': begins a character of more bytes; else as behind a backslash. */
static const char escapes[256] = {
    [0 ... 8] = 'x',   ['\t'] = 't', ['\n'] = 'n',  [11 ... 12] = 'x', ['\r'] = 'r',
    [14 ... 31] = 'x', ['"'] = '"',  ['\\'] = '\\', [127] = 'x',       [128 ... 255] = 'u',
};

/* Characters that are no text, and C1 controls, which terminals obey, as \x and digits. */
static char *put_unsound(char *at, const uint8_t *from, const uint8_t *end) {
  for (; from < end; from++) {
    memcpy(at, "\\x", 2);
    at = kymo_put_hex_byte(at + 2, *from);
  }
  return at;
}

static char *put_special(char *at, enum kymo_encoding encoding, const uint8_t **from, const uint8_t *end) {
  const uint8_t *start = *from;
  uint32_t character = kymo_next_character(encoding, from, end);
  if (character == KYMO_BAD_CHARACTER || (character >= 0x7F && character < 0xA0))
    return put_unsound(at, start, *from);
  if (character > 0x7F || !escapes[character])
    return kymo_put_character(at, character);
  *at++ = '\\';
  *at++ = escapes[character];
  return escapes[character] == 'x' ? kymo_put_hex_byte(at, (uint8_t)character) : at;
}

/* Each character becomes 16 bytes at most: four bytes of an unsound one, \xNN each. */
static void print_characters(struct kymo_out *out, enum kymo_encoding encoding, const uint8_t *from,
                             size_t size) {
  const uint8_t *end = from + size;
  bool is_bytes = kymo_is_byte_encoding(encoding);
  while (from < end) {
    char *at = kymo_out_room(out, KYMO_OUT_ROOM), *stop = at + KYMO_OUT_ROOM - 16;
    while (from < end && at < stop) {
      if (is_bytes && !escapes[*from])
        *at++ = (char)*from++;
      else
        at = put_special(at, encoding, &from, end);
    }
    out->at = at;
  }
}

static void print_text(struct kymo_out *out, const struct kymo_value *value) {
  kymo_out_byte(out, '"');
  print_characters(out, value->type->encoding, value->bytes, (size_t)value->count);
  kymo_out_byte(out, '"');
}

/* Names of events and fields: controls of a hostile trace must not reach the terminal. */
static void add_name(struct kymo_strbuf *buf, const char *name) {
  for (const uint8_t *at = (const uint8_t *)name, *end = at + strlen(name); at < end;) {
    char text[16];
    bool is_plain = *at == '"' || *at == '\\';
    text[0] = (char)*at;
    char *stop = is_plain ? (at++, text + 1) : put_special(text, KYMO_ENCODING_UTF8, &at, end);
    kymo_strbuf_add(buf, text, (size_t)(stop - text));
  }
}

/* Labels that look like names stand bare, others in quotes. */
static void add_label(struct kymo_strbuf *buf, const char *label) {
  static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-";
  const uint8_t *at = (const uint8_t *)label, *end = at + strlen(label);
  if (*label && strspn(label, bare) == (size_t)(end - at)) {
    kymo_strbuf_puts(buf, label);
    return;
  }
  kymo_strbuf_puts(buf, "\"");
  while (at < end) {
    char text[16];
    kymo_strbuf_add(buf, text, (size_t)(put_special(text, KYMO_ENCODING_UTF8, &at, end) - text));
  }
  kymo_strbuf_puts(buf, "\"");
}

/* LABEL|LABEL, with what has no name as a number. */
static void write_labelled(struct kymo_strbuf *buf, const struct kymo_type *type, uint64_t value) {
  bool is_flags = type->kind == KYMO_KIND_BITMAP;
  char number[72];
  struct kymo_labels labels = kymo_labels_begin(type, value);
  for (const char *label; (label = kymo_labels_next(&labels)) != NULL;) {
    if (buf->length)
      kymo_strbuf_puts(buf, "|");
    add_label(buf, label);
  }
  uint64_t rest = is_flags ? labels.rest : value;
  if (buf->length && (!is_flags || rest == 0))
    return;
  if (buf->length)
    kymo_strbuf_puts(buf, "|");
  if (is_flags && rest)
    kymo_strbuf_puts(buf, "0x");
  char *end = is_flags ? kymo_put_hex(number, rest, false) : put_integer(number, type, value);
  kymo_strbuf_add(buf, number, (size_t)(end - number));
}

static bool is_character(const struct kymo_type *type) {
  return type->encoding != KYMO_ENCODING_NONE && !type->is_address;
}

/* 'a', '\n', '\x80'; what is no character as a number. */
static char *put_character(char *at, const struct kymo_type *type, uint64_t value) {
  char bytes[4] = {(char)value}, *end = bytes + 1;
  const uint8_t *from = (const uint8_t *)bytes;
  if (type->kind == KYMO_KIND_VARINT || type->size_bits != 8) {
    if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
      return put_integer(at, type, value);
    end = kymo_put_character(bytes, (uint32_t)value);
  }
  *at++ = '\'';
  if (bytes[0] == '\'')
    *at++ = '\\', *at++ = '\'';
  else
    at = put_special(at, KYMO_ENCODING_UTF8, &from, (const uint8_t *)end);
  *at++ = '\'';
  return at;
}

static void print_integer(struct kymo_sink_state *state, uint32_t part, const struct kymo_value *value) {
  const struct kymo_type *type = value->type;
  struct kymo_out *out = &state->print.out;
  if (type->is_enumeration || type->kind == KYMO_KIND_BITMAP || type->mapping_count > 0)
    kymo_out_labelled(out, &state->print.memory, part, value);
  else if (type->kind == KYMO_KIND_BOOLEAN)
    kymo_out_bytes(out, value->u ? "true" : "false", value->u ? 4 : 5);
  else if (is_character(type))
    out->at = put_character(kymo_out_room(out, 72), type, value->u);
  else
    out->at = put_integer(kymo_out_room(out, 72), type, value->u);
}

static void print_float(struct kymo_out *out, const struct kymo_value *value) {
  double f = value->f;
  if (f != f)
    kymo_out_literal(out, "nan");
  else if (f - f != 0)
    kymo_out_bytes(out, f < 0 ? "-inf" : "inf", f < 0 ? 4 : 3);
  else
    out->at = kymo_put_double(kymo_out_room(out, 40), f, value->type->size_bits <= 32, true);
}

static void print_blob(struct kymo_out *out, const struct kymo_value *value) {
  kymo_out_byte(out, '<');
  for (uint64_t i = 0; i < value->count; i++) {
    char *at = kymo_out_room(out, 3);
    if (i > 0)
      *at++ = ' ';
    out->at = kymo_put_hex_byte(at, value->bytes[i]);
  }
  kymo_out_byte(out, '>');
}

static void print_scalar(struct kymo_sink_state *state, uint32_t part, enum kymo_token token,
                         const struct kymo_value *value) {
  switch (token) {
  case KYMO_TOKEN_INTEGER: print_integer(state, part, value); break;
  case KYMO_TOKEN_FLOAT: print_float(&state->print.out, value); break;
  case KYMO_TOKEN_TEXT: print_text(&state->print.out, value); break;
  case KYMO_TOKEN_BLOB: print_blob(&state->print.out, value); break;
  default: kymo_out_byte(&state->print.out, '-'); break;
  }
}

/* ---- walking ---- */

static bool walk_lead(struct kymo_sink_state *state, struct kymo_frame *frame, const struct kymo_value *value) {
  struct kymo_out *out = &state->print.out;
  bool first = frame->count == 0;
  if (!frame->labels) {
    if (!first)
      kymo_out_literal(out, ", ");
    frame->count++;
    return true;
  }
  uint32_t index = (uint32_t)(value->member - frame->type->members);
  const struct kymo_label *label = &frame->labels[index];
  if (state->said && kymo_frame_is_outermost(&state->print, frame) && kymo_who_says(state->said, index))
    return false; /* it is in the line already */
  kymo_out_piece(out, label->text + first, label->length - first);
  frame->count++;
  return true;
}

static void walk_begin(struct kymo_sink_state *state, struct kymo_frame *frame) {
  kymo_out_byte(&state->print.out, frame->labels ? '{' : '[');
}

static void walk_end(struct kymo_sink_state *state, const struct kymo_frame *frame) {
  if (!frame->labels)
    kymo_out_byte(&state->print.out, ']');
  else
    kymo_out_bytes(&state->print.out, frame->count ? " }" : "}", frame->count ? 2 : 1);
}

/* ---- scripts ---- */

static unsigned base_of(const struct kymo_type *type) {
  return type->is_address ? 16 : is_character(type) ? 0 : type->base ? type->base : 10;
}

static void print_separator(struct kymo_out *out, uint64_t index) {
  if (index > 0)
    kymo_out_literal(out, ", ");
}

static void print_walk(struct kymo_sink_state *state, const struct kymo_event *event,
                       const struct kymo_script_step *step) {
  static const struct kymo_walk_style walk_style = {walk_lead, walk_begin, walk_end, print_scalar};
  state->said = step->scope == KYMO_SCOPE_COMMON_CONTEXT ? kymo_who_common(&state->print.whos, event) : NULL;
  kymo_print_members(&state->print, state, &walk_style, event, step);
}

static void print_rest(struct kymo_out *out, const uint8_t *from, size_t size) {
  print_characters(out, KYMO_ENCODING_UTF8, from, size);
}

static const struct kymo_script_style style = {
    .open = "{",
    .close = " }",
    .empty = "{}",
    .array_open = "[",
    .array_close = "]",
    .specials = {.own = {KYMO_TIMES_16('"'), KYMO_TIMES_16('\\'), KYMO_TIMES_16('"'), KYMO_TIMES_16('"')},
                 .high = true},
    .base = base_of,
    .element = print_separator,
    .characters = print_rest,
    .integer = print_integer,
    .scalar = print_scalar,
    .walk = print_walk,
};

static bool leaves_out(const void *said, uint32_t index) {
  return kymo_who_says(said, index);
}

/* How many members the contexts have left to say. */
static uint32_t count_members(const struct kymo_type *type, const struct kymo_who_places *said) {
  uint32_t count = 0;
  for (uint32_t i = 0; type && i < type->member_count; i++)
    count += !said || !kymo_who_says(said, i);
  return count;
}

/* " NAME FIELDS | CONTEXTS\n" */
static struct kymo_script make_script(struct kymo_sink_state *state, const struct kymo_event *event) {
  const struct stream_state *stream = event->state;
  const struct kymo_event_class *class_ = event->class_;
  const struct kymo_who_places *said = kymo_who_common(&state->print.whos, event);
  uint32_t common = count_members(class_->stream->common_context, said);
  struct kymo_scripting script;
  kymo_script_begin(&script, &style, &state->print.names, &state->print.arena, event);
  kymo_script_text(&script, state->color ? " " COLOR_EVENT : " ");
  if (class_->name && *class_->name)
    add_name(&script.lead, class_->name);
  else
    kymo_strbuf_printf(&script.lead, "event%llu", (unsigned long long)class_->id);
  kymo_script_text(&script, state->color ? COLOR_OFF : "");
  kymo_script_scope(&script, KYMO_SCOPE_PAYLOAD, kymo_entry_of(event)->plan->payload, NULL, NULL, false);
  if (common + count_members(class_->specific_context, NULL) > 0)
    kymo_script_text(&script, " |");
  if (common > 0)
    kymo_script_scope(&script, KYMO_SCOPE_COMMON_CONTEXT, stream->plan->common_context, leaves_out, said,
                      false);
  kymo_script_scope(&script, KYMO_SCOPE_SPECIFIC_CONTEXT, kymo_entry_of(event)->plan->specific_context, NULL,
                    NULL, common > 0);
  kymo_script_text(&script, "\n");
  return kymo_script_finish(&script);
}

/* ---- lines ---- */

static void print_note(struct kymo_sink_state *state, const char *color, const char *text, size_t length) {
  struct kymo_out *out = &state->print.out;
  if (state->color)
    kymo_out_bytes(out, color, strlen(color));
  kymo_out_literal(out, "# ");
  kymo_out_bytes(out, text, length);
  if (state->color)
    kymo_out_literal(out, COLOR_OFF);
  kymo_out_byte(out, '\n');
}

/* A new second: perhaps a new day. */
static void set_second(struct kymo_sink_state *state, int64_t time_ns) {
  char text[32];
  if (!kymo_clock_text_set(&state->clock, time_ns))
    return;
  const struct tm *day = &state->clock.day;
  if (state->always_date || (day->tm_year == state->year && day->tm_yday == state->day))
    return;
  state->year = day->tm_year;
  state->day = day->tm_yday;
  print_note(state, COLOR_TIME, text, strftime(text, sizeof(text), "%Y-%m-%d %z", day));
}

static char *put_date(char *at, const struct tm *day) {
  int year = day->tm_year + 1900;
  at = kymo_put_u64(at, (uint64_t)(year > 0 ? year : 0));
  *at++ = '-';
  at = kymo_put_pair(at, (uint32_t)day->tm_mon + 1);
  *at++ = '-';
  at = kymo_put_pair(at, (uint32_t)day->tm_mday);
  *at++ = ' ';
  return at;
}

/* "[TIME]"; at most 48 bytes. */
static char *put_time(struct kymo_sink_state *state, char *at, const struct kymo_clock *clock,
                      int64_t time_ns) {
  *at++ = '[';
  if (clock && clock->origin_is_epoch && kymo_clock_text_has(&state->clock, time_ns)) {
    if (state->always_date)
      at = put_date(at, &state->clock.day);
    at = kymo_put_clock(at, &state->clock, time_ns);
  } else {
    at = kymo_put_seconds(at, time_ns);
  }
  *at++ = ']';
  return at;
}

static char *put_color(const struct kymo_sink_state *state, char *at, const char *color) {
  return state->color ? stpcpy(at, color) : at;
}

/* " +s.nnnnnnnnn " since the event before. */
static char *put_delta(struct kymo_sink_state *state, char *at, int64_t time_ns) {
  int64_t delta_ns = state->has_last ? (int64_t)((uint64_t)time_ns - (uint64_t)state->last_ns) : 0;
  state->last_ns = time_ns;
  state->has_last = true;
  if (delta_ns >= 0 && delta_ns < 1000000000) {
    memcpy(at, " +0.", 4);
    at = kymo_put_nanoseconds(at + 4, (uint32_t)delta_ns);
  } else {
    memcpy(at, " +", 2);
    at = kymo_put_seconds(delta_ns < 0 ? at + 1 : at + 2, delta_ns);
  }
  *at = ' ';
  return at + 1;
}

static void print_time(struct kymo_sink_state *state, const struct kymo_event *event) {
  const struct kymo_clock *clock = event->class_->stream->clock;
  struct kymo_out *out = &state->print.out;
  if (!event->has_time) {
    kymo_out_literal(out, "[-] +- ");
    return;
  }
  if (clock && clock->origin_is_epoch && !kymo_clock_text_has(&state->clock, event->time_ns))
    set_second(state, event->time_ns);
  char *at = put_color(state, kymo_out_room(out, 128), COLOR_TIME);
  at = put_time(state, at, clock, event->time_ns);
  at = put_color(state, at, COLOR_OFF);
  out->at = put_delta(state, at, event->time_ns);
}

/* A name as one word: blanks and what is no visible ASCII become '_'. */
static char *put_word(char *at, const char *name, size_t length) {
  for (size_t i = 0; i < length; i++)
    *at++ = name[i] > ' ' && name[i] < 127 ? name[i] : '_';
  return at;
}

/* NAME/TID@CPU */
static char *put_who(char *at, const struct kymo_who *who, uint32_t stream_number) {
  char *start = at;
  at = put_word(at, who->name, who->name_length);
  if (who->has_tid) {
    if (who->name_length)
      *at++ = '/';
    at = kymo_put_i64(at, who->tid);
  }
  if (who->has_cpu) {
    *at++ = '@';
    at = kymo_put_u64(at, who->cpu);
  }
  if (at == start) {
    *at++ = '#';
    at = kymo_put_u64(at, stream_number);
  }
  return at;
}

static const char *host_of(const struct kymo_part *part) {
  const struct kymo_environment *host = kymo_schema_environment(part->schema, "hostname");
  return host ? host->text : NULL;
}

/* "HOST:" */
static char *put_host(const struct kymo_sink_state *state, char *at, const struct kymo_part *part) {
  const char *host = state->many_hosts ? host_of(part) : NULL;
  if (!host)
    return at;
  at = put_word(at, host, strnlen(host, HOST_TEXT));
  *at = ':';
  return at + 1;
}

/* Mostly the same as in the stream's event before. */
static bool print_who(struct kymo_sink_state *state, const struct kymo_event *event) {
  const struct kymo_who *who = kymo_who_of(&state->print.whos, event);
  uint32_t number = kymo_stream_number(&state->print.whos.numbers, event->packet->stream);
  struct stream_view **slot = &state->streams[number], *view = *slot;
  if (!view)
    view = *slot = kymo_arena_alloc(&state->print.arena, sizeof(*view));
  if (!who || !view)
    return false;
  if (view->version != who->version) {
    view->version = who->version;
    char *at = put_host(state, view->text, event->packet->stream->part);
    view->length = (uint32_t)(put_who(at, who, number) - view->text);
  }
  kymo_out_piece(&state->print.out, view->text, view->length);
  return true;
}

static int text_event(struct kymo_sink_state *state, const struct kymo_event *event,
                      struct kymo_error *error) {
  struct kymo_out *out = &state->print.out;
  struct kymo_script *script = &kymo_print_class_of(&state->print, event)->script;
  if (!script->steps)
    *script = make_script(state, event);
  if (!script->steps)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  print_time(state, event);
  if (!print_who(state, event))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  kymo_script_print(&style, state, out, event, script);
  return out->error_number ? kymo_out_check(out, error) : KYMO_OK;
}

static int text_loss(struct kymo_sink_state *state, const struct kymo_loss *loss, struct kymo_error *error) {
  const struct kymo_clock *clock = loss->stream->class_ ? loss->stream->class_->clock : NULL;
  const char *what = loss->is_packets ? "packet" : "event";
  struct kymo_strbuf buf = {0};
  char time[2][64];
  if (loss->count_known)
    kymo_strbuf_printf(&buf, "lost %llu %s%s", (unsigned long long)loss->count, what,
                       loss->count == 1 ? "" : "s");
  else
    kymo_strbuf_printf(&buf, "perhaps lost %ss", what);
  if (loss->has_times) {
    bool is_epoch = clock && clock->origin_is_epoch;
    if (is_epoch && !kymo_clock_text_has(&state->clock, loss->begin_ns))
      set_second(state, loss->begin_ns);
    *put_time(state, time[0], clock, loss->begin_ns) = '\0';
    if (is_epoch && !kymo_clock_text_has(&state->clock, loss->end_ns))
      kymo_clock_text_set(&state->clock, loss->end_ns);
    *put_time(state, time[1], clock, loss->end_ns) = '\0';
    kymo_strbuf_printf(&buf, " between %s and %s", time[0], time[1]);
    state->clock.is_set = false; /* the next event looks at the day again */
  }
  kymo_strbuf_puts(&buf, " in ");
  add_name(&buf, loss->stream->path);
  bool failed = buf.failed;
  if (!failed)
    print_note(state, COLOR_LOSS, buf.text, buf.length);
  kymo_strbuf_free(&buf);
  return failed ? kymo_fail(error, KYMO_E_MEMORY, "out of memory") : KYMO_OK;
}

/* ---- life ---- */

static void write_label(struct kymo_strbuf *buf, const char *name) {
  kymo_strbuf_puts(buf, ", ");
  add_name(buf, name);
  kymo_strbuf_puts(buf, " = ");
}

static void write_colored_label(struct kymo_strbuf *buf, const char *name) {
  kymo_strbuf_puts(buf, ", " COLOR_NAME);
  add_name(buf, name);
  kymo_strbuf_puts(buf, COLOR_OFF " = ");
}

/* Whether the traces come from hosts of different names. */
static bool has_many_hosts(const struct kymo_trace *trace) {
  const char *first = NULL;
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++) {
    const char *host = host_of(kymo_trace_part(trace, i));
    if (host && first && strcmp(host, first) != 0)
      return true;
    first = first ? first : host;
  }
  return false;
}

static int text_end(struct kymo_sink_state *state, struct kymo_error *error) {
  int status = state ? kymo_print_end(&state->print, error) : KYMO_OK;
  free(state);
  return status;
}

static int text_begin(struct kymo_sink_state **out, struct kymo_trace *trace,
                      const struct kymo_sink_options *options, struct kymo_error *error) {
  struct kymo_sink_state *state = *out = calloc(1, sizeof(*state));
  if (!state)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  state->color = options->color;
  state->many_hosts = has_many_hosts(trace);
  state->day = -1;
  if (options->text && strcmp(options->text, "date") != 0)
    return kymo_fail(error, KYMO_E_USAGE, "the text output knows the option \"date\" only, not \"%s\"",
                     options->text);
  state->always_date = options->text != NULL;
  kymo_label_writer *label = state->color ? write_colored_label : write_label;
  int status = kymo_print_begin(&state->print, trace, options->out, label, write_labelled, error);
  if (status < 0)
    return status;
  size_t streams = (size_t)state->print.whos.numbers.stream_count + 1;
  state->streams = kymo_arena_array(&state->print.arena, streams, sizeof(*state->streams));
  return state->streams ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

const struct kymo_sink kymo_sink_text = {
    .name = "text",
    .summary = "one line an event, for people, grep and awk",
    .begin = text_begin,
    .event = text_event,
    .loss = text_loss,
    .end = text_end,
};
