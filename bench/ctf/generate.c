/* SPDX-License-Identifier: MIT */
/*
 * Writes traces for bench/ctf/run and bench/index/run:  generate words|lttng FOLDER STREAMS EVENTS
 *                                                       [PACKET_BYTES]
 *
 *   words   16 bytes an event, as kymo records them: one word of id and clock, one number
 *   lttng   as LTTng-UST writes them: compact header, contexts vpid, vtid, procname, and in turn a
 *           number, a text, a number, a short sequence
 *
 * Each event goes to a random stream, so neighbours in time are mostly in different streams.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HEAD_BYTES 48
#define EVENT_MAX 128
#define STEP_NS 100

static const char head_text[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
    "typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
    "typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
    "trace {\n"
    "  major = 1; minor = 8; byte_order = le; uuid = \"00112233-4455-6677-8899-aabbccddeeff\";\n"
    "  packet.header := struct { uint32_t magic; uint32_t stream_id; uint64_t stream_instance_id; };\n"
    "};\n"
    "clock { name = monotonic; freq = 1000000000; offset = 1700000000000000000; };\n"
    "typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := clock64;\n"
    "typealias integer { size = 48; align = 1; signed = false; map = clock.monotonic.value; } := clock48;\n"
    "typealias integer { size = 27; align = 1; signed = false; map = clock.monotonic.value; } := clock27;\n"
    "struct packet_context { clock64 timestamp_begin; clock64 timestamp_end; uint32_t content_size;\n"
    "  uint32_t packet_size; uint32_t packet_seq_num; uint32_t events_discarded; };\n";

static const char words_text[] =
    "stream {\n"
    "  id = 0; packet.context := struct packet_context;\n"
    "  event.header := struct { integer { size = 16; align = 64; signed = false; } id; clock48 timestamp; "
    "};\n"
    "};\n"
    "event { name = \"bench:number\"; id = 0; stream_id = 0;\n"
    "  fields := struct { integer { size = 64; align = 64; signed = false; } value; }; };\n";

static const char lttng_text[] =
    "struct header {\n"
    "  enum : integer { size = 5; align = 1; signed = false; } { compact = 0 ... 30, extended = 31 } id;\n"
    "  variant <id> { struct { clock27 timestamp; } compact; struct { uint32_t id; clock64 timestamp; } "
    "extended; } v;\n"
    "} align(8);\n"
    "stream {\n"
    "  id = 0; packet.context := struct packet_context; event.header := struct header;\n"
    "  event.context := struct { int32_t vpid; int32_t vtid;\n"
    "    integer { size = 8; align = 8; signed = true; encoding = UTF8; } procname[17]; };\n"
    "};\n"
    "event { name = \"bench:number\"; id = 0; stream_id = 0; fields := struct { int32_t turn; uint64_t "
    "value; }; };\n"
    "event { name = \"bench:text\"; id = 1; stream_id = 0; fields := struct { int32_t turn; string name; }; "
    "};\n"
    "event { name = \"bench:list\"; id = 2; stream_id = 0;\n"
    "  fields := struct { int32_t turn; uint32_t __items_length; uint16_t items[ __items_length ]; }; };\n";

struct stream {
  uint8_t *packet;
  uint32_t used, sequence;
  uint64_t begin, end, count;
};

static const char *folder;
static uint32_t packet_bytes = 64 << 10;
static bool is_lttng;

static void put(struct stream *stream, uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++)
    stream->packet[stream->used++] = (uint8_t)(value >> (8 * i));
}

/* Appends the packet to the stream's file. Thousands of files cannot be open at a time. */
static bool flush(struct stream *stream, uint64_t instance) {
  char path[4096];
  uint32_t content = stream->used;
  if (stream->count == 0)
    return true;
  stream->used = 0;
  put(stream, 0xc1fc1fc1, 4);
  put(stream, 0, 4);
  put(stream, instance, 8);
  put(stream, stream->begin, 8);
  put(stream, stream->end, 8);
  put(stream, content * UINT64_C(8), 4);
  put(stream, packet_bytes * UINT64_C(8), 4);
  put(stream, stream->sequence++, 4);
  put(stream, 0, 4);
  snprintf(path, sizeof path, "%s/stream_%04" PRIu64, folder, instance);
  FILE *file = fopen(path, "ab");
  bool is_good = file && fwrite(stream->packet, 1, packet_bytes, file) == packet_bytes;
  is_good &= file && fclose(file) == 0;
  stream->count = 0;
  return is_good;
}

