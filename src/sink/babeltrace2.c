/* SPDX-License-Identifier: MIT */
/*
 * babeltrace2: what `babeltrace2 TRACE` (2.0.4) prints with the options of sink/line.h, byte for byte; with
 * the option "2.1" what 2.1 prints.
 *
 *   [hh:mm:ss.nnnnnnnnn] (+s.nnnnnnnnn) HOST NAME: { PACKET CONTEXT }, { COMMON CONTEXT }, …
 *   └──── local time ──┘  └─ delta ──┘  └─ prepared per event class ┘
 *
 * Its peculiarities, which only this file reproduces:
 * - of a scope's fields, those that only serve the decoder are left out (print/names.c);
 * - integers in base 8 are cut to whole octal digits, in base 16 to whole nibbles;
 * - integers of 61 to 63 bits are 0 in base 16;
 * - the first negative time is printed as seconds, later ones as the time of day of their amount;
 * - losses are reported on standard error.
 * One is not reproduced: for an empty text, 2.0.4 prints the previous value of the same field.
 * Traces that 2.0.4 cannot read (CTF 2) are printed as by 2.1.
 */
#include "base/fail.h"
#include "base/likely.h"
#include "decode/decoder.h"
#include "print/called.h"
#include "print/clock.h"
#include "print/print.h"
#include "print/unicode.h"
#include "print/wrap.h"
#include "sink/details/details.h"
#include "sink/line.h"
#include <stdlib.h>

#define CONTEXT_TEXT 480

/* The text of a packet's context is the same for all of its events. */
struct stream_view {
  bool is_set;
  struct kymo_packet_key packet; /* whose text it is */
  uint32_t length;
  char text[CONTEXT_TEXT + KYMO_PIECE_SLACK];
};

struct kymo_sink_state {
  struct kymo_trace *trace;
  struct kymo_sink_options options;
  struct kymo_line line;
  struct kymo_names bare;       /* without names, if a scope is shown without them */
  bool is_bare;                 /* the scope being walked is shown without names */
  bool is_usual;                /* the stamp has the usual form */
  struct stream_view **streams; /* by number; NULL until the first event */
  struct kymo_clock_text clock;
  uint64_t last_ns, delta_ns;         /* UINT64_MAX: none yet */
  uint64_t last_cycles, delta_cycles; /* the same */
  bool warned_negative;
  unsigned wraps;          /* variants around the next value */
  struct kymo_print print; /* last, since most of it is for walking */
};

/* ---- time ---- */

static char *put_negative(struct kymo_sink_state *state, char *at, int64_t time_ns) {
  int64_t size_ns = time_ns == INT64_MIN ? INT64_MAX : -time_ns;
  if (!state->warned_negative) {
    state->warned_negative = true;
    fputs("[warning] Fallback to [sec.ns] to print negative time value. Use --clock-seconds.\n", stderr);
    return kymo_put_seconds(at, time_ns);
  }
  if (!kymo_clock_text_set(&state->clock, size_ns))
    return kymo_put_seconds(at, time_ns);
  if (state->line.clock_date)
    at = kymo_put_date(at, &state->clock.day);
  at = kymo_put_clock(at, &state->clock, size_ns);
  state->clock.is_set = false;
  return at;
}

static char *put_time(struct kymo_sink_state *state, char *at, int64_t time_ns) {
  if (state->line.clock_seconds)
    return kymo_put_seconds(at, time_ns);
  if (time_ns < 0)
    return put_negative(state, at, time_ns);
  if (!kymo_clock_text_has(&state->clock, time_ns) && !kymo_clock_text_set(&state->clock, time_ns))
    return kymo_put_seconds(at, time_ns);
  if (state->line.clock_date)
    at = kymo_put_date(at, &state->clock.day);
  return kymo_put_clock(at, &state->clock, time_ns);
}

static char *put_delta(struct kymo_sink_state *state, char *at, uint64_t now) {
  uint64_t delta = state->delta_ns;
  if (state->last_ns != UINT64_MAX)
    state->delta_ns = delta = now - state->last_ns;
  state->last_ns = now;
  if (delta == UINT64_MAX) {
    memcpy(at, "?.?????????", 11);
    return at + 11;
  }
  if (delta < 1000000000) {
    memcpy(at, "0.", 2);
    return kymo_put_nanoseconds(at + 2, (uint32_t)delta);
  }
  at = kymo_put_u64(at, delta / 1000000000);
  *at++ = '.';
  return kymo_put_nanoseconds(at, (uint32_t)(delta % 1000000000));
}

