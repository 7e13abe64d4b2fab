/* SPDX-License-Identifier: MIT */
/* CTF traces as directories: which files are found, which files are one stream, which directories one trace;
 * metadata in packets; refused traces and their errors. */
#include "folder.h"
#include "read_memory.h"
#include "format/description.h"
#include "lang/tsdl/tsdl.h"
#include "schema/registry.h"
#include "schema/registry_metadata.h"
#include <fcntl.h>

/* ---- a small trace ---- */

#define UUID_A "2a6422d0-6cee-11e0-8c08-cb07d7b3a564"
#define UUID_B "2a6422d0-6cee-11e0-8c08-cb07d7b3a565"

static const char metadata_form[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
    "trace { major = 1; minor = 8; byte_order = le; uuid = \"%s\";\n"
    "  packet.header := struct { u32 magic; u32 stream_id; u32 stream_instance_id; }; };\n"
    "env { tracer_name = \"%s\"; };\n"
    "clock { name = c; freq = 1000000000; %s };\n"
    "typealias integer { size = 32; align = 8; signed = false; map = clock.c.value; } := t32;\n"
    "stream { id = 0; event.header := struct { u8 id; t32 timestamp; };\n"
    "  packet.context := struct { t32 timestamp_begin; t32 timestamp_end; u32 content_size; u32 "
    "packet_size;\n"
    "    u32 packet_seq_num; u32 events_discarded; }; };\n"
    "event { id = 0; name = e; stream_id = 0; fields := struct { u32 v; }; };\n%s";

static const char *metadata(const char *uuid, const char *clock, const char *more) {
  static char text[4096];
  snprintf(text, sizeof text, metadata_form, uuid, "lttng-ust", clock, more);
  return text;
}

static void write_metadata(const char *folder, const char *uuid, const char *clock, const char *more) {
  char name[128];
  snprintf(name, sizeof name, "%s/metadata", folder);
  write_file(name, metadata(uuid, clock, more), strlen(metadata(uuid, clock, more)));
}

struct head {
  uint32_t instance, begin, end, sequence, discarded;
};
#define HEAD_BYTES 36

/* A packet with events at `begin`, `begin` + 1 … and values that are their times. */
static void put_packet(struct packet_bytes *out, struct head head, unsigned events) {
  uint32_t bits = (HEAD_BYTES + events * 9) * 8;
  put_le(out, 0xc1fc1fc1, 32);
  put_le(out, 0, 32);
  put_le(out, head.instance, 32);
  put_le(out, head.begin, 32);
  put_le(out, head.end, 32);
  put_le(out, bits, 32);
  put_le(out, bits, 32);
  put_le(out, head.sequence, 32);
  put_le(out, head.discarded, 32);
  for (uint32_t i = 0; i < events; i++) {
    put_le(out, 0, 8);
    put_le(out, head.begin + i, 32);
    put_le(out, head.begin + i, 32);
  }
}

static void write_packet(const char *name, struct head head, unsigned events) {
  struct packet_bytes *packet = calloc(1, sizeof *packet);
  put_packet(packet, head, events);
  write_file(name, packet->bytes, packet->bits / 8);
  free(packet);
}

static struct kymo_trace *open_below(const char *name) {
  struct kymo_trace *trace;
  struct kymo_error error = {0};
  const char *path = below(name);
  if (kymo_trace_open(&trace, &path, 1, NULL, &error) != KYMO_OK)
    fail_msg("%s: %s", path, error.message);
  return trace;
}

static int open_error(const char *const *paths, size_t count, const struct kymo_trace_options *options,
                      struct kymo_error *error) {
  struct kymo_trace *trace = (struct kymo_trace *)1;
  int status = kymo_trace_open(&trace, paths, count, options, error);
  assert_null(trace);
  assert_true(status < 0);
  assert_int_equal(status, error->code);
  return status;
}

static void assert_message(const struct kymo_error *error, const char *words) {
  if (!strstr(error->message, words))
    fail_msg("expected \"%s\" in \"%s\"", words, error->message);
}

/* The times of all events that are left. */
static const char *times(struct kymo_trace *trace) {
  static char text[1024];
  size_t at = 0;
  text[0] = 0;
  for (const struct kymo_event *event; (event = next_event(trace)) && at < sizeof text - 50;) {
    uint64_t value = UINT64_MAX;
    assert_int_equal(kymo_event_get_uint(event, kymo_field_id(trace, event->class_, "v"), &value), KYMO_OK);
    assert_int_equal(value, event->cycles);
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%lld", at ? " " : "", (long long)event->time_ns);
  }
  return text;
}

/* ---- finding ---- */

static void traces_are_found_below_folders(void **state) {
  (void)state;
  write_metadata("all/ust/a", UUID_A, "", "");
  write_packet("all/ust/a/s0", (struct head){.begin = 10}, 2);
  write_metadata("all/ust/a/deeper", UUID_B, "", ""); /* inside a trace: not examined */
  write_packet("all/ust/a/deeper/s0", (struct head){.begin = 90}, 2);
  write_file("all/ust/a/index/s0.idx", "garbage", 7);
  write_file("all/ust/a/.hidden", "garbage", 7);
  write_file("all/note.txt", "garbage", 7);
  write_metadata("all/.secret", UUID_B, "", "");
  write_packet("all/.secret/s0", (struct head){.begin = 80}, 2);
  write_metadata("all/kernel", UUID_B, "", "");
  write_packet("all/kernel/s0", (struct head){.begin = 5}, 1);
  struct kymo_trace_options options = {.force_correlate = true};
  struct kymo_trace *trace;
  const char *path = below("all");
  assert_int_equal(kymo_trace_open(&trace, &path, 1, &options, NULL), KYMO_OK);
  assert_int_equal(kymo_trace_part_count(trace), 2);
  assert_string_equal(kymo_trace_part(trace, 0)->format, "ctf");
  assert_null(kymo_trace_part(trace, 2));
  assert_string_equal(times(trace), "5 10 11");
  assert_int_equal(kymo_trace_damage_count(trace), 0);
  kymo_trace_close(trace);
}

static void what_is_no_trace_is_told(void **state) {
  (void)state;
  struct kymo_error error;
  const char *path = below("nothing-here");
  assert_int_equal(open_error(&path, 1, NULL, &error), KYMO_E_SYSTEM);
  assert_string_equal(error.file, path);
  write_file("folder/file", "x", 1);
  path = below("folder");
  assert_int_equal(open_error(&path, 1, NULL, &error), KYMO_E_UNKNOWN);
  assert_message(&error, "no trace found");
  struct kymo_trace_options options = {.format = "nonsense"};
  assert_int_equal(open_error(&path, 1, &options, &error), KYMO_E_UNKNOWN);
  assert_message(&error, "'nonsense'");
  assert_int_equal(open_error(NULL, 0, NULL, &error), KYMO_E_USAGE);
}

static void a_trace_named_twice_is_read_once(void **state) {
  (void)state;
  write_metadata("t", UUID_A, "", "");
  write_packet("t/s0", (struct head){.begin = 10}, 2);
  const char *paths[] = {below("t"), below("t")};
  struct kymo_trace *trace;
  assert_int_equal(kymo_trace_open(&trace, paths, 2, NULL, NULL), KYMO_OK);
  assert_string_equal(times(trace), "10 11");
  kymo_trace_close(trace);
}

static void special_files_are_not_opened(void **state) {
  (void)state;
  write_metadata("t", UUID_A, "", "");
  write_packet("t/s0", (struct head){.begin = 10}, 1);
  assert_int_equal(mkfifo(below("t/pipe"), 0600), 0);
  assert_int_equal(symlink("nowhere", below("t/dangling")), 0);
  struct kymo_trace *trace = open_below("t");
  assert_string_equal(times(trace), "10");
  assert_int_equal(kymo_trace_part(trace, 0)->stream_count, 1);
  kymo_trace_close(trace);
}

static void empty_files_are_streams_without_packets(void **state) {
  (void)state;
  write_metadata("t", UUID_A, "", "");
  write_packet("t/s0", (struct head){.begin = 10}, 1);
  write_file("t/s1", "", 0);
  struct kymo_trace *trace = open_below("t");
  assert_string_equal(times(trace), "10");
  assert_int_equal(kymo_trace_damage_count(trace), 0);
  const struct kymo_part *part = kymo_trace_part(trace, 0);
  assert_int_equal(part->stream_count, 2);
  unsigned without = 0;
  for (uint32_t i = 0; i < part->stream_count; i++)
    without += kymo_part_stream(trace, part, i)->class_ == NULL;
  assert_int_equal(without, 1);
  kymo_trace_close(trace);
}

/* ---- streams of several files ---- */

static void rotated_files_are_one_stream_in_the_order_of_time(void **state) {
  (void)state;
  write_metadata("t", UUID_A, "", "");
  write_packet("t/c_0_9", (struct head){.instance = 3, .begin = 10, .end = 19, .sequence = 0}, 1);
  write_packet("t/c_0_10", (struct head){.instance = 3, .begin = 20, .end = 29, .sequence = 1}, 1);
  write_packet("t/c_0_1", (struct head){.instance = 3, .begin = 30, .end = 39, .sequence = 2, .discarded = 4},
               1);
  write_packet("t/c_1_0", (struct head){.instance = 4, .begin = 25, .end = 29}, 1);
  struct kymo_trace *trace = open_below("t");
  const struct kymo_part *part = kymo_trace_part(trace, 0);
  assert_int_equal(part->stream_count, 2);
  assert_int_equal(kymo_part_stream(trace, part, 0)->instance, 3);
  struct kymo_stream_info info;
  assert_int_equal(kymo_stream_describe(trace, kymo_part_stream(trace, part, 0), &info, NULL), KYMO_OK);
  assert_int_equal(info.packets, 3);
  assert_int_equal(info.discarded_events, 4);
  assert_int_equal(info.lost_packets, 0);
  assert_int_equal(info.begin_ns, 10);
  assert_int_equal(info.end_ns, 39);
  assert_string_equal(times(trace), "10 20 25 30");
  kymo_trace_close(trace);
}

static void packets_that_two_snapshots_hold_come_once(void **state) {
  (void)state;
  struct packet_bytes *bytes = calloc(1, sizeof *bytes);
  write_metadata("shots/1", UUID_A, "", "");
  write_metadata("shots/2", UUID_A, "", "");
  put_packet(bytes, (struct head){.begin = 10, .end = 19, .sequence = 7}, 1);
  put_packet(bytes, (struct head){.begin = 20, .end = 29, .sequence = 8}, 1);
  write_file("shots/1/c_0", bytes->bytes, bytes->bits / 8);
  memset(bytes, 0, sizeof *bytes);
  put_packet(bytes, (struct head){.begin = 20, .end = 29, .sequence = 8}, 1);
  put_packet(bytes, (struct head){.begin = 30, .end = 39, .sequence = 9}, 1);
  write_file("shots/2/c_0", bytes->bytes, bytes->bits / 8);
  free(bytes);
  struct kymo_trace *trace = open_below("shots");
  struct kymo_stream_info info;
  assert_int_equal(
      kymo_stream_describe(trace, kymo_part_stream(trace, kymo_trace_part(trace, 0), 0), &info, NULL), 0);
  assert_int_equal(info.packets, 3);
  assert_string_equal(times(trace), "10 20 30");
  kymo_trace_close(trace);
}

static void folders_of_one_uuid_are_one_trace_with_the_richest_metadata(void **state) {
  (void)state;
  write_metadata("session/1/ust", UUID_A, "", "");
  write_packet("session/1/ust/c_0", (struct head){.begin = 10, .end = 19, .sequence = 0}, 1);
  write_metadata("session/2/ust", UUID_A, "",
                 "event { id = 1; name = f; stream_id = 0; fields := struct { u32 v; }; };\n");
  write_packet("session/2/ust/c_0", (struct head){.begin = 20, .end = 29, .sequence = 1}, 1);
  struct kymo_trace *trace = open_below("session");
  assert_int_equal(kymo_trace_part_count(trace), 1);
  assert_int_equal(kymo_trace_part(trace, 0)->stream_count, 1);
  assert_int_equal(kymo_trace_part(trace, 0)->schema->streams[0]->event_count, 2);
  assert_string_equal(times(trace), "10 20");
  kymo_trace_close(trace);
}

static void the_order_of_arguments_does_not_matter(void **state) {
  (void)state;
  write_metadata("a", UUID_A, "absolute = true;", "");
  write_metadata("b", UUID_B, "absolute = true;", "");
  write_packet("a/s", (struct head){.begin = 10}, 3);
  write_packet("b/s", (struct head){.begin = 10}, 3);
  const char *paths[] = {below("b"), below("a")}, *turned[] = {paths[1], paths[0]};
  for (int i = 0; i < 2; i++) {
    struct kymo_trace *trace;
    assert_int_equal(kymo_trace_open(&trace, i ? turned : paths, 2, NULL, NULL), KYMO_OK);
    for (int k = 0; k < 6; k++) {
      const struct kymo_event *event = next_event(trace);
      assert_string_equal(event->packet->stream->part->path, below(k % 2 ? "b" : "a"));
      assert_int_equal(event->time_ns, 10 + k / 2);
    }
    kymo_trace_close(trace);
  }
}

/* ---- clocks ---- */

static void clocks_without_common_origin_are_not_merged(void **state) {
  (void)state;
  struct kymo_error error;
  struct kymo_trace *trace;
  struct kymo_trace_options force = {.force_correlate = true, .clock_offset_ns = 1000};
  write_metadata("a", UUID_A, "uuid = \"" UUID_A "\";", "");
  write_metadata("b", UUID_B, "uuid = \"" UUID_B "\";", "");
  write_metadata("c", UUID_B, "uuid = \"" UUID_A "\";", "");
  write_packet("a/s", (struct head){.begin = 10}, 1);
  write_packet("b/s", (struct head){.begin = 20}, 1);
  write_packet("c/s", (struct head){.begin = 30}, 1);
  const char *paths[] = {below("a"), below("b"), below("c")}, *same[] = {paths[0], paths[2]};
  assert_int_equal(open_error(paths, 2, NULL, &error), KYMO_E_USAGE);
  assert_message(
      &error,
      "no common origin: their times cannot be compared, unless --force-correlate says that they can");
  assert_int_equal(kymo_trace_open(&trace, paths, 2, &force, &error), KYMO_OK);
  assert_int_equal(next_event(trace)->time_ns, 1010);
  kymo_trace_close(trace);
  assert_int_equal(kymo_trace_open(&trace, same, 2, NULL, &error), KYMO_OK);
  assert_string_equal(times(trace), "10 30");
  kymo_trace_close(trace);
}

static void an_end_of_zero_is_no_time_in_lttng_traces(void **state) {
  (void)state;
  struct packet_bytes *bytes = calloc(1, sizeof *bytes);
  write_metadata("t", UUID_A, "", "");
  put_packet(bytes, (struct head){.begin = 10, .end = 0, .sequence = 0}, 1);
  put_packet(bytes, (struct head){.begin = 20, .end = 0, .sequence = 1, .discarded = 2}, 1);
  write_file("t/s", bytes->bytes, bytes->bits / 8);
  free(bytes);
  struct kymo_trace *trace = open_below("t");
  const struct kymo_event *event = next_event(trace);
  assert_true(event->packet->has_begin);
  assert_false(event->packet->has_end);
  assert_string_equal(times(trace), "20");
  kymo_trace_close(trace);
}

/* ---- metadata ---- */

/* Metadata in packets of `piece` bytes of text each. */
static size_t pack(uint8_t *out, const char *text, size_t piece, bool is_big) {
  size_t at = 0, length = strlen(text);
  for (size_t from = 0; from < length; from += piece) {
    size_t part = length - from < piece ? length - from : piece, size = 37 + piece + 3;
    struct packet_bytes head = {.bits = 0};
    put(&head, 0x75d11d57, 32, is_big);
    put_text(&head, "0123456789abcdef", 16);
    put(&head, 0, 32, is_big);
    put(&head, (37 + part) * 8, 32, is_big);
    put(&head, size * 8, 32, is_big);
    put_text(&head, "\0\0\0\1\10", 5);
    memcpy(out + at, head.bytes, 37);
    memcpy(out + at + 37, text + from, part);
    memset(out + at + 37 + part, 0, size - 37 - part);
    at += size;
  }
  return at;
}

static void metadata_in_packets_is_read_in_both_byte_orders(void **state) {
  (void)state;
  static uint8_t bytes[16384];
  for (int is_big = 0; is_big < 2; is_big++) {
    size_t size = pack(bytes, metadata(UUID_A, "", ""), 100, is_big);
    memcpy(bytes + size, "\0\0\0\0", 4); /* some writers leave bytes after the last packet */
    write_file("t/metadata", bytes, size + 4);
    write_packet("t/s", (struct head){.begin = 10}, 1);
    struct kymo_trace *trace = open_below("t");
    assert_string_equal(times(trace), "10");
    kymo_trace_close(trace);
  }
}

static void bad_metadata_packets_are_refused(void **state) {
  (void)state;
  static const struct {
    size_t at;
    uint8_t value;
    const char *words;
  } cases[] = {
      {24, 1, "whole bytes"}, /* content size */
      {25, 0, "less than the header's"},
      {25, 0xff, "larger than the packet"},
      {32, 1, "compression"},
      {33, 1, "encryption"},
      {34, 1, "checksum"},
      {35, 7, "expected version 1.8"},
      {36, 9, "expected version 1.8"},
      {140 + 10, 'x', "uuid differs"}, /* of the second packet */
  };
  static uint8_t bytes[16384];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct kymo_error error;
    size_t size = pack(bytes, metadata(UUID_A, "", ""), 100, false);
    bytes[cases[i].at] = cases[i].value;
    write_file("t/metadata", bytes, size);
    const char *path = below("t");
    assert_int_equal(open_error(&path, 1, NULL, &error), KYMO_E_FORMAT);
    assert_message(&error, cases[i].words);
    assert_int_equal(error.offset, cases[i].at >= 140 ? 140 : 0);
  }
  struct kymo_error error;
  size_t size = pack(bytes, metadata(UUID_A, "", ""), 100, false);
  const char *path = below("t");
  write_file("t/metadata", bytes, size - 120); /* the last packet is cut */
  assert_int_equal(open_error(&path, 1, NULL, &error), KYMO_E_FORMAT);
  assert_message(&error, "ends before the packet");
  write_file("t/metadata", bytes, 20);
  assert_int_equal(open_error(&path, 1, NULL, &error), KYMO_E_FORMAT);
}

