/* SPDX-License-Identifier: MIT */
/*
 * Writes the trace of bench/query/run:  generate FOLDER EVENTS
 *
 * Eight threads, one stream each, six kinds of events: requests that begin and end (in the thread that begins
 * them), allocations, frees, ticks, messages. Packets of 64 KiB.
 */
#include "../ctf/packet.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { THREADS = 8, PACKET_BYTES = 64 << 10, EVENT_MAX = 128, STEP_NS = 100 };

static const char metadata[] =
    "stream {\n"
    "  id = 0;\n"
    "  packet.context := struct { clock64 timestamp_begin; clock64 timestamp_end; uint32_t content_size;\n"
    "    uint32_t packet_size; uint32_t packet_seq_num; uint32_t events_discarded; uint32_t tid; };\n"
    "  event.header := struct {\n"
    "    integer { size = 16; align = 64; signed = false; } id; clock48 timestamp; };\n"
    "};\n"
    "event { name = \"req_begin\"; id = 0; stream_id = 0;\n"
    "  fields := struct { uint32_t key; uint32_t kind; }; };\n"
    "event { name = \"req_end\"; id = 1; stream_id = 0;\n"
    "  fields := struct { uint32_t key; int32_t result; }; };\n"
    "event { name = \"alloc\"; id = 2; stream_id = 0; fields := struct { uint64_t ptr; uint32_t size; }; };\n"
    "event { name = \"free\"; id = 3; stream_id = 0; fields := struct { uint64_t ptr; }; };\n"
    "event { name = \"tick\"; id = 4; stream_id = 0; fields := struct { uint64_t value; }; };\n"
    "event { name = \"msg\"; id = 5; stream_id = 0; fields := struct { string text; }; };\n";

struct thread {
  struct packet packet;
  uint32_t open; /* the key of the request that is served; 0: none */
};

static const char *folder;
static uint32_t last_key;

static bool flush(struct packet *packet, uint32_t number) {
  char path[4096];
  if (packet->count == 0)
    return true;
  packet_put_head(packet, number, PACKET_BYTES);
  packet_put(packet, 100 + number, 4);
  snprintf(path, sizeof path, "%s/stream_%" PRIu32, folder, number);
  FILE *file = fopen(path, "ab");
  bool is_good = file && fwrite(packet->bytes, 1, PACKET_BYTES, file) == PACKET_BYTES;
  return file && fclose(file) == 0 && is_good;
}

static unsigned choose(const struct thread *thread, uint64_t random) {
  static const uint8_t kinds[16] = {2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 6, 6, 6, 6, 6};
  unsigned kind = kinds[random >> 10 & 15];
  return kind < 6 ? kind : thread->open ? 1 : 0;
}

static void put_body(struct thread *thread, unsigned kind, uint64_t random, uint64_t turn) {
  struct packet *packet = &thread->packet;
  switch (kind) {
  case 0:
    thread->open = ++last_key;
    packet_put(packet, thread->open, 4);
    packet_put(packet, random >> 40 & 7, 4);
    break;
  case 1:
    packet_put(packet, thread->open, 4);
    packet_put(packet, random >> 40 & 63 ? 0 : UINT32_MAX, 4);
    thread->open = 0;
    break;
  case 2:
    packet_put(packet, 0x7f0000000000 + (random >> 30 & 0xffff) * 16, 8);
    packet_put(packet, (random >> 44 & 0xff) * 16, 4);
    break;
  case 3: packet_put(packet, 0x7f0000000000 + (random >> 30 & 0xffff) * 16, 8); break;
  case 4: packet_put(packet, turn, 8); break;
  default:
    packet->used_bytes +=
        (uint32_t)snprintf((char *)packet->bytes + packet->used_bytes, EVENT_MAX,
                           "turn %" PRIu64 " in state %u", turn, (unsigned)(random >> 50 & 7)) +
        1;
  }
}

static bool emit(struct thread *thread, uint32_t number, uint64_t random, uint64_t turn) {
  struct packet *packet = &thread->packet;
  uint64_t time = (turn + 1) * STEP_NS;
  if (packet->used_bytes + EVENT_MAX > PACKET_BYTES && !flush(packet, number))
    return false;
  if (packet->count++ == 0) {
    memset(packet->bytes, 0, PACKET_BYTES);
    packet->used_bytes = PACKET_HEAD_BYTES + 4;
    packet->begin_ns = time;
  }
  packet->end_ns = time;
  packet->used_bytes = (packet->used_bytes + 7) & ~7u;
  unsigned kind = choose(thread, random);
  packet_put(packet, kind | time << 16, 8);
  put_body(thread, kind, random, turn);
  return true;
}

static bool write_metadata(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s/metadata", folder);
  FILE *file = fopen(path, "wb");
  bool is_good = file && fputs(packet_metadata, file) >= 0 && fputs(metadata, file) >= 0;
  return file && fclose(file) == 0 && is_good;
}

int main(int argc, char **argv) {
  static struct thread threads[THREADS];
  uint64_t events = argc == 3 ? strtoull(argv[2], NULL, 10) : 0, random = 88172645463325252;
  if (events == 0) {
    fprintf(stderr, "usage: generate FOLDER EVENTS\n");
    return 2;
  }
  folder = argv[1];
  mkdir(folder, 0777);
  bool is_good = write_metadata();
  for (uint32_t i = 0; is_good && i < THREADS; i++)
    is_good = (threads[i].packet.bytes = malloc(PACKET_BYTES)) != NULL;
  for (uint64_t i = 0; is_good && i < events; i++) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    uint32_t number = random >> 20 & (THREADS - 1);
    is_good = emit(&threads[number], number, random, i);
  }
  for (uint32_t i = 0; is_good && i < THREADS; i++)
    is_good = flush(&threads[i].packet, i);
  if (!is_good)
    perror("generate");
  return is_good ? 0 : 1;
}