/* Decimal digits with leading zeros. */
static char *put_padded(char *at, uint64_t value, size_t width) {
  char digits[24];
  size_t count = (size_t)(kymo_put_u64(digits, value) - digits);
  for (; width > count; width--)
    *at++ = '0';
  memcpy(at, digits, count);
  return at + count;
}

static char *put_delta_cycles(struct kymo_sink_state *state, char *at, uint64_t cycles) {
  if (state->last_cycles != UINT64_MAX)
    state->delta_cycles = cycles - state->last_cycles;
  state->last_cycles = cycles;
  if (state->delta_cycles == UINT64_MAX) {
    memset(at, '?', 12);
    return at + 12;
  }
  return put_padded(at, state->delta_cycles, 12);
}

/* "timestamp = TIME, delta = +DELTA", or the usual form with other times. */
static char *put_other_stamp(struct kymo_sink_state *state, char *at, const struct kymo_event *event) {
  bool has_names = state->line.names & KYMO_LINE_HEADER;
  at = stpcpy(at, has_names ? "timestamp = " : "[");
  at = state->line.clock_cycles ? put_padded(at, event->cycles, 20) : put_time(state, at, event->time_ns);
  at = stpcpy(at, has_names ? "" : "] ");
  char *before = at;
  at = stpcpy(at, has_names ? ", delta = +" : "(+");
  at = state->line.clock_cycles ? put_delta_cycles(state, at, event->cycles)
                                : put_delta(state, at, (uint64_t)event->time_ns);
  at = stpcpy(at, has_names ? "" : ") ");
  return state->line.no_delta ? before : at;
}

static inline char *put_stamp(struct kymo_sink_state *state, char *at, int64_t time_ns) {
  *at++ = '[';
  if (time_ns >= 0 && kymo_clock_text_has(&state->clock, time_ns))
    at = kymo_put_clock(at, &state->clock, time_ns);
  else
    at = put_time(state, at, time_ns);
  memcpy(at, "] (+", 4);
  at = put_delta(state, at + 4, (uint64_t)time_ns);
  memcpy(at, ") ", 2);
  return at + 2;
}

/* ---- values ---- */

static char *put_integer(char *at, const struct kymo_type *type, uint64_t value) {
  unsigned bits = type->kind == KYMO_KIND_VARINT || type->size_bits > 64 ? 64 : type->size_bits;
  switch (type->base) {
  case 2: memcpy(at, "0b", 2); return kymo_put_binary(at + 2, value, bits);
  case 8:
    if (type->is_signed && bits < 64)
      value &= (UINT64_C(1) << (bits + 2) / 3 * 3) - 1;
    *at = '0';
    return kymo_put_octal(at + 1, value);
  case 16:
    if (bits < 64) /* 61 to 63 bits: babeltrace2 shifts by 64, which results in 0 on its processor */
      value &= bits > 60 ? 0 : (UINT64_C(1) << (bits + 3) / 4 * 4) - 1;
    memcpy(at, "0x", 2);
    return kymo_put_hex(at + 2, value, true);
  default: return type->is_signed ? kymo_put_i64(at, (int64_t)value) : kymo_put_u64(at, value);
  }
}

/* 0: unchanged; else the character after a backslash, or 'x' for a hexadecimal number. */
static const char escapes[256] = {
    [1 ... 6] = 'x', ['\a'] = 'a',  ['\b'] = 'b',      ['\t'] = 't',   ['\n'] = 'n',      ['\v'] = 'v',
    ['\f'] = 'f',    ['\r'] = 'r',  [14 ... 26] = 'x', ['\033'] = 'e', [28 ... 31] = 'x', [127] = 'x',
    ['"'] = '"',     ['\''] = '\'', ['?'] = '?',       ['\\'] = '\\',  [0] = '0',
};

static char *put_escape(char *at, uint8_t byte) {
  *at++ = '\\';
  *at++ = escapes[byte];
  return escapes[byte] == 'x' ? kymo_put_hex_byte(at, byte) : at;
}

