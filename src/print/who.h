/* SPDX-License-Identifier: MIT */
/*
 * The writer of an event: thread id and name, and the processor. Tracers keep them in the packet context
 * (kymo, whose streams belong to one thread at a time) or in the common context (LTTng), under the names
 * below. The fields of the packet are read once per packet.
 *
 *   thread id   tid, vtid
 *   name        thread_name, procname, comm
 *   processor   cpu_id, cpu
 */
#ifndef KYMO_PRINT_WHO_H
#define KYMO_PRINT_WHO_H

#include "base/likely.h"
#include "decode/decoder.h"
#include "decode/load.h"
#include "print/number.h"
#include "print/out.h"
#include <string.h>

#define KYMO_WHO_NAME 32

struct kymo_who {
  uint64_t version;     /* changes whenever something changed; never 0 */
  uint16_t slot, slots; /* of the writers that a stream keeps, where this one is; and how many it keeps */
  bool has_tid, has_cpu;
  int64_t tid;
  uint64_t cpu;
  uint32_t name_length;     /* 0: none */
  char name[KYMO_WHO_NAME]; /* cut to fit; bytes of the trace, not checked */
};

/* The places of these in a scope, or NULL; and as member indices, or UINT32_MAX. */
struct kymo_who_places {
  const struct kymo_node *tid, *name, *cpu;
  uint32_t tid_index, name_index, cpu_index;
};

/* True for a member of the scope that is one of these. */
static inline bool kymo_who_says(const struct kymo_who_places *places, uint32_t index) {
  return index == places->tid_index || index == places->name_index || index == places->cpu_index;
}

/* The same as a filter of script.h; `places` are struct kymo_who_places. */
static inline bool kymo_who_leaves_out(const void *places, uint32_t index) {
  return kymo_who_says(places, index);
}

/* The number of members of a scope that are not one of these; `places` NULL: all. */
static inline uint32_t kymo_who_rest(const struct kymo_who_places *places, const struct kymo_type *scope) {
  uint32_t count = 0;
  for (uint32_t i = 0; scope && i < scope->member_count; i++)
    count += !places || !kymo_who_says(places, i);
  return count;
}

#define KYMO_WHO_SPAN 64
#define KYMO_WHO_SLOTS 32 /* a power of two */

/* A number or name at a constant distance after the event header. */
struct kymo_who_field {
  uint32_t at;  /* bytes */
  uint8_t bits; /* of a number; 0: there is none */
  uint8_t most; /* bytes of a name */
  bool is_signed, is_big;
};

struct kymo_who_class {
  bool is_set, common_says;
  struct kymo_who_places packet, common;
  /* If all of it is in bytes at constant offsets after the event header: these bytes. While they are
   * unchanged, nothing is read. */
  uint32_t span_begin, span_size;
  struct kymo_who_field tid, cpu, name; /* in the span */
};

/* A writer, and the words after the event header that name it. */
struct kymo_who_slot {
  uint64_t span[KYMO_WHO_SPAN / 8];
  struct kymo_who who; /* version 0: none yet */
};

struct kymo_who_stream {
  struct kymo_packet_key packet;           /* which `of_packet` is from */
  const struct kymo_stream_class *class_;  /* of the slots; NULL: they must be read for each event … */
  uint32_t span_begin, span_words;         /* … or if these words after the event header differ … */
  uint64_t last_mask;                      /* … the last one in these bits; … */
  uint32_t choosers[2];                    /* … two bytes after the event header choose a slot, … */
  uint32_t choice, slot_mask;              /* … multiplied by 1 and by this, in these bits */
  const struct kymo_stream_class *entered; /* of the packet; NULL: none yet */
  struct kymo_who of_packet;
  struct kymo_who_slot *slots;
};

struct kymo_whos {
  struct kymo_arena arena;
  struct kymo_numbers numbers;
  struct kymo_who_class **classes;  /* by part and stream class index */
  struct kymo_who_stream **streams; /* by stream number */
  uint64_t version;
};

