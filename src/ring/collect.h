/* SPDX-License-Identifier: MIT */
/*
 * Collecting the rings of one pool into a CTF trace directory: all at once (save) or bit by bit while the
 * process runs (record). One file per ring, opened only while something is written to it, so that a thousand
 * threads do not need a thousand descriptors. Each file begins with an empty packet and, if events were lost
 * after the last packet, ends with one, since CTF readers compute losses from differences between packets.
 */
#ifndef KYMO_RING_COLLECT_H
#define KYMO_RING_COLLECT_H

#include "ring/ring.h"
#include "schema/registry_metadata.h"

/* Losses of a ring, in total and by cause. */
struct kymo_collect_lost {
  uint64_t discarded, large, nested;
};

/* The collected part of one ring. */
struct kymo_collected {
  struct kymo_collect_lost before; /* when collecting began: losses before it do not belong to this trace,
                                    * whose counters begin at 0 */
  bool started;                    /* the file has its empty first packet */
  bool ever;                       /* … or that of an earlier part has */
  uint64_t empty; /* first packets of later parts, and later pieces of packets: added to the numbers of all
                   * later packets */
  uint64_t split; /* number + 1 of the packet whose first piece was taken last while it was open */
  bool is_late;   /* events before `first_word` in packet `first` are left out: they were taken, or are not
                   * wanted */
  uint64_t first, first_word;
  uint64_t next;        /* number of the next packet to take */
  uint64_t bytes;       /* length of the file */
  uint64_t events;      /* written */
  uint64_t overwritten; /* overwritten before they could be collected */
  uint64_t discarded;   /* since then, as of the last packet written */
  uint64_t last;        /* time of the last event written */
  uint64_t sequence;    /* number of the last packet written */
};

/* The space left in a part of a trace, shared by the processes that are recorded into it. */
struct kymo_collect_room {
  uint64_t bytes;
  uint64_t packets; /* packets in it; the first one is taken whatever its size */
};

struct kymo_collect_sums {
  uint64_t events, discarded, overwritten;
  uint64_t discarded_before;    /* of the discarded: before the first packet of their file, where readers do
                              * not count them */
  uint64_t overwritten_between; /* of the overwritten: after packets that are kept, so readers detect that
                            * packets are lost */
  uint64_t full;                /* of the discarded: because a ring was full; set by kymo_collect_end */
};

struct kymo_collector {
  const struct kymo_pool_view *pool;
  const char *source;           /* the directory of the pool */
  char *directory;              /* the trace */
  struct kymo_collected *rings; /* two per slot */
  uint8_t *buffer;              /* whole packets on their way to a file */
  uint32_t buffer_size;
  struct kymo_registry_extent described; /* of the description, copied so far … */
  uint64_t metadata_bytes;               /* … and of a metadata without a registry */
  /* clock snapshots */
  struct kymo_collect_clocks {
    char *text;                /* the pool's snapshots; NULL: none can be added; freed with the collector */
    size_t head_size, size;    /* of it */
    uint64_t bytes;            /* written */
    bool is_counter, is_begun; /* is_begun: in this part or an earlier one */
  } clocks;
  uint64_t modules_bytes; /* of the load map, copied so far */
  struct kymo_error
      left_out; /* if code is not 0: a file beside the events that the trace lacks, since it could not be
                 * read */
  bool refused_written;           /* the losses of threads without a ring are written … */
  uint64_t refused_bytes;         /* … to a file of this part, with this length */
  struct kymo_collect_room *room; /* the caller's, or NULL: the trace has no parts */
  uint32_t fullest;               /* largest number of packets that the last pass took from one ring */
  struct kymo_collect_sums sums;  /* of the written events; and in the end of the lost ones */
  uint64_t unwritten;             /* of the discarded: still in the rings (kymo_collect_abandon) */
  uint64_t refused;           /* events of threads without a ring that were lost before collecting begins */
  bool has_reserve, has_kept; /* see unwritten.h … */
  int kept;                   /* … directory of the reserve of the previous part */
  bool takes_open;            /* in this pass */
  int64_t open_taken_ns;      /* when that was last, by the monotonic clock */
};

/* `pool` (of the directory `source`) and both strings must outlive the collector. The trace directory must
 * exist. */
int kymo_collect_begin(struct kymo_collector *c, const struct kymo_pool_view *pool, const char *source,
                       const char *directory, struct kymo_error *error);
/* The begin of collecting in a ring. */
struct kymo_collect_start {
  uint64_t packet, word; /* number of a packet, and which of its events come before (kymo_ring_word) */
  struct kymo_collect_lost lost; /* before */
};
/* The losses of the ring up to now. */
struct kymo_collect_lost kymo_collect_lost_now(const struct kymo_ring_view *ring);
/* Leaves out earlier events; call it before anything of that ring is collected. */
void kymo_collect_from(struct kymo_collector *c, uint64_t instance, const struct kymo_collect_start *start);
/* Leaves out all current events, and releases them to the writer. */
void kymo_collect_from_now(struct kymo_collector *c);
/* Collects all closed packets, metadata first, and releases them to the writer if `release`. Every quarter of
 * a second it also collects the current contents of open packets, so that no event waits until a quiet thread
 * has filled its packet. */
#define KYMO_COLLECT_OPEN_NS INT64_C(250000000)
int kymo_collect_closed(struct kymo_collector *c, bool release, struct kymo_error *error);
/* Result of the two collecting functions if the part has no space for the next packet: call
 * kymo_collect_part, then collect again. */
enum { KYMO_COLLECT_FULL = 1 };
/* Ends this part, and writes the lengths of its files. KYMO_E_SYSTEM: may be called again. */
int kymo_collect_end_part(struct kymo_collector *c, struct kymo_error *error);
/* Goes on in another directory, which must exist: a part that can be read alone. */
int kymo_collect_part(struct kymo_collector *c, const char *directory, struct kymo_error *error);
/* Adds the current values of the clocks. For pools of this machine and boot; for others it does nothing. */
int kymo_collect_clocks(struct kymo_collector *c, struct kymo_error *error);
/* Collects the rest, open packets included, and ends each file. The collector then only waits for its
 * release. For overwritten rings, `.kymo/not-kept` then contains how many events were overwritten before they
 * could be collected, and how many were discarded before the first packet that is kept. */
int kymo_collect_end(struct kymo_collector *c, struct kymo_error *error);
/*
 * The collecting functions may be called again after KYMO_E_SYSTEM (a full disk): the unwritten events are
 * still in the rings. A caller that does not want to try again calls this: the rest is counted as lost, in
 * the sums and in the trace, as events of a stream `stream_not_written`. False: the trace does not even have
 * its description, and its directory is empty.
 */
bool kymo_collect_abandon(struct kymo_collector *c);
void kymo_collect_free(struct kymo_collector *c);

#endif
