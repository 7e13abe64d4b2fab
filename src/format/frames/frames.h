/* SPDX-License-Identifier: MIT */
/*
 * Framed streams of binary printf (docs/bprintf.md) and what SystemTap leaves in bulk mode: files of events,
 * each behind its sequence number and length, numbered through all files of a stream.
 *
 *   file ─► file.c     what it begins with: order of bytes, which stream, thread or CPU
 *             └─► window.c   its next frames by their numbers; damage, and the way behind it
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
#include <kymo/stream.h>

enum { FRAMES_HEADER_BYTES = KYMO_STREAM_HEADER_BYTES_, FRAMES_ID_BYTES = 16, FRAMES_SOURCE_BYTES = 4 };

/* ---- file.c ---- */

/* What a file begins with. */
struct frames_head {
  bool is_stap; /* without a header; numbers and lengths of 32 bits, no flags, zeroes may stand between
                * frames */
  bool is_bare; /* SystemTap's up to 4.8 at least: frames have no magic, and nothing stands between them */
  bool is_big, is_cpu;         /* is_cpu: `number` is that of a CPU, else of a thread */
  bool is_merged;              /* each event has a number of its own in front of it */
  bool is_newest;              /* older events may have been overwritten */
  uint8_t id[FRAMES_ID_BYTES]; /* what all files of the stream have in common; SystemTap's: zeroes */
  uint32_t number, part, pid;
  uint64_t device, inode;
  uint64_t begun_ns, begin; /* since 1970; where the first frame stands */
  uint64_t defined_to;      /* definitions stand in front of that */
  uint8_t bytes[FRAMES_HEADER_BYTES];
};

/* How many bytes stand before the event of a frame; and the most that one of a bare file has. */
#define FRAMES_BARE_MOST (UINT32_C(1) << 20)
static inline uint32_t kymo_frames_heading(const struct frames_head *head) {
  return head->is_bare ? 8 : KYMO_FRAME_BYTES_;
}

/* Reads the beginning of a file. KYMO_OK, KYMO_E_UNKNOWN: it is no file of frames; else what is wrong with
 * its header. */
int kymo_frames_head(struct frames_head *head, const char *path, struct kymo_error *error);
/* The stream's name, from that of a file: without directory, part, thread or CPU. */
struct frames_name {
  const char *text;
  size_t length;
};
struct frames_name kymo_frames_name(const char *path, const struct frames_head *head);
/* Whether two files are of one stream. */
struct frames_file {
  char *path;
  struct frames_head head;
  uint64_t defined_to; /* so far it was looked for definitions */
};
bool kymo_frames_are_one(const struct frames_file *one, const struct frames_file *other);

/* ---- window.c ---- */

/* A frame: its number, continued beyond 32 bits; where its event stands, and how long it is; whose it is, a
 * CPU's or thread's. */
struct frames_entry {
  uint64_t number, offset;
  uint32_t size, flags, source;
};

/*
 * Within a file an event of a signal handler stands behind the one that it interrupted, whose number is
 * higher; a lane has room for 341 of those at most. So many frames are looked at ahead, and more at a time.
 */
enum { FRAMES_LEAST = 384, FRAMES_AHEAD = 768 };
/* Whether a frame with the number `to` may stand behind one with `from`: numbers of such frames rise by less
 * than 2^20, unless others write much meanwhile. */
bool kymo_frames_are_near(uint32_t from, uint32_t to);
struct frames_window {
  const struct frames_file *file;
  struct kymo_map map;
  struct kymo_holes holes; /* of a file that is not followed */
  const uint8_t *data;     /* of the file, from `begin` to `end` */
  uint64_t begin, end, size;
  uint64_t at; /* where the next frame is looked for */
  uint64_t known_to,
      known_below; /* frames in front of that place, of numbers below that, were delivered already */
  bool has_last;
  uint32_t last;        /* number of the frame that was looked at last */
  bool is_followed;     /* more may come behind the end */
  bool is_gone;         /* nothing comes any more: the file is not there */
  bool has_definitions; /* they are wanted, in front of the next event of the file */
  uint64_t next;        /* number behind that of the last event read; 0: none yet */
  bool is_broken;       /* what is told by `note` stands behind the frames that are here … */
  uint64_t resume;      /* … and there the next ones */
  struct {
    uint64_t offset, lost_bytes;
    char text[160];
  } note;
  uint32_t first, count;
  struct frames_entry entries[FRAMES_AHEAD];
};

/* Where the frame of an event begins. */
static inline uint64_t kymo_frames_begin(const struct frames_file *file, const struct frames_entry *entry) {
  return entry->offset - kymo_frames_heading(&file->head) - (file->head.is_merged ? FRAMES_SOURCE_BYTES : 0);
}
/* To be closed even after errors. */
int kymo_frames_window_open(struct frames_window *window, const struct frames_file *file,
                            struct kymo_error *error);
