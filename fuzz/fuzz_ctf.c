/* SPDX-License-Identifier: MIT */
/*
 * The CTF reader over any bytes. The first byte of an input says what the rest is:
 *
 *   0 … N-1   a stream file for the N-th metadata text below
 *   0xfe      metadata in packets, or not
 *   0xff      2 bytes length, metadata of CTF 1.8 or CTF 2, and a stream file for it
 *
 * Everything is read, walked and fetched by id, printed by one of the sinks, and read again from some time
 * on. It must end without a fault, whatever the result is.
 */
#include "base/fail.h"
#include "decode/walk.h"
#include "format/metadata.h"
#include "lang/ctf2/ctf2.h"
#include "lang/tsdl/tsdl.h"
#include "trace/trace.h"
#include <kymo/sink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEADER                                                            \
  "/* CTF 1.8 */\n"                                                       \
  "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"   \
  "typealias integer { size = 16; align = 8; signed = false; } := u16;\n" \
  "typealias integer { size = 32; align = 8; signed = false; } := u32;\n" \
  "typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
#define CLOCK "clock { name = c; freq = 2400000001; offset_s = 1700000000; };\n"
#define PACKET                                                                                              \
  "packet.context := struct { t64 timestamp_begin; t64 timestamp_end; u16 content_size; u16 packet_size;\n" \
  "  u8 packet_seq_num; u8 events_discarded; };\n"

static const char *const texts[] = {
    /* everything in small: LTTng's header, contexts, all kinds of payload */
    HEADER
    "trace { major = 1; minor = 8; byte_order = le;\n"
    "  packet.header := struct { u32 magic; u8 stream_id; u8 stream_instance_id; }; };\n" CLOCK
    "typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; } := t64;\n"
    "typealias integer { size = 27; align = 1; signed = false; map = clock.c.value; } := t27;\n"
    "struct header { enum : integer { size = 5; align = 1; signed = false; } { compact = 0 ... 30,\n"
    "  extended = 31 } id; variant <id> { struct { t27 timestamp; } compact;\n"
    "  struct { u32 id; t64 timestamp; } extended; } v; } align(8);\n"
    "stream { id = 0; event.header := struct header; " PACKET
    "  event.context := struct { u8 n; u8 name[4]; }; };\n"
    "event { name = a; id = 0; stream_id = 0; fields := struct { u32 x; string s; u64 y; }; };\n"
    "event { name = b; id = 1; stream_id = 0; fields := struct { u8 len; u16 list[len]; u8 l2; string "
    "ss[l2]; }; };\n"
    "event { name = c; id = 2; stream_id = 0; context := struct { u8 m; };\n"
    "  fields := struct { u8 grid[stream.event.context.n][event.context.m]; }; };\n"
    "event { name = d; id = 3; stream_id = 0; fields := struct { enum : u8 { A = 1, B = 2 ... 9, C } tag;\n"
    "  variant <tag> { u8 A; struct { u8 k; string t[k]; } B; struct { } C; } v; u8 last; }; };\n"
    "event { name = e; id = 31; stream_id = 0; fields := struct { u32 k; struct { } nothing[k]; }; };\n"
    "event { name = f; id = 5; stream_id = 0; fields := struct { u8 k; struct { u8 j; struct { } w[j]; } "
    "o[k]; }; };\n"
    "event { name = g; id = 6; stream_id = 0; };\n",
    /* bits of both orders, no alignment, no sizes, no ids */
    HEADER
    "trace { major = 1; minor = 8; byte_order = be; };\n"
    "typealias integer { size = 3; align = 1; signed = true; } := s3;\n"
    "typealias integer { size = 61; align = 1; signed = false; } := u61;\n"
    "typealias integer { size = 5; align = 1; signed = false; byte_order = le; } := l5;\n"
    "event { name = a; fields := struct { s3 n; u61 x; s3 m; u61 list[3]; s3 k; u61 y; struct { s3 q; } "
    "z[2]; }; };\n",
    /* words of 16 bits id and 48 bits time */
    HEADER
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };\n" CLOCK
    "typealias integer { size = 64; align = 64; signed = false; map = clock.c.value; } := t64;\n"
    "stream { event.header := struct { integer { size = 16; align = 64; signed = false; } id;\n"
    "  integer { size = 48; align = 1; signed = false; map = clock.c.value; } timestamp; }; " PACKET "};\n"
    "event { name = a; id = 0; fields := struct { integer { size = 64; align = 64; signed = false; } x; }; "
    "};\n"
    "event { name = b; id = 70000; fields := struct { string s; floating_point { exp_dig = 8; mant_dig = 24; "
    "} f; }; };\n",
};
#define TEXT_COUNT (sizeof texts / sizeof *texts)

/* ---- a stream in memory ---- */

struct memory {
  const uint8_t *data;
  size_t size;
};
struct kymo_cursor {
  const struct memory *memory;
  uint64_t at;
};