static void print_bytes(struct kymo_out *out, const uint8_t *bytes, size_t size) {
  const uint8_t *end = bytes + size;
  while (bytes < end) {
    size_t part = (size_t)(end - bytes) < KYMO_OUT_ROOM / 4 ? (size_t)(end - bytes) : KYMO_OUT_ROOM / 4;
    const uint8_t *stop = bytes + part;
    char *at = kymo_out_room(out, KYMO_OUT_ROOM);
    for (; bytes < stop; bytes++) {
      if (__builtin_expect(escapes[*bytes] != 0, 0))
        at = put_escape(at, *bytes);
      else
        *at++ = (char)*bytes;
    }
    out->at = at;
  }
}

static void print_text(struct kymo_out *out, const struct kymo_value *value) {
  const uint8_t *at = value->bytes, *end = at + value->count;
  kymo_out_byte(out, '"');
  if (kymo_is_byte_encoding(value->type->encoding)) {
    print_bytes(out, at, (size_t)value->count);
  } else {
    while (at < end) {
      char utf8[4];
      uint32_t character = kymo_next_character(value->type->encoding, &at, end);
      print_bytes(out, (const uint8_t *)utf8, (size_t)(kymo_put_character(utf8, character) - utf8));
    }
  }
  kymo_out_byte(out, '"');
}

static void add_text(struct kymo_strbuf *buf, const char *text) {
  kymo_strbuf_puts(buf, "\"");
  for (; *text; text++) {
    char escape[4];
    bool plain = escapes[(uint8_t)*text] == 0;
    kymo_strbuf_add(buf, plain ? text : escape,
                    plain ? 1 : (size_t)(put_escape(escape, (uint8_t)*text) - escape));
  }
  kymo_strbuf_puts(buf, "\"");
}

static uint32_t add_labels(struct kymo_strbuf *buf, struct kymo_labels labels) {
  uint32_t count = 0;
  for (const char *label; (label = kymo_labels_next(&labels)) != NULL; count++) {
    if (count > 0)
      kymo_strbuf_puts(buf, ", ");
    add_text(buf, label);
  }
  return count;
}

/* The labels of an enumeration as 2.1 prints them: the one that was declared last comes first, and several
 * are in braces. */
static uint32_t add_labels_2_1(struct kymo_strbuf *buf, struct kymo_labels labels) {
  struct kymo_labels again = labels;
  uint32_t count = 0, at = 0;
  while (kymo_labels_next(&labels))
    count++;
  if (count < 2)
    return add_labels(buf, again);
  const char **list = malloc(count * sizeof(*list));
  buf->failed |= !list;
  while (list && (list[at] = kymo_labels_next(&again)) && ++at < count)
    ;
  kymo_strbuf_puts(buf, "{ ");
  for (uint32_t i = at; i-- > 0;) {
    add_text(buf, list[i]);
    kymo_strbuf_puts(buf, i > 0 ? ", " : " }");
  }
  free(list);
  return count;
}

/* ( "LABEL" : container = 1 ), and for bit maps 0x5 { "FLAG" }. */
static void add_labelled(struct kymo_strbuf *buf, const struct kymo_type *type, uint64_t value, bool as_2_1) {
  struct kymo_labels labels = kymo_labels_begin(type, value), first;
  char number[72];
  if (type->kind == KYMO_KIND_BITMAP) {
    first = labels;
    kymo_strbuf_puts(buf, "0x");
    kymo_strbuf_add(buf, number, (size_t)(kymo_put_hex(number, value, true) - number));
    if (!kymo_labels_next(&first))
      return;
    kymo_strbuf_puts(buf, " { ");
    add_labels(buf, labels);
    kymo_strbuf_puts(buf, " }");
    return;
  }
  kymo_strbuf_puts(buf, "( ");
  if ((as_2_1 ? add_labels_2_1 : add_labels)(buf, labels) == 0)
    kymo_strbuf_puts(buf, "<unknown>");
  kymo_strbuf_puts(buf, " : container = ");
  kymo_strbuf_add(buf, number, (size_t)(put_integer(number, type, value) - number));
  kymo_strbuf_puts(buf, " )");
}