void kymo_frames_window_close(struct frames_window *window);
/* Gives up a file that is not there any more; it has no frames from now on. */
void kymo_frames_window_leave(struct frames_window *window);
/* Looks at the file again, before frames are asked for: it may have grown, or been cut. */
int kymo_frames_window_show(struct frames_window *window, struct kymo_error *error);
/* Looks at more frames, if there are few; numbers are continued from `expected`. */
void kymo_frames_window_fill(struct frames_window *window, uint64_t expected);
/* That of the first event from this place on; false: no frame stands there. */
bool kymo_frames_window_number(struct frames_window *window, uint64_t at, uint32_t *number);
/* The event of a frame, valid until anything else is asked of the window. NULL: the file has been cut. */
const uint8_t *kymo_frames_window_event(struct frames_window *window, const struct frames_entry *entry);
/* Begins anew, behind everything that was told of. */
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
  uint32_t count;             /* of files: those that came since are taken in by `show` */
  uint32_t gone;              /* of them: they are not there any more */
  uint32_t *heap, heap_count; /* of windows that have something, the first one on top */
  bool *is_queued;
  bool has_begun; /* a frame was taken, or the first one's number is known: before it, nothing is missed */
  bool has_base, has_looked; /* for the first number */
  bool is_at_start;   /* the stream's first number is known, and none was taken: an empty packet tells that,
                    * before a loss */
  uint64_t expected;  /* number of the next frame, if none is lost; continued from 2^32 on */
  uint64_t lost;      /* frames so far */
  uint64_t time_ns;   /* of the event before, since 1970 */
  int64_t gap_ns;     /* when the gap that is waited at was met, or 0 … */
  uint32_t gap_looks; /* … and how often it had been looked for files then */
};

void kymo_frames_order_close(struct frames_order *order);
/* To be called before frames are asked for, and again whenever the caller has given out what he had. */
int kymo_frames_order_show(struct frames_order *order, struct kymo_error *error);
/* Which window's head comes next. KYMO_OK; KYMO_END, KYMO_AGAIN: none; FRAMES_DAMAGE: damage, which is to be
 * told. */
enum { FRAMES_DAMAGE = KYMO_E_FORMAT };
int kymo_frames_order_peek(struct frames_order *order, uint32_t *at);
/* Tells the damage, and gets behind it. KYMO_E_FORMAT. */
int kymo_frames_order_tell(struct frames_order *order, uint32_t at, uint64_t *lost_bytes,
                           struct kymo_error *error);
/* Whether frames are missing in front of that window's head; counts them as lost. */
bool kymo_frames_order_is_gap(const struct frames_order *order, uint32_t at);
void kymo_frames_order_pass(struct frames_order *order, uint32_t at);
void kymo_frames_order_take(struct frames_order *order, uint32_t at);

/* How things were between two frames. */
struct frames_mark {
  uint64_t restart, at;
};
struct frames_place {
  struct frames_mark *marks;
  uint32_t count;
  bool has_begun, is_at_start;
  uint64_t expected, lost, time_ns;
};
/* False: out of memory, or a frame that came too late is to be taken first. */
bool kymo_frames_place_take(struct frames_place *place, const struct frames_order *order);
/* Whether things were so before a frame that stands there was taken. */
bool kymo_frames_place_is_before(const struct frames_place *place, const struct frames_order *order,
                                 uint32_t file, uint64_t offset);
/* NULL: to the beginning. */
int kymo_frames_place_restore(const struct frames_place *place, struct frames_order *order,
                              struct kymo_error *error);

/* ---- define.c ---- */

/* A definition, and the event class of its events: id, and index among those of the stream. */
struct frames_definition {
  struct kymo_definition *parsed;
  uint8_t *record;
  uint32_t size, class_index;
};
struct frames_definitions {
  struct frames_definition *list;
  uint32_t count, capacity;
  uint32_t *by_index; /* 2^16 places in the list from 1 on; 0: none */
};

struct frames;
struct kymo_part;
/* Looks for definitions in all files of the stream, from where it has looked before. What is damaged there is
 * told of the trace. KYMO_OK, or what prevents reading. */
int kymo_frames_define(struct frames *frames, struct kymo_error *error);
/* The same while the stream is followed: its part is described anew if there are more. */
int kymo_frames_define_more(struct frames *frames, struct kymo_part *part, struct kymo_error *error);
void kymo_frames_definitions_free(struct frames_definitions *definitions);
/* The most that the row of an event of so many bytes takes. */
size_t kymo_frames_defined_room(const struct frames_definition *definition, size_t size);
/* Lays the fields of an event down, behind the head of its row; there is room. *time_ns becomes its time, if
 * it has one (*has_time). False: they do not fit its bytes. */
bool kymo_frames_defined_row(const struct frames_definition *definition, struct kymo_bytes *event,
                             struct kymo_block *block, uint64_t *time_ns, bool *has_time,
                             struct kymo_definition_fault *fault);
/* Whether a field of any definition tells when its event was. */
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
  uint32_t looks;   /* how often it was looked for new files */
  bool all_classes; /* definitions are delivered too */
  bool has_time;    /* some events have a time: that of their definition's first such field */
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
