/* SPDX-License-Identifier: MIT */
/* Arrays that grow. */
#ifndef KYMO_BASE_LIST_H
#define KYMO_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room in an array for one more element of `size` bytes after `count`. False: out of memory, and the array is as it was. */
bool kymo_list_grow(void **list, size_t *capacity, size_t count, size_t size);

#endif
