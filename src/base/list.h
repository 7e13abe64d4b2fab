/* SPDX-License-Identifier: MIT */
/*
 * Arrays that grow:
 *
 *   if (!KYMO_LIST_ROOM(files->list, files->capacity, files->count))
 *     return out_of_memory;
 *   files->list[files->count++] = file;
 */
#ifndef KYMO_BASE_LIST_H
#define KYMO_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes space for one more element after `count` in `list`, an array with space for `capacity`; both are
 * lvalues, and NULL and 0 before the first element. False: out of memory, and both are unchanged. All
 * arguments are evaluated more than once.
 */
#define KYMO_LIST_ROOM(list, capacity, count) KYMO_LIST_ROOM_OF(sizeof *(list), list, capacity, count)
/* The same for elements of `size` bytes each. */
#define KYMO_LIST_ROOM_OF(size, list, capacity, count)                                         \
  ((count) < (capacity) || __extension__({                                                     \
     size_t kymo_room_ = (capacity);                                                           \
     void *kymo_list_ = kymo_list_grow((list), &kymo_room_, (size), (__typeof__(capacity))-1); \
     if (kymo_list_) {                                                                         \
       (list) = kymo_list_;                                                                    \
       (capacity) = (__typeof__(capacity))kymo_room_;                                          \
     }                                                                                         \
     kymo_list_ != NULL;                                                                       \
   }))

/* Enlarges an array of elements of `size` bytes, at most to `most` elements; NULL: out of memory. */
void *kymo_list_grow(void *list, size_t *capacity, size_t size, size_t most);

#endif