static void metadata_without_signature_line_is_read(void **state) {
  (void)state;
  const char *text = strchr(metadata(UUID_A, "", ""), '\n') + 1;
  write_file("t/metadata", text, strlen(text));
  write_packet("t/s", (struct head){.begin = 10}, 1);
  struct kymo_trace *trace = open_below("t");
  assert_string_equal(times(trace), "10");
  kymo_trace_close(trace);
}

static void errors_in_metadata_name_the_file_and_line(void **state) {
  (void)state;
  struct kymo_error error;
  const char *path = below("t");
  write_file("t/metadata", "/* CTF 1.8 */\n\ntrace { major = ; };\n", 36);
  assert_int_equal(open_error(&path, 1, NULL, &error), KYMO_E_SYNTAX);
  assert_string_equal(error.file, below("t/metadata"));
  assert_int_equal(error.line, 3);
}

/* ---- damage ---- */

static void a_file_with_a_bad_first_packet_is_read_from_the_next(void **state) {
  (void)state;
  struct packet_bytes *bytes = calloc(1, sizeof *bytes);
  write_metadata("t", UUID_A, "", "");
  put_packet(bytes, (struct head){.begin = 10}, 1);
  put_packet(bytes, (struct head){.begin = 20, .sequence = 1}, 1);
  bytes->bytes[0] ^= 1;
  write_file("t/s", bytes->bytes, bytes->bits / 8);
  write_packet("t/s2", (struct head){.begin = 5, .instance = 1}, 1);
  free(bytes);
  struct kymo_trace *trace = open_below("t");
  assert_string_equal(times(trace), "5 20");
  assert_int_equal(kymo_trace_damage_count(trace), 1);
  const struct kymo_damage *damage = kymo_trace_damage(trace, 0);
  assert_string_equal(damage->path, below("t/s"));
  assert_int_equal(damage->offset, 0);
  assert_int_equal(damage->bytes_lost, HEAD_BYTES + 9);
  kymo_trace_close(trace);
}

