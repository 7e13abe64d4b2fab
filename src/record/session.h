/* SPDX-License-Identifier: MIT */
/*
 * The recorder's state in one process.
 *
 *   init.c         environment, command line, registration, exit
 *   registry.c     call sites: registering, switching
 *   rules.c        which of them are enabled
 *   switch.c       switching, and the functions that programs do it with
 *   jumps.c        call sites that are switched by changing their code
 *   description.c  event classes, metadata and registry
 *   modules.c      the load map
 *   pool.c         directory, pool file, slots, fork
 *   writer.c       the slow path: attach, packets, handlers
 *   build.c        events built in pieces
 *   save.c         kymo_rings_save
 *   crash.c        marking the pool of a process that crashes
 *   service.c      the sleeping thread
 *   control.c      … serves the control socket: connections
 *   request.c      … and what is asked for
 *
 * The slow path may run in a signal handler or in a child of a bare clone: it allocates nothing, waits for no
 * lock, and creates the child's pool with system calls alone.
 */
#ifndef KYMO_RECORD_SESSION_H
#define KYMO_RECORD_SESSION_H

#include "ring/clock.h"
#include "record/options.h"
#include "ring/layout.h"
#include "ring/places.h"
#include <kymo/schema.h>
#include <kymo/trace.h>

/* The writer's view of a ring. */
struct kymo_ring_writer {
  struct kymo_ring hot; /* first: the hot path's pointer is a pointer to this */
  uint32_t limit;       /* *hot.end while a packet is open and the clock is the counter */
  uint64_t first_event; /* events stored before the open packet */
  uint64_t opened;      /* packets opened so far */
  uint32_t packets;     /* in the ring */
  bool is_open;
  struct kymo_ring_control *control; /* in the pool file, like the next ones */
  struct kymo_packet_control *packet;
  unsigned char *data;
};

/* The pool of this process. */
struct kymo_pool {
  struct kymo_pool_header *header; /* the mapping; NULL: there is none */
  uint64_t size, slot_size;
  uint32_t slots, packet_size, control_size;
  struct kymo_ring_writer *rings; /* two per slot; private memory */
  /* one per slot; private memory */
  struct kymo_slot {
    uint32_t state;    /* enum kymo_slot_state */
    int32_t tid;       /* of the owner; 0: unknown */
    uint32_t released; /* value of `releases` when it was released last */
  } * slot;
  uint32_t *ends;    /* wiped on fork: word 0 marks the pool as ours, then a line per ring */
  uint32_t releases; /* slots released so far: refused threads try again when it changes */
  uint64_t grown;    /* bytes of slots that were added because rings were full */
  char directory[KYMO_PATH_MAX];
};

struct kymo_session {
  struct kymo_options options;
  struct kymo_session_clock clock;
  struct kymo_pool pool;
  char base[KYMO_PATH_MAX]; /* directory of the pools */
  char program[64], host[256];
  uint32_t pool_state; /* see pool.c */
  uint64_t grow_bytes; /* limit of growth of rings while they are drained too slowly */
  bool is_recorded;    /* a recorder is attached, which also handles the rings after this process has ended */
};
extern struct kymo_session kymo_session_;

/* ---- init.c ---- */
void kymo_session_init(void); /* once; later calls return at once */

/* ---- pool.c ---- */
enum { KYMO_ENDS_STRIDE = 16 }; /* one cache line a ring */
/* Creates this process's pool if there is none. `from_slow_path`: only async-signal-safe calls are allowed;
 * else the lock is held. False with errno; after a failure the next try is only after kymo_pool_retry. */
bool kymo_pool_make(bool from_slow_path);
void kymo_pool_retry(void);
bool kymo_pool_is_ours(void);
/* A slot with memory for the calling thread; -1: none is free, or there is no space. */
int kymo_pool_claim(void);
/* Another slot for a thread whose ring is full: a released one that is at least half empty by now, or a new
 * one, if grow_bytes allows it; -1: there is none. */
int kymo_pool_claim_more(void);
void kymo_pool_give_back(uint32_t slot);
/* One of the files that describe the contents of the pool. */
struct kymo_pool_file {
  const char *name; /* below the pool's directory */
  const char *bytes;
  size_t length, written;
};
/* Appends the part that is not written yet; all of it or nothing. */
bool kymo_pool_append(const struct kymo_pool_file *file);
/* Forgets the pool that a forked child has inherited. */
void kymo_pool_forget(void);

/* ---- registry.c ---- */
/* A lock that a forked child can take over from a thread that does not exist in the child. Its holder's
 * signals are blocked, so that no handler waits for it. */
void kymo_lock(void);
bool kymo_try_lock(void);
void kymo_unlock(void);

/* ---- description.c; call with the lock held ---- */
struct kymo_point_text;
/* Creates the part that is the same for all events. */
bool kymo_description_start(void);
/* The committed part, for a new pool, in the order in which it is to be written; uuid and pid are set in
 * place. Allocates nothing. */
enum { KYMO_POOL_FILES = 2 };
void kymo_description_files(const uint8_t uuid[16], int pid, struct kymo_pool_file files[KYMO_POOL_FILES]);
/* The class of a tracepoint, created if it is new. NULL: it cannot be recorded, which was reported. */
const struct kymo_event_class *kymo_description_class(const struct kymo_point_text *point);
/* Writes new classes to the pool. False with errno: some are not written, and may be at the next try. */
bool kymo_description_commit(void);
/* Whether the class is in the pool. */
bool kymo_description_holds(const struct kymo_event_class *class_);

/* ---- modules.c; call with the lock held ---- */
/* Reads which modules are loaded, before the first pool is created. */
void kymo_modules_begin(void);
/* The load map for a new pool. Allocates nothing. */
struct kymo_pool_file kymo_modules_file(void);
/* Reads the modules again, and adds new ones to the pool. */
void kymo_modules_follow(void);

/* ---- writer.c ---- */
void kymo_writer_start(void);
void kymo_writer_release_thread(void);
void kymo_writer_poison(uint64_t time);

/* ---- service.c ---- */
/* Starts the sleeping thread if it is needed: for the control socket, which can be disabled, or for rings. */
enum kymo_service_need { KYMO_SERVICE_CONTROL, KYMO_SERVICE_RINGS };
void kymo_service_start(enum kymo_service_need need);
/* Installs the handlers of fork. */
void kymo_service_watch_fork(void);

/* ---- save.c ---- */
void kymo_save_at_exit(void);

#endif