static int begin(struct kymo_cursor **cursor, void *source, struct kymo_error *error) {
  *cursor = calloc(1, sizeof **cursor);
  if (!*cursor)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  (*cursor)->memory = source;
  return KYMO_OK;
}

static int next(struct kymo_cursor *cursor, struct kymo_chunk *chunk, struct kymo_error *error) {
  (void)error;
  if (cursor->at >= cursor->memory->size)
    return KYMO_END;
  *chunk = (struct kymo_chunk){.data = cursor->memory->data + cursor->at,
                               .size_bytes = cursor->memory->size - cursor->at,
                               .path = "fuzz",
                               .offset = cursor->at};
  return KYMO_OK;
}

static void skip(struct kymo_cursor *cursor, uint64_t size_bytes) { cursor->at += size_bytes; }

static void seek(struct kymo_cursor *cursor, uint32_t file, uint64_t offset) {
  (void)file;
  cursor->at = offset;
}

static void end(struct kymo_cursor *cursor) { free(cursor); }

static void keep(void *source) { (void)source; }

static const struct kymo_source_operations operations = {
    .begin = begin, .next = next, .skip = skip, .seek = seek, .end = end, .free = keep};

/* ---- reading ---- */

/* Inputs of bytes without events can have long walks; enough is enough. */
static unsigned long steps;
#define STEPS_MAX 30000

static void walk_scope(const struct kymo_event *event, enum kymo_scope scope) {
  struct kymo_walk walk;
  struct kymo_value value;
  if (!kymo_walk_begin(&walk, event, scope))
    return;
  for (enum kymo_token token; (token = kymo_walk_next(&walk, &value)) != KYMO_TOKEN_DONE && steps < STEPS_MAX;
       steps++) {
    if (token == KYMO_TOKEN_ERROR && scope != KYMO_SCOPE_PACKET_HEADER && scope != KYMO_SCOPE_PACKET_CONTEXT)
      abort(); /* the event was found to be whole */
    if (token == KYMO_TOKEN_TEXT || token == KYMO_TOKEN_BLOB)
      for (uint64_t i = 0; i < value.count; i++)
        steps += value.bytes[i] == 'x';
  }
}

static void get_fields(struct kymo_trace *trace, const struct kymo_event *event) {
  static const char *const paths[] = {"x", "s",    "y", "len", "list",         "v", "v.A", "v.B.k", "last",
                                      "n", "name", "m", "k",   "content_size", "f"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    uint32_t field = kymo_field_id(trace, event->class_, paths[i]);
    uint64_t u;
    int64_t s;
    double f;
    const uint8_t *bytes;
    if (field == KYMO_FIELD_NONE)
      continue;
    kymo_event_get_uint(event, field, &u);
    kymo_event_get_int(event, field, &s);
    kymo_event_get_float(event, field, &f);
    if (kymo_event_get_bytes(event, field, &bytes, &u) == KYMO_OK && u > 0)
      steps += bytes[u - 1] == 'x';
  }
}

static void read_trace(struct kymo_trace *trace) {
  const struct kymo_event *event;
  while (steps < STEPS_MAX && kymo_trace_next(trace, &event, NULL) == KYMO_OK) {
    for (int scope = 0; scope < KYMO_SCOPE_COUNT; scope++)
      walk_scope(event, (enum kymo_scope)scope);
    get_fields(trace, event);
    steps += 10;
  }
  for (size_t i = 0; i < kymo_trace_damage_count(trace); i++)
    steps += kymo_trace_damage(trace, i)->message[0] == 0;
}

/* The window in the middle of all times. */
static void read_window(struct kymo_trace *trace) {
  const struct kymo_event *event;
  int64_t begin_ns, end_ns;
  if (kymo_trace_range(trace, &begin_ns, &end_ns, NULL) != KYMO_OK)
    return;
  uint64_t span = (uint64_t)end_ns - (uint64_t)begin_ns;
  int64_t from_ns = (int64_t)((uint64_t)begin_ns + span / 3);
  kymo_trace_goto_time(trace, from_ns, NULL);
  kymo_trace_set_end_time(trace, (int64_t)((uint64_t)begin_ns + span / 2));
  if (kymo_trace_next(trace, &event, NULL) == KYMO_OK && event->has_time && event->time_ns < from_ns)
    abort(); /* that is before where we went */
  read_trace(trace);
}

struct printing {
  const struct kymo_sink *sink;
  struct kymo_sink_state *state;
};

static void print_loss(void *user, const struct kymo_loss *loss) {
  struct printing *printing = user;
  printing->sink->loss(printing->state, loss, NULL);
}

static void print_boundary(void *user, const struct kymo_boundary *boundary) {
  struct printing *printing = user;
  printing->sink->boundary(printing->state, boundary, NULL);
}