static void a_file_that_shrinks_while_it_is_read_ends_early(void **state) {
  (void)state;
  enum { PACKETS = 4000 };
  write_metadata("t", UUID_A, "", "");
  struct packet_bytes *packet = calloc(1, sizeof *packet);
  FILE *file = fopen(below("t/s"), "wb");
  assert_non_null(file);
  for (uint32_t i = 0; i < PACKETS; i++) {
    memset(packet, 0, sizeof *packet);
    put_packet(packet, (struct head){.begin = i * 10, .end = i * 10 + 9, .sequence = i}, 5);
    assert_int_equal(fwrite(packet->bytes, 1, packet->bits / 8, file), packet->bits / 8);
  }
  assert_int_equal(fclose(file), 0);
  free(packet);
  struct kymo_trace *trace = open_below("t");
  unsigned count = 1;
  assert_non_null(next_event(trace));
  assert_int_equal(truncate(below("t/s"), 4096), 0);
  /* Events that were found already are delivered; then the end is noticed before a missing page is
   * touched. */
  while (next_event(trace))
    count++;
  assert_true(count < PACKETS * 5);
  kymo_trace_close(trace);
}

/* ---- registries ---- */

/* Where the registry's second text record begins: the bytes before it are valid by themselves. */
static size_t registry_middle;

