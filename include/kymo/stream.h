/* SPDX-License-Identifier: MIT */
/*
 * kymo/stream.h: streams of a program's own bytes: files a thread or CPU, or memory. kymo/bprintf.h writes
 * events into them.
 *
 *   struct kymo_bstream *stream = kymo_stream_open("/tmp/log", NULL);
 *   kymo_bprintf(stream, "%1b%2n%s%8b", kind, name, kymo_now());
 *   kymo_stream_close(stream);
 *
 * makes /tmp/log_thread0, … with the bytes of the events and nothing else. A framed stream has a header a
 * file, and in front of each event its sequence number and length (docs/bprintf.md), so that the files are
 * merged without options and losses seen.
 *
 * What one thread writes into a stream of files a thread is in its file in that order. An event of a signal
 * handler that interrupts an event of its own thread stands behind it. Bytes lie in a buffer until it is
 * full, or flushed; at a normal exit all are. A forked child writes files of its own, NAME.PID_thread0, with
 * its own events, and counts those alone.
 *
 * Events too long for the stream are cut at the boundary of a directive; the event says so if the stream is
 * framed, and the counts do in any case. Events that find no room or cannot be written are lost, and counted.
 *
 * A stream called NAME is a tracepoint stream:NAME for kymo list, enable and disable; it is on from the
 * beginning.
 */
#ifndef KYMO_STREAM_H
#define KYMO_STREAM_H

#include <kymo/layout.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kymo_bstream;

enum kymo_stream_files {
  KYMO_FILES_PER_THREAD, /* NAME_thread0, …; no locks */
  KYMO_FILES_PER_CPU     /* NAME_cpu0, … */
};

/* Zeroes are the defaults. */
struct kymo_stream_options {
  enum kymo_stream_files files;
  bool is_framed;         /* headers; else raw: no byte that the program has not asked for */
  bool has_text_apart;    /* kymo_stream_printf goes to files of its own, NAME.text_thread0 */
  bool is_memory;         /* overwrites the oldest packets in memory until kymo_stream_save */
  size_t packet_bytes;    /* written at once; 64 KiB */
  uint32_t packets;       /* in memory, for each thread or CPU; 16 */
  size_t event_bytes_max; /* 1 MiB; in memory no more than a packet */
  uint64_t rotate_bytes;  /* a file that would grow beyond is followed by NAME_thread0.1, …; 0: never */
  uint32_t rotate_count;  /* files that are kept then; 0: all */
};

