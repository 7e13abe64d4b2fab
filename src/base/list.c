/* SPDX-License-Identifier: MIT */
#include "base/list.h"
#include <stdlib.h>

bool kymo_list_grow(void **list, size_t *capacity, size_t count, size_t size) {
  if (count < *capacity)
    return true;
  size_t wanted = *capacity ? *capacity * 2 : 8, bytes;
  if (__builtin_mul_overflow(wanted, size, &bytes))
    return false;
  void *grown = realloc(*list, bytes);
  if (!grown)
    return false;
  *list = grown;
  *capacity = wanted;
  return true;
}