/* The registry of a schema whose event is called "r", that says to describe `covered` bytes of the
 * metadata. */
static struct kymo_strbuf registry_of(const char *text, size_t covered) {
  struct kymo_strbuf out = {0};
  struct kymo_error error = {0};
  uint8_t *bytes;
  size_t size;
  char *other = strdup(text);
  assert_non_null(other);
  memcpy(strstr(other, "name = e;"), "name = r;", 9);
  struct kymo_schema *schema = kymo_tsdl_compile(other, strlen(other), "other", &error);
  assert_non_null(schema);
  assert_int_equal(kymo_registry_write(schema, &bytes, &size, &error), KYMO_OK);
  kymo_strbuf_add(&out, (const char *)bytes, size);
  kymo_registry_append_text(&out, text, covered / 2);
  registry_middle = out.length;
  kymo_registry_append_text(&out, text + covered / 2, covered - covered / 2);
  assert_false(out.failed);
  kymo_schema_release(schema);
  free(bytes);
  free(other);
  return out;
}

static void write_registry(struct kymo_strbuf *registry, size_t size) {
  write_file("t/.kymo/registry", registry->text, size);
  kymo_strbuf_free(registry);
}

/* The name of the first event of the trace in "t"; and the damage of all of it. */
static const char *first_name(bool as_babeltrace2, struct kymo_damage *damage) {
  static char name[16], message[256], damaged[256];
  struct kymo_trace_options options = {.as_babeltrace2 = as_babeltrace2};
  struct kymo_trace *trace;
  struct kymo_error error = {0};
  const char *path = below("t");
  if (kymo_trace_open(&trace, &path, 1, &options, &error) != KYMO_OK)
    fail_msg("%s", error.message);
  const struct kymo_event *event = next_event(trace);
  assert_non_null(event);
  snprintf(name, sizeof name, "%s", event->class_->name);
  *damage = (struct kymo_damage){0};
  assert_true(kymo_trace_damage_count(trace) <= 1);
  if (kymo_trace_damage_count(trace) == 1) {
    *damage = *kymo_trace_damage(trace, 0);
    snprintf(message, sizeof message, "%s", damage->message);
    snprintf(damaged, sizeof damaged, "%s", damage->path);
    damage->message = message;
    damage->path = damaged;
  }
  kymo_trace_close(trace);
  return name;
}

