/* SPDX-License-Identifier: MIT */
#include "base/list.h"
#include <stdlib.h>

void *kymo_list_grow(void *list, size_t *capacity, size_t size, size_t most) {
  size_t wanted = *capacity ? *capacity * 2 : 8, bytes;
  if (wanted > most || wanted <= *capacity || __builtin_mul_overflow(wanted, size, &bytes))
    return NULL;
  void *grown = realloc(list, bytes);
  *capacity = grown ? wanted : *capacity;
  return grown;
}
