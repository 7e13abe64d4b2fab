/* SPDX-License-Identifier: MIT */
/*
 * Structs in the memory of a caller that may be compiled against an older or newer header: the caller's is
 * shorter or longer than ours (see kymo/schema.h).
 */
#ifndef KYMO_BASE_SIZED_H
#define KYMO_BASE_SIZED_H

#include <stddef.h>
#include <string.h>

/* Fills the caller's struct of `size` bytes from ours of `own` bytes: never more than `size` bytes, with
 * zeros after ours. */
static inline void kymo_sized_out(void *to, size_t size, const void *from, size_t own) {
  memcpy(to, from, size < own ? size : own);
  if (size > own)
    memset((char *)to + own, 0, size - own);
}

/* Fills our struct from the caller's; members that the caller does not know are zero. */
static inline void kymo_sized_in(void *to, size_t own, const void *from, size_t size) {
  kymo_sized_out(to, own, from, size);
}

#endif
