/* SPDX-License-Identifier: MIT */
#include "sink/arrow/compress.h"

bool kymo_arrow_can_compress(void) { return false; }

size_t kymo_arrow_compress_room(enum kymo_arrow_codec codec, size_t size) {
  (void)codec;
  return size;
}

size_t kymo_arrow_compress(enum kymo_arrow_codec codec, void *to, size_t room, const void *from,
                           size_t size) {
  (void)codec, (void)to, (void)room, (void)from, (void)size;
  return 0;
}
