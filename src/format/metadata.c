/* SPDX-License-Identifier: MIT */
/*
 * CTF metadata files. There are three forms, which differ in the first bytes:
 *
 *   plain text                TSDL (CTF 1.8)
 *   0x1E                      a JSON text sequence (CTF 2)
 *   0x75D11D57, either order  packets; their joined contents are one of the above
 *
 *   packet  magic 4 · uuid 16 · checksum 4 · content size 4 · packet size 4 (bits) ·
 *           compression 1 · encryption 1 · checksum scheme 1 · major 1 · minor 1 · content · padding
 *
 * CTF2-PMETA-1.0, which was withdrawn, has three zeros and a header size of 4 after the minor version; JSON
 * has no zeros, so these packets can be recognised.
 */
#include "format/metadata.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/file.h"
#include "lang/ctf2/ctf2.h"
#include "lang/tsdl/tsdl.h"
#include <inttypes.h>

#define PACKET_MAGIC UINT32_C(0x75d11d57)
#define HEADER_BYTES 37
#define PMETA_HEADER_BYTES 44
#define RECORD_SEPARATOR 0x1e
/* A larger file is not metadata; it is read into memory. */
#define SIZE_LIMIT (UINT64_C(1) << 30)

struct packet {
  const uint8_t *uuid;
  uint32_t content_bits, size_bits, header_bits;
  uint8_t compression, encryption, checksum_scheme, major, minor;
};

static bool is_packet(const uint8_t *bytes, size_t length, bool *is_big) {
  if (length < 4)
    return false;
  *is_big = kymo_load_be32(bytes) == PACKET_MAGIC;
  return *is_big || kymo_load_le32(bytes) == PACKET_MAGIC;
}

bool kymo_metadata_is_packets(const uint8_t *bytes, size_t length) {
  bool is_big;
  return is_packet(bytes, length, &is_big);
}

static struct packet parse(struct kymo_bytes *in) {
  struct packet packet;
  kymo_bytes_u32(in); /* magic */
  packet.uuid = kymo_bytes_take(in, 16);
  kymo_bytes_u32(in); /* checksum: no known writer fills it */
  packet.content_bits = kymo_bytes_u32(in);
  packet.size_bits = kymo_bytes_u32(in);
  packet.compression = kymo_bytes_u8(in);
  packet.encryption = kymo_bytes_u8(in);
  packet.checksum_scheme = kymo_bytes_u8(in);
  packet.major = kymo_bytes_u8(in);
  packet.minor = kymo_bytes_u8(in);
  packet.header_bits = HEADER_BYTES * 8;
  bool is_long =
      in->size >= PMETA_HEADER_BYTES && packet.content_bits / 8 >= PMETA_HEADER_BYTES && packet.major == 2;
  if (is_long && memcmp(in->data + HEADER_BYTES, "\0\0", 3) == 0) {
    kymo_bytes_take(in, 3);
    packet.header_bits = kymo_bytes_u32(in);
  }
  return packet;
}

/* The fault of a packet of which `rest` bytes exist, or NULL. */
static const char *judge(const struct packet *packet, const uint8_t *first_uuid, size_t rest) {
  bool is_known = (packet->major == 1 && packet->minor == 8) || (packet->major == 2 && packet->minor == 0);
  if (!is_known)
    return "metadata packet: expected version 1.8 or 2.0";
  if (packet->compression || packet->encryption || packet->checksum_scheme)
    return "metadata packet: compression, encryption and checksums are not supported";
  if (packet->size_bits % 8 || packet->content_bits % 8)
    return "metadata packet: the sizes are not whole bytes";
  if (packet->header_bits < HEADER_BYTES * 8 || packet->header_bits % 8)
    return "metadata packet: the header size is invalid";
  if (packet->content_bits < packet->header_bits)
    return "metadata packet: the content size is less than the header's";
  if (packet->content_bits > packet->size_bits)
    return "metadata packet: the content is larger than the packet";
  if (packet->content_bits / 8 > rest)
    return "metadata packet: the file ends before the packet does";
  if (first_uuid && memcmp(first_uuid, packet->uuid, 16) != 0)
    return "metadata packet: the uuid differs from the first packet's";
  return NULL;
}

int kymo_metadata_unpack(uint8_t *bytes, size_t *length, const char *file, struct kymo_error *error) {
  bool is_big;
  if (!is_packet(bytes, *length, &is_big))
    return KYMO_OK;
  uint8_t uuid[16];
  size_t at = 0, out = 0;
  /* Some writers leave a few bytes after the last packet. */
  while (*length - at >= HEADER_BYTES) {
    struct kymo_bytes in = {.data = bytes + at, .size = *length - at, .is_big = is_big};
    bool same_order;
    if (!is_packet(in.data, in.size, &same_order) || same_order != is_big) {
      if (at > 0)
        break;
      return kymo_fail_at(error, KYMO_E_FORMAT, file, at, "metadata packet: no magic number");
    }
    struct packet packet = parse(&in);
    const char *wrong = judge(&packet, at > 0 ? uuid : NULL, *length - at);
    if (wrong)
      return kymo_fail_at(error, KYMO_E_FORMAT, file, at,
                          "%s (version %u.%u, content %" PRIu32 ", size %" PRIu32 ")", wrong, packet.major,
                          packet.minor, packet.content_bits, packet.size_bits);
    memcpy(uuid, packet.uuid, 16);
    size_t header = packet.header_bits / 8, content = packet.content_bits / 8 - header;
    memmove(bytes + out, bytes + at + header, content);
    out += content;
    size_t size = packet.size_bits / 8;
    at = size < *length - at ? at + size : *length;
  }
  if (is_packet(bytes + at, *length - at, &is_big))
    return kymo_fail_at(error, KYMO_E_FORMAT, file, at,
                        "metadata packet: the file ends before the packet does");
  *length = out;
  return KYMO_OK;
}

int kymo_metadata_read(const char *path, uint8_t **bytes, size_t *length, struct kymo_error *error) {
  int status = kymo_file_read(path, SIZE_LIMIT, bytes, length, error);
  return status == KYMO_OK ? kymo_metadata_unpack(*bytes, length, path, error) : status;
}

struct kymo_schema *kymo_metadata_compile(const uint8_t *bytes, size_t length, const char *path,
                                          struct kymo_error *error) {
  if (length > 0 && bytes[0] == RECORD_SEPARATOR)
    return kymo_ctf2_compile((const char *)bytes, length, path, error);
  return kymo_tsdl_compile((const char *)bytes, length, path, error);
}
