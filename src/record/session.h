/* SPDX-License-Identifier: MIT */
/*
 * The recorder's state in one process.
 *
 *   init.c      environment, command line, registration, exit        registry.c  tracepoints, classes,
 * metadata text pool.c      directory, pool file, slots, fork                    writer.c    the slow path:
 * attach, packets, handlers save.c      kymo_save                                           service.c   the
 * sleeping thread
 *
 * What the slow path touches may run in a signal handler or in a child made by a bare clone: it
 * allocates nothing, takes no lock that it could wait for, and creates the child's pool with system calls
 * alone.
 */
#ifndef KYMO_RECORD_SESSION_H
#define KYMO_RECORD_SESSION_H

#include "record/clock.h"
#include "record/options.h"
#include "ring/layout.h"
#include "ring/places.h"
#include <kymo/trace.h>

/* A ring as its writer sees it. */
struct kymo_ring_writer {
  struct kymo_ring hot; /* first: the hot path's pointer is a pointer to this */
  uint32_t limit;       /* *hot.end while a packet is open and the clock is the counter */
  uint64_t first_event; /* events stored before the open packet */
  uint64_t opened;      /* packets opened so far */
  uint32_t packets;     /* in the ring */
  bool is_open;
  struct kymo_ring_control *control; /* in the pool file, like the following */
  struct kymo_packet_control *packet;
  unsigned char *data;
};

/* The pool of this process. */
struct kymo_pool {
  struct kymo_pool_header *header; /* the mapping; NULL: there is none */
  uint64_t size, slot_size;
  uint32_t slots, packet_size, control_size;
  struct kymo_ring_writer *rings; /* two a slot; private memory */
  struct kymo_slot {              /* one a slot; private memory */
    uint32_t state;               /* enum kymo_slot_state */
    uint32_t released;            /* value of `releases` when it was given back last */
  } * slot;
  uint32_t *ends;    /* wiped on fork: word 0 says that the pool is ours, then a line a ring */
  uint32_t releases; /* slots given back so far: refused threads try again when it moves */
  char directory[KYMO_PATH_MAX];
};

struct kymo_session {
  struct kymo_options options;
  struct kymo_session_clock clock;
  struct kymo_pool pool;
  char base[KYMO_PATH_MAX]; /* where pools lie */
  char program[64], host[256];
  uint32_t pool_state; /* see pool.c */
};
extern struct kymo_session kymo_session_;

/* ---- init.c ---- */
void kymo_session_init(void); /* once; later calls return at once */

/* ---- pool.c ---- */
enum { KYMO_ENDS_STRIDE = 16 }; /* one cache line a ring */
/* Makes this process's pool if there is none. `from_slow_path`: only what is safe in a signal handler. */
bool kymo_pool_make(bool from_slow_path);
bool kymo_pool_is_ours(void);
/* A slot for the calling thread, with memory behind it; -1: none is free, or there is no room. */
int kymo_pool_claim(void);
void kymo_pool_give_back(uint32_t slot);
/* Appends text to the pool's metadata, whole or not at all. */
bool kymo_pool_append(const char *text, size_t length);
/* Forgets the pool that a forked child has inherited. */
void kymo_pool_forget(void);

/* ---- registry.c ---- */
/* A lock that a forked child can take over from a thread that it does not have. */
void kymo_lock(void);
bool kymo_try_lock(void);
void kymo_unlock(void);
/* Builds the constant part of the metadata. */
bool kymo_registry_start(void);
/* The metadata so far, for a new pool: uuid and pid are set in place. Call with the lock held. */
const char *kymo_registry_metadata(const uint8_t uuid[16], int pid, size_t *length);
/* Switches the registered tracepoints by options.enable. */
void kymo_registry_apply(void);

/* ---- writer.c ---- */
void kymo_writer_start(void);
void kymo_writer_release_thread(void);
void kymo_writer_poison(uint64_t time);

/* ---- service.c ---- */
/* Starts the thread that closes packets which stay open for too long. */
void kymo_service_start(void);

/* ---- save.c ---- */
void kymo_save_at_exit(void);

#endif
