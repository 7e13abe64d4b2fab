/* SPDX-License-Identifier: MIT */
/* Packets of the traces of bench/ctf and bench/view: CTF 1.8, little-endian, times in nanoseconds. */
#ifndef BENCH_CTF_PACKET_H
#define BENCH_CTF_PACKET_H

#include <stdint.h>

/* The begin of the metadata: without streams, whose packet context begins with the fields of
 * packet_put_head. */
static const char packet_metadata[] =
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
    "typealias integer { size = 48; align = 1; signed = false; map = clock.monotonic.value; } := clock48;\n";

/* A packet that is being filled. */
struct packet {
  uint8_t *bytes;
  uint32_t used_bytes, sequence;
  uint64_t begin_ns, end_ns, count; /* of its events */
};

enum { PACKET_HEAD_BYTES = 48 };

/* Appends a number of 1 to 8 bytes. There must be space. */
static void packet_put(struct packet *packet, uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++)
    packet->bytes[packet->used_bytes++] = (uint8_t)(value >> (8 * i));
}

/* Writes header and context of a packet that has its events, at its start; used_bytes is then the end of
 * these PACKET_HEAD_BYTES, and the next packet has no events yet. */
static void packet_put_head(struct packet *packet, uint64_t instance, uint32_t packet_bytes) {
  uint32_t content_bytes = packet->used_bytes;
  packet->used_bytes = 0;
  packet_put(packet, 0xc1fc1fc1, 4);
  packet_put(packet, 0, 4);
  packet_put(packet, instance, 8);
  packet_put(packet, packet->begin_ns, 8);
  packet_put(packet, packet->end_ns, 8);
  packet_put(packet, content_bytes * UINT64_C(8), 4);
  packet_put(packet, packet_bytes * UINT64_C(8), 4);
  packet_put(packet, packet->sequence++, 4);
  packet_put(packet, 0, 4);
  packet->count = 0;
}

#endif
