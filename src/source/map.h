/* SPDX-License-Identifier: MIT */
/*
 * Reading files through the page cache: whole files mapped where addresses are plenty, windows of them
 * elsewhere; or a few bytes here and there, which are read, as mapping a page costs more than that. Behind
 * the last byte stand KYMO_SLACK readable ones at least. Descriptors are kept only while there are few, so
 * thousands of files can be read at a time.
 *
 * A mapped file can be cut while it is read. Its size is looked at again before each packet (less often for
 * files without descriptor), and what is cut within that time reads as zeros (base/guard.h), which the next
 * kymo_map_get reports.
 */
#ifndef KYMO_SOURCE_MAP_H
#define KYMO_SOURCE_MAP_H

#include <kymo/error.h>
#include <stdbool.h>
#include <stddef.h>

struct kymo_map {
  const char *path;        /* borrowed */
  const uint8_t *base;     /* of the window, or NULL */
  uint64_t window, length; /* offset in the file and length of the window */
  size_t reserved;         /* bytes mapped at base, with the slack */
  struct kymo_guard *guard;
  bool is_cut;      /* it was longer once; not reported yet */
  uint64_t size;    /* of the file, when last looked at */
  bool is_growing;  /* look for more behind the end, too */
  uint64_t checked; /* up to here, `size` was looked at recently */
  uint64_t device, inode;
  int fd;          /* or -1 */
  uint8_t *glance; /* bytes read, or NULL */
  uint64_t glance_offset;
  size_t glance_length;
};

/* So many bytes are read at least. */
#define KYMO_GLANCE_BYTES 512

/* Looks at the file; maps nothing yet. Only regular files. */
int kymo_map_open(struct kymo_map *map, const char *path, struct kymo_error *error);
/*
 * The bytes from `offset`: at least min(`wanted`, to the end of the file) of them, *size says how many.
 * Valid until the next call. A file that has shrunk meanwhile ends earlier. offset must be ≤ size.
 */
int kymo_map_get(struct kymo_map *map, uint64_t offset, uint64_t wanted, const uint8_t **data, uint64_t *size,
                 struct kymo_error *error);
/* Whether all that was read so far was the file's: else KYMO_E_FORMAT, once, and the next kymo_map_get maps
 * what is there now. kymo_map_get begins with it. */
int kymo_map_check(struct kymo_map *map, struct kymo_error *error);
/* For callers at the end of the file: the same, and whether it was longer when it was looked at before.
 * Once. */
int kymo_map_check_end(struct kymo_map *map, struct kymo_error *error);
/* The same for about KYMO_GLANCE_BYTES, or as many as the file has. A file that has grown has its old
 * size. */
int kymo_map_glance(struct kymo_map *map, uint64_t offset, const uint8_t **data, uint64_t *size,
                    struct kymo_error *error);
/* Where the file of a struct kymo_map has bytes at or after `at`, up to *end: around them it has holes, of
 * zeros. Its size if there are none. May say less. For struct kymo_holes. */
uint64_t kymo_map_bytes(void *map, uint64_t at, uint64_t *end);
void kymo_map_close(struct kymo_map *map);

#endif