/* The output of the sinks is dropped, and so are the losses that one of them reports. */
static ssize_t forget(void *cookie, const char *bytes, size_t size) {
  (void)cookie;
  (void)bytes;
  return (ssize_t)size;
}

static void print_trace(struct kymo_trace *trace, const struct kymo_sink *sink) {
  struct printing printing = {.sink = sink};
  const struct kymo_event *event;
  FILE *out = fopencookie(NULL, "w", (cookie_io_functions_t){.write = forget}), *words = stderr;
  struct kymo_sink_options options = {.size = sizeof options, .out = out};
  stderr = out;
  if (sink->begin(&printing.state, trace, &options, NULL) == KYMO_OK) {
    kymo_trace_set_loss_handler(trace, sink->loss ? print_loss : NULL, &printing);
    kymo_trace_set_boundary_handler(trace, sink->boundary ? print_boundary : NULL, &printing);
    for (; steps < STEPS_MAX && kymo_trace_next(trace, &event, NULL) == KYMO_OK; steps += 10)
      if (sink->event(printing.state, event, NULL) != KYMO_OK)
        break;
  }
  sink->end(printing.state, NULL);
  stderr = words;
  fclose(out);
}

/* Two streams of the same bytes make the merge work, too. Takes over the schema. */
static struct kymo_trace *open_trace(struct kymo_schema *schema, struct memory *memory) {
  struct kymo_trace *trace = kymo_trace_new();
  struct kymo_part *part;
  struct kymo_part_source source = {.format = "fuzz", .path = "fuzz", .schema = schema};
  int status = kymo_trace_add_part(trace, &source, &part, NULL);
  for (uint64_t i = 0; i < 2 && status == KYMO_OK; i++)
    status =
        kymo_part_add_stream(trace, part,
                             &(struct kymo_stream_source){
                                 .operations = &operations, .source = memory, .path = "fuzz", .instance = i},
                             NULL);
  if (status == KYMO_OK && kymo_trace_finish(trace, NULL) == KYMO_OK)
    return trace;
  kymo_trace_close(trace);
  return NULL;
}

static const struct kymo_sink *choose_sink(const struct memory *memory) {
  const struct kymo_sink *const *sinks = kymo_sink_list(), *printers[16];
  size_t count = 0;
  for (; *sinks && count < sizeof printers / sizeof *printers; sinks++)
    if (!(*sinks)->makes_files)
      printers[count++] = *sinks;
  return printers[memory->size % count];
}

static void read_all(struct kymo_schema *schema, struct memory *memory) {
  struct kymo_trace *trace = open_trace(kymo_schema_retain(schema), memory);
  struct kymo_stream_info info;
  steps = 0;
  if (trace) {
    kymo_stream_describe(trace, kymo_part_stream(trace, kymo_trace_part(trace, 0), 0), &info, NULL);
    read_trace(trace);
    read_window(trace);
  }
  kymo_trace_close(trace);
  trace = open_trace(schema, memory);
  steps = 0;
  if (trace)
    print_trace(trace, choose_sink(memory));
  kymo_trace_close(trace);
}

/* Takes over the schema. */
static void read_stream(struct kymo_schema *schema, const uint8_t *data, size_t size) {
  uint8_t *copy = calloc(1, size + KYMO_SLACK);
  struct memory memory = {copy, size};
  if (size)
    memcpy(copy, data, size);
  if (schema)
    read_all(schema, &memory);
  free(copy);
}

static struct kymo_schema *compile(const char *metadata, size_t length) {
  struct kymo_error error;
  return length > 0 && metadata[0] == 0x1e ? kymo_ctf2_compile(metadata, length, "metadata", &error)
                                           : kymo_tsdl_compile(metadata, length, "metadata", &error);
}

/* One share of the schema of a text, which is compiled once. */
static struct kymo_schema *schema_of_text(size_t index) {
  static struct kymo_schema *schemas[TEXT_COUNT];
  if (!schemas[index])
    schemas[index] = compile(texts[index], strlen(texts[index]));
  return kymo_schema_retain(schemas[index]);
}

static void unpack(const uint8_t *data, size_t size) {
  struct kymo_error error;
  uint8_t *copy = malloc(size + 1);
  if (copy && size)
    memcpy(copy, data, size);
  if (copy && kymo_metadata_unpack(copy, &size, "metadata", &error) == KYMO_OK)
    kymo_schema_release(kymo_tsdl_compile((const char *)copy, size, "metadata", &error));
  free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 3)
    return 0;
  size_t length = (size_t)data[1] | (size_t)data[2] << 8;
  if (data[0] < TEXT_COUNT)
    read_stream(schema_of_text(data[0]), data + 1, size - 1);
  else if (data[0] == 0xfe)
    unpack(data + 1, size - 1);
  else if (data[0] == 0xff && length <= size - 3)
    read_stream(compile((const char *)data + 3, length), data + 3 + length, size - 3 - length);
  return 0;
}
