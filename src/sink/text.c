/* SPDX-License-Identifier: MIT */
/*
 * text: kymo's own lines for people, grep and awk. One line per event:
 *
 *   [14:03:05.123456789] +0.000001234 worker/4711@1 net:rx port = 80, state = OPEN | vpid = 4700
 *   └─ local time ─────┘ └─ delta ──┘ └─ who ─────┘ └name┘ └─ payload ───────────┘ └─ contexts ┘
 *
 * For events that were written like printf, the payload is the text, in quotes: log:note "got 5 bytes from
 * x".
 *
 * Other lines begin with '#': the date, when it changes, and losses, in time order. A clock without epoch
 * shows seconds from its origin. "Who" is thread name, thread id and processor as far as the trace contains
 * them, else '#' and the number of the stream; the host precedes it, if there are several.
 *
 * Options are those of sink/line.h. Names of scopes and of the header are not supported here; facts of
 * `fields` follow the contexts.
 */
#include "base/fail.h"
#include "base/likely.h"
#include "print/called.h"
#include "print/clock.h"
#include "print/terminal.h"
#include "print/text_fields.h"
#include "sink/line.h"
#include <stdlib.h>

#define HOST_TEXT 64

struct kymo_sink_state {
  struct kymo_who_views *streams;        /* by stream number */
  struct kymo_clock_text clock, seconds; /* for clocks with an epoch, and for others */
  bool color, many_hosts;
  struct kymo_sink_options options;
  struct kymo_line line;
  bool is_plain;     /* times are numbers: they do not depend on the day */
  bool is_usual;     /* lines begin with time and the time since the line before, without colors … */
  bool is_usual_now; /* … and there is a line before, whose day is known */
  int year, day;     /* of the last date line */
  bool has_last;
  int64_t last_ns;
  struct kymo_text_fields fields; /* last, since most of it is for walking */
};

/* " NAME = VALUE" of a fact. */
static void add_fact(struct kymo_strbuf *buf, const char *name, const char *value, bool *more) {
  if (!value)
    return;
  kymo_strbuf_printf(buf, "%s%s = ", *more ? ", " : " ", name);
  kymo_text_add_name(buf, value);
  *more = true;
}

/* The wanted facts, as fields after the contexts. */
static void add_facts(struct kymo_sink_state *state, struct kymo_strbuf *buf,
                      const struct kymo_event *event) {
  static const char *const environment[] = {"hostname", "domain", "procname", "vpid"};
  const struct kymo_part *part = event->packet->stream->part;
  struct kymo_strbuf trace = {0};
  bool more = false;
  kymo_called_trace(&trace, &state->options, part);
  if (state->line.fields & KYMO_LINE_TRACE)
    add_fact(buf, "trace", trace.text ? trace.text : "", &more);
  for (uint32_t i = 0; i < 4; i++) {
    const struct kymo_environment *entry = kymo_schema_environment(part->schema, environment[i]);
    char name[32], number[32];
    if (!entry || !(state->line.fields & (uint32_t)KYMO_LINE_HOSTNAME << i))
      continue;
    snprintf(name, sizeof(name), "trace:%s", environment[i]);
    snprintf(number, sizeof(number), "%lld", (long long)entry->integer);
    add_fact(buf, name, entry->text ? entry->text : number, &more);
  }
  if (state->line.fields & KYMO_LINE_LEVEL)
    add_fact(buf, "loglevel", kymo_line_level(event->class_), &more);
  if (state->line.fields & KYMO_LINE_EMF)
    add_fact(buf, "model.emf.uri", event->class_->uri, &more);
  kymo_strbuf_free(&trace);
}

/* " NAME FIELDS | CONTEXTS\n" */
static __attribute__((noinline)) struct kymo_script make_script(struct kymo_sink_state *state,
                                                                const struct kymo_event *event) {
  const struct kymo_event_class *class_ = event->class_;
  struct kymo_print *print = &state->fields.print;
  struct kymo_strbuf facts = {0};
  struct kymo_scripting script;
  kymo_script_begin(&script, &print->style, &print->names, &print->arena, event);
  kymo_script_text(&script, state->color ? " " KYMO_COLOR_EVENT : " ");
  kymo_text_add_class(&script.lead, class_);
  kymo_script_text(&script, state->color ? KYMO_COLOR_OFF : "");
  add_facts(state, &facts, event);
  struct kymo_text_shape shape = {.is_payload_bare = !(state->line.names & KYMO_LINE_PAYLOAD),
                                  .is_context_bare = !(state->line.names & KYMO_LINE_CONTEXT),
                                  .facts = facts.length ? facts.text : ""};
  kymo_text_script_fields(&state->fields, &script, event, &shape);
  kymo_script_text(&script, "\n");
  script.failed |= facts.failed;
  kymo_strbuf_free(&facts);
  return kymo_script_finish(&script);
}

/* ---- lines ---- */

