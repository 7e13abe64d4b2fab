/* SPDX-License-Identifier: MIT */
/*
 * Reading files through the page cache: whole files are mapped where address space is plenty, windows of them
 * elsewhere; single bytes are read, since mapping a page costs more. At least KYMO_SLACK readable bytes
 * follow the last byte. Descriptors are kept only while there are few, so thousands of files can be read at a
 * time.
 *
 * A mapped file can be truncated while it is read. Its size is checked before each packet (less often for
 * files without descriptor), and bytes that are cut meanwhile read as zeros (base/guard.h), which the next
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
  bool is_cut;      /* it was longer before; not reported yet */
  uint64_t size;    /* of the file, at the last check */
  bool is_growing;  /* also look for more after the end */
  uint64_t checked; /* up to here, `size` was checked recently */
  uint64_t device, inode;
  int fd;          /* or -1 */
  uint8_t *glance; /* bytes read, or NULL */
  uint64_t glance_offset;
  size_t glance_length;
};

/* At least this many bytes are read. */
#define KYMO_GLANCE_BYTES 512

/* Examines the file; maps nothing yet. Only regular files. */
int kymo_map_open(struct kymo_map *map, const char *path, struct kymo_error *error);
/*
 * The bytes from `offset`: at least min(`wanted`, to the end of the file) of them, *size is their number.
 * Valid until the next call. A file that has shrunk meanwhile ends earlier. offset must be ≤ size.
 */
int kymo_map_get(struct kymo_map *map, uint64_t offset, uint64_t wanted, const uint8_t **data, uint64_t *size,
                 struct kymo_error *error);
/* Whether all data read so far came from the file: else KYMO_E_FORMAT, once, and the next kymo_map_get maps
 * the current contents. kymo_map_get begins with it. */
int kymo_map_check(struct kymo_map *map, struct kymo_error *error);
/* For callers at the end of the file: the same, and whether it was longer at an earlier check. Once. */
int kymo_map_check_end(struct kymo_map *map, struct kymo_error *error);
/* The same for about KYMO_GLANCE_BYTES, or as many as the file has. A file that has grown has its old
 * size. */
int kymo_map_glance(struct kymo_map *map, uint64_t offset, const uint8_t **data, uint64_t *size,
                    struct kymo_error *error);
/* The next range of bytes of a struct kymo_map's file at or after `at`, up to *end: around it the file has
 * holes, of zeros. The file's size if there are none. May be smaller than the real range. For struct
 * kymo_holes. */
uint64_t kymo_map_bytes(void *map, uint64_t at, uint64_t *end);
void kymo_map_close(struct kymo_map *map);

#endif