static const char *write_described_trace(void) {
  write_metadata("t", UUID_A, "", "");
  write_packet("t/s", (struct head){.begin = 1}, 1);
  return metadata(UUID_A, "", "");
}

static void a_registry_of_this_metadata_counts_instead_of_it(void **state) {
  (void)state;
  const char *text = write_described_trace();
  struct kymo_strbuf registry = registry_of(text, strlen(text));
  struct kymo_damage damage;
  write_registry(&registry, registry.length);
  assert_string_equal(first_name(false, &damage), "r");
  assert_null(damage.message);
  assert_string_equal(first_name(true, &damage), "e"); /* babeltrace2 knows no registry */
  assert_null(damage.message);
}

static void a_registry_of_other_metadata_does_not_count(void **state) {
  (void)state;
  const char *text = write_described_trace();
  struct kymo_damage damage;
  struct kymo_strbuf registry = registry_of(text, strlen(text) - 1); /* something was added to the metadata */
  write_registry(&registry, registry.length);
  assert_string_equal(first_name(false, &damage), "e");
  assert_null(damage.message);
  registry = registry_of(text, strlen(text));
  write_registry(&registry, registry.length);
  write_metadata("t", UUID_B, "", ""); /* as long, but another one */
  assert_string_equal(first_name(false, &damage), "e");
  assert_null(damage.message);
}