static void write_labelled(struct kymo_strbuf *buf, const struct kymo_type *type, uint64_t value) {
  add_labelled(buf, type, value, false);
}

static void write_labelled_2_1(struct kymo_strbuf *buf, const struct kymo_type *type, uint64_t value) {
  add_labelled(buf, type, value, true);
}

static void print_integer(struct kymo_sink_state *state, uint32_t part, const struct kymo_value *value) {
  const struct kymo_type *type = value->type;
  struct kymo_out *out = &state->print.out;
  if (type->is_enumeration || type->kind == KYMO_KIND_BITMAP || type->mapping_count > 0)
    kymo_out_labelled(out, &state->print.memory, part, value);
  else if (type->kind == KYMO_KIND_BOOLEAN)
    kymo_out_bytes(out, value->u ? "true" : "false", value->u ? 4 : 5);
  else
    out->at = put_integer(kymo_out_room(out, 72), type, value->u);
}

/* %g; integers of up to six digits are printed directly. */
static void print_float(struct kymo_out *out, double value) {
  char *at = kymo_out_room(out, 64);
  if (value > -1e6 && value < 1e6 && value == (double)(int32_t)value &&
      !(value == 0 && __builtin_signbit(value)))
    out->at = kymo_put_i64(at, (int32_t)value);
  else
    out->at = at + snprintf(at, 64, "%g", value);
}

static void print_blob(struct kymo_out *out, const struct kymo_value *value) {
  kymo_out_byte(out, '{');
  for (uint64_t i = 0; i < value->count; i++) {
    char *at = kymo_out_room(out, 3);
    *at = ' ';
    out->at = kymo_put_hex_byte(at + 1, value->bytes[i]);
  }
  kymo_out_literal(out, " }");
}

/* ---- structure ---- */

static void print_index(struct kymo_out *out, uint64_t index, bool is_bare) {
  char *at = kymo_out_room(out, 32);
  if (index > 0)
    *at++ = ',';
  if (is_bare) {
    *at = ' ';
    out->at = at + 1;
    return;
  }
  memcpy(at, " [", 2);
  at = kymo_put_u64(at + 2, index);
  memcpy(at, "] = ", 4);
  out->at = at + 4;
}

static void print_closings(struct kymo_out *out, unsigned wraps) {
  for (unsigned i = 0; i < wraps; i++)
    kymo_out_literal(out, " }");
}

static void print_scalar(struct kymo_sink_state *state, uint32_t part, enum kymo_token token,
                         const struct kymo_value *value) {
  switch (token) {
  case KYMO_TOKEN_INTEGER: print_integer(state, part, value); break;
  case KYMO_TOKEN_FLOAT: print_float(&state->print.out, value->f); break;
  case KYMO_TOKEN_TEXT: print_text(&state->print.out, value); break;
  case KYMO_TOKEN_BLOB: print_blob(&state->print.out, value); break;
  default: kymo_out_literal(&state->print.out, "<none>"); break;
  }
}

/* ---- walking ---- */

/* Separator and name or index, openings of variants. */
static bool walk_lead(struct kymo_sink_state *state, struct kymo_frame *frame,
                      const struct kymo_value *value) {
  struct kymo_out *out = &state->print.out;
  const struct kymo_type *declared;
  if (frame->labels) {
    const struct kymo_label *label = &frame->labels[value->member - frame->type->members];
    if (label->is_hidden)
      return false;
    bool first = frame->count++ == 0;
    kymo_out_piece(out, label->text + first, label->length - first);
    declared = value->member->type;
  } else {
    print_index(out, frame->count++, state->is_bare);
    declared = frame->type->element;
  }
  state->wraps = KYMO_LIKELY(declared == value->type) ? 0 : kymo_wrap_count(declared, value);
  for (unsigned i = 0; i < state->wraps; i++)
    kymo_out_literal(out, "{ ");
  return true;
}

static void walk_begin(struct kymo_sink_state *state, struct kymo_frame *frame) {
  frame->wraps = state->wraps;
  kymo_out_byte(&state->print.out, frame->labels ? '{' : '[');
}

static void walk_end(struct kymo_sink_state *state, const struct kymo_frame *frame) {
  kymo_out_bytes(&state->print.out, frame->labels ? " }" : " ]", 2);
  print_closings(&state->print.out, frame->wraps);
}

