/* SPDX-License-Identifier: MIT */
/* expect: KYMO_BLOB_FIXED takes 1 to 65536 bytes */
#include <kymo/trace.h>

void record(const void *data, size_t size);

void record(const void *data, size_t size) { KYMO(blob, fixed, KYMO_BLOB_FIXED(data, data, size, 0)); }
