/* SPDX-License-Identifier: MIT */
/*
 * Several streams written as one trace, in the order in which their events are read: one file for each stream
 * class of merge_schema.h, in packets of one size. At a loss the packet ends, and the next one's counters
 * contain the loss, so readers find it there.
 */
#ifndef KYMO_SINK_CTF_MERGE_H
#define KYMO_SINK_CTF_MERGE_H

#include "sink/ctf/file.h"
#include "sink/ctf/merge_schema.h"

struct kymo_ctf_merge_stream;
struct kymo_ctf_source;

struct kymo_ctf_merge {
  struct kymo_ctf_merged merged;
  size_t part_count;
  uint64_t *first_sources;         /* of each part */
  bool *is_plain;                  /* of each part: as schema.h describes for CTF 1.8 */
  uint32_t **boundaries;           /* of each part, see kymo_ctf_boundaries */
  struct kymo_ctf_source *sources; /* the streams that are read, of all parts */
  struct kymo_ctf_files files;
  struct kymo_ctf_merge_stream *streams; /* by index of the stream class */
};

/* Creates the schema, but no file yet. Free with kymo_ctf_merge_end in any case. */
int kymo_ctf_merge_begin(struct kymo_ctf_merge *merge, const struct kymo_ctf_merge_demand *demand,
                         struct kymo_error *error);
/* Where the files go. */
int kymo_ctf_merge_open(struct kymo_ctf_merge *merge, const char *directory, struct kymo_error *error);
/* `part`: the place of the event's part among those that are merged. */
int kymo_ctf_merge_event(struct kymo_ctf_merge *merge, size_t part, const struct kymo_event *event,
                         struct kymo_error *error);
int kymo_ctf_merge_loss(struct kymo_ctf_merge *merge, size_t part, const struct kymo_loss *loss,
                        struct kymo_error *error);
int kymo_ctf_merge_end(struct kymo_ctf_merge *merge, struct kymo_error *error);

#endif
