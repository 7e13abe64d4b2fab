/* SPDX-License-Identifier: MIT */
/*
 * The inside of logs. A thread (or one CPU at a time) writes to a thread buffer: packets of memory, one of
 * which is open.
 *
 *   buffer   │ packet 0 │ packet 1 │ … │      one packet, unless the log stays in memory
 *              ▲flushed   ▲at       ▲end
 *
 * Bytes below `at` never change while the packet is open, so a thread that holds the buffer's lock may write
 * them to the file; the owner takes the lock when it needs space, not for an event. Events of handlers that
 * interrupt an event of their own thread are put into a small separate space of the buffer and copied after
 * that event. Memory is allocated only by mmap, so a handler may create its thread's buffer.
 */
#ifndef KYMO_LOG_LOG_H
#define KYMO_LOG_LOG_H

#include <kymo/define.h>
#include <signal.h>

enum { KYMO_THREAD_BUFFER_NESTED_ROOM = 4096, KYMO_LOG_PATH_MAX = 4096, KYMO_DEFINED_ROOM = 1 << 20 };

struct kymo_thread_buffer {
  struct kymo_thread_buffer_ hot;  /* first: the hot path's pointer is a pointer to this */
  struct kymo_thread_buffer *next; /* of the log */
  struct kymo_log_state *of;       /* outlives hot.log, which is NULL while no thread owns the buffer */
  uint32_t lock;                   /* of the packets' boundaries and the file */
  uint32_t is_owned;
  uint32_t number; /* in the names of files */
  unsigned char *packets,
      *flushed;   /* flushed: bytes of the open packet before it are written, or belong to a forked child's
                   * parent */
  size_t *filled; /* of each packet, in memory */
  uint32_t packet, opened; /* number of the open packet; packets opened so far */
  int file;                /* -1: none yet */
  uint32_t part;           /* of files that rotate */
  uint64_t file_bytes;
  size_t defined; /* bytes of the log's definitions in the file */
  uint64_t bytes, write_errors;
  unsigned char *nested;  /* KYMO_THREAD_BUFFER_NESTED_ROOM bytes … */
  uint32_t nested_events; /* … with this number of events */
  unsigned char *large;   /* an event larger than a packet */
  size_t large_bytes;
};

struct kymo_log_state {
  struct kymo_log hot; /* first */
  struct {
    int32_t offset[2];
  } entry; /* for the registry: distances to `point` and `text` */
  struct kymo_tracepoint point;
  uint64_t code; /* none */
  char text[512];
  struct kymo_log_options options;
  struct kymo_log_state *apart;       /* for text, or NULL */
  struct kymo_thread_buffer *buffers; /* pushed with release */
  struct kymo_thread_buffer **cpu;    /* of files a CPU: one each */
  uint32_t buffer_count, cpus;
  unsigned long truncated, lost; /* events */
  int write_reason; /* errno of the first packet that could not be written; 0: all were written */
  uint8_t uuid[16];
  struct kymo_definition_state *definitions; /* newest first */
  uint32_t definition_count;
  unsigned char
      *defined; /* frames of complete definitions, one after another; KYMO_DEFINED_ROOM bytes, or NULL */
  size_t defined_bytes;
  int32_t child; /* pid in the names of files of a forked child, else 0 */
  char path[KYMO_LOG_PATH_MAX];
};

static inline struct kymo_log_state *kymo_log_state(struct kymo_log *log) {
  return (struct kymo_log_state *)log;
}

/* ---- log.c ---- */

/* The lock of rarely changing state of logs; held while the process forks. */
void kymo_logs_lock(void);
void kymo_logs_unlock(void);
/* An event that is too long: counted; -1 with errno. */
int kymo_log_lose(struct kymo_log *log);

/* ---- define.c ---- */

void kymo_event_definitions_free(struct kymo_log_state *log);

/* ---- buffer.c ---- */

extern struct kymo_thread_buffer_ kymo_no_thread_buffer;
/* Called once, before the first buffer. */
void kymo_thread_buffer_watch_threads(void);
/* A new buffer, or one that no thread owns; with one file per thread it then belongs to the calling thread.
 * NULL: there is no space. Signals are blocked. */
struct kymo_thread_buffer *kymo_thread_buffer_attach(struct kymo_log_state *log);
/* Writes the contents of the buffer, since the thread ends or the log is closed. */
int kymo_thread_buffer_flush(struct kymo_thread_buffer *buffer);
void kymo_thread_buffer_release(struct kymo_thread_buffer *buffer);
/* Drops the parent's events in a forked child; `is_ours`: the buffer belongs to the thread that forked. */
void kymo_thread_buffer_forget(struct kymo_thread_buffer *buffer, bool is_ours);
/* Calls of one thread may nest: all signals are blocked meanwhile. */
void kymo_thread_buffer_lock(struct kymo_thread_buffer *buffer, sigset_t *before);
void kymo_thread_buffer_unlock(struct kymo_thread_buffer *buffer, const sigset_t *before);
/* Begins an empty packet, with the lock held. */
void kymo_thread_buffer_open_packet(struct kymo_thread_buffer *buffer);

/* ---- file.c ---- */
/* Writes all bytes that the buffer's file does not have; begins it, or the next one, if necessary. Returns 0,
 * or -1 with errno: there is no file. */
int kymo_thread_buffer_write(struct kymo_thread_buffer *buffer, const unsigned char *bytes, size_t size);
int kymo_thread_buffer_write_to(const struct kymo_thread_buffer *buffer, const char *path);

#endif
