/* SPDX-License-Identifier: MIT */
/*
 * Merging files of records as bytes: the records of all files, unchanged, in the order that a description or
 * a plug-in defines.
 *
 *   file ─► described.c: by a description ─┐
 *                                          ├─► record, order ─► tournament tree (merge.c) ─► OUT
 *   file ─► plugin.c: by a plug-in ────────┘
 *
 * Each file is expected to be in order already, like files that one thread or CPU has written: only one
 * record of each is in memory, so memory does not depend on their size. No byte is left out silently.
 */
#ifndef KYMO_RECORDS_RECORDS_H
#define KYMO_RECORDS_RECORDS_H

#include <kymo/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The job: which files to merge, how records are found and ordered, and the output. All texts are
 * borrowed. */
struct records_job {
  const char *const *paths;
  size_t count;
  const char *by; /* by a description: "sec,usec", "time", "sequence" … */
  const char *description,
      *as;            /* … which is this file, or the installed one of this name; the other one is NULL */
  const char *plugin; /* by a plug-in: FILE.so[:OPTIONS]; then `by` is not used */
  const char *out;    /* a file that is missing, or "-" */
  bool is_shown;      /* as lines, each with file, place and length */
  /* Receives each warning and each damaged place as one line without line end; NULL: they are dropped. */
  void (*warn)(void *user, const char *text);
  void *user;
};

/* Merges. Returns KYMO_OK, or a negative status with the error; KYMO_E_USAGE if `by` or the plug-in's options
 * are invalid. *is_damaged: some bytes of the files are in no record. */
int kymo_records_merge(const struct records_job *job, bool *is_damaged, struct kymo_error *error);

/* ---- between the files of this folder ---- */

/* A part of a file, borrowed until the next one of that file. is_open: the file ended it, and later records
 * would be read as part of it without an additional byte `end`. */
struct records_piece {
  const uint8_t *bytes;
  uint64_t size, offset;
  bool is_open;
  uint8_t end;
};

struct records_merge;
struct records_file; /* each kind defines its own */
/* Finds and compares the records of files. Functions that return a negative status have filled
 * merge->error. */
struct records_kind {
  /* KYMO_OK, or negative; to be closed in any case, if it is not NULL then. */
  int (*open)(struct records_file **file, struct records_merge *merge, const char *path);
  /* The bytes before the first record; empty if there are none. Called once, first. */
  int (*head)(struct records_file *file, struct records_piece *head);
  /* KYMO_OK, KYMO_END, or negative. *is_late: it belongs before the previous record. */
  int (*next)(struct records_file *file, struct records_piece *record, bool *is_late);
  /* The current records of two files: negative if that of `a` comes first. */
  int (*compare)(const struct records_file *a, const struct records_file *b);
  void (*close)(struct records_file *file);
};

struct records_merge {
  const struct records_job *job;
  const struct records_kind *kind;
  void *how;                /* of the kind */
  struct kymo_error *error; /* filled before a negative status is returned */
  bool is_damaged;          /* some place was reported */
};

/* Merges by this kind. Returns KYMO_OK, or a negative status with the error. */
int kymo_records_run(struct records_merge *merge);
int kymo_records_by_description(struct records_merge *merge);
int kymo_records_by_plugin(struct records_merge *merge);
/* Reports damage in a file, `lost` bytes of which are not in the output. */
void kymo_records_damage(struct records_merge *merge, const char *path, uint64_t offset, uint64_t lost,
                         const char *message);
/* At the end of a file: reports it if it has become shorter meanwhile. Data of the file is not valid any
 * more. Returns KYMO_END. */
struct kymo_map;
int kymo_records_end(struct records_merge *merge, struct kymo_map *map, const char *path);
void kymo_records_warn(const struct records_merge *merge, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* How often the size of files is checked: they may be truncated meanwhile. */
#define RECORDS_LOOK_BYTES (UINT64_C(1) << 16)

#endif
