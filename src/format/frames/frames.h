/* SPDX-License-Identifier: MIT */
/*
 * Framed logs of binary printf (docs/bprintf.md) and what SystemTap leaves in bulk mode: files of events,
 * each after its sequence number and length, numbered across all files of a stream.
 *
 *   file ─► file.c     its header: byte order, stream, thread or CPU
 *             └─► window.c   its next frames by their numbers; damage, and how to continue after it
 *                   ├─► define.c  definitions of events in all files, once; events by them
 *                   └─► order.c   the next frame of all files; losses
 *                         └─► frames.c         rows in packets; opening, growing
 *                               └─ schema.c    their event classes
 */
#ifndef KYMO_FORMAT_FRAMES_FRAMES_H
#define KYMO_FORMAT_FRAMES_FRAMES_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/holes.h"
#include "schema/definition.h"
#include "source/block.h"
#include "source/map.h"
#include <kymo/schema.h>
#include <kymo/log.h>

enum { FRAMES_HEADER_BYTES = KYMO_LOG_HEADER_BYTES_, FRAMES_ID_BYTES = 16, FRAMES_SOURCE_BYTES = 4 };

/* ---- file.c ---- */

/* What a file begins with. */
struct frames_head {
  bool is_stap; /* without a header; numbers and lengths of 32 bits, no flags, zeroes may be between frames */
  bool is_bare; /* SystemTap's up to 4.8 at least: frames have no magic, and are adjacent */
  bool is_big, is_cpu;         /* is_cpu: `number` is that of a CPU, else of a thread */
  bool is_merged;              /* each event has a number of its own before it */
  bool is_newest;              /* older events may have been overwritten */
  uint8_t id[FRAMES_ID_BYTES]; /* equal in all files of the stream; SystemTap's: zeroes */
  uint32_t number, part, pid;
  uint64_t device, inode;
  uint64_t begun_ns, begin; /* since 1970; offset of the first frame */
  uint64_t defined_to;      /* definitions are before this offset */
  uint8_t bytes[FRAMES_HEADER_BYTES];
};

/* Bytes before the event of a frame; and the maximum for a bare file. */
#define FRAMES_BARE_MOST (UINT32_C(1) << 20)
static inline uint32_t kymo_frames_heading(const struct frames_head *head) {
  return head->is_bare ? 8 : KYMO_FRAME_BYTES_;
}

/* Reads the begin of a file. KYMO_OK, KYMO_E_UNKNOWN: it is not a file of frames; else the fault of its
 * header. */
int kymo_frames_head(struct frames_head *head, const char *path, struct kymo_error *error);
/* The stream's name, from the name of a file: without directory, part, thread or CPU. */
struct frames_name {
  const char *text;
  size_t length;
};
struct frames_name kymo_frames_name(const char *path, const struct frames_head *head);
/* Whether two files are of one stream. */
struct frames_file {
  char *path;
  struct frames_head head;
  uint64_t defined_to; /* definitions were read up to here */
};
bool kymo_frames_are_one(const struct frames_file *one, const struct frames_file *other);

/* ---- window.c ---- */

/* A frame: its number, extended beyond 32 bits; offset and length of its event; the CPU or thread. */
struct frames_entry {
  uint64_t number, offset;
  uint32_t size, flags, source;
};

/*
 * Within a file an event of a signal handler follows the one that it interrupted, whose number is higher; a
 * thread buffer has space for at most 341 of those. At least FRAMES_LEAST frames are read ahead, and more at
 * a time.
 */
enum { FRAMES_LEAST = 384, FRAMES_AHEAD = 768 };
/* Whether a frame with the number `to` may follow one with `from`: numbers of such frames rise by less than
 * 2^20, unless other threads write much meanwhile. */
