/* SPDX-License-Identifier: MIT */
/*
 * The pool file: the memory that a recording process shares with readers of its rings.
 *
 *   pool header (one page)
 *   slot 0: control pages │ main ring: `packets` × packet_size │ alternate ring: `alternate_packets` ×
 * packet_size slot 1: …
 *
 * One slot serves one running thread: events go to its main ring; events of signal handlers that interrupt an
 * event of their own thread go to the alternate ring. Packets are numbered from 0 and packet n is at n modulo
 * the number of packets. Each begins with KYMO_PACKET_HEADER_SIZE bytes that are reserved for a complete CTF
 * packet header and context, which kymo_ring_copy writes into a copy; the events after it are CTF and never
 * change once published.
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
/* In pools and in traces: files that CTF readers ignore, the description in binary form among them. */
#define KYMO_HIDDEN ".kymo"
#define KYMO_HIDDEN_REGISTRY ".kymo/registry"
#define KYMO_HIDDEN_CLOCKS ".kymo/clocks"
#define KYMO_HIDDEN_MODULES ".kymo/modules"
#define KYMO_HIDDEN_FILES \
  ".kymo/files" /* of a complete trace: "NAME BYTES" of each stream file, one per line */
#define KYMO_HIDDEN_CAUSE ".kymo/cause" /* of a snapshot: its cause, one line */
#define KYMO_HIDDEN_NOT_KEPT \
  ".kymo/not-kept" /* of a trace of overwritten rings: events that were not kept (kymo_collect_end) */

enum kymo_pool_mode { KYMO_MODE_DISCARD = 0, KYMO_MODE_OVERWRITE = 1 };

struct kymo_pool_header {
  uint64_t magic;
  uint32_t version, header_size;       /* header_size: offset of slot 0 */
  uint32_t slots;                      /* number of slots */
  uint32_t slots_used;                 /* slots below this number have been used; only grows */
  uint64_t slot_size;                  /* bytes from one slot to the next */
  uint32_t control_size;               /* bytes of a slot before its main ring */
  uint32_t packet_size;                /* bytes */
  uint32_t packets, alternate_packets; /* per ring, powers of two */
  uint32_t mode;                       /* enum kymo_pool_mode */
  int32_t pid;
  uint64_t start_time;      /* of the process, in clock ticks since boot (/proc/PID/stat): detects reuse of a
                        * pid */
  uint8_t uuid[16];         /* of the trace; new for each process image */
  uint64_t threads_refused; /* threads that found no free slot … */
  uint64_t events_refused;  /* … and the events they lost */
  uint32_t finished;        /* the process has ended normally */
  char name[64];            /* of the program */
  uint64_t start_clock;     /* value of the clock when the pool was made */
  int32_t reader;    /* pid of the process that has the lock on the file and therefore writes `consumed` */
  int32_t crash_tid; /* the thread … */
  uint32_t crash_signal;  /* … in which this signal killed the process; 0: none, or unknown */
  uint32_t is_locked;     /* the process holds the lock of ring/life.h for as long as it lives */
  uint64_t pid_namespace; /* namespace of the number `pid`; 0: unknown */
  uint32_t wakes;         /* the process wakes a reader that waits; 0: an older recorder */
  uint32_t waits;         /* a futex: a reader sets it to 1 and sleeps while it is 1 (live/sleep.h) */
};

/* One packet, as its owner describes it. `sequence` is the packet's number + 1 while the packet is valid and
 * 0 while it is being reused. */
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
  uint64_t overwritten;           /* events that were overwritten before a reader had released them */
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

/* ---- the CTF packet header and context, as written before each copied packet ---- */

#define KYMO_CTF_MAGIC UINT32_C(0xc1fc1fc1)

/* All members are packed in this order in the writer's byte order; src/record/describe.c describes it to CTF
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
/* Stores of short texts may exceed the event's end by up to this. */
#define KYMO_PACKET_SLACK 16u

#endif
