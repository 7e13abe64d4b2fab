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
#define KYMO_LIST_ROOM_OF(size, list, capacity, count) \
  KYMO_LIST_MAKE_(size, list, capacity, (size_t)(count) + 1, (__typeof__(capacity))-1)
/* The same for at most `most` elements; also false if there are that many already. */
#define KYMO_LIST_ROOM_UP_TO(list, capacity, count, most) \
  KYMO_LIST_MAKE_(sizeof *(list), list, capacity, (size_t)(count) + 1, most)
/* The same for `wanted` elements in all. */
#define KYMO_LIST_RESERVE(list, capacity, wanted) \
  KYMO_LIST_MAKE_(sizeof *(list), list, capacity, wanted, (__typeof__(capacity))-1)

#define KYMO_LIST_MAKE_(size, list, capacity, wanted, most)                               \
  ((wanted) <= (capacity) || __extension__({                                              \
     size_t kymo_room_ = (capacity);                                                      \
     void *kymo_list_ = kymo_list_reserve((list), &kymo_room_, (wanted), (size), (most)); \
     if (kymo_list_) {                                                                    \
       (list) = kymo_list_;                                                               \
       (capacity) = (__typeof__(capacity))kymo_room_;                                     \
     }                                                                                    \
     kymo_list_ != NULL;                                                                  \
   }))

/* Enlarges an array of elements of `size` bytes to `wanted` of them and usually more, at most `most`. NULL:
 * out of memory. */
void *kymo_list_reserve(void *list, size_t *capacity, size_t wanted, size_t size, size_t most);

#endif
