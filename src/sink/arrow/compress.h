/* SPDX-License-Identifier: MIT */
/* Compressed bytes: LZ4 frames and Zstandard. compress.c, or no_compress.c where there are no libraries. */
#ifndef KYMO_SINK_ARROW_COMPRESS_H
#define KYMO_SINK_ARROW_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>

enum kymo_arrow_codec { KYMO_ARROW_RAW, KYMO_ARROW_LZ4, KYMO_ARROW_ZSTD };

bool kymo_arrow_can_compress(void);
/* The most bytes that `size` bytes can become. */
size_t kymo_arrow_compress_room(enum kymo_arrow_codec codec, size_t size);
/* Returns the new size; 0 if it would not be smaller, SIZE_MAX: out of memory. */
size_t kymo_arrow_compress(enum kymo_arrow_codec codec, void *to, size_t room, const void *from, size_t size);

#endif
