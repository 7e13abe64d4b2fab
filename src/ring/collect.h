/* SPDX-License-Identifier: MIT */
/*
 * Collecting the rings of one pool into a CTF trace directory: all at once (save) or bit by bit while
 * the process runs (record). One file a ring, opened only while something is written to it, so that a
 * thousand threads do not need a thousand descriptors. Each file begins with an empty packet and, if events
 * were lost behind the last packet, ends with one, since CTF readers learn of losses from differences between
 * packets.
 */
#ifndef KYMO_RING_COLLECT_H
#define KYMO_RING_COLLECT_H

#include "ring/ring.h"
#include "schema/registry_metadata.h"

/* What has been collected of one ring so far. */
struct kymo_collected {
  bool started;         /* the empty first packet is written */
  uint64_t next;        /* number of the next packet to take */
  uint64_t bytes;       /* length of the file */
  uint64_t events;      /* written */
  uint64_t overwritten; /* lost to overwriting before they could be taken */
  uint64_t discarded;   /* as of the last packet written */
  uint64_t last;        /* time of the last event written */
  uint64_t sequence;    /* of the last packet written */
};

struct kymo_collector {
  const struct kymo_pool_view *pool;
  const char *source;           /* the directory of the pool */
  char *directory;              /* the trace */
  struct kymo_collected *rings; /* two a slot */
  uint8_t *buffer;              /* whole packets on their way to a file */
  uint32_t buffer_size;
  struct kymo_registry_extent described;   /* of the description, copied so far … */
  uint64_t metadata_bytes;                 /* … and of a metadata that comes alone */
  uint32_t fullest;                        /* packets that the last pass took from one ring, at most */
  uint64_t events, discarded, overwritten; /* sums */
};

/* `pool` (of the directory `source`) and both strings must outlive the collector. The trace directory must
 * exist. */
int kymo_collect_begin(struct kymo_collector *c, const struct kymo_pool_view *pool, const char *source,
                       const char *directory, struct kymo_error *error);
/* Takes all closed packets that are there, metadata first, and releases them to the writer if `release`. */
int kymo_collect_closed(struct kymo_collector *c, bool release, struct kymo_error *error);
/* Takes what is left, open packets included, and ends each file. The collector then only waits for its
 * release. */
int kymo_collect_end(struct kymo_collector *c, struct kymo_error *error);
void kymo_collect_free(struct kymo_collector *c);

#endif
