/* SPDX-License-Identifier: MIT */
/* malloc and its family. Code that allocates memory while the real functions are being looked up receives
 * some of `early`, which is never freed. */
#include "calls/calls.h"
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory before there is a malloc ---- */

enum { EARLY_BYTES = 64 << 10, EARLY_ALIGN = 16 };
static unsigned char early[EARLY_BYTES] __attribute__((aligned(EARLY_ALIGN)));
static size_t early_used;

static bool is_early(const void *pointer) { return (uintptr_t)pointer - (uintptr_t)early < EARLY_BYTES; }

/* The size precedes the returned memory, which is zeroed, since it was never used before. */
static void *take_early(size_t size, size_t alignment) {
  if (size > EARLY_BYTES || alignment > 4096)
    goto none;
  size_t room = size + alignment + EARLY_ALIGN, at = __atomic_fetch_add(&early_used, room, __ATOMIC_RELAXED);
  if (at > EARLY_BYTES - room)
    goto none;
  uintptr_t start = ((uintptr_t)early + at + EARLY_ALIGN + alignment - 1) / alignment * alignment;
  memcpy((void *)(start - sizeof size), &size, sizeof size);
  return (void *)start;
none:
  errno = ENOMEM;
  return NULL;
}

static size_t early_size(const void *pointer) {
  size_t size;
  memcpy(&size, (const unsigned char *)pointer - sizeof size, sizeof size);
  return size;
}

/* An early piece cannot be given to the real realloc. */
static void *move_early(void *old, size_t size) {
  void *moved = malloc(size);
  if (moved) {
    size_t had = early_size(old);
    memcpy(moved, old, had < size ? had : size);
  }
  return moved;
}

/* ---- the family ---- */

EXPORT void *malloc(size_t size) {
  __typeof__(malloc) *real = REAL(malloc);
  if (!real)
    return take_early(size, EARLY_ALIGN);
  void *result = real(size);
  if (!kymo_calls_own())
    KYMO(libc, malloc, size, result);
  return result;
}

EXPORT void *calloc(size_t count, size_t size) {
  __typeof__(calloc) *real = REAL(calloc);
  size_t bytes;
  if (!real)
    return take_early(__builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes, EARLY_ALIGN);
  void *result = real(count, size);
  if (!kymo_calls_own())
    KYMO(libc, calloc, count, size, result);
  return result;
}

EXPORT void *realloc(void *pointer, size_t size) {
  __typeof__(realloc) *real = REAL(realloc);
  if (is_early(pointer) || !real)
    return pointer ? move_early(pointer, size) : take_early(size, EARLY_ALIGN);
  uintptr_t old = (uintptr_t)pointer; /* only the number is used afterwards */
  void *result = real(pointer, size);
  if (!kymo_calls_own())
    KYMO(libc, realloc, KYMO_ADDRESS(pointer, old), size, result);
  return result;
}

EXPORT void *reallocarray(void *pointer, size_t count, size_t size) {
  size_t bytes;
  if (is_early(pointer) && !__builtin_mul_overflow(count, size, &bytes))
    return move_early(pointer, bytes);
  uintptr_t old = (uintptr_t)pointer;
  void *result = REAL(reallocarray)(pointer, count, size);
  if (!kymo_calls_own())
    KYMO(libc, reallocarray, KYMO_ADDRESS(pointer, old), count, size, result);
  return result;
}

/* Recorded before it happens: another thread may receive the same memory at once. */
EXPORT void free(void *pointer) {
  __typeof__(free) *real = REAL(free);
  if (is_early(pointer) || !real)
    return;
  if (!kymo_calls_own())
    KYMO(libc, free, pointer);
  real(pointer);
}

EXPORT int posix_memalign(void **pointer, size_t alignment, size_t size) {
  int error = REAL(posix_memalign)(pointer, alignment, size);
  if (!kymo_calls_own())
    KYMO(libc, posix_memalign, alignment, size, KYMO_AS(result, error ? NULL : *pointer),
         KYMO_ENUM(error, libc_error, error));
  return error;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size) {
  void *result = REAL(aligned_alloc)(alignment, size);
  if (!kymo_calls_own())
    KYMO(libc, aligned_alloc, alignment, size, result);
  return result;
}

EXPORT void *memalign(size_t alignment, size_t size) {
  __typeof__(memalign) *real = REAL(memalign);
  if (!real)
    return take_early(size, alignment < EARLY_ALIGN ? EARLY_ALIGN : alignment);
  void *result = real(alignment, size);
  if (!kymo_calls_own())
    KYMO(libc, memalign, alignment, size, result);
  return result;
}

EXPORT void *valloc(size_t size) {
  void *result = REAL(valloc)(size);
  if (!kymo_calls_own())
    KYMO(libc, valloc, size, result);
  return result;
}

EXPORT void *pvalloc(size_t size) {
  void *result = REAL(pvalloc)(size);
  if (!kymo_calls_own())
    KYMO(libc, pvalloc, size, result);
  return result;
}

EXPORT size_t malloc_usable_size(void *pointer) {
  if (is_early(pointer))
    return early_size(pointer);
  size_t result = REAL(malloc_usable_size)(pointer);
  if (!kymo_calls_own())
    KYMO(libc, malloc_usable_size, pointer, result);
  return result;
}