bool kymo_frames_are_near(uint32_t from, uint32_t to);
struct frames_window {
  const struct frames_file *file;
  struct kymo_map map;
  struct kymo_holes holes; /* of a file that is not followed */
  const uint8_t *data;     /* of the file, from `begin` to `end` */
  uint64_t begin, end, size;
  uint64_t at; /* offset where the next frame is searched */
  uint64_t known_to,
      known_below; /* frames before that offset, with numbers below this, were delivered already */
  bool has_last;
  uint32_t last;        /* number of the frame that was looked at last */
  bool is_followed;     /* more may follow the end */
  bool is_gone;         /* no more follows: the file does not exist any more */
  bool has_definitions; /* they are delivered, before the next event of the file */
  uint64_t next;        /* number after that of the last event read; 0: none yet */
  bool is_broken;       /* the damage in `note` is after the frames that are here … */
  uint64_t resume;      /* … and there the next ones */
  struct {
    uint64_t offset, lost_bytes;
    char text[160];
  } note;
  uint64_t failed_at; /* the file cannot be read from there on … */
  char failure[160];  /* … for this reason, which is not reported yet; "": it can */
  uint32_t first, count;
  struct frames_entry entries[FRAMES_AHEAD];
};

/* The offset of the frame of an event. */
static inline uint64_t kymo_frames_begin(const struct frames_file *file, const struct frames_entry *entry) {
  return entry->offset - kymo_frames_heading(&file->head) - (file->head.is_merged ? FRAMES_SOURCE_BYTES : 0);
}
/* To be closed also after errors. */
int kymo_frames_window_open(struct frames_window *window, const struct frames_file *file,
                            struct kymo_error *error);
void kymo_frames_window_close(struct frames_window *window);
/* Drops a file that does not exist any more; it has no frames from now on. */
void kymo_frames_window_leave(struct frames_window *window);
/* Examines the file again, before frames are read: it may have grown, or been truncated. */
int kymo_frames_window_show(struct frames_window *window, struct kymo_error *error);
/* Reads more frames, if there are few; numbers are extended from `expected`. */
void kymo_frames_window_fill(struct frames_window *window, uint64_t expected);
/* The number of the first event from this offset on; false: there is no frame. */
bool kymo_frames_window_number(struct frames_window *window, uint64_t at, uint32_t *number);
/* The event of a frame, valid until the next call for the window. NULL: the file has been truncated. */
const uint8_t *kymo_frames_window_event(struct frames_window *window, const struct frames_entry *entry);
/* Continues after all reported damage. */
void kymo_frames_window_repair(struct frames_window *window);

static inline const struct frames_entry *kymo_frames_window_head(const struct frames_window *window) {
  return window->count ? &window->entries[window->first] : NULL;
}

/* ---- order.c ---- */

/* Several files in the order of their numbers. */
struct frames;
struct frames_order {
  const struct frames *frames;
  struct frames_window **windows;
  uint32_t count;             /* number of files: `show` adds those that were created since */
  uint32_t gone;              /* number of files that do not exist any more */
  uint32_t *heap, heap_count; /* of windows with frames, the lowest number on top */
  bool *is_queued;
  uint32_t window_capacity, heap_capacity, queued_capacity;
  bool has_begun; /* a frame was taken, or the first number is known: nothing is missing before it */
  bool has_base, has_looked; /* for the first number */
  bool is_at_start;   /* the stream's first number is known, and no frame was taken: an empty packet shows
                       * that, before a loss */
  uint64_t expected;  /* number of the next frame, if none is lost; extended from 2^32 on */
  uint64_t lost;      /* frames so far */
  uint64_t time_ns;   /* of the previous event, since 1970 */
  int64_t gap_ns;     /* when the pending gap was found, or 0 … */
  uint32_t gap_looks; /* … and the number of looks for files until then */
};

void kymo_frames_order_close(struct frames_order *order);
/* To be called before frames are read, and again whenever all frames have been delivered. */
int kymo_frames_order_show(struct frames_order *order, struct kymo_error *error);
/* The window with the next frame. KYMO_OK; KYMO_END, KYMO_AGAIN: none; FRAMES_DAMAGE: damage to be
 * reported. */