static void walk_scalar(struct kymo_sink_state *state, uint32_t part, enum kymo_token token,
                        const struct kymo_value *value) {
  print_scalar(state, part, token, value);
  print_closings(&state->print.out, state->wraps);
}

static void print_walk(struct kymo_sink_state *state, const struct kymo_event *event,
                       const struct kymo_script_step *step) {
  static const struct kymo_walk_style walk_style = {walk_lead, walk_begin, walk_end, walk_scalar};
  state->is_bare = step->is_bare;
  state->print.shown = step->is_bare ? &state->bare : &state->print.names;
  kymo_print_members(&state->print, state, &walk_style, event, step);
}

/* ---- events ---- */

static bool is_bare_scope(const struct kymo_sink_state *state, enum kymo_scope scope) {
  return !(state->line.names & (scope == KYMO_SCOPE_PAYLOAD ? KYMO_LINE_PAYLOAD : KYMO_LINE_CONTEXT));
}

static bool is_shown(const struct kymo_sink_state *state, uint32_t part, const struct kymo_type *type) {
  return type && !state->print.names.parts[part].is_hidden[type->id];
}

/* "{ … }" */
static void print_packet_context(struct kymo_sink_state *state, const struct kymo_event *event) {
  const struct kymo_packet *packet = event->packet;
  struct stream_view **slot = &state->streams[packet->stream->number];
  struct kymo_out *out = &state->print.out;
  if (!*slot)
    *slot = kymo_arena_alloc(&state->print.arena, sizeof(**slot));
  struct stream_view *view = *slot;
  if (view && view->is_set && kymo_packet_key_is(&view->packet, packet)) {
    kymo_out_piece(out, view->text, view->length);
    return;
  }
  char *start = kymo_out_room(out, KYMO_OUT_ROOM);
  uint64_t flushes = out->flushes;
  kymo_out_byte(out, '{');
  print_walk(state, event,
             &(struct kymo_script_step){.scope = KYMO_SCOPE_PACKET_CONTEXT,
                                        .is_bare = is_bare_scope(state, KYMO_SCOPE_PACKET_CONTEXT),
                                        .type = event->class_->stream->packet_context});
  kymo_out_literal(out, " }");
  size_t length = (size_t)(out->at - start);
  if (!view || out->flushes != flushes || length > CONTEXT_TEXT)
    return;
  memcpy(view->text, start, length);
  view->length = (uint32_t)length;
  view->packet = kymo_packet_key_of(packet);
  view->is_set = true;
}

/*
 * The text between stamp and fields: "HOST:PROCESS:(PID) NAME: ", or "trace:hostname = HOST, …, name = NAME,
 * ". A missing or superfluous separator (after the trace's name, or without a stamp) is as in babeltrace2.
 */
struct head {
  struct kymo_strbuf *buf;
  bool has_names;  /* of the header */
  bool has_before; /* a stamp with names */
  bool has_fact;
};

/* "NAME = ", or the separator of facts without names. */
static void add_fact(struct head *head, const char *name) {
  kymo_strbuf_puts(head->buf, head->has_before ? ", " : "");
  if (head->has_names)
    kymo_strbuf_printf(head->buf, "%s = ", name);
  else if (head->has_fact)
    kymo_strbuf_puts(head->buf, ":");
  head->has_fact = true;
}

static void add_trace(struct head *head, const struct kymo_sink_state *state, const struct kymo_part *part) {
  kymo_strbuf_puts(head->buf, head->has_before ? ", " : "");
  kymo_strbuf_puts(head->buf, head->has_names ? "trace = " : "");
  kymo_called_trace(head->buf, &state->options, part);
  kymo_strbuf_puts(head->buf, head->has_names ? ", " : "");
}

static void add_environment(struct head *head, const struct kymo_schema *schema, const char *name) {
  const struct kymo_environment *entry = kymo_schema_environment(schema, name);
  char shown[32];
  snprintf(shown, sizeof(shown), "trace:%s", name);
  bool is_pid = strcmp(name, "vpid") == 0;
  if (!entry || (entry->text != NULL) == is_pid)
    return;
  add_fact(head, shown);
  if (is_pid)
    kymo_strbuf_printf(head->buf, "(%lld)", (long long)entry->integer);
  else
    kymo_strbuf_puts(head->buf, entry->text);
}

