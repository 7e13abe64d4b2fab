/* SPDX-License-Identifier: MIT */
/*
 * The pool file: what a recording process shares with whoever reads its rings.
 *
 *   pool header (one page)
 *   slot 0: control pages │ main ring: `packets` × packet_size │ alternate ring: `alternate_packets` ×
 * packet_size slot 1: …
 *
 * One slot serves one running thread: events go to its main ring; events of signal handlers that
 * interrupt an event of their own thread go to the alternate ring. Packets are numbered from 0 and packet n
 * lies at n modulo the ring's packets. Each begins with KYMO_PACKET_HEADER_SIZE bytes kept free for a
 * complete CTF packet header and context, which whoever copies the packet writes into the copy
 * (kymo_ring_copy); the events behind it are CTF as they are and never change once published.
 *
 * All numbers are in the byte order of the writer. Files of another byte order are refused by the magic.
 */
#ifndef KYMO_RING_LAYOUT_H
#define KYMO_RING_LAYOUT_H

#include <kymo/layout.h>

#define KYMO_POOL_MAGIC UINT64_C(0x4b594d4f52494e47) /* "KYMORING" */
#define KYMO_POOL_VERSION 1u
#define KYMO_POOL_FILE "rings"
#define KYMO_POOL_METADATA "metadata"
/* In pools as in traces: what CTF readers do not look at, and in it the description in binary form. */
#define KYMO_HIDDEN ".kymo"
#define KYMO_HIDDEN_REGISTRY ".kymo/registry"
#define KYMO_HIDDEN_CLOCKS ".kymo/clocks"
#define KYMO_HIDDEN_MODULES ".kymo/modules"
#define KYMO_HIDDEN_FILES \
  ".kymo/files" /* of a complete trace: "NAME BYTES" of each stream file, one a line */
#define KYMO_HIDDEN_CAUSE ".kymo/cause" /* of a snapshot: what it was taken on, one line */
#define KYMO_HIDDEN_NOT_KEPT \
  ".kymo/not-kept" /* of a trace of overwritten rings: events that were not kept (kymo_collect_end) */

enum kymo_pool_mode { KYMO_MODE_DISCARD = 0, KYMO_MODE_OVERWRITE = 1 };

struct kymo_pool_header {
  uint64_t magic;
  uint32_t version, header_size;       /* header_size: where slot 0 begins */
  uint32_t slots;                      /* room for so many */
  uint32_t slots_used;                 /* slots below this number have been used; grows */
  uint64_t slot_size;                  /* bytes from one slot to the next */
  uint32_t control_size;               /* bytes of a slot before its main ring */
  uint32_t packet_size;                /* bytes */
  uint32_t packets, alternate_packets; /* per ring, powers of two */
  uint32_t mode;                       /* enum kymo_pool_mode */
  int32_t pid;
  uint64_t start_time; /* of the process, in clock ticks since boot (/proc/PID/stat): tells reuse of a pid */
  uint8_t uuid[16];    /* of the trace; new for each process image */
  uint64_t threads_refused; /* threads that found no free slot … */
  uint64_t events_refused;  /* … and the events they lost */
  uint32_t finished;        /* the process has ended in good order */
  char name[64];            /* of the program */
  uint64_t start_clock;     /* value of the clock when the pool was made */
  int32_t reader;           /* pid of who has the lock on the file, and with it the word on `consumed` */
  int32_t crash_tid;        /* the thread … */
  uint32_t crash_signal;  /* … that this signal has killed the process in; 0: none, or that is not known */
  uint32_t is_locked;     /* the process holds the lock of ring/life.h for as long as it lives */
  uint64_t pid_namespace; /* in which `pid` is its number; 0: unknown */
};

/* One packet, as its owner describes it. `sequence` is the packet's number + 1 while it can be trusted and 0
 * while it is being reused. */
struct kymo_packet_control {
  uint64_t sequence;
  uint64_t closed;                            /* final word (see kymo_ring_public); 0 = still open */
  uint64_t begin, end;                        /* times of the first and last event */
  uint64_t first_event;                       /* number of events stored in this ring before this packet */
  uint64_t discarded_before;                  /* events lost by this ring when the packet was opened … */
  uint64_t discarded;                         /* … and closed */
  uint32_t discarded_large, discarded_nested; /* of these, by cause, when closed */
  int32_t tid;
  uint32_t unused;
  char thread_name[16];
};

struct kymo_ring_control {
  struct kymo_ring_public shared; /* the hot path's line */
  uint64_t opened;                /* packets opened so far: the newest is opened - 1 */
  uint64_t discarded;             /* events lost: all … */
  uint64_t discarded_large;       /* … larger than a packet … */
  uint64_t discarded_nested;      /* … of a handler that interrupted a handler's event */
  uint64_t overwritten;           /* events that were overwritten before anybody had released them */
  uint64_t unused;
  /* the reader's line */
  uint64_t consumed __attribute__((aligned(64))); /* packets below this number may be reused (discard mode) */
  uint64_t unused2[7];
};

enum kymo_slot_state { KYMO_SLOT_NEW = 0, KYMO_SLOT_USED = 1, KYMO_SLOT_FREE = 2 };

struct kymo_slot_control {
  uint32_t state; /* enum kymo_slot_state */
  int32_t tid;    /* of the owner */
  uint64_t unused[7];
  struct kymo_ring_control ring[2] __attribute__((aligned(64))); /* main, alternate */
  struct kymo_packet_control packet[];                           /* main's, then alternate's */
};

/* ---- the CTF packet header and context, as written in front of each copied packet ---- */

#define KYMO_CTF_MAGIC UINT32_C(0xc1fc1fc1)

/* All members are packed in this order in the writer's byte order; src/record/describe.c tells it to CTF
 * readers. */
struct kymo_packet_header {
  uint32_t magic;
  uint8_t uuid[16];
  uint32_t stream_id;
  uint64_t stream_instance_id;
  uint64_t timestamp_begin, timestamp_end;
  uint64_t content_size, packet_size; /* bits */
  uint64_t packet_seq_num, events_discarded;
  uint64_t first_event;
  uint32_t event_count, discarded_large, discarded_nested;
  int32_t tid;
  char thread_name[16];
};
#define KYMO_PACKET_HEADER_SIZE 120u
_Static_assert(sizeof(struct kymo_packet_header) == KYMO_PACKET_HEADER_SIZE, "the header has no padding");
/* Stores of short texts run over the event's end by up to this. */
#define KYMO_PACKET_SLACK 16u

#endif
