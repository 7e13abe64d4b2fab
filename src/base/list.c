/* SPDX-License-Identifier: MIT */
#include "base/list.h"
#include <stdlib.h>

#define LEAST 8

void *kymo_list_reserve(void *list, size_t *capacity, size_t wanted, size_t size, size_t most) {
  size_t least = LEAST < most ? LEAST : most, room, bytes;
  if (wanted > most)
    return NULL;
  if (__builtin_mul_overflow(*capacity, 2, &room) || room > most)
    room = most;
  room = room < least ? least : room;
  room = room < wanted ? wanted : room;
  if (__builtin_mul_overflow(room, size, &bytes))
    return NULL;
  void *grown = realloc(list, bytes);
  *capacity = grown ? room : *capacity;
  return grown;
}