static void add_facts(struct head *head, const struct kymo_sink_state *state,
                      const struct kymo_event *event) {
  static const struct {
    uint32_t field;
    const char *name;
  } facts[] = {{KYMO_LINE_HOSTNAME, "hostname"},
               {KYMO_LINE_DOMAIN, "domain"},
               {KYMO_LINE_PROCNAME, "procname"},
               {KYMO_LINE_VPID, "vpid"}};
  const struct kymo_part *part = event->packet->stream->part;
  const char *level = kymo_line_level(event->class_);
  if (state->line.fields & KYMO_LINE_TRACE)
    add_trace(head, state, part);
  for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
    if (state->line.fields & facts[i].field)
      add_environment(head, part->schema, facts[i].name);
  if ((state->line.fields & KYMO_LINE_LEVEL) && level) {
    add_fact(head, "loglevel");
    kymo_strbuf_printf(head->buf, "%s (%d)", level, (int)event->class_->level);
  }
  if ((state->line.fields & KYMO_LINE_EMF) && event->class_->uri) {
    add_fact(head, "model.emf.uri");
    kymo_strbuf_puts(head->buf, event->class_->uri);
  }
}

static void write_head(struct kymo_strbuf *buf, const struct kymo_sink_state *state,
                       const struct kymo_event *event) {
  const char *name = event->class_->name;
  bool has_names = state->line.names & KYMO_LINE_HEADER;
  struct head head = {
      .buf = buf, .has_names = has_names, .has_before = has_names && event->class_->stream->clock};
  add_facts(&head, state, event);
  kymo_strbuf_puts(buf, head.has_fact && !has_names ? " " : "");
  kymo_strbuf_puts(buf, head.has_before ? ", " : "");
  kymo_strbuf_puts(buf, has_names ? "name = " : "");
  kymo_strbuf_puts(buf, name && *name ? name : "<unknown>");
  kymo_strbuf_puts(buf, has_names ? ", " : ": ");
}

/* "event.fields = ", if the scopes' names are wanted. */
static const char *scope_name(const struct kymo_sink_state *state, enum kymo_scope scope) {
  static const char *const names[KYMO_SCOPE_COUNT] = {
      "", "stream.packet.context = ", "", "stream.event.context = ", "event.context = ", "event.fields = ",
  };
  return state->line.names & KYMO_LINE_SCOPE ? names[scope] : "";
}

static unsigned base_of(const struct kymo_type *type) { return type->base ? type->base : 10; }

static void write_bare_label(struct kymo_strbuf *buf, const char *name) {
  (void)name;
  kymo_strbuf_puts(buf, ", ");
}

static void write_label(struct kymo_strbuf *buf, const char *name) {
  kymo_strbuf_puts(buf, ", ");
  kymo_strbuf_puts(buf, name);
  kymo_strbuf_puts(buf, " = ");
}

static const struct kymo_script_style style = {
    .open = "{",
    .close = " }",
    .empty = "{ }",
    .array_open = "[",
    .array_close = " ]",
    .is_upper = true,
    .specials = {.own = {KYMO_TIMES_16('"'), KYMO_TIMES_16('\''), KYMO_TIMES_16('?'), KYMO_TIMES_16('\\')}},
    .base = base_of,
    .element = print_index,
    .characters = print_bytes,
    .integer = print_integer,
    .scalar = print_scalar,
    .walk = print_walk,
};

/* ", { … }, { … }\n": the scopes after the packet context. */
static struct kymo_script make_script(struct kymo_sink_state *state, const struct kymo_event *event) {
  const struct kymo_decoder *decoder = kymo_decoder_of(event);
  uint32_t part = event->packet->stream->part->index;
  const struct kymo_node *roots[] = {decoder->plan->common_context, event->plan->specific_context,
                                     event->plan->payload};
  bool first = !is_shown(state, part, event->class_->stream->packet_context);
  struct kymo_scripting script;
  kymo_script_begin(&script, &style, &state->print.names, &state->print.arena, event);
  for (int i = 0; i < 3; i++) {
    if (!roots[i] || !is_shown(state, part, roots[i]->type))
      continue;
    enum kymo_scope scope = (enum kymo_scope)(KYMO_SCOPE_COMMON_CONTEXT + i);
    bool is_bare = is_bare_scope(state, scope);
    kymo_script_names(&script, is_bare ? &state->bare : &state->print.names, is_bare);
    kymo_script_text(&script, first ? "" : ", ");
    kymo_script_text(&script, scope_name(state, scope));
    kymo_script_text(&script, "{");
    kymo_script_scope(&script, scope, roots[i], NULL, NULL, false);
    kymo_script_text(&script, " }");
    first = false;
  }
  kymo_script_text(&script, "\n");
  return kymo_script_finish(&script);
}

