/* SPDX-License-Identifier: MIT */
/* Unpacking by the libraries of Debian. */
#include "plan/unpack.h"
#include <lz4.h>
#include <lz4frame.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* Space for more; false: at the limit, or out of memory. */
static bool widen(struct kymo_unpacked *out) {
  size_t capacity = out->capacity ? out->capacity * 2 : 4096;
  if (out->size < out->capacity)
    return true;
  out->is_over = out->capacity >= KYMO_UNPACK_MAX;
  capacity = capacity > KYMO_UNPACK_MAX ? KYMO_UNPACK_MAX : capacity;
  uint8_t *bytes = out->is_over ? NULL : realloc(out->bytes, capacity);
  out->failed = !out->is_over && !bytes;
  if (!bytes)
    return false;
  out->bytes = bytes;
  out->capacity = capacity;
  return true;
}

/* Each returns NULL, or what is wrong; also stops when `widen` fails. */
static const char *unpack_zlib(struct kymo_unpacked *out, const uint8_t *from, size_t size) {
  z_stream stream = {.next_in = (Bytef *)(uintptr_t)from, .avail_in = (uInt)size};
  int status = inflateInit2(&stream, 15 + 32); /* the head of zlib or gzip */
  while (status == Z_OK && widen(out)) {
    stream.next_out = out->bytes + out->size;
    stream.avail_out = (uInt)(out->capacity - out->size);
    status = inflate(&stream, Z_NO_FLUSH);
    out->size = out->capacity - stream.avail_out;
  }
  inflateEnd(&stream);
  return status == Z_STREAM_END || status == Z_OK ? NULL : "the bytes are not valid zlib data";
}

static const char *unpack_zstd(struct kymo_unpacked *out, const uint8_t *from, size_t size) {
  ZSTD_DStream *stream = ZSTD_createDStream();
  ZSTD_inBuffer in = {from, size, 0};
  size_t status = stream ? 1 : 0;
  out->failed |= !stream;
  while (stream && status != 0 && !ZSTD_isError(status) && widen(out)) {
    size_t before = in.pos, had = out->size;
    ZSTD_outBuffer to = {out->bytes, out->capacity, out->size};
    status = ZSTD_decompressStream(stream, &to, &in);
    out->size = to.pos;
    if (in.pos == before && out->size == had)
      break;
    if (status == 0 && in.pos < in.size)
      status = 1; /* another frame */
  }
  ZSTD_freeDStream(stream);
  return status == 0 || out->is_over || out->failed ? NULL : "the bytes are not valid zstd data";
}

static const char *unpack_lz4_frame(struct kymo_unpacked *out, const uint8_t *from, size_t size) {
  LZ4F_dctx *context = NULL;
  size_t status = LZ4F_createDecompressionContext(&context, LZ4F_VERSION), at = 0;
  out->failed |= LZ4F_isError(status) != 0;
  status = 1;
  while (!out->failed && status != 0 && !LZ4F_isError(status) && widen(out)) {
    size_t room = out->capacity - out->size, used = size - at;
    status = LZ4F_decompress(context, out->bytes + out->size, &room, from + at, &used, NULL);
    out->size += room;
    at += used;
    if (room == 0 && used == 0)
      break;
  }
  LZ4F_freeDecompressionContext(context);
  return status == 0 || out->is_over || out->failed ? NULL : "the bytes are not valid lz4 data";
}

/* A block does not say its size: the space grows until it fits. */
static const char *unpack_lz4(struct kymo_unpacked *out, const uint8_t *from, size_t size) {
  static const uint8_t magic[4] = {0x04, 0x22, 0x4d, 0x18};
  if (size >= sizeof magic && memcmp(from, magic, sizeof magic) == 0)
    return unpack_lz4_frame(out, from, size);
  if (size > INT32_MAX)
    return "a block of lz4 of more than 2 GiB";
  /* a byte expands to at most 255 */
  size_t most = size < KYMO_UNPACK_MAX / 255 ? size * 255 + 64 : KYMO_UNPACK_MAX;
  for (;;) {
    out->size = out->capacity;
    if (!widen(out))
      break;
    int got = LZ4_decompress_safe((const char *)from, (char *)out->bytes, (int)size, (int)out->capacity);
    out->size = got >= 0 ? (size_t)got : 0;
    if (got >= 0)
      return NULL;
    if (out->capacity >= most)
      return "the bytes are not valid lz4 data";
  }
  out->size = 0;
  return NULL;
}

const char *kymo_plan_unpack_bytes(struct kymo_unpacked *out, enum kymo_plan_method method,
                                   const uint8_t *from, size_t size) {
  switch (method) {
  case KYMO_METHOD_ZLIB: return unpack_zlib(out, from, size);
  case KYMO_METHOD_ZSTD: return unpack_zstd(out, from, size);
  case KYMO_METHOD_LZ4: return unpack_lz4(out, from, size);
  case KYMO_METHOD_XOR:
  case KYMO_METHOD_PLAIN: break;
  }
  return "a method that there is not";
}

struct kymo_unzstd {
  ZSTD_DStream *stream;
};

struct kymo_unzstd *kymo_unzstd_new(void) {
  struct kymo_unzstd *stream = calloc(1, sizeof *stream);
  if (stream && !(stream->stream = ZSTD_createDStream())) {
    free(stream);
    return NULL;
  }
  return stream;
}

const char *kymo_unzstd_add(struct kymo_unzstd *stream, struct kymo_unpacked *out, const uint8_t *from,
                            size_t size) {
  ZSTD_inBuffer in = {from, size, 0};
  size_t status = 1, had;
  do {
    if (!widen(out))
      return NULL;
    had = out->size;
    ZSTD_outBuffer to = {out->bytes, out->capacity, out->size};
    status = ZSTD_decompressStream(stream->stream, &to, &in);
    out->size = to.pos;
  } while (!ZSTD_isError(status) && (in.pos < in.size || (out->size == out->capacity && out->size > had)));
  return ZSTD_isError(status) ? "the bytes are not valid zstd data" : NULL;
}

void kymo_unzstd_free(struct kymo_unzstd *stream) {
  if (stream)
    ZSTD_freeDStream(stream->stream);
  free(stream);
}
