/* SPDX-License-Identifier: MIT */
/*
 * Writes a trace for bench/view/run:  generate FOLDER TRACKS EVENTS
 *
 * Each track is a thread with a stream of its own. Few threads have most of the events, few kinds are most of
 * the events, busy times follow idle ones, and there are long gaps. An event in eight is an edge of a span;
 * spans are up to five deep. An event has 16 bytes: one word of id and clock, one number.
 */
#include "../ctf/packet.h"
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
  PACKET_BYTES = 64 << 10,
  NAME_BYTES = 16,
  HEAD_BYTES = PACKET_HEAD_BYTES + 8 + NAME_BYTES,
  KINDS = 200,
  DEPTH = 5
};

static const char stream_text[] =
    "stream {\n"
    "  id = 0;\n"
    "  packet.context := struct { clock64 timestamp_begin; clock64 timestamp_end; uint32_t content_size;\n"
    "    uint32_t packet_size; uint32_t packet_seq_num; uint32_t events_discarded; uint32_t tid;\n"
    "    integer { size = 8; align = 8; signed = true; encoding = UTF8; } thread_name[16]; };\n"
    "  event.header := struct {\n"
    "    integer { size = 16; align = 64; signed = false; } id; clock48 timestamp; };\n"
    "};\n";

struct stream {
  struct packet packet;
  uint32_t depth; /* of the spans that are open */
  FILE *file;
};

static uint64_t seed = 88172645463325252;

static double chance(void) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (double)(seed >> 11) * (1.0 / 9007199254740992.0);
}

static bool flush(struct stream *stream, unsigned number) {
  struct packet *packet = &stream->packet;
  if (packet->count == 0)
    return true;
  packet_put_head(packet, number, PACKET_BYTES);
  packet_put(packet, 1000 + number, 4);
  snprintf((char *)packet->bytes + packet->used_bytes, NAME_BYTES, "worker-%u", number);
  return fwrite(packet->bytes, 1, PACKET_BYTES, stream->file) == PACKET_BYTES;
}

static bool emit(struct stream *stream, unsigned number, uint64_t time_ns, unsigned kind, uint64_t value) {
  struct packet *packet = &stream->packet;
  if (packet->used_bytes + 16 > PACKET_BYTES && !flush(stream, number))
    return false;
  if (packet->count++ == 0) {
    memset(packet->bytes, 0, PACKET_BYTES);
    packet->used_bytes = HEAD_BYTES;
    packet->begin_ns = time_ns;
  }
  packet->end_ns = time_ns;
  packet_put(packet, kind | time_ns << 16, 8);
  packet_put(packet, value, 8);
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
  fputs(packet_metadata, file);
  fputs(stream_text, file);
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
    streams[i].packet.bytes = malloc(PACKET_BYTES);
    if (!streams[i].file || !streams[i].packet.bytes)
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