static void a_damaged_registry_is_told_and_not_used(void **state) {
  (void)state;
  const char *text = write_described_trace();
  struct kymo_damage damage;
  struct kymo_strbuf registry = registry_of(text, strlen(text));
  registry.text[registry_middle + 9] ^= 1;
  write_registry(&registry, registry.length);
  assert_string_equal(first_name(false, &damage), "e");
  assert_int_equal(damage.code, KYMO_E_FORMAT);
  assert_int_equal(damage.offset, registry_middle);
  assert_string_equal(damage.path, below("t/.kymo/registry"));
  if (!strstr(damage.message, "checksum"))
    fail_msg("%s", damage.message);
  registry = registry_of(text, strlen(text));
  write_registry(&registry, registry.length - 3);
  assert_string_equal(first_name(false, &damage), "e");
  assert_int_equal(damage.offset, registry_middle);
  assert_int_equal(first_name(true, &damage)[0], 'e');
  assert_null(damage.message);
  write_file("t/.kymo/registry", "no registry", 11);
  assert_string_equal(first_name(false, &damage), "e");
  assert_int_equal(damage.code, KYMO_E_UNKNOWN);
}

static void a_registry_that_cannot_be_read_is_told(void **state) {
  (void)state;
  struct kymo_damage damage;
  write_described_trace();
  write_file("t/.kymo/registry/file", "", 0);
  assert_string_equal(first_name(false, &damage), "e");
  assert_string_equal(damage.message, "not a regular file");
  assert_string_equal(damage.path, below("t/.kymo/registry"));
}

