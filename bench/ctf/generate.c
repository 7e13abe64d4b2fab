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
#include "packet.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define EVENT_MAX 128
#define STEP_NS 100

static const char context_text[] =
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

static const char *folder;
static uint32_t packet_bytes = 64 << 10;
static bool is_lttng;

/* Appends the packet to the stream's file. Thousands of files cannot be open at a time. */
static bool flush(struct packet *stream, uint64_t instance) {
  char path[4096];
  if (stream->count == 0)
    return true;
  packet_put_head(stream, instance, packet_bytes);
  snprintf(path, sizeof path, "%s/stream_%04" PRIu64, folder, instance);
  FILE *file = fopen(path, "ab");
  bool is_good = file && fwrite(stream->bytes, 1, packet_bytes, file) == packet_bytes;
  is_good &= file && fclose(file) == 0;
  return is_good;
}

static void put_lttng(struct packet *stream, uint64_t time, uint64_t turn) {
  static const char *const names[] = {"idle", "read request", "compact", "a somewhat longer name"};
  static const char procname[17] = "bench-worker";
  unsigned id = turn % 4 == 1 ? 1 : turn % 4 == 3 ? 2 : 0;
  packet_put(stream, id | time << 5, 4);
  packet_put(stream, 4711, 4);
  packet_put(stream, 4712, 4);
  memcpy(stream->bytes + stream->used_bytes, procname, sizeof procname);
  stream->used_bytes += sizeof procname;
  packet_put(stream, turn, 4);
  if (id == 0) {
    packet_put(stream, turn * 3, 8);
  } else if (id == 1) {
    const char *name = names[turn / 4 % 4];
    memcpy(stream->bytes + stream->used_bytes, name, strlen(name) + 1);
    stream->used_bytes += (uint32_t)strlen(name) + 1;
  } else {
    unsigned count = turn / 4 % 5;
    packet_put(stream, count, 4);
    for (unsigned i = 0; i < count; i++)
      packet_put(stream, i, 2);
  }
}

static bool emit(struct packet *stream, uint64_t instance, uint64_t time, uint64_t turn) {
  if (stream->used_bytes + EVENT_MAX > packet_bytes && !flush(stream, instance))
    return false;
  if (stream->count++ == 0) {
    memset(stream->bytes, 0, packet_bytes);
    stream->used_bytes = PACKET_HEAD_BYTES;
    stream->begin_ns = time;
  }
  stream->end_ns = time;
  if (is_lttng) {
    put_lttng(stream, time, turn);
  } else {
    packet_put(stream, time << 16, 8);
    packet_put(stream, turn, 8);
  }
  return true;
}

static bool write_metadata(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s/metadata", folder);
  FILE *file = fopen(path, "wb");
  bool is_good = file && fputs(packet_metadata, file) >= 0 && fputs(context_text, file) >= 0 &&
                 fputs(is_lttng ? lttng_text : words_text, file) >= 0;
  return file && fclose(file) == 0 && is_good;
}

int main(int argc, char **argv) {
  bool is_whole = argc == 5 || argc == 6;
  uint64_t count = is_whole ? strtoull(argv[3], NULL, 10) : 0,
           events = is_whole ? strtoull(argv[4], NULL, 10) : 0;
  is_lttng = is_whole && strcmp(argv[1], "lttng") == 0;
  if (argc == 6)
    packet_bytes = (uint32_t)strtoul(argv[5], NULL, 10);
  if (count == 0 || count > 100000 || events == 0 || packet_bytes < PACKET_HEAD_BYTES + EVENT_MAX ||
      (!is_lttng && strcmp(argv[1], "words") != 0)) {
    fprintf(stderr, "usage: generate words|lttng FOLDER STREAMS EVENTS [PACKET_BYTES]\n");
    return 2;
  }
  folder = argv[2];
  mkdir(folder, 0777);
  struct packet *streams = calloc(count, sizeof *streams);
  bool is_good = streams && write_metadata();
  for (uint64_t i = 0; is_good && i < count; i++)
    is_good = (streams[i].bytes = malloc(packet_bytes)) != NULL;
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