static bool make_class(struct kymo_sink_state *state, struct kymo_print_class *view,
                       const struct kymo_event *event) {
  struct kymo_strbuf buf = {0};
  write_head(&buf, state, event);
  if (is_shown(state, event->packet->stream->part->index, event->class_->stream->packet_context))
    kymo_strbuf_puts(&buf, scope_name(state, KYMO_SCOPE_PACKET_CONTEXT));
  view->head.text = kymo_names_keep(&state->print.arena, &buf, &view->head.length);
  kymo_strbuf_free(&buf);
  if (view->head.text)
    view->script = make_script(state, event);
  return view->script.steps != NULL;
}

static int babeltrace2_event(struct kymo_sink_state *state, const struct kymo_event *event,
                             struct kymo_error *error) {
  struct kymo_out *out = &state->print.out;
  const struct kymo_event_class *class_ = event->class_;
  uint32_t part = event->packet->stream->part->index;
  struct kymo_print_class *view = kymo_print_class_of(&state->print, event);
  if (!view->script.steps && !make_class(state, view, event))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (event->has_time && class_->stream->clock)
    out->at = KYMO_LIKELY(state->is_usual) ? put_stamp(state, kymo_out_room(out, 96), event->time_ns)
                                           : put_other_stamp(state, kymo_out_room(out, 160), event);
  kymo_out_piece(out, view->head.text, view->head.length);
  if (is_shown(state, part, class_->stream->packet_context))
    print_packet_context(state, event);
  kymo_script_print(&style, state, out, event, &view->script);
  return out->error_number ? kymo_out_check(out, error) : KYMO_OK;
}

/* ---- losses ---- */

/* Printed by 2.1 in the place of the uuid. */
static void add_uid(struct kymo_strbuf *buf, const struct kymo_schema *schema) {
  struct kymo_details_trace trace = kymo_details_trace_of(schema);
  if (trace.uid)
    kymo_strbuf_printf(buf, "(UID: %s)", trace.uid);
  else
    kymo_strbuf_puts(buf, "(no UID)");
  free(trace.space);
  free(trace.uid);
}

static void add_uuid(struct kymo_strbuf *buf, const struct kymo_schema *schema) {
  char uuid[40];
  if (!schema->has_uuid) {
    kymo_strbuf_puts(buf, "(no UUID)");
    return;
  }
  kymo_strbuf_puts(buf, "(UUID: ");
  kymo_strbuf_add(buf, uuid, (size_t)(kymo_put_uuid(uuid, schema->uuid) - uuid));
  kymo_strbuf_puts(buf, ")");
}

static void add_time(struct kymo_sink_state *state, struct kymo_strbuf *buf, const struct kymo_loss *loss,
                     bool end) {
  int64_t time_ns = end ? loss->end_ns : loss->begin_ns;
  char text[64];
  kymo_strbuf_printf(buf, "[%.*s]", (int)(put_time(state, text, time_ns) - text), text);
}

