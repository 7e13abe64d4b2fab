/* SPDX-License-Identifier: MIT */
/*
 * kymo/log.h: logs of a program's own bytes: files a thread or CPU, or memory. kymo/bprintf.h writes
 * events into them.
 *
 *   struct kymo_log *log = kymo_log_open("/tmp/log", NULL);
 *   kymo_bprintf(log, "%1b%2n%s%8b", kind, name, kymo_now());
 *   kymo_log_close(log);
 *
 * writes /tmp/log_thread0, … with the bytes of the events and nothing else. A framed log has a header per
 * file, and a sequence number and length before each event (docs/bprintf.md), so that kymo can merge the
 * files without options and detect losses.
 *
 * With one file per thread, the events of a thread are in its file in the order in which it wrote them. An
 * event of a signal handler that interrupts an event of its own thread follows that event. Bytes stay in a
 * buffer until the buffer is full or flushed; a normal exit flushes all. A forked child writes files of its
 * own, NAME.PID_thread0, with its own events, and counts those alone.
 *
 * Events too long for the log are cut at the boundary of a directive; the event says so if the log is
 * framed, and the counts do in any case. Events for which there is no space, or which cannot be written, are
 * lost and counted.
 *
 * A log called NAME is a tracepoint log:NAME for kymo list, enable and disable; it is enabled from the
 * beginning.
 */
#ifndef KYMO_LOG_H
#define KYMO_LOG_H

#include <kymo/layout.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kymo_log;

enum kymo_log_files {
  KYMO_FILES_PER_THREAD, /* NAME_thread0, …; no locks */
  KYMO_FILES_PER_CPU     /* NAME_cpu0, … */
};

/* Zeroes are the defaults. */
struct kymo_log_options {
  enum kymo_log_files files;
  bool is_framed;         /* with headers; else raw: only bytes that the program asked for */
  bool has_text_apart;    /* kymo_log_printf writes to separate files, NAME.text_thread0 */
  bool is_memory;         /* overwrites the oldest packets in memory until kymo_log_save */
  size_t packet_bytes;    /* written at once; 64 KiB */
  uint32_t packets;       /* in memory, for each thread or CPU; 16 */
  size_t event_bytes_max; /* 1 MiB; in memory no more than a packet */
  uint64_t rotate_bytes; /* a file that would grow beyond this is continued in NAME_thread0.1, …; 0: never */
  uint32_t rotate_count; /* number of files to keep then; 0: all */
};

