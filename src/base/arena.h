/* SPDX-License-Identifier: MIT */
/* An arena: memory that is allocated piece by piece and freed at once.
 * Not thread-safe; one owner. All pieces are aligned as malloc aligns, and zeroed. */
#ifndef KYMO_BASE_ARENA_H
#define KYMO_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct kymo_arena_block;
struct kymo_arena {
  struct kymo_arena_block *blocks;
  size_t used;
  bool failed; /* an allocation failed: what was built in the arena may be incomplete */
};

/* A piece of `size` bytes, or NULL when out of memory. */
void *kymo_arena_alloc(struct kymo_arena *arena, size_t size);
/* `count` × `size` bytes; NULL also if the product overflows. */
void *kymo_arena_array(struct kymo_arena *arena, size_t count, size_t size);
/* A copy of `length` bytes with a NUL after them. */
char *kymo_arena_copy(struct kymo_arena *arena, const char *text, size_t length);
/* Frees everything; the arena is empty and usable again. */
void kymo_arena_free(struct kymo_arena *arena);

#endif
