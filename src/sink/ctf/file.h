/* SPDX-License-Identifier: MIT */
/*
 * A file of a trace that is being written, packet by packet. New bytes are gathered in memory and written in
 * large pieces; the head of a packet can be changed until the packet is closed, in memory or on disk.
 *
 *   file    ─ closed packets ────────────┬ head · events so far …
 *             on disk          gathered  │
 *           └──────────────────┴─────────┴────────────────────────┘
 *                              begin                               begin + length
 *
 * Thousands of files need only a few descriptors. If a file cannot be written, it is truncated after the last
 * whole packet, so that it stays readable.
 */
#ifndef KYMO_SINK_CTF_FILE_H
#define KYMO_SINK_CTF_FILE_H

#include <kymo/error.h>
#include <stdbool.h>
#include <stddef.h>

enum { KYMO_CTF_FILES_OPEN = 64 };

/* The open files of a trace, and how many bytes each may gather. */
struct kymo_ctf_files {
  struct kymo_ctf_file *open[KYMO_CTF_FILES_OPEN];
  unsigned next;   /* the place to be used next */
  size_t capacity; /* bytes to gather for one file */
};

/* What a process has written of a file, for the one that has started it (share.h). */
struct kymo_ctf_mark {
  bool is_made, is_complete;
  uint64_t sound; /* as below */
};

struct kymo_ctf_file {
  struct kymo_ctf_files *files;
  struct kymo_ctf_mark *mark; /* borrowed, or NULL */
  char *path;                 /* owned */
  int fd;                     /* or -1 */
  bool is_made, has_failed;
  uint8_t *bytes; /* gathered, NULL at first */
  size_t length, room;
  uint64_t begin;         /* offset of the gathered bytes in the file */
  uint64_t closed, sound; /* end of the last closed packet, and of those on disk */
};

/* Starts a file at `path`, which is taken over (NULL: out of memory). The first written bytes create it. */
void kymo_ctf_file_begin(struct kymo_ctf_file *file, struct kymo_ctf_files *files, char *path);
/* `count` bytes from `at` on, to be changed in place; new ones are 0. Bytes before `at` may be written out:
 * `at` is not before the last existing byte. NULL on failure. Valid until the next call. */
uint8_t *kymo_ctf_file_room(struct kymo_ctf_file *file, uint64_t at, size_t count, struct kymo_error *error);
/* Stores bytes at `at`, not before the last existing byte; negative on failure. */
int kymo_ctf_file_copy(struct kymo_ctf_file *file, uint64_t at, const void *bytes, uint64_t count,
                       struct kymo_error *error);

/* A number of 1 to 64 bits in a head, at a bit of the file. */
struct kymo_ctf_patch {
  uint64_t at_bits, value;
  unsigned width;
  bool is_big;
};
int kymo_ctf_file_patch(struct kymo_ctf_file *file, const struct kymo_ctf_patch *patch,
                        struct kymo_error *error);

/* The packet that ends at byte `end` is complete. */
int kymo_ctf_file_close_packet(struct kymo_ctf_file *file, uint64_t end, struct kymo_error *error);
/* Another process has written the file, as its mark shows, and has ended. `is_kept`: only an incomplete
 * packet is removed; otherwise the file is, and can be written again. */
void kymo_ctf_file_take_over(struct kymo_ctf_file *file, bool is_kept);
/* Writes the gathered bytes; after a failure, removes an incomplete packet. Frees everything but `files`. */
int kymo_ctf_file_end(struct kymo_ctf_file *file, struct kymo_error *error);

#endif