struct kymo_stream_counts {
  uint64_t bytes; /* of events and frames, written or still in buffers; in memory also what was overwritten
              * since */
  uint64_t truncated, lost; /* events that were cut; events that are not there */
  uint64_t write_errors;    /* packets that could not be written, and are lost */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Structs of the program travel with their size, as in kymo/schema.h. */
struct kymo_bstream *kymo_stream_open_(const char *path, const struct kymo_stream_options *options,
                                       size_t size);
/*
 * Opens a stream. `path` is where its files begin, and their directory is there; the part behind the last '/'
 * is the stream's name. options: NULL for the defaults; copied. NULL with errno: EINVAL for options that make
 * no sense, ENFILE for more than 16 streams, ENOMEM. Files are made by the first events. Thread-safe; not for
 * signal handlers.
 */
static inline struct kymo_bstream *kymo_stream_open(const char *path,
                                                    const struct kymo_stream_options *options) {
  return kymo_stream_open_(path, options, sizeof *options);
}
/* Writes what is in the buffers of all threads and CPUs. 0, or -1 with errno of the first failure.
 * Thread-safe. */
int kymo_stream_flush(struct kymo_bstream *stream);
/* Flushes and frees it; no thread may use it any more. 0 if all packets of its life could be written, or -1
 * with errno of the first that could not. NULL is closed already. Of streams that are still open when the
 * program exits, a line on the standard error stream (kymo_console_to) says how many packets could not be
 * written. */
int kymo_stream_close(struct kymo_bstream *stream);
/* Writes the packets of a stream in memory, the oldest first, to files that begin with `path`. Threads may go
 * on. 0, or -1 with errno: EINVAL if it is not in memory. */
int kymo_stream_save(struct kymo_bstream *stream, const char *path);
void kymo_stream_count_(struct kymo_bstream *stream, struct kymo_stream_counts *counts, size_t size);
static inline void kymo_stream_count(struct kymo_bstream *stream, struct kymo_stream_counts *counts) {
  kymo_stream_count_(stream, counts, sizeof *counts);
}

/* One event of these bytes; all of them or, lost, none. The bytes stored, 0 if the stream is off, -1 with
 * errno. Async-signal-safe like kymo_bprintf. */
int kymo_stream_write(struct kymo_bstream *stream, const void *bytes, size_t size);
/* One event of text, by printf; at most 4095 bytes. In a framed stream it is marked as text. */
int kymo_stream_printf(struct kymo_bstream *stream, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * For people, on the standard error stream (or the file descriptor that kymo_console_to sets), never among
 * data: a line that is written at once, "NAME: warning: …" with the program's name.
 */
void kymo_console(const char *format, ...) __attribute__((format(printf, 1, 2)));
void kymo_console_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void kymo_console_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void kymo_console_to(int descriptor);

/* What programs put into headers of their own; nobody pays for what he does not call. */
uint32_t kymo_sequence(
    struct kymo_bstream *stream); /* the stream's next number: 0, 1, … and 0 again; that of frames */
uint64_t kymo_now(void);          /* nanoseconds since 1970 */
uint32_t kymo_thread_id(void);
uint32_t kymo_cpu(void); /* where this thread runs now */

/* ---- everything below serves the macros of kymo/bprintf.h ---- */

/* Where a thread or CPU writes. */
struct kymo_lane_ {
  struct kymo_bstream *stream; /* NULL: of none */
  uint32_t busy;               /* an event is in work */
  uint32_t nested;             /* bytes of handlers' events, which come behind it */
  unsigned char *at, *end;
};
struct kymo_bstream {
  const struct kymo_tracepoint *point; /* enabled: on */
  uint32_t lane;                       /* which of the thread's lanes */
  uint32_t sequence;
  uint32_t frame; /* bytes of a frame's header, or 0 */
  size_t event_max;
};
#define KYMO_STREAMS_MAX_ 16
extern __thread struct kymo_lane_ *kymo_lanes_[KYMO_STREAMS_MAX_] __attribute__((tls_model("initial-exec")));

/* Room for an event: NULL if there is none. */
struct kymo_bplace_ {
  unsigned char *at;
  struct kymo_lane_ *lane;
  uint32_t slow; /* not 0: the event is ended by kymo_bcommit_slow_ */
};
struct kymo_bplace_ kymo_breserve_slow_(struct kymo_bstream *stream, size_t size, uint32_t flags);
void kymo_bcommit_slow_(struct kymo_bplace_ place, unsigned char *end);
/* Copies the events of handlers behind the one that they interrupted. */
void kymo_bnested_(struct kymo_lane_ *lane);

#ifdef __cplusplus
}
#endif

#define KYMO_STREAM_MERGED_ \
  2u /* in the header: frames of several files, each with the number of its file in front of the event */
#define KYMO_STREAM_NEWEST_ 4u /* … and: older events may have been overwritten before they were saved */
#define KYMO_STREAM_HEADER_BYTES_ 64 /* at the begin of a file of a framed stream */
/* In front of an event of a framed stream, at any place in the file. */
#define KYMO_FRAME_MAGIC_ "\xf0\x9f\xa9\xba"
#define KYMO_FRAME_BYTES_ 12u
#define KYMO_FRAME_CUT_ 0x80000000u        /* in the length: it is truncated … */
#define KYMO_FRAME_TEXT_ 0x40000000u       /* … it is text … */
#define KYMO_FRAME_DEFINITION_ 0x20000000u /* … it is no event but a definition (kymo/define.h) … */
#define KYMO_FRAME_DEFINED_ \
  0x10000000u /* … it is an event of one, whose index stands in front of it in 2 bytes */
#define KYMO_FRAME_LENGTH_ 0x0fffffffu

#endif
