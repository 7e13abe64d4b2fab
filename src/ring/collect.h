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

/* What a ring had lost, in all and by cause. */
struct kymo_collect_lost {
  uint64_t discarded, large, nested;
};

/* What has been collected of one ring so far. */
struct kymo_collected {
  struct kymo_collect_lost before; /* collecting began: not lost to this trace, whose counters begin at 0 */
  bool started;                    /* the file has its empty first packet */
  bool ever;                       /* … or that of an earlier part has */
  uint64_t empty; /* first packets of later parts, and packets taken in pieces: the numbers of all after them
              * are so much higher */
  bool is_late;   /* what was stored before `first_word` in packet `first` is left out: it was taken, or is
                * not wanted */
  uint64_t first, first_word;
  uint64_t next;        /* number of the next packet to take */
  uint64_t bytes;       /* length of the file */
  uint64_t events;      /* written */
  uint64_t overwritten; /* lost to overwriting before they could be taken */
  uint64_t discarded;   /* since then, as of the last packet written */
  uint64_t last;        /* time of the last event written */
  uint64_t sequence;    /* of the last packet written */
};

/* What a part of a trace may still take: the processes that are recorded into it share this. */
struct kymo_collect_room {
  uint64_t bytes;
  uint64_t packets; /* in it; the first is taken however large it is */
};

struct kymo_collect_sums {
  uint64_t events, discarded, overwritten;
  uint64_t discarded_before; /* of the discarded: before the first packet of their file, where readers do not
                         * count them */
  uint64_t
      overwritten_between; /* of the overwritten: after packets that are kept, so readers find that packets
                            * are lost */
  uint64_t full;           /* of the discarded: because a ring was full; set by kymo_collect_end */
};

struct kymo_collector {
  const struct kymo_pool_view *pool;
  const char *source;           /* the directory of the pool */
  char *directory;              /* the trace */
  struct kymo_collected *rings; /* two a slot */
  uint8_t *buffer;              /* whole packets on their way to a file */
  uint32_t buffer_size;
  struct kymo_registry_extent described; /* of the description, copied so far … */
  uint64_t metadata_bytes;               /* … and of a metadata that comes alone */
  /* clock snapshots */
  struct kymo_collect_clocks {
    char *text;                /* the pool's, NULL: none can be added; freed with the collector */
    size_t head_size, size;    /* of it */
    uint64_t bytes;            /* written */
    bool is_counter, is_begun; /* is_begun: in this part or an earlier one */
  } clocks;
  uint64_t modules_bytes; /* of the load map, copied so far */
  struct kymo_error
      left_out; /* code not 0: a file beside the events that the trace lacks, since it could not be read */
  bool refused_told;              /* the events of threads without ring are written … */
  uint64_t refused_bytes;         /* … in a file of this part, which is so long */
  struct kymo_collect_room *room; /* the caller's, or NULL: the trace has no parts */
  uint32_t fullest;               /* packets that the last pass took from one ring, at most */
  struct kymo_collect_sums sums;  /* of what is written; and in the end of what is lost */
  uint64_t unwritten;             /* of the discarded: in the rings still (kymo_collect_abandon) */
  uint64_t refused;               /* events lost for want of a ring before collecting begins */
  bool has_reserve, has_kept;     /* see unwritten.h … */
  int kept;                       /* … directory of the reserve of the part before */
  bool takes_open;                /* in this pass */
  int64_t open_taken_ns;          /* when that was last, by the monotonic clock */
};

/* `pool` (of the directory `source`) and both strings must outlive the collector. The trace directory must
 * exist. */
int kymo_collect_begin(struct kymo_collector *c, const struct kymo_pool_view *pool, const char *source,
                       const char *directory, struct kymo_error *error);
/* Where collecting a ring is to begin. */
struct kymo_collect_start {
  uint64_t packet, word; /* number of a packet, and which of its events come before (kymo_ring_word) */
  struct kymo_collect_lost lost; /* before */
};
/* What the ring has lost up to now. */
struct kymo_collect_lost kymo_collect_lost_now(const struct kymo_ring_view *ring);
/* Leaves out what lies before; to be called before anything of that ring is taken. */
void kymo_collect_from(struct kymo_collector *c, uint64_t instance, const struct kymo_collect_start *start);
/* Leaves out all that there is now, and releases it to the writer. */
void kymo_collect_from_now(struct kymo_collector *c);
/* Takes all closed packets that are there, metadata first, and releases them to the writer if `release`.
 * Every quarter of a second also what open packets hold by then, so that nothing waits until a quiet thread
 * has filled its packet. */
#define KYMO_COLLECT_OPEN_NS INT64_C(250000000)
int kymo_collect_closed(struct kymo_collector *c, bool release, struct kymo_error *error);
/* What the two functions that collect return when the part has no room for what comes next:
 * kymo_collect_part, and again. */
enum { KYMO_COLLECT_FULL = 1 };
/* Nothing more comes into this part, which notes the lengths of its files. KYMO_E_SYSTEM: may be called
 * again. */
int kymo_collect_end_part(struct kymo_collector *c, struct kymo_error *error);
/* Goes on in another directory, which must exist: a part that can be read alone. */
int kymo_collect_part(struct kymo_collector *c, const char *directory, struct kymo_error *error);
/* Notes what the clocks show now. For pools of this machine and boot; of others nothing is noted. */
int kymo_collect_clocks(struct kymo_collector *c, struct kymo_error *error);
/* Takes what is left, open packets included, and ends each file. The collector then only waits for its
 * release. Of rings that are overwritten, `.kymo/not-kept` then says how many events were overwritten before
 * they could be taken, and how many were discarded before the first packet that is kept. */
int kymo_collect_end(struct kymo_collector *c, struct kymo_error *error);
/*
 * Of the functions that collect, all that return KYMO_E_SYSTEM (a full disk) may be called again: what they
 * could not write is in the rings still. Who does not want to try again says so here: what is left is counted
 * as lost, in the sums and in the trace, as events of a stream `stream_not_written`. False: the trace holds
 * not even its description, and its directory is empty.
 */
bool kymo_collect_abandon(struct kymo_collector *c);
void kymo_collect_free(struct kymo_collector *c);

#endif