static void put_lttng(struct stream *stream, uint64_t time, uint64_t turn) {
  static const char *const names[] = {"idle", "read request", "compact", "a somewhat longer name"};
  static const char procname[17] = "bench-worker";
  unsigned id = turn % 4 == 1 ? 1 : turn % 4 == 3 ? 2 : 0;
  put(stream, id | time << 5, 4);
  put(stream, 4711, 4);
  put(stream, 4712, 4);
  memcpy(stream->packet + stream->used, procname, sizeof procname);
  stream->used += sizeof procname;
  put(stream, turn, 4);
  if (id == 0) {
    put(stream, turn * 3, 8);
  } else if (id == 1) {
    const char *name = names[turn / 4 % 4];
    memcpy(stream->packet + stream->used, name, strlen(name) + 1);
    stream->used += (uint32_t)strlen(name) + 1;
  } else {
    unsigned count = turn / 4 % 5;
    put(stream, count, 4);
    for (unsigned i = 0; i < count; i++)
      put(stream, i, 2);
  }
}

static bool emit(struct stream *stream, uint64_t instance, uint64_t time, uint64_t turn) {
  if (stream->used + EVENT_MAX > packet_bytes && !flush(stream, instance))
    return false;
  if (stream->count++ == 0) {
    memset(stream->packet, 0, packet_bytes);
    stream->used = HEAD_BYTES;
    stream->begin = time;
  }
  stream->end = time;
  if (is_lttng) {
    put_lttng(stream, time, turn);
  } else {
    put(stream, time << 16, 8);
    put(stream, turn, 8);
  }
  return true;
}

static bool write_metadata(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s/metadata", folder);
  FILE *file = fopen(path, "wb");
  bool is_good = file && fputs(head_text, file) >= 0 && fputs(is_lttng ? lttng_text : words_text, file) >= 0;
  return file && fclose(file) == 0 && is_good;
}

int main(int argc, char **argv) {
  bool is_whole = argc == 5 || argc == 6;
  uint64_t count = is_whole ? strtoull(argv[3], NULL, 10) : 0,
           events = is_whole ? strtoull(argv[4], NULL, 10) : 0;
  is_lttng = is_whole && strcmp(argv[1], "lttng") == 0;
  if (argc == 6)
    packet_bytes = (uint32_t)strtoul(argv[5], NULL, 10);
  if (count == 0 || count > 100000 || events == 0 || packet_bytes < HEAD_BYTES + EVENT_MAX ||
      (!is_lttng && strcmp(argv[1], "words") != 0)) {
    fprintf(stderr, "usage: generate words|lttng FOLDER STREAMS EVENTS [PACKET_BYTES]\n");
    return 2;
  }
  folder = argv[2];
  mkdir(folder, 0777);
  struct stream *streams = calloc(count, sizeof *streams);
  bool is_good = streams && write_metadata();
  for (uint64_t i = 0; is_good && i < count; i++)
    is_good = (streams[i].packet = malloc(packet_bytes)) != NULL;
  uint64_t seed = 88172645463325252;
  for (uint64_t i = 0; is_good && i < events; i++) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    uint64_t chosen = (seed >> 20) % count;
    is_good = emit(&streams[chosen], chosen, (i + 1) * STEP_NS, i);
  }
  for (uint64_t i = 0; is_good && i < count; i++)
    is_good = flush(&streams[i], i);
  if (!is_good)
    perror("generate");
  return is_good ? 0 : 1;
}
