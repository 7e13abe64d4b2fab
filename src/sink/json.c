/* SPDX-License-Identifier: MIT */
/*
 * json: one object per line, as docs/json.md describes it.
 *
 *   {"ts":1700000000123456789,"event":"net:rx","tid":4711,"thread":"worker","cpu":1,
 *    "message":"80 is open","fields":{"port":80,"state":{"value":1,"label":"OPEN"}},"context":{"vpid":4700}}
 *   {"lost":{"what":"events","count":12,"begin":…,"end":…,"stream":"…"}}
 */
#include "base/fail.h"
#include "print/json_writer.h"
#include "print/options.h"
#include "print/print.h"
#include "print/unicode.h"
#include "decode/decoder.h"
#include <stdlib.h>

struct kymo_sink_state {
  struct kymo_json json;
  const struct kymo_who_places *said; /* fields of the scope being walked that are printed elsewhere in the
                                       * line */
  bool many_parts;
  struct kymo_print print; /* last, since most of it is for walking */
};

/* ---- values ---- */

/* {"value":4198710,"symbol":"main+0x10"}, if the address has a name */
static void print_number(struct kymo_sink_state *state, uint32_t part, const struct kymo_value *value) {
  struct kymo_json *json = &state->json;
  struct kymo_symbol symbol;
  char text[KYMO_SYMBOL_TEXT];
  if (!kymo_print_symbol(&state->print, part, value, &symbol)) {
    kymo_json_uint(json, value->u);
    return;
  }
  *kymo_print_put_symbol(text, &symbol) = '\0';
  kymo_json_begin(json, '{');
  kymo_json_key(json, "value");
  kymo_json_uint(json, value->u);
  kymo_json_key(json, "symbol");
  kymo_json_text(json, text);
  kymo_json_end(json, '}');
}

static void print_integer(struct kymo_sink_state *state, uint32_t part, const struct kymo_value *value) {
  const struct kymo_type *type = value->type;
  if (type->is_enumeration || type->mapping_count > 0) {
    kymo_json_open_value(&state->json);
    kymo_out_labelled(&state->print.out, &state->print.memory, part, value);
  } else if (type->kind == KYMO_KIND_BOOLEAN) {
    kymo_json_bool(&state->json, value->u != 0);
  } else if (type->is_signed) {
    kymo_json_int(&state->json, value->i);
  } else {
    print_number(state, part, value);
  }
}

static void print_scalar(struct kymo_sink_state *state, uint32_t part, enum kymo_token token,
                         const struct kymo_value *value) {
  struct kymo_json *json = &state->json;
  switch (token) {
  case KYMO_TOKEN_INTEGER: print_integer(state, part, value); break;
  case KYMO_TOKEN_FLOAT: kymo_json_float(json, value->f, value->type->size_bits <= 32); break;
  case KYMO_TOKEN_TEXT: kymo_json_string(json, value->bytes, value->count, value->type->encoding); break;
  case KYMO_TOKEN_BLOB: kymo_json_hex(json, value->bytes, value->count); break;
  default: kymo_json_null(json); break;
  }
}

/* ---- structure ---- */

/* The member's name; false if its value is printed elsewhere in the line. */
static bool walk_lead(struct kymo_sink_state *state, struct kymo_frame *frame,
                      const struct kymo_value *value) {
  if (!frame->labels)
    return true;
  uint32_t index = (uint32_t)(value->member - frame->type->members);
  if (state->said && kymo_frame_is_outermost(&state->print, frame) && kymo_who_says(state->said, index))
    return false;
  kymo_json_label(&state->json, frame->labels[index].text, frame->labels[index].length);
  return true;
}

static void walk_begin(struct kymo_sink_state *state, struct kymo_frame *frame) {
  kymo_json_begin(&state->json, frame->labels ? '{' : '[');
}

static void walk_end(struct kymo_sink_state *state, const struct kymo_frame *frame) {
  kymo_json_end(&state->json, frame->labels ? '}' : ']');
}

/* ---- scripts ---- */

static unsigned base_of(const struct kymo_type *type) {
  (void)type;
  return 10;
}

static void print_separator(struct kymo_out *out, uint64_t index, bool is_bare) {
  (void)is_bare;
  if (index > 0)
    kymo_out_byte(out, ',');
}