/* The name of the event in the description of "t", which grows. */
static const char *growing_name(size_t damages) {
  struct kymo_error error = {0};
  struct kymo_trace *trace = kymo_trace_new();
  struct kymo_schema *schema = kymo_metadata_load(trace, below("t"), true, &error);
  assert_non_null(schema);
  assert_int_equal(kymo_trace_damage_count(trace), damages);
  const char *name = kymo_schema_lookup_event(schema, "r")   ? "r"
                     : kymo_schema_lookup_event(schema, "e") ? "e"
                                                             : "none";
  kymo_schema_release(schema);
  kymo_trace_close(trace);
  return name;
}

static void the_torn_end_of_a_growing_description_does_not_count(void **state) {
  (void)state;
  char longer[8192];
  struct kymo_error error = {0};
  const char *text = write_described_trace();
  struct kymo_strbuf registry = registry_of(text, strlen(text));
  write_registry(&registry, registry.length);
  snprintf(longer, sizeof longer, "%sevent { id = 1; name = half", text);
  write_file("t/metadata", longer, strlen(longer));
  struct kymo_trace *trace = kymo_trace_new();
  assert_null(kymo_metadata_load(trace, below("t"), false, &error)); /* of a finished trace it does */
  kymo_trace_close(trace);
  assert_string_equal(growing_name(0), "r");
  registry = registry_of(text, strlen(text));
  kymo_strbuf_add(&registry, "torn", 4);
  write_registry(&registry, registry.length);
  assert_string_equal(growing_name(1), "e");
}

/* ---- batches of several streams ---- */

enum { BATCH_STREAMS = 3, BATCH_EVENTS = 200 };

