/* SPDX-License-Identifier: MIT */
/*
 * The index: where the packets of a stream begin, and the clock there. It is built while packet headers are
 * read, as far as moves needed, and kept beside the trace for the next time.
 *
 *   packets   0 1 2 3 4 5 6 7 8 known so far: `packets`; the last one is at `last_position`
 *   entries   0     1     2     3     4          one every 2^stride_bits packets
 *
 * When the number of entries reaches the limit, every second one is removed: memory is limited, whatever the
 * trace's size, and a jump reads a few more headers.
 *
 * An entry is a hint, never a fact. A jump reads the header there and compares; from then on only headers
 * locate the wanted packet. A wrong index costs time, not events.
 */
#ifndef KYMO_TRACE_INDEX_H
#define KYMO_TRACE_INDEX_H

#include "base/bytes.h"
#include "base/strbuf.h"
#include "decode/clock.h"

/* The begin of a packet. */
struct kymo_position {
  uint32_t file;
  uint64_t offset;
};

struct kymo_index_entry {
  uint64_t clock;    /* the stream's at its first event */
  uint64_t position; /* packed, see kymo_index_position */
};

struct kymo_index {
  struct kymo_index_entry *entries;
  uint32_t count, capacity;
  uint32_t limit; /* most entries; at least 2 */
  uint32_t stride_bits;
  uint64_t packets;
  uint64_t last_position, last_clock;
  uint64_t end_cycles; /* latest end time; 0 if no packet has one */
  uint64_t kept;       /* packets that the index file covers */
  bool is_useless;     /* clocks do not show the order of packets: the index is not used */
};

/* Entries of all streams of a trace together, and the minimum for one stream. */
#define KYMO_INDEX_ENTRIES (UINT32_C(1) << 18)
#define KYMO_INDEX_ENTRIES_LEAST 16

void kymo_index_begin(struct kymo_index *index, size_t stream_count);
void kymo_index_free(struct kymo_index *index);
/* Forgets all packets. */
void kymo_index_clear(struct kymo_index *index);
/* Appends a packet, unless it precedes the last known one. The index becomes useless if the clock goes back,
 * or there is no memory. */
void kymo_index_add(struct kymo_index *index, struct kymo_position position, uint64_t clock);
/* The entry at which to begin the search for the last packet that begins before `time_ns`, and the one before
 * that; also 0 if there is no entry. */
uint32_t kymo_index_find(const struct kymo_index *index, struct kymo_ns *ns, int64_t time_ns);
struct kymo_position kymo_index_position(const struct kymo_index *index, uint32_t entry);

/* ---- as bytes ---- */

/* State of a file when the index was written. */
struct kymo_index_file {
  uint64_t inode, size, seconds, nanoseconds;
};

/* One stream's index among bytes; borrowed from them. */
struct kymo_index_bytes {
  uint32_t file_count, entry_count, stride_bits;
  uint64_t packets, last_position, end_cycles;
  const uint8_t *files, *entries;
};

/* Begins an index file, appends a stream with its files, ends it. Failure is out->failed. */
void kymo_index_write_begin(struct kymo_strbuf *out);
void kymo_index_write(struct kymo_strbuf *out, const struct kymo_index *index,
                      const struct kymo_index_file *files, uint32_t file_count);
void kymo_index_write_end(struct kymo_strbuf *out);

/* False unless the bytes are a whole index file; `bytes` then begins with the first stream. */
bool kymo_index_read_begin(struct kymo_bytes *bytes, const uint8_t *data, size_t size);
/* The next stream; false at the end, and at malformed bytes. */
bool kymo_index_read(struct kymo_bytes *bytes, struct kymo_index_bytes *stream);
struct kymo_index_file kymo_index_read_file(const struct kymo_index_bytes *stream, uint32_t file);
/* Fills an empty index, with fewer entries if it has a smaller limit. False, and empty, if they are not in
 * order. */
bool kymo_index_take(struct kymo_index *index, const struct kymo_index_bytes *stream);

#endif
