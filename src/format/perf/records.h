/* SPDX-License-Identifier: MIT */
/*
 * The records of perf.data, in the order of the file:
 *
 *   type (32) | misc (16) | size (16) | …
 *
 * A compressed record contains a piece of one stream of zstd, and the stream contains records, of which the
 * last one may go on in the next piece.
 */
#ifndef KYMO_FORMAT_PERF_RECORDS_H
#define KYMO_FORMAT_PERF_RECORDS_H

#include "format/perf/file.h"
#include "plan/unpack.h"

#define PERF_RECORD_HEADER 8

struct perf_record {
  const uint8_t *data; /* with the header */
  uint32_t type, size;
  uint16_t misc;
  uint64_t at;        /* in the file; of an unpacked record, where the compressed one is */
  uint64_t more_size; /* bytes that follow it, which its size does not include */
};

/* Unpacked records. */
struct perf_unpacked {
  struct perf_unpacked *next;
  uint32_t round;
  size_t size, at; /* at: the next record */
  uint64_t place;  /* in the file */
  uint8_t bytes[];
};

struct perf_records {
  const struct perf_file *file;
  const uint8_t *data; /* of the file */
  uint64_t at;         /* the next record */
  struct kymo_unzstd *stream;
  struct perf_unpacked *unpacked; /* the newest first */
  uint32_t round;                 /* number of those that are unpacked from now on */
  size_t held;                    /* bytes of all */
  bool has_failed, was_packed;
};

void kymo_perf_records_begin(struct perf_records *records, const struct perf_file *file, const uint8_t *data);
void kymo_perf_records_end(struct perf_records *records);
/* Back to the record at this byte; not in compressed files. */
void kymo_perf_records_seek(struct perf_records *records, uint64_t at);
/* The next record, valid until its round is forgotten. KYMO_END, or negative: nothing can be read any
 * more. */
int kymo_perf_records_next(struct perf_records *records, struct perf_record *record,
                           struct kymo_error *error);
/* Frees unpacked records of rounds before this one. */
void kymo_perf_records_forget(struct perf_records *records, uint32_t round);

#endif