static int babeltrace2_loss(struct kymo_sink_state *state, const struct kymo_loss *loss,
                            struct kymo_error *error) {
  const struct kymo_stream *stream = loss->stream;
  const char *what = loss->is_packets ? "packet" : "event";
  struct kymo_strbuf buf = {0};
  if (state->line.as_2_1 && !loss->count_known && loss->count == 0)
    return KYMO_OK; /* before the first packet: 2.1 does not print it */
  if (loss->count_known)
    kymo_strbuf_printf(&buf, "WARNING: Tracer discarded %llu %s%s ", (unsigned long long)loss->count, what,
                       loss->count == 1 ? "" : "s");
  else
    kymo_strbuf_printf(&buf, "WARNING: Tracer may have discarded %ss ", what);
  if (loss->has_times && stream->class_) {
    kymo_strbuf_puts(&buf, "between ");
    add_time(state, &buf, loss, false);
    kymo_strbuf_puts(&buf, " and ");
    add_time(state, &buf, loss, true);
  } else {
    kymo_strbuf_puts(&buf, "(unknown time range)");
  }
  kymo_strbuf_puts(&buf, " in trace \"");
  kymo_called_trace(&buf, &state->options, stream->part);
  kymo_strbuf_puts(&buf, "\" ");
  (state->line.as_2_1 ? add_uid : add_uuid)(&buf, stream->part->schema);
  kymo_strbuf_puts(&buf, " within stream \"");
  kymo_called_path(&buf, stream->path);
  kymo_strbuf_printf(&buf, "\" (stream class ID: %llu, stream ID: %llu).\n",
                     (unsigned long long)(stream->class_ ? stream->class_->id : 0),
                     (unsigned long long)kymo_called_stream(state->trace, stream));
  bool failed = buf.failed;
  if (!failed)
    fwrite(buf.text, 1, buf.length, stderr);
  kymo_strbuf_free(&buf);
  return failed ? kymo_fail(error, KYMO_E_MEMORY, "out of memory") : KYMO_OK;
}

/* ---- life ---- */

static int babeltrace2_end(struct kymo_sink_state *state, struct kymo_error *error) {
  int status = state ? kymo_print_end(&state->print, error) : KYMO_OK;
  if (state)
    kymo_names_end(&state->bare);
  free(state);
  return status;
}

static int read_options(struct kymo_sink_state *state, struct kymo_error *error) {
  struct kymo_line *line = &state->line;
  uint32_t usual = KYMO_LINE_HOSTNAME | KYMO_LINE_PROCNAME | KYMO_LINE_VPID;
  int status = kymo_line_read(line, "babeltrace2", state->options.text, usual, error);
  state->clock.is_gmt = line->clock_gmt;
  state->is_usual = !line->no_delta && !line->clock_cycles && !line->clock_date && !line->clock_seconds &&
                    !(line->names & KYMO_LINE_HEADER);
  return status;
}

static int make_ready(struct kymo_sink_state *state, struct kymo_error *error) {
  int status = kymo_names_begin(&state->bare, state->trace, write_bare_label, error);
  if (status < 0)
    return status;
  kymo_names_hide(&state->print.names, state->trace);
  kymo_names_hide(&state->bare, state->trace);
  size_t streams = (size_t)state->print.whos.numbers.stream_count + 1;
  state->streams = kymo_arena_array(&state->print.arena, streams, sizeof(*state->streams));
  return state->streams ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

static int babeltrace2_flush(struct kymo_sink_state *state, struct kymo_error *error) {
  return kymo_print_flush(&state->print, error);
}

static int babeltrace2_grow(struct kymo_sink_state *state, struct kymo_error *error) {
  kymo_names_end(&state->bare);
  int status = kymo_print_grow(&state->print, error);
  return status < 0 ? status : make_ready(state, error);
}

static int babeltrace2_begin(struct kymo_sink_state **out, struct kymo_trace *trace,
                             const struct kymo_sink_options *options, struct kymo_error *error) {
  struct kymo_sink_state *state = *out = calloc(1, sizeof(*state));
  if (!state)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  state->trace = trace;
  state->options = *options;
  state->last_ns = state->delta_ns = state->last_cycles = state->delta_cycles = UINT64_MAX;
  int status = read_options(state, error);
  if (status >= 0)
    status = kymo_print_begin(&state->print, trace, options->out, write_label,
                              state->line.as_2_1 ? write_labelled_2_1 : write_labelled, error);
  return status < 0 ? status : make_ready(state, error);
}

const struct kymo_sink kymo_sink_babeltrace2 = {
    KYMO_SINK_ABI,
    .name = "babeltrace2",
    .summary = "what babeltrace2 prints by default, byte for byte",
    .as_babeltrace2 = true,
    .begin = babeltrace2_begin,
    .event = babeltrace2_event,
    .loss = babeltrace2_loss,
    .end = babeltrace2_end,
    .flush = babeltrace2_flush,
    .grow = babeltrace2_grow,
};