struct kymo_log_counts {
  uint64_t bytes; /* of events and frames, written or still in buffers; in memory also those that were
                   * overwritten */
  uint64_t truncated, lost; /* events that were cut; events that were not stored */
  uint64_t write_errors;    /* packets that could not be written, and are lost */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Structs of the program travel with their size, as in kymo/schema.h. */
struct kymo_log *kymo_log_open_(const char *path, const struct kymo_log_options *options, size_t size);
/*
 * Opens a log. Its files begin with `path`, whose directory must exist; the part after the last '/' is the
 * log's name. options: NULL for the defaults; copied. NULL with errno: EINVAL for invalid options, ENFILE
 * for more than 16 logs, ENOMEM. The first events create the files. Thread-safe; not for signal handlers.
 */
static inline struct kymo_log *kymo_log_open(const char *path, const struct kymo_log_options *options) {
  return kymo_log_open_(path, options, sizeof *options);
}
/* Writes the contents of the buffers of all threads and CPUs. Returns 0, or -1 with the errno of the first
 * failure. Thread-safe. */
int kymo_log_flush(struct kymo_log *log);
/*
 * Flushes and frees the log; no thread may use it any more. Returns 0 if all packets were written, or -1 with
 * the errno of the first one that could not be written. NULL is allowed. For logs that are still open when
 * the program exits, a line on standard error (kymo_console_redirect) reports how many packets could not be
 * written.
 */
int kymo_log_close(struct kymo_log *log);
/* Writes the packets of a log in memory, the oldest first, to files that begin with `path`. Threads may go
 * on writing events. Returns 0, or -1 with errno: EINVAL if the log is not in memory. */
int kymo_log_save(struct kymo_log *log, const char *path);
void kymo_log_count_(struct kymo_log *log, struct kymo_log_counts *counts, size_t size);
static inline void kymo_log_count(struct kymo_log *log, struct kymo_log_counts *counts) {
  kymo_log_count_(log, counts, sizeof *counts);
}

/* Writes one event of these bytes: all of them, or none and the event is lost. Returns the bytes stored, 0 if
 * the log is disabled, or -1 with errno. Async-signal-safe like kymo_bprintf. */
int kymo_log_write(struct kymo_log *log, const void *bytes, size_t size);
/* Writes one event of text, formatted as by printf; at most 4095 bytes. In a framed log it is marked as
 * text. */
int kymo_log_printf(struct kymo_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Writes a line for people to standard error (or to the file descriptor of kymo_console_redirect), at once
 * and never among data: "NAME: warning: …" with the program's name.
 */
void kymo_console_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void kymo_console_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void kymo_console_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void kymo_console_redirect(int descriptor);

/* Values that programs write into their own headers; they cost nothing unless called. */
/* The next number of the log: 0, 1, … and 0 again; frames use the same numbers. */
uint32_t kymo_log_next_number(struct kymo_log *log);
uint64_t kymo_now(void); /* nanoseconds since 1970 */
uint32_t kymo_thread_id(void);
uint32_t kymo_cpu(void); /* where this thread runs now */

/* ---- everything below serves the macros of kymo/bprintf.h ---- */

/* The buffer of a thread or CPU. */
struct kymo_thread_buffer_ {
  struct kymo_log *log; /* NULL: of none */
  uint32_t busy;        /* an event is in progress */
  uint32_t nested;      /* bytes of handlers' events, which follow it */
  unsigned char *at, *end;
};
struct kymo_log {
  const struct kymo_tracepoint *point; /* enabled: the log is on */
  uint32_t buffer;                     /* which buffer of the thread */
  uint32_t sequence;
  uint32_t frame; /* bytes of a frame's header, or 0 */
  size_t event_max;
};
#define KYMO_LOGS_MAX_ 16
extern __thread struct kymo_thread_buffer_ *kymo_thread_buffers_[KYMO_LOGS_MAX_]
    __attribute__((tls_model("initial-exec")));

/* Space for an event; NULL if there is none. */
struct kymo_bplace_ {
  unsigned char *at;
  struct kymo_thread_buffer_ *buffer;
  uint32_t slow; /* not 0: the event is ended by kymo_bcommit_slow_ */
};
struct kymo_bplace_ kymo_breserve_slow_(struct kymo_log *log, size_t size, uint32_t flags);
void kymo_bcommit_slow_(struct kymo_bplace_ place, unsigned char *end);
/* Copies the events of handlers after the event that they interrupted. */
void kymo_bnested_(struct kymo_thread_buffer_ *buffer);

#ifdef __cplusplus
}
#endif

#define KYMO_LOG_MERGED_ \
  2u /* in the header: frames of several files, each with the number of its file before the event */
#define KYMO_LOG_NEWEST_ 4u       /* … and: older events may have been overwritten before they were saved */
#define KYMO_LOG_HEADER_BYTES_ 64 /* at the begin of a file of a framed log */
/* Before an event of a framed log, at any offset in the file. */
#define KYMO_FRAME_MAGIC_ "\xf0\x9f\xa9\xba"
#define KYMO_FRAME_BYTES_ 12u
#define KYMO_FRAME_CUT_ 0x80000000u        /* in the length: it is truncated … */
#define KYMO_FRAME_TEXT_ 0x40000000u       /* … it is text … */
#define KYMO_FRAME_DEFINITION_ 0x20000000u /* … it is no event but a definition (kymo/define.h) … */
#define KYMO_FRAME_DEFINED_ \
  0x10000000u /* … it is an event of a definition, whose index precedes it in 2 bytes */
#define KYMO_FRAME_LENGTH_ 0x0fffffffu

#endif
