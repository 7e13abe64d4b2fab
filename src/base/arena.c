/* SPDX-License-Identifier: MIT */
/*
 * A list of blocks; the first one is being filled, `used` bytes of it are taken. A piece too large for a
 * block gets its own, put after the first so that the first goes on being filled. Under AddressSanitizer
 * every piece is a block of its own, so that overruns are detected.
 */
#include "base/arena.h"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define BLOCK_SIZE ((size_t)0)
#else
#define BLOCK_SIZE ((size_t)32768)
#endif
#define PIECE_ALIGN (_Alignof(max_align_t)) /* the alignment of malloc */

struct kymo_arena_block {
  struct kymo_arena_block *next;
  size_t size; /* of the bytes */
  _Alignas(max_align_t) unsigned char bytes[];
};

static struct kymo_arena_block *block_new(struct kymo_arena *arena, size_t size) {
  bool fits = size <= SIZE_MAX - sizeof(struct kymo_arena_block);
  struct kymo_arena_block *block = fits ? calloc(1, sizeof *block + size) : NULL;
  if (block)
    block->size = size;
  arena->failed |= !block;
  return block;
}

/* A block of its own for one piece. */
static void *alloc_alone(struct kymo_arena *arena, size_t size) {
  struct kymo_arena_block *block = block_new(arena, size);
  if (!block)
    return NULL;
  if (arena->blocks) {
    block->next = arena->blocks->next;
    arena->blocks->next = block;
  } else {
    arena->blocks = block;
    arena->used = size;
  }
  return block->bytes;
}

void *kymo_arena_alloc(struct kymo_arena *arena, size_t size) {
  if (size > BLOCK_SIZE / 4)
    return alloc_alone(arena, size);
  size = (size + PIECE_ALIGN - 1) & ~(PIECE_ALIGN - 1);
  if (!arena->blocks || arena->used > arena->blocks->size || size > arena->blocks->size - arena->used) {
    struct kymo_arena_block *block = block_new(arena, BLOCK_SIZE);
    if (!block)
      return NULL;
    block->next = arena->blocks;
    arena->blocks = block;
    arena->used = 0;
  }
  void *piece = arena->blocks->bytes + arena->used;
  arena->used += size;
  return piece;
}

void *kymo_arena_array(struct kymo_arena *arena, size_t count, size_t size) {
  size_t total;
  if (__builtin_mul_overflow(count, size, &total)) {
    arena->failed = true;
    return NULL;
  }
  return kymo_arena_alloc(arena, total);
}

char *kymo_arena_copy(struct kymo_arena *arena, const char *text, size_t length) {
  char *copy = kymo_arena_alloc(arena, length < SIZE_MAX ? length + 1 : SIZE_MAX);
  if (copy && length > 0)
    memcpy(copy, text, length);
  return copy;
}

void kymo_arena_free(struct kymo_arena *arena) {
  struct kymo_arena_block *block = arena->blocks;
  while (block) {
    struct kymo_arena_block *next = block->next;
    free(block);
    block = next;
  }
  *arena = (struct kymo_arena){0};
}
