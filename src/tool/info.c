/* SPDX-License-Identifier: MIT */
/*
 * kymo info: summarises traces. Events are counted by reading all of them; packets, times and losses come
 * from the packet headers.
 */
#include "base/fail.h"
#include "base/file.h"
#include "print/duration.h"
#include "print/json_writer.h"
#include "print/number.h"
#include "print/text_fields.h"
#include "schema/definition.h"
#include "source/notes.h"
#include "tool/input.h"
#include <inttypes.h>
#include <kymo/filter.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OPTION_JSON = 256, OPTION_EMPTY_CLASSES };

struct info {
  struct tool_input input;
  bool json, with_empty; /* with_empty: classes without events are listed */
  /* while running */
  struct kymo_trace *trace;
  struct kymo_numbers numbers;
  struct kymo_arena arena;
  uint64_t *class_events;           /* by class number */
  uint64_t *stream_events;          /* by stream number */
  struct kymo_stream_info *streams; /* by stream number */
  uint64_t events;
  bool has_times;
  int64_t begin_ns, end_ns; /* of the events */
  struct kymo_error error;
};

/* ---- command line ---- */

static const struct argp_option options[] = {
    {"json", OPTION_JSON, NULL, 0, "Print one JSON object", 0},
    {"empty-classes", OPTION_EMPTY_CLASSES, NULL, 0, "List event classes without events too", 0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct info *info = state->input;
  (void)argument;
  switch (key) {
  case OPTION_JSON: info->json = true; return 0;
  case OPTION_EMPTY_CLASSES: info->with_empty = true; return 0;
  case ARGP_KEY_INIT: state->child_inputs[0] = &info->input; return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_child children[] = {{&tool_input_options, 0, NULL, 0}, {0}};

static const struct argp parser = {
    .children = children,
    .options = options,
    .parser = parse,
    .args_doc = "TRACE...",
    .doc = "Summarise traces: streams, clocks, event classes with counts, time range, losses, damage.",
};

/* ---- counting ---- */

static int count_events(struct info *info) {
  for (;;) {
    const struct kymo_event *event;
    int status = kymo_trace_next_filtered(info->trace, &event, &info->error);
    if (status != KYMO_OK)
      return status;
    const struct kymo_stream *stream = event->packet->stream;
    info->events++;
    info->class_events[kymo_event_get_class_number(event)]++;
    info->stream_events[stream->number]++;
    if (!event->has_time)
      continue;
    if (!info->has_times)
      info->begin_ns = event->time_ns;
    info->has_times = true;
    info->end_ns = event->time_ns;
  }
}

/* The readable part of each stream; KYMO_E_SYSTEM at the end. */
static int describe_streams(struct info *info) {
  int worst = KYMO_OK;
  for (size_t i = 0; i < kymo_trace_part_count(info->trace); i++) {
    const struct kymo_part *part = kymo_trace_part(info->trace, i);
    for (uint32_t j = 0; j < part->stream_count; j++) {
      const struct kymo_stream *stream = kymo_part_stream(info->trace, part, j);
      struct kymo_stream_info *into = &info->streams[stream->number];
      int status = kymo_stream_describe(info->trace, stream, into, &info->error);
      worst = status < 0 ? status : worst;
      if (status == KYMO_E_MEMORY)
        return status;
    }
  }
  return worst;
}

static int gather(struct info *info) {
  int status = kymo_numbers_begin(&info->numbers, info->trace, &info->error);
  if (status < 0)
    return status;
  size_t classes = (size_t)info->numbers.class_count + 1, streams = (size_t)info->numbers.stream_count + 1;
  info->class_events = kymo_arena_array(&info->arena, classes, sizeof(*info->class_events));
  info->stream_events = kymo_arena_array(&info->arena, streams, sizeof(*info->stream_events));
  info->streams = kymo_arena_array(&info->arena, streams, sizeof(*info->streams));
  if (!info->class_events || !info->stream_events || !info->streams)
    return kymo_fail(&info->error, KYMO_E_MEMORY, "out of memory");
  status = count_events(info);
  if (status < 0)
    return status;
  status = describe_streams(info);
  /* reading has already reported the unreadable part */
  return status == KYMO_E_SYSTEM && kymo_trace_damage_count(info->trace) ? KYMO_OK : status;
}

/* ---- shared by both forms ---- */

static const struct kymo_stream_info *description_of(const struct info *info,
                                                     const struct kymo_stream *stream) {
  return &info->streams[stream->number];
}

/* Losses of a stream, or of several together. */
struct losses {
  uint64_t events, packets;
  uint32_t cause_count;
  struct cause {
    const char *name;
    uint64_t count;
  } causes[8];
};

static void add_cause(struct losses *sum, const char *name, uint64_t count) {
  uint32_t i = 0;
  while (i < sum->cause_count && strcmp(sum->causes[i].name, name) != 0)
    i++;
  if (i == sizeof sum->causes / sizeof *sum->causes)
    return;
  if (i == sum->cause_count)
    sum->causes[sum->cause_count++].name = name;
  sum->causes[i].count += count;
}

static void add_losses(struct losses *sum, const struct info *info, const struct kymo_stream *stream) {
  const struct kymo_stream_info *described = description_of(info, stream);
  const char *name;
  uint64_t count;
  sum->events += described->discarded_events;
  sum->packets += described->lost_packets;
  for (uint32_t i = 0; (name = kymo_stream_loss_cause(stream, i, &count)); i++)
    add_cause(sum, name, count);
}

static const char *uuid_text(const uint8_t uuid[16], char out[40]) {
  *kymo_put_uuid(out, uuid) = '\0';
  return out;
}

static uint64_t class_count(const struct info *info, const struct kymo_part *part,
                            const struct kymo_event_class *class_) {
  return info->class_events[kymo_class_number(&info->numbers, part->index, class_)];
}

/* True if the origin of all clocks is the epoch, so that times are dates. */
static bool is_epoch(const struct info *info) {
  for (size_t i = 0; i < kymo_trace_part_count(info->trace); i++) {
    const struct kymo_schema *schema = kymo_trace_part(info->trace, i)->schema;
    for (uint32_t j = 0; j < schema->clock_count; j++)
      if (!schema->clocks[j]->origin_is_epoch)
        return false;
  }
  return true;
}

/* ---- text ---- */

/* Texts of a trace, which may contain control characters, and invalid bytes. */
static void print_safe(const char *text) {
  struct kymo_strbuf safe = {0};
  kymo_text_add_name(&safe, text);
  if (safe.failed)
    tool_end_without_memory();
  fputs(safe.text ? safe.text : "", stdout);
  kymo_strbuf_free(&safe);
}

/* Its name, and for a class from a definition, the application's name for it. */
static void print_class(const struct kymo_event_class *class_) {
  struct kymo_strbuf safe = {0};
  struct kymo_event_definition_numbers numbers;
  kymo_text_add_class(&safe, class_);
  if (kymo_event_definition_numbers(class_, &numbers))
    kymo_strbuf_printf(&safe, " (definition %" PRIu32 ", application %" PRIu32 ", version %" PRIu32 ")",
                       numbers.id, numbers.application, numbers.version);
  if (safe.failed)
    tool_end_without_memory();
  puts(safe.text ? safe.text : "");
  kymo_strbuf_free(&safe);
}

/* A trace that is read with a description has no version. */
static bool has_version(const struct kymo_part *part) { return strcmp(part->format, "described") != 0; }

static void print_row(const char *name, const char *text) {
  printf("  %-10s ", name);
  print_safe(text);
  putchar('\n');
}

static void print_time(const char *name, int64_t time_ns, bool epoch) {
  char text[KYMO_TIME_TEXT];
  printf("%-10s %s\n", name, kymo_time_to_text(time_ns, epoch ? KYMO_TIME_LOCAL : KYMO_TIME_SECONDS, text));
}

/* ", lost 12 events (large 3, nested 9) and 1 packet" */
static void print_losses(const struct losses *losses) {
  uint64_t events = losses->events, packets = losses->packets;
  bool any = false;
  if (!events && !packets)
    return;
  printf(", lost %" PRIu64 " event%s", events, events == 1 ? "" : "s");
  for (uint32_t i = 0; i < losses->cause_count; i++) {
    if (losses->causes[i].count == 0)
      continue;
    printf(any ? ", " : " (");
    print_safe(losses->causes[i].name);
    printf(" %" PRIu64, losses->causes[i].count);
    any = true;
  }
  printf("%s and %" PRIu64 " packet%s", any ? ")" : "", packets, packets == 1 ? "" : "s");
}

static void print_clock(const struct kymo_clock *clock) {
  char text[KYMO_TIME_TEXT];
  printf("  %-10s ", "clock");
  print_safe(clock->name && *clock->name ? clock->name : "(no name)");
  printf(", %" PRIu64 " Hz, value 0 is at ", clock->frequency);
  if (clock->origin_is_epoch && clock->offset_seconds >= 0 && clock->offset_seconds < INT64_MAX / 1000000000)
    printf("%.19s + %" PRIu64 " cycles",
           kymo_time_to_text(clock->offset_seconds * 1000000000, KYMO_TIME_LOCAL, text),
           clock->offset_cycles);
  else
    printf("%" PRId64 " s + %" PRIu64 " cycles from %s", clock->offset_seconds, clock->offset_cycles,
           clock->origin_is_epoch ? "the epoch" : "its origin");
  if (clock->description && *clock->description) {
    printf(": ");
    print_safe(clock->description);
  }
  putchar('\n');
}

/* How much faster than CLOCK_REALTIME the trace's clock ran between two snapshots, in parts per million. */
static double drift_ppm(const struct kymo_clock *clock, const struct kymo_clock_snapshot *first,
                        const struct kymo_clock_snapshot *last) {
  double real_ns = (double)(last->realtime_ns - first->realtime_ns);
  double clock_ns = (double)(last->cycles - first->cycles) * 1e9 / (double)clock->frequency;
  return real_ns > 0 ? (clock_ns / real_ns - 1) * 1e6 : 0;
}

static void print_snapshots(const struct kymo_part *part) {
  size_t count = kymo_part_clock_snapshot_count(part);
  if (!count)
    return;
  const struct kymo_clock_snapshot *first = kymo_part_clock_snapshot(part, 0),
                                   *last = kymo_part_clock_snapshot(part, count - 1);
  char text[KYMO_DURATION_TEXT];
  printf("  %-10s %zu in %s, of ", "snapshots", count,
         kymo_duration_text((double)(last->monotonic_ns - first->monotonic_ns), KYMO_DURATION_DIGITS, text));
  print_safe(kymo_part_host(part));
  printf(", boot ");
  print_safe(kymo_part_boot_id(part));
  if (last->error_ns == UINT64_MAX)
    printf("; error of the real time unknown");
  else
    printf("; error of the real time at most %s",
           kymo_duration_text((double)last->error_ns, KYMO_DURATION_DIGITS, text));
  printf("%s", last->is_synchronised ? "" : ", not synchronised");
  if (part->schema->clock_count == 1 && count > 1)
    printf("; drift %+.3f ppm", drift_ppm(part->schema->clocks[0], first, last));
  putchar('\n');
}

static void print_sections(const struct kymo_part *part) {
  for (size_t i = 0; i < kymo_part_section_count(part); i++) {
    const struct kymo_section *section = kymo_part_section(part, i);
    printf("  %-10s type %" PRIu64 " at byte %" PRIu64 ", %" PRIu64 " bytes: ", "section", section->type,
           section->offset, section->size_bytes);
    print_safe(section->name);
    if (section->holds) {
      printf(", ");
      print_safe(section->holds);
    }
    putchar('\n');
  }
}

static void print_stream(const struct info *info, const struct kymo_stream *stream) {
  uint32_t number = stream->number;
  const struct kymo_stream_info *described = &info->streams[number];
  struct losses losses = {0};
  printf("  %-10s ", "stream");
  print_safe(stream->path);
  printf(": %" PRIu64 " events", info->stream_events[number]);
  if (described->packets)
    printf(", %" PRIu64 " packet%s, %" PRIu64 " bytes", described->packets,
           described->packets == 1 ? "" : "s", described->bytes);
  add_losses(&losses, info, stream);
  print_losses(&losses);
  putchar('\n');
}

/* The sums of the streams of a part. */
static void print_sum(const struct info *info, const struct kymo_part *part) {
  struct losses losses = {0};
  uint64_t packets = 0, bytes = 0;
  for (uint32_t i = 0; i < part->stream_count; i++) {
    const struct kymo_stream *stream = kymo_part_stream(info->trace, part, i);
    packets += description_of(info, stream)->packets;
    bytes += description_of(info, stream)->bytes;
    add_losses(&losses, info, stream);
  }
  printf("  %-10s %" PRIu32 " streams, %" PRIu64 " packets, %" PRIu64 " bytes", "sum", part->stream_count,
         packets, bytes);
  print_losses(&losses);
  putchar('\n');
}

/* Classes with events, or all. */
static void print_classes(const struct info *info, const struct kymo_part *part) {
  unsigned hidden = 0;
  for (uint32_t i = 0; i < part->schema->stream_count; i++) {
    const struct kymo_stream_class *stream = part->schema->streams[i];
    for (uint32_t j = 0; j < stream->event_count; j++) {
      const struct kymo_event_class *class_ = stream->events[j];
      uint64_t count = class_count(info, part, class_);
      if (!count && !info->with_empty) {
        hidden++;
        continue;
      }
      printf("  %10" PRIu64 " ", count);
      print_class(class_);
    }
  }
  if (hidden)
    printf("  %10s %u class%s without events (--empty-classes lists %s)\n", "", hidden,
           hidden == 1 ? "" : "es", hidden == 1 ? "it" : "them");
}

static void print_not_kept(const struct kymo_part *part) {
  const struct kymo_recorder_notes *notes = kymo_part_notes(part);
  if (notes->has_not_kept)
    printf("  %-10s %" PRIu64 " event%s overwritten, %" PRIu64 " discarded before the first packets\n",
           "not kept", notes->overwritten, notes->overwritten == 1 ? "" : "s", notes->discarded_before);
}

static void print_part(const struct info *info, const struct kymo_part *part) {
  const struct kymo_schema *schema = part->schema;
  char uuid[40];
  printf("trace      ");
  print_safe(part->path);
  printf(" (%s", part->format);
  if (has_version(part))
    printf(" %" PRIu32 ".%" PRIu32, schema->major, schema->minor);
  printf(")\n");
  if (schema->trace_name)
    print_row("name", schema->trace_name);
  if (kymo_part_notes(part)->cause)
    print_row("cause", kymo_part_notes(part)->cause);
  if (schema->has_uuid)
    print_row("uuid", uuid_text(schema->uuid, uuid));
  for (uint32_t i = 0; i < schema->environment_count; i++) {
    const struct kymo_environment *entry = schema->environment[i];
    printf("  %-10s ", "env");
    print_safe(entry->name);
    printf(" = ");
    if (entry->text)
      print_safe(entry->text);
    else
      printf("%" PRId64, entry->integer);
    putchar('\n');
  }
  for (uint32_t i = 0; i < schema->clock_count; i++)
    print_clock(schema->clocks[i]);
  print_snapshots(part);
  print_sections(part);
  for (uint32_t i = 0; i < part->stream_count; i++)
    print_stream(info, kymo_part_stream(info->trace, part, i));
  print_sum(info, part);
  print_not_kept(part);
  printf("  %10s class\n", "events");
  print_classes(info, part);
}

static void print_text(const struct info *info) {
  bool epoch = is_epoch(info);
  for (size_t i = 0; i < kymo_trace_part_count(info->trace); i++)
    print_part(info, kymo_trace_part(info->trace, i));
  printf("%-10s %" PRIu64 "\n", "events", info->events);
  if (info->has_times) {
    char text[KYMO_DURATION_TEXT];
    uint64_t length_ns = (uint64_t)info->end_ns - (uint64_t)info->begin_ns;
    print_time("begin", info->begin_ns, epoch);
    print_time("end", info->end_ns, epoch);
    printf("%-10s %s\n", "duration", kymo_duration_exact(length_ns, text));
  }
  if (kymo_trace_warning_count(info->trace))
    printf("%-10s %zu\n", "warnings", kymo_trace_warning_count(info->trace));
  size_t listed = kymo_trace_damage_count(info->trace), total = kymo_trace_damage_total(info->trace);
  printf("%-10s %zu", "damage", total);
  if (total > listed)
    printf(" (%zu listed)", listed - 1);
  printf("\n");
}

/* ---- JSON ---- */

static void put_list(struct kymo_json *json, const char *key) {
  kymo_json_key(json, key);
  kymo_json_begin(json, '[');
}

static void put_clock(struct kymo_json *json, const struct kymo_clock *clock) {
  kymo_json_begin(json, '{');
  kymo_json_member(json, "name", text, clock->name);
  kymo_json_member(json, "description", text, clock->description);
  kymo_json_member(json, "frequency", uint, clock->frequency);
  kymo_json_member(json, "offset_seconds", int, clock->offset_seconds);
  kymo_json_member(json, "offset_cycles", uint, clock->offset_cycles);
  kymo_json_member(json, "epoch", bool, clock->origin_is_epoch);
  kymo_json_end(json, '}');
}

static void put_snapshots(struct kymo_json *json, const struct kymo_part *part) {
  kymo_json_member(json, "boot_id", text, kymo_part_boot_id(part));
  kymo_json_member(json, "host", text, kymo_part_host(part));
  put_list(json, "list");
  for (size_t i = 0; i < kymo_part_clock_snapshot_count(part); i++) {
    const struct kymo_clock_snapshot *snapshot = kymo_part_clock_snapshot(part, i);
    kymo_json_begin(json, '{');
    kymo_json_member(json, "cycles", uint, snapshot->cycles);
    kymo_json_member(json, "span", uint, snapshot->span);
    kymo_json_member(json, "monotonic_ns", int, snapshot->monotonic_ns);
    kymo_json_member(json, "realtime_ns", int, snapshot->realtime_ns);
    if (snapshot->error_ns != UINT64_MAX)
      kymo_json_member(json, "error_ns", uint, snapshot->error_ns);
    kymo_json_member(json, "synchronised", bool, snapshot->is_synchronised);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
}

static void put_sections(struct kymo_json *json, const struct kymo_part *part) {
  if (!kymo_part_section_count(part))
    return;
  put_list(json, "sections");
  for (size_t i = 0; i < kymo_part_section_count(part); i++) {
    const struct kymo_section *section = kymo_part_section(part, i);
    kymo_json_begin(json, '{');
    kymo_json_member(json, "type", uint, section->type);
    kymo_json_member(json, "offset", uint, section->offset);
    kymo_json_member(json, "bytes", uint, section->size_bytes);
    kymo_json_member(json, "name", text, section->name);
    kymo_json_member(json, "holds", text, section->holds);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
}

static void put_stream(struct kymo_json *json, const struct info *info, const struct kymo_stream *stream) {
  uint32_t number = stream->number;
  const struct kymo_stream_info *described = &info->streams[number];
  kymo_json_begin(json, '{');
  kymo_json_member(json, "path", text, stream->path);
  if (stream->instance != UINT64_MAX)
    kymo_json_member(json, "id", uint, stream->instance);
  if (stream->class_)
    kymo_json_member(json, "class", uint, stream->class_->id);
  kymo_json_member(json, "events", uint, info->stream_events[number]);
  kymo_json_member(json, "packets", uint, described->packets);
  kymo_json_member(json, "bytes", uint, described->bytes);
  kymo_json_member(json, "lost_events", uint, described->discarded_events);
  kymo_json_member(json, "lost_packets", uint, described->lost_packets);
  const char *cause;
  uint64_t count;
  if (kymo_stream_loss_cause(stream, 0, NULL)) {
    kymo_json_member(json, "lost_by_cause", begin, '{');
    for (uint32_t i = 0; (cause = kymo_stream_loss_cause(stream, i, &count)); i++) {
      kymo_json_key(json, cause);
      kymo_json_uint(json, count);
    }
    kymo_json_end(json, '}');
  }
  if (described->has_times) {
    kymo_json_member(json, "begin", int, described->begin_ns);
    kymo_json_member(json, "end", int, described->end_ns);
  }
  kymo_json_end(json, '}');
}

static void put_definition(struct kymo_json *json, const struct kymo_event_definition_numbers *numbers) {
  kymo_json_member(json, "definition", begin, '{');
  kymo_json_member(json, "id", uint, numbers->id);
  kymo_json_member(json, "application", uint, numbers->application);
  kymo_json_member(json, "version", uint, numbers->version);
  kymo_json_end(json, '}');
}

static void put_class(struct kymo_json *json, const struct info *info, const struct kymo_part *part,
                      const struct kymo_event_class *class_) {
  kymo_json_begin(json, '{');
  kymo_json_member(json, "name", text, class_->name);
  kymo_json_member(json, "id", uint, class_->id);
  kymo_json_member(json, "stream_class", uint, class_->stream->id);
  if (class_->level >= 0)
    kymo_json_member(json, "level", int, class_->level);
  struct kymo_event_definition_numbers numbers;
  if (kymo_event_definition_numbers(class_, &numbers))
    put_definition(json, &numbers);
  kymo_json_member(json, "count", uint, class_count(info, part, class_));
  kymo_json_end(json, '}');
}

static void put_environment(struct kymo_json *json, const struct kymo_schema *schema) {
  kymo_json_member(json, "environment", begin, '{');
  for (uint32_t i = 0; i < schema->environment_count; i++) {
    kymo_json_key(json, schema->environment[i]->name);
    if (schema->environment[i]->text)
      kymo_json_text(json, schema->environment[i]->text);
    else
      kymo_json_int(json, schema->environment[i]->integer);
  }
  kymo_json_end(json, '}');
}

static void put_not_kept(struct kymo_json *json, const struct kymo_part *part) {
  const struct kymo_recorder_notes *notes = kymo_part_notes(part);
  if (!notes->has_not_kept)
    return;
  kymo_json_member(json, "overwritten_events", uint, notes->overwritten);
  kymo_json_member(json, "discarded_before", uint, notes->discarded_before);
}

static void put_part(struct kymo_json *json, const struct info *info, const struct kymo_part *part) {
  const struct kymo_schema *schema = part->schema;
  char uuid[40], version[32];
  kymo_json_begin(json, '{');
  kymo_json_member(json, "path", text, part->path);
  kymo_json_member(json, "format", text, part->format);
  snprintf(version, sizeof(version), "%" PRIu32 ".%" PRIu32, schema->major, schema->minor);
  kymo_json_member(json, "version", text, has_version(part) ? version : NULL);
  kymo_json_member(json, "name", text, schema->trace_name);
  if (kymo_part_notes(part)->cause)
    kymo_json_member(json, "cause", text, kymo_part_notes(part)->cause);
  put_not_kept(json, part);
  kymo_json_member(json, "uuid", text, schema->has_uuid ? uuid_text(schema->uuid, uuid) : NULL);
  put_environment(json, schema);
  put_list(json, "clocks");
  for (uint32_t i = 0; i < schema->clock_count; i++)
    put_clock(json, schema->clocks[i]);
  kymo_json_end(json, ']');
  if (kymo_part_clock_snapshot_count(part)) {
    kymo_json_member(json, "clock_snapshots", begin, '{');
    put_snapshots(json, part);
    kymo_json_end(json, '}');
  }
  put_sections(json, part);
  put_list(json, "streams");
  for (uint32_t i = 0; i < part->stream_count; i++)
    put_stream(json, info, kymo_part_stream(info->trace, part, i));
  kymo_json_end(json, ']');
  put_list(json, "classes");
  for (uint32_t i = 0; i < schema->stream_count; i++)
    for (uint32_t j = 0; j < schema->streams[i]->event_count; j++)
      put_class(json, info, part, schema->streams[i]->events[j]);
  kymo_json_end(json, ']');
  kymo_json_end(json, '}');
}

static void put_damage(struct kymo_json *json, const struct kymo_trace *trace) {
  put_list(json, "damage");
  for (size_t i = 0; i < kymo_trace_damage_count(trace); i++) {
    const struct kymo_damage *damage = kymo_trace_damage(trace, i);
    kymo_json_begin(json, '{');
    kymo_json_member(json, "path", text, damage->path);
    if (damage->offset != KYMO_ERROR_NO_OFFSET)
      kymo_json_member(json, "offset", uint, damage->offset);
    kymo_json_member(json, "bytes_lost", uint, damage->bytes_lost);
    kymo_json_member(json, "message", text, damage->message);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
}

static void put_warnings(struct kymo_json *json, const struct kymo_trace *trace) {
  if (!kymo_trace_warning_count(trace))
    return;
  put_list(json, "warnings");
  for (size_t i = 0; i < kymo_trace_warning_count(trace); i++) {
    const struct kymo_warning *warning = kymo_trace_warning(trace, i);
    kymo_json_begin(json, '{');
    kymo_json_member(json, "path", text, warning->path);
    if (warning->offset != KYMO_ERROR_NO_OFFSET)
      kymo_json_member(json, "offset", uint, warning->offset);
    kymo_json_member(json, "message", text, warning->message);
    kymo_json_end(json, '}');
  }
  kymo_json_end(json, ']');
}

static int print_json(struct info *info) {
  struct kymo_out out;
  struct kymo_json json;
  int status = kymo_out_begin(&out, stdout, &info->error);
  if (status < 0)
    return status;
  kymo_json_start(&json, &out);
  kymo_json_begin(&json, '{');
  put_list(&json, "traces");
  for (size_t i = 0; i < kymo_trace_part_count(info->trace); i++)
    put_part(&json, info, kymo_trace_part(info->trace, i));
  kymo_json_end(&json, ']');
  kymo_json_member(&json, "events", uint, info->events);
  if (info->has_times) {
    kymo_json_member(&json, "begin", int, info->begin_ns);
    kymo_json_member(&json, "end", int, info->end_ns);
    kymo_json_member(&json, "epoch", bool, is_epoch(info));
  }
  put_warnings(&json, info->trace);
  put_damage(&json, info->trace);
  kymo_json_end(&json, '}');
  kymo_json_newline(&json);
  return kymo_out_finish(&out, &info->error);
}

/* ---- work ---- */

static int work(struct info *info) {
  int status = gather(info);
  if (status == KYMO_E_MEMORY) {
    tool_say_error(&info->error);
    return TOOL_FAILED;
  }
  if (status < 0)
    tool_say_error(&info->error);
  int write_status = KYMO_OK;
  if (info->json)
    write_status = print_json(info);
  else
    print_text(info);
  if (write_status < 0) {
    tool_say_error(&info->error);
    return TOOL_FAILED;
  }
  int end = tool_end_trace(info->trace, info->input.quiet, TOOL_LOSSES_SAY);
  return end == TOOL_FAILED || status >= 0 ? end : tool_status_of(status);
}

static int run(int argc, char **argv) {
  struct info info = {.error = {.offset = KYMO_ERROR_NO_OFFSET}};
  tool_parse(&parser, argc, argv, 0, NULL, &info);
  int status = tool_open(&info.trace, &info.input);
  if (status == TOOL_OK)
    status = work(&info);
  kymo_numbers_end(&info.numbers);
  kymo_arena_free(&info.arena);
  kymo_trace_close(info.trace);
  tool_input_free(&info.input);
  return status;
}

const struct tool_command tool_info = {
    .name = "info",
    .summary = "summarise traces: streams, clocks, counts, losses, damage",
    .run = run,
};