static void print_walk(struct kymo_sink_state *state, const struct kymo_event *event,
                       const struct kymo_script_step *step) {
  static const struct kymo_walk_style walk_style = {walk_lead, walk_begin, walk_end, print_scalar};
  state->said = step->scope == KYMO_SCOPE_COMMON_CONTEXT ? kymo_who_common(&state->print.whos, event) : NULL;
  kymo_json_start(&state->json, &state->print.out);
  if (step->message) {
    const struct kymo_strbuf *text = kymo_print_message(&state->print, event, step->message);
    kymo_json_string(&state->json, text ? (const uint8_t *)text->text : NULL, text ? text->length : 0,
                     KYMO_ENCODING_UTF8);
    kymo_json_start(&state->json, &state->print.out);
    return;
  }
  kymo_print_members(&state->print, state, &walk_style, event, step);
  kymo_json_start(&state->json, &state->print.out);
}

static void print_rest(struct kymo_out *out, const uint8_t *from, size_t size) {
  kymo_json_put_characters(out, from, size, KYMO_ENCODING_UTF8);
}

static const struct kymo_script_style style = {
    .open = "{",
    .close = "}",
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

/* ,"KEY":{…}; an empty context is left out. */
static void add_scope(struct kymo_scripting *script, enum kymo_scope scope, const struct kymo_node *root,
                      const char *key, const struct kymo_who_places *said) {
  uint32_t count = kymo_who_rest(said, root ? root->type : NULL);
  if (count == 0 && scope != KYMO_SCOPE_PAYLOAD)
    return;
  kymo_script_text(script, key);
  if (count > 0)
    kymo_script_scope(script, scope, root, said ? kymo_who_leaves_out : NULL, said, false);
  kymo_script_text(script, "}");
}

/* ,"message":"…","fields":{…},"context":{…},"event_context":{…}}\n */
static struct kymo_script make_script(struct kymo_sink_state *state, const struct kymo_event *event) {
  const struct kymo_decoder *decoder = kymo_decoder_of(event);
  struct kymo_scripting script;
  kymo_script_begin(&script, &state->print.style, &state->print.names, &state->print.arena, event);
  const struct kymo_message *message = kymo_message_new(&state->print.arena, event->class_);
  if (message) {
    kymo_script_text(&script, ",\"message\":");
    kymo_script_message(&script, message);
  }
  add_scope(&script, KYMO_SCOPE_PAYLOAD, event->plan->payload, ",\"fields\":{", NULL);
  add_scope(&script, KYMO_SCOPE_COMMON_CONTEXT, decoder->plan->common_context, ",\"context\":{",
            kymo_who_common(&state->print.whos, event));
  add_scope(&script, KYMO_SCOPE_SPECIFIC_CONTEXT, event->plan->specific_context, ",\"event_context\":{",
            NULL);
  kymo_script_text(&script, "}\n");
  return kymo_script_finish(&script);
}

/* ---- lines ---- */

/* "event":"NAME", and the number of the trace if there are several */
static bool make_head(struct kymo_sink_state *state, struct kymo_piece *head,
                      const struct kymo_event *event) {
  struct kymo_strbuf buf = {0};
  kymo_strbuf_puts(&buf, "\"event\":");
  kymo_json_add_text(&buf, event->class_->name ? event->class_->name : "");
  if (state->many_parts)
    kymo_strbuf_printf(&buf, ",\"trace\":%lu", (unsigned long)event->packet->stream->part->index);
  head->text = kymo_names_keep(&state->print.arena, &buf, &head->length);
  kymo_strbuf_free(&buf);
  return head->text != NULL;
}

static bool make_class(struct kymo_sink_state *state, struct kymo_print_class *class_,
                       const struct kymo_event *event) {
  if (!class_->script.steps && make_head(state, &class_->head, event))
    class_->script = make_script(state, event);
  return class_->script.steps != NULL;
}

static void print_who(struct kymo_json *json, const struct kymo_who *who) {
  if (who->has_tid)
    kymo_json_member(json, "tid", int, who->tid);
  if (who->name_length) {
    kymo_json_fixed_key(json, "thread");
    kymo_json_string(json, (const uint8_t *)who->name, who->name_length, KYMO_ENCODING_UTF8);
  }
  if (who->has_cpu)
    kymo_json_member(json, "cpu", uint, who->cpu);
}

static void print_time(struct kymo_json *json, const struct kymo_event *event) {
  const struct kymo_clock *clock = event->class_->stream->clock;
  if (!event->has_time)
    return;
  kymo_json_member(json, "ts", int, event->time_ns);
  if (!clock || !clock->origin_is_epoch)
    kymo_json_member(json, "epoch", bool, false);
}

static int json_event(struct kymo_sink_state *state, const struct kymo_event *event,
                      struct kymo_error *error) {
  struct kymo_json *json = &state->json;
  struct kymo_print_class *class_ = kymo_print_class_of(&state->print, event);
  const struct kymo_who *who = kymo_who_of(&state->print.whos, event);
  if (!who || !make_class(state, class_, event))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  kymo_json_start(json, &state->print.out);
  kymo_json_begin(json, '{');
  print_time(json, event);
  kymo_json_raw(json, class_->head.text, class_->head.length);
  print_who(json, who);
  kymo_json_start(json, &state->print.out); /* the script contains the commas */
  state->print.event = event;
  kymo_script_print(&state->print.style, state, &state->print.out, event, &class_->script);
  return state->print.out.error_number ? kymo_out_check(&state->print.out, error) : KYMO_OK;
}

static int json_loss(struct kymo_sink_state *state, const struct kymo_loss *loss, struct kymo_error *error) {
  struct kymo_json *json = &state->json;
  kymo_json_start(json, &state->print.out);
  kymo_json_begin(json, '{');
  kymo_json_member(json, "lost", begin, '{');
  kymo_json_member(json, "what", text, loss->is_packets ? "packets" : "events");
  kymo_json_fixed_key(json, "count");
  if (loss->count_known)
    kymo_json_uint(json, loss->count);
  else
    kymo_json_null(json);
  if (loss->has_times) {
    kymo_json_member(json, "begin", int, loss->begin_ns);
    kymo_json_member(json, "end", int, loss->end_ns);
  }
  kymo_json_member(json, "stream", text, loss->stream->path);
  kymo_json_end(json, '}');
  kymo_json_end(json, '}');
  kymo_json_newline(json);
  return kymo_out_check(&state->print.out, error);
}

/* ---- life ---- */

static void write_label(struct kymo_strbuf *buf, const char *name) {
  kymo_strbuf_puts(buf, ",");
  kymo_json_add_text(buf, name);
  kymo_strbuf_puts(buf, ":");
}

static int json_end(struct kymo_sink_state *state, struct kymo_error *error) {
  int status = state ? kymo_print_end(&state->print, error) : KYMO_OK;
  free(state);
  return status;
}

static int json_flush(struct kymo_sink_state *state, struct kymo_error *error) {
  return kymo_print_flush(&state->print, error);
}

static int json_grow(struct kymo_sink_state *state, struct kymo_error *error) {
  state->many_parts = kymo_trace_part_count(state->print.trace) > 1;
  return kymo_print_grow(&state->print, error);
}

static int json_begin(struct kymo_sink_state **out, struct kymo_trace *trace,
                      const struct kymo_sink_options *options, struct kymo_error *error) {
  struct kymo_sink_state *state = *out = calloc(1, sizeof(*state));
  if (!state)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  static const struct kymo_option_kind no_options[] = {{0}};
  int status = kymo_sink_options_read("json", options->text, no_options, state, error);
  if (status < 0)
    return status;
  state->many_parts = kymo_trace_part_count(trace) > 1;
  kymo_json_start(&state->json, &state->print.out);
  state->print.names.are_unique = true;
  status = kymo_print_begin(&state->print, trace, options->out, write_label, kymo_json_add_labelled, error);
  return status < 0 ? status : kymo_print_names_addresses(&state->print, trace, &style, error);
}

const struct kymo_sink kymo_sink_json = {
    KYMO_SINK_ABI,       .name = "json",      .summary = "one JSON object a line, for jq and scripts",
    .begin = json_begin, .event = json_event, .loss = json_loss,
    .end = json_end,     .flush = json_flush, .grow = json_grow,
};