enum { FRAMES_DAMAGE = KYMO_E_FORMAT };
int kymo_frames_order_peek(struct frames_order *order, uint32_t *at);
/* Reports the damage, and continues after it. KYMO_E_FORMAT. */
int kymo_frames_order_report(struct frames_order *order, uint32_t at, uint64_t *lost_bytes,
                             struct kymo_error *error);
/* Whether frames are missing before the first one of that window; counts them as lost. */
bool kymo_frames_order_is_gap(const struct frames_order *order, uint32_t at);
void kymo_frames_order_pass(struct frames_order *order, uint32_t at);
void kymo_frames_order_take(struct frames_order *order, uint32_t at);

/* The position between two frames. */
struct frames_mark {
  uint64_t restart, at;
};
struct frames_place {
  struct frames_mark *marks;
  uint32_t count;
  bool has_begun, is_at_start;
  uint64_t expected, lost, time_ns;
};
/* False: out of memory, or a late frame is to be taken first. */
bool kymo_frames_place_take(struct frames_place *place, const struct frames_order *order);
/* Whether the position is before a frame at that offset. */
bool kymo_frames_place_is_before(const struct frames_place *place, const struct frames_order *order,
                                 uint32_t file, uint64_t offset);
/* NULL: to the beginning. */
int kymo_frames_place_restore(const struct frames_place *place, struct frames_order *order,
                              struct kymo_error *error);

/* ---- define.c ---- */

/* A definition, and the event class of its events: id, and index among those of the stream. */
struct frames_definition {
  struct kymo_event_definition *parsed;
  uint8_t *record;
  uint32_t size, class_index;
};
struct frames_definitions {
  struct frames_definition *list;
  uint32_t count, capacity;
  uint32_t *by_index; /* 2^16 positions in the list from 1 on; 0: none */
};

struct frames;
struct kymo_part;
/* Reads definitions in all files of the stream, from where it stopped before. Damage there is listed for the
 * trace. KYMO_OK, or the error that prevents reading. */
int kymo_frames_define(struct frames *frames, struct kymo_error *error);
/* The same while the stream is followed: its part is described again if there are more. */
int kymo_frames_define_more(struct frames *frames, struct kymo_part *part, struct kymo_error *error);
void kymo_frames_definitions_free(struct frames_definitions *definitions);
/* The maximum size of the row of an event of this size. */
size_t kymo_frames_defined_room(const struct frames_definition *definition, size_t size);
/* Stores the fields of an event after the head of its row; there is space. *time_ns becomes its time, if it
 * has one (*has_time). False: they do not fit its bytes. */
bool kymo_frames_defined_row(const struct frames_definition *definition, struct kymo_bytes *event,
                             struct kymo_block *block, uint64_t *time_ns, bool *has_time,
                             struct kymo_event_definition_fault *fault);
/* Whether a field of any definition is the time of its event. */
bool kymo_frames_define_time(const struct frames_definitions *definitions);

/* ---- schema.c ---- */

/* Event classes, by their ids. */
enum frames_class {
  FRAMES_BYTES,
  FRAMES_TEXT,
  FRAMES_CUT_BYTES,
  FRAMES_CUT_TEXT,
  FRAMES_DEFINITION,
  FRAMES_CLASSES
};

/* A stream. */
struct frames {
  struct kymo_trace *trace;
  struct frames_file **files;
  uint32_t count, capacity;
  uint32_t looks;   /* number of looks for new files */
  bool all_classes; /* definitions are delivered too */
  bool has_time;    /* some events have a time: the first time field of their definition */
  struct frames_definitions definitions;
};

static inline const struct frames_definition *kymo_frames_definition(const struct frames *frames,
                                                                     uint16_t index) {
  uint32_t place = frames->definitions.by_index ? frames->definitions.by_index[index] : 0;
  return place ? &frames->definitions.list[place - 1] : NULL;
}

/* The event classes of a stream, for the caller to release. NULL with `error`. */
struct kymo_schema *kymo_frames_schema(const struct frames *frames, struct kymo_error *error);

#endif
