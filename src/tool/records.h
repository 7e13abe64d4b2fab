/* SPDX-License-Identifier: MIT */
/*
 * Merging files of records as bytes: the records of all files, unchanged, in the order that somebody tells
 * who knows them.
 *
 *   file ─► records_described.c: by a description ─┐
 *                                                  ├─► record, order ─► tree of games (records.c) ─► OUT
 *   file ─► records_plugin.c: by a plug-in ────────┘
 *
 * Each file is taken to be in order already, as are those that one thread or CPU has written: one record of
 * each is looked at, and memory does not depend on their size. No byte is left out without a word.
 */
#ifndef KYMO_TOOL_RECORDS_H
#define KYMO_TOOL_RECORDS_H

#include "tool/input.h"

/* A part of a file, borrowed until the next one of that file is asked for. is_open: the file ended it, and
 * others behind it would be read as more of it but for a byte `end`. */
struct records_piece {
  const uint8_t *bytes;
  uint64_t size, offset;
  bool is_open;
  uint8_t end;
};

struct records_merge;
struct records_file; /* each kind defines its own */
/* Who knows the records of files. Errors and damage are told by whoever meets them, before a negative status
 * is returned. */
struct records_kind {
  /* KYMO_OK, or negative; to be closed in any case, if it is not NULL then. */
  int (*open)(struct records_file **file, struct records_merge *merge, const char *path);
  /* What stands before the first record; of no bytes, if nothing does. Once, at first. */
  int (*head)(struct records_file *file, struct records_piece *head);
  /* KYMO_OK, KYMO_END, or negative. *is_late: it belongs before the record in front of it. */
  int (*next)(struct records_file *file, struct records_piece *record, bool *is_late);
  /* The records at hand of two files: negative if that of `a` comes first. */
  int (*compare)(const struct records_file *a, const struct records_file *b);
  void (*close)(struct records_file *file);
};

struct records_merge {
  const struct records_kind *kind;
  void *how;                      /* of the kind */
  const struct tool_input *input; /* the files, and whether to be quiet */
  const char *path;               /* OUT: a file that is missing, or "-" */
  bool is_shown;                  /* as lines, each with file, place and length */
  bool is_damaged;                /* something was told */
};

/* What the command line says: how records are found and ordered. */
struct records_choice {
  const char *by;      /* "sec,usec", "time", "sequence" or NULL */
  const char *records; /* a plug-in, or NULL */
};

/* Merges as chosen: one of both. An exit status, after telling what was wrong. */
int tool_records_merge(const struct records_choice *choice, const struct tool_input *input, const char *path);

/* The records that a plug-in knows, as lines on the standard output, where they lie. An exit status
 * likewise. */
int tool_records_show(const char *plugin, const struct tool_input *input);
/* An option that was given and is for events, without its dashes; or NULL. */
const char *tool_records_event_option(const struct tool_input *input);

/* ---- between the files of this folder ---- */

/* Merges; an exit status. */
int tool_records_run(struct records_merge *merge);
/* Tells of damage in a file, of which `lost` bytes are not in OUT. */
void tool_records_damage(struct records_merge *merge, const char *path, uint64_t offset, uint64_t lost,
                         const char *message);
int tool_records_by_description(struct records_merge *merge, const char *by);
int tool_records_by_plugin(struct records_merge *merge, const char *plugin);

/* How often files are looked at again: they may be cut meanwhile. */
#define RECORDS_LOOK_BYTES (UINT64_C(1) << 16)

#endif
