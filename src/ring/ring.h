/* SPDX-License-Identifier: MIT */
/*
 * Reading rings from beside: of the own process (save), of a running one (record), of a dead one (cat).
 * Nothing here writes to a pool but kymo_ring_release. A pool is shared memory that somebody else may change
 * at any instant, or an untrusted file: every number is checked where it is used.
 */
#ifndef KYMO_RING_RING_H
#define KYMO_RING_RING_H

#include "ring/layout.h"
#include <kymo/error.h>
#include <stdbool.h>
#include <stddef.h>

struct kymo_pool_view {
  const struct kymo_pool_header *header; /* the mapped file; of the own process: its own mapping */
  uint64_t size;
  /* taken from the header once and checked; the header itself may change under an untrusted writer */
  uint32_t slots, packets, alternate_packets, packet_size, control_size, header_size;
  uint64_t slot_size;
  bool mapped;     /* by kymo_pool_open */
  bool locked;     /* by kymo_pool_lock … */
  int lock;        /* … through this descriptor */
  bool keeps_file; /* it is of another PID namespace, so that only a lock says whether its process lives … */
  int file;        /* … which is asked through this descriptor */
  struct kymo_guard *guard; /* of the mapping, if kymo_pool_open made it */
};

/* One ring of a pool. */
struct kymo_ring_view {
  const struct kymo_pool_view *pool;
  struct kymo_ring_control *control;
  const struct kymo_packet_control *packet;
  const uint8_t *data;
  uint32_t packets;
  uint64_t instance; /* stream instance id: slot × 2, + 1 for the alternate ring */
};

/* Maps directory/rings. `writable`: kymo_ring_release will be used. KYMO_E_SYSTEM, KYMO_E_FORMAT. */
int kymo_pool_open(struct kymo_pool_view *view, const char *directory, bool writable,
                   struct kymo_error *error);
/* Looks at a pool that is mapped already; it must stay mapped. */
int kymo_pool_check(struct kymo_pool_view *view, const void *mapping, uint64_t size, const char *name,
                    struct kymo_error *error);
/* Whether all that was read so far was the file's: KYMO_E_FORMAT if it was cut meanwhile. */
int kymo_pool_verify(const struct kymo_pool_view *view, const char *directory, struct kymo_error *error);
void kymo_pool_close(struct kymo_pool_view *view);
/*
 * Makes the caller the one process that releases packets, until the pool is closed or the process ends.
 * `directory` is the pool's. KYMO_E_USAGE with the other one's pid in the message if there is one already;
 * KYMO_E_SYSTEM.
 */
int kymo_pool_lock(struct kymo_pool_view *view, const char *directory, struct kymo_error *error);
/* The pid of the process that has the lock; 0: none has. */
int32_t kymo_pool_reader(const struct kymo_pool_header *header, const char *directory);
/* Slots that have been used so far. */
uint32_t kymo_pool_slots(const struct kymo_pool_view *view);
/* When a process started, in clock ticks since boot; 0: it has ended, and nobody has waited for it yet.
 * False: it cannot be read. Async-signal-safe. */
bool kymo_process_start_time(int pid, uint64_t *out);
/* The program's name, as part of a file name, whatever the file says. */
enum { KYMO_PROGRAM_MAX = 65 };
const char *kymo_pool_program(const struct kymo_pool_view *view, char out[KYMO_PROGRAM_MAX]);
/* Whether the process that wrote the pool is still running, or may be. */
bool kymo_pool_is_alive(const struct kymo_pool_view *view);

/* The ring of a slot; `alternate` 0 or 1. */
struct kymo_ring_view kymo_pool_ring(const struct kymo_pool_view *view, uint32_t slot, uint32_t alternate);

/* Packets [first, end) may be there now. */
void kymo_ring_range(const struct kymo_ring_view *ring, uint64_t *first, uint64_t *end);

/* How far packet `number`, the newest, is filled: its last word so far. */
uint64_t kymo_ring_word(const struct kymo_ring_view *ring, uint64_t number);

enum kymo_copy {
  KYMO_COPY_OK,
  KYMO_COPY_OPEN /* OK, but still open: later events may follow */,
  KYMO_COPY_GONE
};

/*
 * Copies packet `number` to `out` (packet_size bytes of room) and finishes its header there: the result is a
 * CTF packet of *bytes bytes (rounded up to 8). Never waits. KYMO_COPY_GONE: it is being overwritten, or was
 * never there.
 */
enum kymo_copy kymo_ring_copy(const struct kymo_ring_view *ring, uint64_t number, uint8_t *out,
                              uint32_t *bytes);

/* Takes from a copied packet what was stored in it after `word` (kymo_ring_word); *bytes is its size. */
void kymo_ring_cut(uint8_t *packet, uint64_t word, uint32_t *bytes);

/* Takes from a copied packet what was stored in it before `word`: an event's end, or where the packet begins.
 * What is left begins with its first event. */
void kymo_ring_cut_front(uint8_t *packet, uint64_t word, uint32_t *bytes);

/*
 * A packet without events in `out` (KYMO_PACKET_HEADER_SIZE bytes), at a place in time and in the count of
 * losses: CTF readers learn of losses from differences between packets, so a stream begins with one, and ends
 * with one if events were lost behind its last packet. `like` is the header of a neighbouring packet.
 */
void kymo_ring_empty(uint8_t *out, const struct kymo_packet_header *like, uint64_t sequence, uint64_t time,
                     uint64_t discarded);
/* The header of the empty packets of a ring that lost events and stored none. */
struct kymo_packet_header kymo_ring_header(const struct kymo_ring_view *ring);
/* What the empty packet in front of a copied packet says was lost before it. */
uint64_t kymo_ring_discarded_before(const struct kymo_ring_view *ring,
                                    const struct kymo_packet_header *packet);
/* Events that a ring has lost so far. */
uint64_t kymo_ring_discarded(const struct kymo_ring_view *ring);

/* Allows the writer to reuse all packets below `end` (discard mode). */
void kymo_ring_release(const struct kymo_ring_view *ring, uint64_t end);

#endif