static unsigned text_length(uint32_t time) { return time * 7 % 23; }

/* One packet of events, BATCH_STREAMS ns apart. Each has a text whose length follows from its time. */
static void write_texts(const char *name, uint32_t begin) {
  struct packet_bytes *packet = calloc(1, sizeof *packet);
  uint32_t bits = HEAD_BYTES * 8;
  for (uint32_t i = 0; i < BATCH_EVENTS; i++)
    bits += 8 * (5 + text_length(begin + i * BATCH_STREAMS) + 1);
  const uint32_t head[] = {0xc1fc1fc1, 0,    begin, begin, begin + BATCH_EVENTS * BATCH_STREAMS,
                           bits,       bits, 0,     0};
  for (size_t i = 0; i < sizeof head / sizeof *head; i++)
    put_le(packet, head[i], 32);
  for (uint32_t i = 0; i < BATCH_EVENTS; i++) {
    uint32_t time = begin + i * BATCH_STREAMS;
    put_le(packet, 1, 8);
    put_le(packet, time, 32);
    for (unsigned k = 0; k < text_length(time); k++)
      put_le(packet, 'a' + k, 8);
    put_le(packet, 0, 8);
  }
  write_file(name, packet->bytes, packet->bits / 8);
  free(packet);
}

/* A batch has more events of each stream than it finds at a time, and all of them are whole. */
static void events_stay_valid_while_their_stream_looks_on(void **state) {
  (void)state;
  uint32_t time = 1;
  size_t most = 0;
  write_metadata("trace", UUID_A, "",
                 "event { id = 1; name = t; stream_id = 0; fields := struct { string s; }; };\n");
  write_texts("trace/a", 1);
  write_texts("trace/b", 2);
  write_texts("trace/c", 3);
  struct kymo_trace *trace = open_below("trace");
  for (struct kymo_batch batch; kymo_trace_next_batch(trace, &batch, NULL) == KYMO_OK;) {
    most = batch.count > most ? batch.count : most;
    for (size_t i = 0; i < batch.count; i++, time++) {
      const uint8_t *bytes;
      uint64_t size;
      assert_int_equal(batch.events[i]->cycles, time);
      assert_int_equal(kymo_event_get_raw(batch.events[i], &bytes, &size), KYMO_OK);
      assert_int_equal(size, 5 + text_length(time) + 1);
      assert_int_equal(kymo_load_le32(bytes + 1), time);
    }
  }
  assert_int_equal(time - 1, BATCH_STREAMS * BATCH_EVENTS);
  assert_true(most > BATCH_STREAMS * 64);
  assert_int_equal(kymo_trace_damage_count(trace), 0);
  kymo_trace_close(trace);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_top, remove_top)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(traces_are_found_below_folders),
      TEST(events_stay_valid_while_their_stream_looks_on),
      TEST(what_is_no_trace_is_told),
      TEST(a_trace_named_twice_is_read_once),
      TEST(special_files_are_not_opened),
      TEST(empty_files_are_streams_without_packets),
      TEST(rotated_files_are_one_stream_in_the_order_of_time),
      TEST(packets_that_two_snapshots_hold_come_once),
      TEST(folders_of_one_uuid_are_one_trace_with_the_richest_metadata),
      TEST(the_order_of_arguments_does_not_matter),
      TEST(clocks_without_common_origin_are_not_merged),
      TEST(an_end_of_zero_is_no_time_in_lttng_traces),
      TEST(metadata_in_packets_is_read_in_both_byte_orders),
      TEST(bad_metadata_packets_are_refused),
      TEST(metadata_without_signature_line_is_read),
      TEST(errors_in_metadata_name_the_file_and_line),
      TEST(a_file_with_a_bad_first_packet_is_read_from_the_next),
      TEST(a_file_that_shrinks_while_it_is_read_ends_early),
      TEST(a_registry_of_this_metadata_counts_instead_of_it),
      TEST(a_registry_of_other_metadata_does_not_count),
      TEST(a_damaged_registry_is_told_and_not_used),
      TEST(a_registry_that_cannot_be_read_is_told),
      TEST(the_torn_end_of_a_growing_description_does_not_count),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
