/* SPDX-License-Identifier: MIT */
/*
 * Writes a trace for bench/view/run:  generate FOLDER TRACKS EVENTS
 *
 * Each track is a thread with a stream of its own. Few threads have most of the events, few kinds are most of
 * the events, busy times follow idle ones, and there are long gaps. An event in eight is an edge of a span;
 * spans are up to five deep. An event has 16 bytes: one word of id and clock, one number.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PACKET_BYTES = 64 << 10, HEAD_BYTES = 72, KINDS = 200, DEPTH = 5 };

static const char head_text[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
    "trace {\n"
    "  major = 1; minor = 8; byte_order = le; uuid = \"00112233-4455-6677-8899-aabbccddeeff\";\n"
    "  packet.header := struct { uint32_t magic; uint32_t stream_id; uint64_t stream_instance_id; };\n"
    "};\n"
    "clock { name = monotonic; freq = 1000000000; offset = 1700000000000000000; };\n"
    "typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := clock64;\n"
    "typealias integer { size = 48; align = 1; signed = false; map = clock.monotonic.value; } := clock48;\n"
    "stream {\n"
    "  id = 0;\n"
    "  packet.context := struct { clock64 timestamp_begin; clock64 timestamp_end; uint32_t content_size;\n"
    "    uint32_t packet_size; uint32_t packet_seq_num; uint32_t events_discarded; uint32_t tid;\n"
    "    integer { size = 8; align = 8; signed = true; encoding = UTF8; } thread_name[16]; };\n"
    "  event.header := struct {\n"
    "    integer { size = 16; align = 64; signed = false; } id; clock48 timestamp; };\n"
    "};\n";

struct stream {
  uint8_t *packet;
  uint32_t used, sequence, depth;
  uint64_t begin, end, count;
  FILE *file;
};

static uint64_t seed = 88172645463325252;

static double chance(void) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (double)(seed >> 11) * (1.0 / 9007199254740992.0);
}

static void put(struct stream *stream, uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++)
    stream->packet[stream->used++] = (uint8_t)(value >> (8 * i));
}

static bool flush(struct stream *stream, unsigned number) {
  uint32_t content = stream->used;
  if (stream->count == 0)
    return true;
  stream->used = 0;
  put(stream, 0xc1fc1fc1, 4);
  put(stream, 0, 4);
  put(stream, number, 8);
  put(stream, stream->begin, 8);
  put(stream, stream->end, 8);
  put(stream, content * UINT64_C(8), 4);
  put(stream, PACKET_BYTES * UINT64_C(8), 4);
  put(stream, stream->sequence++, 4);
  put(stream, 0, 4);
  put(stream, 1000 + number, 4);
  snprintf((char *)stream->packet + stream->used, 16, "worker-%u", number);
  stream->count = 0;
  return fwrite(stream->packet, 1, PACKET_BYTES, stream->file) == PACKET_BYTES;
}

static bool emit(struct stream *stream, unsigned number, uint64_t time, unsigned kind, uint64_t value) {
  if (stream->used + 16 > PACKET_BYTES && !flush(stream, number))
    return false;
  if (stream->count++ == 0) {
    memset(stream->packet, 0, PACKET_BYTES);
    stream->used = HEAD_BYTES;
    stream->begin = time;
  }
  stream->end = time;
  put(stream, kind | time << 16, 8);
  put(stream, value, 8);
  return true;
}

/* Kinds 0 and 1 are the edges of spans, in turns that nest. */
static unsigned choose_kind(struct stream *stream) {
  if (chance() >= 0.125)
    return 2 + (unsigned)(chance() * chance() * chance() * (KINDS - 2));
  bool begins = stream->depth == 0 || (stream->depth < DEPTH && chance() < 0.5);
  stream->depth += begins ? 1 : UINT32_MAX;
  return begins ? 0 : 1;
}

static bool write_metadata(const char *folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/metadata", folder);
  FILE *file = fopen(path, "wb");
  if (!file)
    return false;
  fputs(head_text, file);
  for (unsigned i = 0; i < KINDS; i++) {
    char name[32];
    snprintf(name, sizeof name, i > 1 ? "bench:kind%u" : i ? "bench:work_exit" : "bench:work_entry", i);
    fprintf(file,
            "event { name = \"%s\"; id = %u; stream_id = 0; fields := struct {"
            " integer { size = 64; align = 64; signed = false; } value; }; };\n",
            name, i);
  }
  return fclose(file) == 0;
}

static bool open_streams(const char *folder, struct stream *streams, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/stream_%u", folder, i);
    streams[i].file = fopen(path, "wb");
    streams[i].packet = malloc(PACKET_BYTES);
    if (!streams[i].file || !streams[i].packet)
      return false;
  }
  return true;
}

int main(int argc, char **argv) {
  unsigned count = argc == 4 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
  uint64_t events = argc == 4 ? strtoull(argv[3], NULL, 10) : 0, time = 1000;
  if (count == 0 || count > 1000 || events == 0)
    return fprintf(stderr, "usage: generate FOLDER TRACKS EVENTS\n"), 2;
  mkdir(argv[1], 0777);
  struct stream *streams = calloc(count, sizeof *streams);
  bool is_good = streams && write_metadata(argv[1]) && open_streams(argv[1], streams, count);
  for (uint64_t i = 0; is_good && i < events; i++) {
    bool is_busy = (i >> 18 & 3) != 3;
    time += 1 + (uint64_t)(-log(1 - chance()) * (is_busy ? 60 : 900));
    if (chance() < 1e-6)
      time += 5000000;
    unsigned number = (unsigned)(chance() * chance() * count);
    is_good = emit(&streams[number], number, time, choose_kind(&streams[number]), i);
  }
  for (unsigned i = 0; is_good && i < count; i++)
    is_good = flush(&streams[i], i) && fclose(streams[i].file) == 0;
  if (!is_good)
    perror("generate");
  return is_good ? 0 : 1;
}