int kymo_whos_begin(struct kymo_whos *whos, const struct kymo_trace *trace, struct kymo_error *error);
void kymo_whos_end(struct kymo_whos *whos);
/* The same by reading it. */
const struct kymo_who *kymo_who_read(struct kymo_whos *whos, const struct kymo_event *event);

/* Whether the words that name the writer are those of the slot. */
static inline bool kymo_who_is_same(const struct kymo_who_stream *stream, const struct kymo_who_slot *slot,
                                    const uint8_t *body) {
  const uint8_t *from = body + stream->span_begin;
  uint32_t last = stream->span_words - 1;
  uint64_t differs = (kymo_load_le64(from + 8 * last) ^ slot->span[last]) & stream->last_mask;
  for (uint32_t i = 0; i < last; i++)
    differs |= kymo_load_le64(from + 8 * i) ^ slot->span[i];
  return differs == 0;
}

/* The slot that an event's writer has, or would have. */
static inline struct kymo_who_slot *kymo_who_slot_of(const struct kymo_who_stream *stream,
                                                     const uint8_t *body) {
  uint32_t choice = body[stream->choosers[0]] + body[stream->choosers[1]] * stream->choice;
  return &stream->slots[choice & stream->slot_mask];
}

/* The writer of the event; valid until the stream's next event. NULL: out of memory. */
static inline const struct kymo_who *kymo_who_of(struct kymo_whos *whos, const struct kymo_event *event) {
  const struct kymo_who_stream *stream = whos->streams[event->packet->stream->number];
  if (KYMO_LIKELY(stream && stream->class_ == event->class_->stream) &&
      KYMO_LIKELY(kymo_packet_key_is(&stream->packet, event->packet))) {
    const uint8_t *body = event->packet->data + kymo_body_bits(event) / 8;
    const struct kymo_who_slot *slot = kymo_who_slot_of(stream, body);
    if (KYMO_LIKELY(slot->who.version) && kymo_who_is_same(stream, slot, body))
      return &slot->who;
  }
  return kymo_who_read(whos, event);
}
/* Whether all events of the packet have the writer that kymo_who_of has returned for this one. */
static inline bool kymo_who_is_of_packet(const struct kymo_whos *whos, const struct kymo_event *event) {
  return !whos->classes[event->packet->stream->part->index][event->class_->stream->index].common_says;
}
/* A writer as a sink prints it: at most 64 + 1 + 32 + 1 + 20 + 1 + 20 bytes. */
struct kymo_who_view {
  uint64_t version; /* of the struct kymo_who */
  uint32_t length;
  char text[144 + KYMO_PIECE_SLACK];
};

/* Those of a stream; all zero at first. */
struct kymo_who_views {
  struct kymo_who_view *views;
  uint32_t count;
};

/* The view of a writer, to be filled if it has another version. NULL: out of memory. */
static inline struct kymo_who_view *kymo_who_view_of(struct kymo_who_views *views, struct kymo_arena *arena,
                                                     const struct kymo_who *who) {
  if (KYMO_UNLIKELY(who->slot >= views->count)) {
    views->views = kymo_arena_array(arena, who->slots, sizeof *views->views);
    views->count = views->views ? who->slots : 0;
  }
  return views->views ? &views->views[who->slot] : NULL;
}

/* The fields of it in the common context of the event's stream class. */
const struct kymo_who_places *kymo_who_common(struct kymo_whos *whos, const struct kymo_event *event);

/* The process of an event, from its contexts (vpid, pid); false: they do not say it. For rare calls: fields
 * are found by their names. */
bool kymo_who_process(struct kymo_trace *trace, const struct kymo_event *event, int64_t *process);

/* The host on which a part was recorded, from its environment, or NULL. */
const char *kymo_host_of(const struct kymo_part *part);
/* Whether the parts of a trace come from hosts of different names. */
bool kymo_has_many_hosts(const struct kymo_trace *trace);

#endif