static void print_note(struct kymo_sink_state *state, const char *color, const char *text, size_t length) {
  struct kymo_out *out = &state->fields.print.out;
  if (state->color)
    kymo_out_bytes(out, color, strlen(color));
  kymo_out_literal(out, "# ");
  kymo_out_bytes(out, text, length);
  if (state->color)
    kymo_out_literal(out, KYMO_COLOR_OFF);
  kymo_out_byte(out, '\n');
}

/* A new second: possibly a new day. */
static void set_second(struct kymo_sink_state *state, int64_t time_ns) {
  char text[32];
  if (!kymo_clock_text_set(&state->clock, time_ns))
    return;
  const struct tm *day = &state->clock.day;
  if (state->line.clock_date || (day->tm_year == state->year && day->tm_yday == state->day))
    return;
  state->year = day->tm_year;
  state->day = day->tm_yday;
  print_note(state, KYMO_COLOR_TIME, text, strftime(text, sizeof(text), "%Y-%m-%d %z", day));
}

static inline bool shows_day(const struct kymo_sink_state *state, const struct kymo_clock *clock) {
  return clock && clock->origin_is_epoch && !state->line.clock_seconds;
}

/* "[TIME]"; at most 48 bytes. */
static char *put_time(struct kymo_sink_state *state, char *at, const struct kymo_clock *clock,
                      int64_t time_ns) {
  *at++ = '[';
  if (shows_day(state, clock) && kymo_clock_text_has(&state->clock, time_ns)) {
    if (state->line.clock_date)
      at = kymo_put_date(at, &state->clock.day);
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

/* " +s.nnnnnnnnn " since the previous event. */
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

/* "[CYCLES]" */
static char *put_cycles(char *at, uint64_t cycles) {
  *at = '[';
  at = kymo_put_u64(at + 1, cycles);
  *at = ']';
  return at + 1;
}

/* "[hh:mm:ss.nnnnnnnnn] +0.nnnnnnnnn ", as most lines begin; false: the line begins otherwise. */
static inline bool print_usual_time(struct kymo_sink_state *state, const struct kymo_event *event) {
  const struct kymo_clock_text *clock =
      shows_day(state, event->class_->stream->clock) ? &state->clock : &state->seconds;
  uint64_t in_second_ns = (uint64_t)event->time_ns - (uint64_t)clock->second_ns;
  uint64_t delta_ns = (uint64_t)event->time_ns - (uint64_t)state->last_ns;
  if (KYMO_UNLIKELY(!state->is_usual_now) || KYMO_UNLIKELY(!clock->is_set) ||
      KYMO_UNLIKELY(in_second_ns >= 1000000000) || KYMO_UNLIKELY(delta_ns >= 1000000000) ||
      KYMO_UNLIKELY(!event->has_time))
    return false;
  char *at = kymo_out_room(&state->fields.print.out, 64);
  *at = '[';
  at = kymo_put_clock(at + 1, clock, event->time_ns);
  memcpy(at, "] +0.", 5);
  at = kymo_put_nanoseconds(at + 5, (uint32_t)delta_ns);
  *at = ' ';
  state->last_ns = event->time_ns;
  state->fields.print.out.at = at + 1;
  return true;
}

static __attribute__((noinline)) void print_time(struct kymo_sink_state *state,
                                                 const struct kymo_event *event) {
  const struct kymo_clock *clock = event->class_->stream->clock;
  struct kymo_out *out = &state->fields.print.out;
  if (!event->has_time) {
    kymo_out_bytes(out, "[-] +- ", state->line.no_delta ? 4 : 7);
    return;
  }
  if (clock && clock->origin_is_epoch && !state->is_plain &&
      !kymo_clock_text_has(&state->clock, event->time_ns))
    set_second(state, event->time_ns);
  if (!shows_day(state, clock))
    kymo_clock_text_set_seconds(&state->seconds, event->time_ns);
  char *at = put_color(state, kymo_out_room(out, 128), KYMO_COLOR_TIME);
  at = state->line.clock_cycles ? put_cycles(at, event->cycles) : put_time(state, at, clock, event->time_ns);
  at = put_color(state, at, KYMO_COLOR_OFF);
  if (state->line.no_delta)
    *at++ = ' ';
  else
    at = put_delta(state, at, event->time_ns);
  out->at = at;
  state->is_usual_now = state->is_usual;
}

/* A name as one word: blanks and other characters that are not visible ASCII become '_'. */
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

/* "HOST:" */
static char *put_host(const struct kymo_sink_state *state, char *at, const struct kymo_part *part) {
  const char *host = state->many_hosts ? kymo_host_of(part) : NULL;
  if (!host)
    return at;
  at = put_word(at, host, strnlen(host, HOST_TEXT));
  *at = ':';
  return at + 1;
}

/* Usually the same as for the stream's previous event. */
static bool print_who(struct kymo_sink_state *state, const struct kymo_event *event) {
  const struct kymo_who *who = kymo_who_of(&state->fields.print.whos, event);
  uint32_t number = event->packet->stream->number;
  struct kymo_arena *arena = &state->fields.print.arena;
  struct kymo_who_view *view = who ? kymo_who_view_of(&state->streams[number], arena, who) : NULL;
  if (!view)
    return false;
  if (view->version != who->version) {
    view->version = who->version;
    char *at = put_host(state, view->text, event->packet->stream->part);
    view->length = (uint32_t)(put_who(at, who, number) - view->text);
  }
  kymo_out_piece(&state->fields.print.out, view->text, view->length);
  return true;
}

static int text_event(struct kymo_sink_state *state, const struct kymo_event *event,
                      struct kymo_error *error) {
  struct kymo_out *out = &state->fields.print.out;
  struct kymo_script *script = &kymo_print_class_of(&state->fields.print, event)->script;
  if (!script->steps)
    *script = make_script(state, event);
  if (!script->steps)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (!print_usual_time(state, event))
    print_time(state, event);
  if (!print_who(state, event))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  kymo_text_print(&state->fields, event, script);
  return out->error_number ? kymo_out_check(out, error) : KYMO_OK;
}

/* The date too if it is not that of the last date line: then it is another day than that of the begin. */
static void put_loss_end(struct kymo_sink_state *state, char *at, const struct kymo_clock *clock,
                         int64_t time_ns, bool is_epoch) {
  struct kymo_clock_text *text = &state->clock;
  bool is_set = is_epoch && (kymo_clock_text_has(text, time_ns) || kymo_clock_text_set(text, time_ns)),
       had_date = state->line.clock_date;
  state->line.clock_date |= is_set && (text->day.tm_year != state->year || text->day.tm_yday != state->day);
  *put_time(state, at, clock, time_ns) = '\0';
  state->line.clock_date = had_date;
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
    bool is_epoch = clock && clock->origin_is_epoch && !state->is_plain;
    if (is_epoch && !kymo_clock_text_has(&state->clock, loss->begin_ns))
      set_second(state, loss->begin_ns);
    *put_time(state, time[0], clock, loss->begin_ns) = '\0';
    put_loss_end(state, time[1], clock, loss->end_ns, is_epoch);
    kymo_strbuf_printf(&buf, " between %s and %s", time[0], time[1]);
    state->clock.is_set = false; /* the next event checks the day again */
    state->is_usual_now = false;
  }
  kymo_strbuf_puts(&buf, " in ");
  kymo_text_add_name(&buf, loss->stream->path);
  bool failed = buf.failed;
  if (!failed)
    print_note(state, KYMO_COLOR_LOSS, buf.text, buf.length);
  kymo_strbuf_free(&buf);
  return failed ? kymo_fail(error, KYMO_E_MEMORY, "out of memory") : KYMO_OK;
}

/* ---- life ---- */

static void write_colored_label(struct kymo_strbuf *buf, const char *name) {
  kymo_strbuf_puts(buf, ", " KYMO_COLOR_NAME);
  kymo_text_add_name(buf, name);
  kymo_strbuf_puts(buf, KYMO_COLOR_OFF " = ");
}

static int text_end(struct kymo_sink_state *state, struct kymo_error *error) {
  int status = state ? kymo_text_fields_end(&state->fields, error) : KYMO_OK;
  free(state);
  return status;
}

static int make_ready(struct kymo_sink_state *state, struct kymo_error *error) {
  size_t streams = (size_t)state->fields.print.whos.numbers.stream_count + 1;
  state->many_hosts = kymo_has_many_hosts(state->fields.print.trace);
  state->streams = kymo_arena_array(&state->fields.print.arena, streams, sizeof(*state->streams));
  return state->streams ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

static int text_flush(struct kymo_sink_state *state, struct kymo_error *error) {
  return kymo_print_flush(&state->fields.print, error);
}

static int text_grow(struct kymo_sink_state *state, struct kymo_error *error) {
  int status = kymo_text_fields_grow(&state->fields, error);
  return status < 0 ? status : make_ready(state, error);
}

static int text_begin(struct kymo_sink_state **out, struct kymo_trace *trace,
                      const struct kymo_sink_options *options, struct kymo_error *error) {
  struct kymo_sink_state *state = *out = calloc(1, sizeof(*state));
  if (!state)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  state->options = *options;
  state->color = options->color;
  state->fields.says = KYMO_TEXT_SAYS_THREAD | KYMO_TEXT_SAYS_CPU;
  state->day = -1;
  kymo_label_writer *label = state->color ? write_colored_label : kymo_text_label;
  int status = kymo_line_read(&state->line, "text", options->text, 0, error);
  state->clock.is_gmt = state->line.clock_gmt;
  state->is_plain = state->line.clock_seconds || state->line.clock_cycles;
  state->is_usual =
      !state->line.clock_cycles && !state->color && !state->line.clock_date && !state->line.no_delta;
  if (status >= 0)
    status = kymo_text_fields_begin(&state->fields, trace, options->out, label, error);
  return status < 0 ? status : make_ready(state, error);
}

const struct kymo_sink kymo_sink_text = {
    KYMO_SINK_ABI,       .name = "text",      .summary = "one line an event, for people, grep and awk",
    .begin = text_begin, .event = text_event, .loss = text_loss,
    .end = text_end,     .flush = text_flush, .grow = text_grow,
};
