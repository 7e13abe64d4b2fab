/* SPDX-License-Identifier: MIT */
/*
 * Readers of rings: of the own process (save), of a running one (record), of a dead one (cat). Only
 * kymo_ring_release writes to a pool. A pool is shared memory that another process may change at any instant,
 * or an untrusted file: every number is checked where it is used.
 */
#ifndef KYMO_RING_RING_H
#define KYMO_RING_RING_H

#include "ring/layout.h"
#include "ring/life.h"
#include <kymo/error.h>
#include <stdbool.h>
#include <stddef.h>

struct kymo_pool_view {
  const struct kymo_pool_header *header; /* the mapped file; for the own process: its own mapping */
  uint64_t size;
  /* copied from the header once and checked; an untrusted writer may change the header itself */
  uint32_t slots, packets, alternate_packets, packet_size, control_size, header_size;
  uint64_t slot_size;
  bool mapped;     /* by kymo_pool_open */
  bool locked;     /* by kymo_pool_lock … */
  int lock;        /* … through this descriptor */
  bool keeps_file; /* it is of another PID namespace, so only a lock shows whether its process lives … */
  int file;        /* … and this descriptor is used to ask for it */
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
/* Reads a pool that is mapped already and stays mapped. */
int kymo_pool_check(struct kymo_pool_view *view, const void *mapping, uint64_t size, const char *name,
                    struct kymo_error *error);
/* Whether all data read so far came from the file: KYMO_E_FORMAT if it was truncated meanwhile. */
int kymo_pool_verify(const struct kymo_pool_view *view, const char *directory, struct kymo_error *error);
void kymo_pool_close(struct kymo_pool_view *view);
/*
 * Makes the caller the one process that releases packets, until the pool is closed or the process ends.
 * `directory` is the pool's. KYMO_E_USAGE if there is one already, whose pid is in the message;
 * KYMO_E_SYSTEM.
 */
int kymo_pool_lock(struct kymo_pool_view *view, const char *directory, struct kymo_error *error);
/* The pid of the process that has the lock; 0: none has it. */
int32_t kymo_pool_reader(const struct kymo_pool_header *header, const char *directory);
/* Slots that have been used so far. */
uint32_t kymo_pool_slots(const struct kymo_pool_view *view);
/* When a process started, in clock ticks since boot; 0: it has ended, and its parent has not waited for it
 * yet. False: it cannot be read. Async-signal-safe. */
bool kymo_process_start_time(int pid, uint64_t *out);
/* The program's name, safe as part of a file name whatever the file contains. */
enum { KYMO_PROGRAM_MAX = 65 };
const char *kymo_pool_program(const struct kymo_pool_view *view, char out[KYMO_PROGRAM_MAX]);
/* Whether the process that wrote the pool is still running, or may be. */
bool kymo_pool_is_alive(const struct kymo_pool_view *view);
/* The same, if its PID namespace allows to find it out. */
enum kymo_life kymo_pool_life(const struct kymo_pool_view *view);

/* The ring of a slot; `alternate` 0 or 1. */
struct kymo_ring_view kymo_pool_ring(const struct kymo_pool_view *view, uint32_t slot, uint32_t alternate);

/* Packets [first, end) may exist now. */
void kymo_ring_range(const struct kymo_ring_view *ring, uint64_t *first, uint64_t *end);

/* The fill level of packet `number`, the newest: its last word so far. */
uint64_t kymo_ring_word(const struct kymo_ring_view *ring, uint64_t number);

enum kymo_copy {
  KYMO_COPY_OK,
  KYMO_COPY_OPEN /* complete so far, but still open: later events may follow */,
  KYMO_COPY_GONE
};

/*
 * Copies packet `number` to `out` (packet_size bytes) and completes the header there: the result is a CTF
 * packet of *bytes bytes (rounded up to 8). Never waits. KYMO_COPY_GONE: it is being overwritten, or never
 * existed.
 */
enum kymo_copy kymo_ring_copy(const struct kymo_ring_view *ring, uint64_t number, uint8_t *out,
                              uint32_t *bytes);

/* Removes from a copied packet the events stored after `word` (kymo_ring_word); *bytes is its size. */
void kymo_ring_cut(uint8_t *packet, uint64_t word, uint32_t *bytes);

/* Removes from a copied packet the events stored before `word`: the end of an event, or the begin of the
 * packet. The rest begins with its first event. */
void kymo_ring_cut_front(uint8_t *packet, uint64_t word, uint32_t *bytes);

/*
 * Writes a packet without events to `out` (KYMO_PACKET_HEADER_SIZE bytes), with a time and a count of losses:
 * CTF readers compute losses from differences between packets, so a stream begins with one, and ends with one
 * if events were lost after its last packet. `like` is the header of a neighbouring packet.
 */
void kymo_ring_empty(uint8_t *out, const struct kymo_packet_header *like, uint64_t sequence, uint64_t time,
                     uint64_t discarded);
/* The header of the empty packets of a ring that lost events and stored none. */
struct kymo_packet_header kymo_ring_header(const struct kymo_ring_view *ring);
/* The losses before a copied packet, as counted by the empty packet before it. */
uint64_t kymo_ring_discarded_before(const struct kymo_ring_view *ring,
                                    const struct kymo_packet_header *packet);
/* Events that a ring has lost so far. */
uint64_t kymo_ring_discarded(const struct kymo_ring_view *ring);

/* Allows the writer to reuse all packets below `end` (discard mode). */
void kymo_ring_release(const struct kymo_ring_view *ring, uint64_t end);

#endif
