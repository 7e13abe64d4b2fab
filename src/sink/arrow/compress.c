/* SPDX-License-Identifier: MIT */
#include "sink/arrow/compress.h"
#include <lz4frame.h>
#include <stdint.h>
#include <zstd.h>

bool kymo_arrow_can_compress(void) { return true; }

size_t kymo_arrow_compress_room(enum kymo_arrow_codec codec, size_t size) {
  return codec == KYMO_ARROW_LZ4 ? LZ4F_compressFrameBound(size, NULL) : ZSTD_compressBound(size);
}

size_t kymo_arrow_compress(enum kymo_arrow_codec codec, void *to, size_t room, const void *from,
                           size_t size) {
  size_t length = codec == KYMO_ARROW_LZ4 ? LZ4F_compressFrame(to, room, from, size, NULL)
                                          : ZSTD_compress(to, room, from, size, ZSTD_CLEVEL_DEFAULT);
  bool is_error = codec == KYMO_ARROW_LZ4 ? LZ4F_isError(length) : ZSTD_isError(length);
  return is_error ? SIZE_MAX : length >= size ? 0 : length;
}
