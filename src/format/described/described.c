/* SPDX-License-Identifier: MIT */
/*
 * Files that a description describes. Its machine decodes record by record; records to be delivered are
 * stored as rows of the description's event classes, several in a packet, so that other code sees only
 * packets:
 *
 *   file ─► machine (key/) ─► record ─► row (rows.c) ─┐
 *              │                            row, row, row ◄──────┘─► packet
 *              └─► damage: the packet ends before it; losses: the next packet's counter contains them
 *
 * Several files that are merged by sequence are one stream: each has its machine, and heads.c takes the next
 * record of all. Rows of a file that is sorted WITHIN a margin wait in order.c until they are in order.
 */
#include "format/described/described.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/glob.h"
#include "base/hash.h"
#include "base/list.h"
#include "format/described/installed.h"
#include "format/formats.h"
#include "source/format.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SNAPSHOTS_MAX 256
/* Limit of the bytes of waiting rows in all snapshots. */
#define HELD_MAX ((size_t)64 << 20)

struct kymo_cursor {
  struct described *described;
  struct described_heads heads;
  struct kymo_plan_machine *machine; /* whose record came last */
  struct kymo_block packet;
  struct kymo_event_offset *event_offsets; /* of the rows in the packet, and of the cut one */
  uint32_t offset_count, offset_capacity;
  size_t cut; /* rows after this offset belong to the next packet */
  struct file_place {
    uint32_t file;
    uint64_t offset;
  } begin, late;               /* position of the first row, and of the cut one */
  uint64_t discarded;          /* records lost so far */
  bool has_begun;              /* there was a first packet of rows that have waited */
  bool has_packet, is_pending; /* pending: the machine has a record whose notes come first */
  bool is_odd_reported;        /* … including faults found while it was stored */
  uint32_t next_note;
  bool is_segment, is_segment_next; /* the packet begins a segment; the next one will */
  struct described_fast *fast;      /* of `fast_kind`, or NULL */
  uint32_t fast_kind;
  struct described_order order;
  struct described_search search;
  struct kymo_block row;                  /* the row that is about to wait */
  const struct kymo_prefilter *prefilter; /* or NULL */
  uint64_t packets, interval;             /* snapshots are taken at this interval of packets */
  bool is_timed;                          /* no row so far is later than this */
  uint64_t latest_cycles;
  struct described_place *places; /* positions before some of the packets */
  size_t place_count;
  bool has_failed; /* a file cannot be mapped any more: the stream ends */
};

/* ---- packets ---- */

static size_t head_bytes(const struct kymo_cursor *cursor) {
  return cursor->described->counts_losses ? 8 : 0;
}

static bool has_rows(const struct kymo_cursor *cursor) {
  return cursor->has_packet && kymo_block_used(&cursor->packet) > head_bytes(cursor);
}

/* Packets are identified by the offsets of their first records, which must ascend. Those in one container
 * have its offset, so each later one gets the next. */
static void set_begin(struct kymo_cursor *cursor, struct file_place place) {
  struct described_head *head = &cursor->heads.list[place.file];
  if (cursor->described->has_boxes) {
    place.offset = place.offset < head->least ? head->least : place.offset;
    head->least = place.offset + 1;
  }
  cursor->begin = place;
}

static void begin_packet(struct kymo_cursor *cursor) {
  struct kymo_block *packet = &cursor->packet;
  size_t late = kymo_block_used(packet) - cursor->cut, from = cursor->cut;
  size_t head = head_bytes(cursor);
  cursor->is_segment = cursor->is_segment_next || (cursor->is_segment && !has_rows(cursor));
  cursor->is_segment_next = false;
  kymo_block_clear(packet);
  if (!cursor->has_packet || from == 0)
    late = 0;
  if (late) {
    memmove(packet->bytes + head, packet->bytes + from, late);
    set_begin(cursor, cursor->late);
    cursor->event_offsets[0] = cursor->event_offsets[cursor->offset_count - 1];
    cursor->event_offsets[0].at = (uint32_t)head;
  }
  cursor->offset_count = late != 0;
  if (head)
    kymo_block_number(packet, cursor->discarded, head);
  packet->at = packet->bytes + head + late;
  cursor->cut = 0;
  cursor->has_packet = true;
}

static bool is_delivered(const struct kymo_cursor *cursor) {
  const struct kymo_plan_kind *kind = &cursor->described->plan->kinds[cursor->machine->kind];
  return kind->class_ == KYMO_CLASS_EVENT || cursor->described->all_classes;
}

/* Space for the position of one more row, or NULL. */
static struct kymo_event_offset *next_event_offset(struct kymo_cursor *cursor) {
  return KYMO_LIST_ROOM(cursor->event_offsets, cursor->offset_capacity, cursor->offset_count)
             ? &cursor->event_offsets[cursor->offset_count]
             : NULL;
}

static struct file_place here(const struct kymo_cursor *cursor) {
  return (struct file_place){cursor->heads.at, kymo_plan_record_place(cursor->machine).offset};
}

static const char *path_of(const struct kymo_cursor *cursor, uint32_t file) {
  return cursor->described->files[file].path;
}

/* Adds the machine's record. KYMO_OK: go on; KYMO_END: the packet is full, and this row is the first of the
 * next one. */
static int add_row(struct kymo_cursor *cursor, struct kymo_error *error) {
  struct kymo_block *packet = &cursor->packet;
  size_t used = kymo_block_used(packet);
  bool is_first = !has_rows(cursor);
  uint32_t notes = cursor->machine->note_count;
  if (!is_delivered(cursor))
    return KYMO_OK;
  struct kymo_event_offset *event_offset = next_event_offset(cursor);
  if (!event_offset || !kymo_described_row(cursor->described, cursor->machine, packet, event_offset))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (cursor->machine->note_count > notes &&
      !cursor->is_odd_reported) { /* the row comes after the report of its fault */
    packet->at = packet->bytes + used;
    cursor->is_pending = cursor->is_odd_reported = true;
    return KYMO_AGAIN;
  }
  cursor->machine->note_count = notes;
  cursor->latest_cycles =
      event_offset->cycles > cursor->latest_cycles ? event_offset->cycles : cursor->latest_cycles;
  cursor->offset_count++;
  if (is_first) {
    set_begin(cursor, here(cursor));
    return cursor->machine->note_count ? KYMO_AGAIN : KYMO_OK;
  }
  if (kymo_block_used(packet) <= KYMO_BLOCK_BYTES)
    return cursor->machine->note_count ? KYMO_AGAIN : KYMO_OK;
  cursor->cut = used;
  cursor->late = here(cursor);
  return KYMO_END;
}

/* The fast path does not check times against a promised order. */
static bool can_have_fast_paths(const struct kymo_cursor *cursor) {
  return cursor->heads.count == 1 && cursor->described->plan->root->sorted == KYMO_SORTED_NO;
}

/* Adds rows as long as the fast path can decode them. Results as those of add_row. */
static int add_fast_rows(struct kymo_cursor *cursor, struct kymo_error *error) {
  uint32_t kind = kymo_fast_path_kind(cursor->machine);
  if (kind != cursor->fast_kind) {
    kymo_described_fast_free(cursor->fast);
    cursor->fast =
        kind == KYMO_PLAN_NONE ? NULL : kymo_described_fast_new(cursor->described, kind, cursor->prefilter);
    cursor->fast_kind = kind;
  }
  for (int status = 1; cursor->fast && status > 0;) {
    struct kymo_event_offset *event_offset = next_event_offset(cursor);
    uint32_t count = cursor->offset_capacity - cursor->offset_count;
    bool is_first = cursor->offset_count == 0;
    uint64_t first = cursor->machine->state.frames[cursor->machine->state.depth - 1].at;
    status = event_offset ? kymo_described_fast_rows(cursor->fast, cursor->machine, &cursor->packet,
                                                     event_offset, &count)
                          : KYMO_E_MEMORY;
    if (status < 0)
      return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
    cursor->is_timed &= count == 0;
    if (is_first && count)
      set_begin(cursor, (struct file_place){cursor->heads.at, first});
    cursor->offset_count += count;
    if (count && cursor->offset_count > 1 && kymo_block_used(&cursor->packet) > KYMO_BLOCK_BYTES) {
      cursor->cut = event_offset[count - 1].at;
      cursor->late = here(cursor);
      return KYMO_END;
    }
  }
  return KYMO_OK;
}

/* The notes to report, and how many were reported. */
struct notes {
  const struct kymo_plan_note *list;
  uint32_t count, *next;
};

/* The next note of a record: a loss is counted, damage is an error. KYMO_OK: there are no more. */
static int report_notes(struct kymo_cursor *cursor, struct notes notes, struct kymo_chunk *chunk,
                        struct kymo_error *error) {
  while (*notes.next < notes.count) {
    const struct kymo_plan_note *note = &notes.list[(*notes.next)++];
    if (note->kind == KYMO_NOTE_LOSS) {
      cursor->discarded += note->count;
      continue;
    }
    char text[KYMO_PLAN_NOTE_BYTES];
    kymo_plan_note_text(note, text);
    chunk->lost_bytes = note->bytes_lost;
    return kymo_fail_at(error, KYMO_E_FORMAT, path_of(cursor, cursor->heads.at), note->offset, "%s", text);
  }
  return KYMO_OK;
}

/* ---- snapshots ---- */

static void drop_places(struct kymo_cursor *cursor) {
  size_t kept = 0;
  for (size_t i = 0; i < cursor->place_count; i++) {
    if (i % 2 == 0)
      cursor->places[kept++] = cursor->places[i];
    else
      kymo_described_place_free(&cursor->places[i], &cursor->heads, cursor->heads.count);
  }
  cursor->place_count = kept;
  cursor->interval *= 2;
}

/* The row after the packet, of the machine's last record, is a part of the position. False: out of memory. */
static bool take_row(struct described_place *place, const struct kymo_cursor *cursor) {
  size_t size = cursor->cut ? kymo_block_used(&cursor->packet) - cursor->cut : 0;
  place->row = size ? malloc(size) : NULL;
  if (!place->row)
    return size == 0;
  memcpy(place->row, cursor->packet.bytes + cursor->cut, size);
  place->row_size = size;
  place->event_offset = cursor->event_offsets[cursor->offset_count - 1];
  place->row_file = cursor->late.file;
  place->row_offset = cursor->late.offset;
  return true;
}

/* Bytes of rows in all positions. */
static size_t held_bytes(const struct kymo_cursor *cursor) {
  size_t bytes = 0;
  for (size_t i = 0; i < cursor->place_count; i++)
    bytes += cursor->places[i].order.bytes +
             cursor->places[i].order.count * sizeof *cursor->places[i].order.heap +
             (cursor->places[i].row ? cursor->places[i].row_size : 0);
  return bytes;
}

/* Stores the position before a packet. Only while reading new parts, and where jumps are impossible. The part
 * of a row that the prefilter left is not enough. */
static void remember(struct kymo_cursor *cursor) {
  size_t most = SNAPSHOTS_MAX / cursor->heads.count + 2;
  if (cursor->search.at != UINT64_MAX || cursor->packets++ % cursor->interval != 0 || cursor->is_pending ||
      (cursor->cut && cursor->prefilter) ||
      (cursor->place_count &&
       !kymo_described_heads_is_ahead(&cursor->heads, &cursor->places[cursor->place_count - 1],
                                      cursor->described->has_boxes && !cursor->order.is_wanted)))
    return;
  if (!cursor->places)
    cursor->places = calloc(most, sizeof *cursor->places);
  if (!cursor->places)
    return;
  if (cursor->place_count == most)
    drop_places(cursor);
  struct described_place *place = &cursor->places[cursor->place_count];
  if (!kymo_described_place_take(place, &cursor->heads, &cursor->order))
    return;
  if (!take_row(place, cursor)) {
    kymo_described_place_free(place, &cursor->heads, cursor->heads.count);
    return;
  }
  place->discarded = cursor->discarded;
  place->packet = cursor->begin.offset;
  place->has_begun = cursor->has_begun;
  place->is_timed = cursor->is_timed;
  place->latest_cycles = cursor->latest_cycles;
  cursor->place_count++;
  while (cursor->place_count > 1 && held_bytes(cursor) > HELD_MAX)
    drop_places(cursor);
}

/* ---- from packet to packet ---- */

/* Whether a record is a SEGMENT record, or a loss precedes it. */
static bool begins_segment(const struct kymo_cursor *cursor, int status) {
  const struct kymo_plan_machine *machine = cursor->machine;
  bool begins =
      status == KYMO_OK && cursor->described->plan->kinds[machine->kind].class_ == KYMO_CLASS_SEGMENT;
  for (uint32_t i = 0; i < machine->note_count; i++)
    begins |= machine->notes[i].kind == KYMO_NOTE_LOSS || machine->notes[i].bytes_lost > 0;
  return begins;
}

/* ---- packets of rows that have waited ---- */

/* Decodes a record and lets its row wait, with the notes before it. KYMO_OK, KYMO_E_MEMORY. */
static int decode_for_later(struct kymo_cursor *cursor, struct kymo_error *error) {
  struct kymo_plan_machine *machine = cursor->machine;
  struct described_held held = {.offset = UINT64_MAX};
  int status = kymo_described_heads_next(&cursor->heads);
  cursor->order.is_at_end = status == KYMO_END;
  held.begins_segment = begins_segment(cursor, status);
  held.has_row = status == KYMO_OK && is_delivered(cursor);
  held.time_ns = status == KYMO_OK           ? kymo_described_time(machine)
                 : machine->state.has_latest ? machine->state.latest_ns
                                             : INT64_MIN;
  if (status == KYMO_E_MEMORY || !kymo_block_reserve(&cursor->row, KYMO_BLOCK_BYTES))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  kymo_block_clear(&cursor->row);
  if (held.has_row && machine->note_count == 0 && kymo_described_order_is_late(&cursor->order, held.time_ns))
    kymo_plan_note_damage(
        machine, 6, machine->start, 0,
        "more records than a window holds between those that SORTED allows to be out of order");
  if (held.has_row && !kymo_described_row(cursor->described, machine, &cursor->row, &held.event_offset))
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (!held.has_row && !held.begins_segment && machine->note_count == 0)
    return KYMO_OK;
  held.bytes = cursor->row.bytes;
  held.size = kymo_block_used(&cursor->row);
  held.offset = kymo_plan_record_place(machine).offset;
  bool ok = kymo_described_order_add(&cursor->order, &held, machine);
  return ok ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

/* Adds the row that has waited. False: out of memory. */
static bool add_held(struct kymo_cursor *cursor, const struct described_held *held) {
  struct kymo_block *packet = &cursor->packet;
  uint64_t least = cursor->begin.offset + 1;
  bool is_first = !has_rows(cursor);
  struct kymo_event_offset *event_offset = next_event_offset(cursor);
  if (!event_offset || !kymo_block_reserve(packet, held->size))
    return false;
  if (is_first) /* packets are identified by their offsets, which must ascend */
    cursor->begin.offset = held->offset > least || !cursor->has_begun ? held->offset : least;
  cursor->has_begun = true;
  *event_offset = held->event_offset;
  event_offset->at = (uint32_t)kymo_block_used(packet);
  memcpy(packet->at, held->bytes, held->size);
  packet->at += held->size;
  cursor->offset_count++;
  return true;
}

/* Rows in time order, up to a full packet, the begin of a segment, damage or a loss. */
static int fill_in_order(struct kymo_cursor *cursor, struct kymo_chunk *chunk, struct kymo_error *error) {
  struct described_order *order = &cursor->order;
  for (;;) {
    struct described_held *first;
    while (!(first = kymo_described_order_first(order, cursor->machine)) && !order->is_at_end)
      if (decode_for_later(cursor, error) != KYMO_OK)
        return KYMO_E_MEMORY;
    bool begins = first && (first->begins_segment || first->next_note < first->note_count);
    bool is_full = first && has_rows(cursor) && kymo_block_is_full(&cursor->packet, first->size);
    if (!first || is_full || (begins && has_rows(cursor)))
      return has_rows(cursor) ? KYMO_OK : KYMO_END;
    cursor->is_segment |= first->begins_segment;
    first->begins_segment = false;
    int status = report_notes(cursor, (struct notes){first->notes, first->note_count, &first->next_note},
                              chunk, error);
    if (status != KYMO_OK)
      return status;
    if (begins)
      begin_packet(cursor); /* which contains the number of lost ones */
    if (first->has_row && !add_held(cursor, first))
      return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
    kymo_described_order_drop(order);
  }
}

/* ---- packets in the order of files ---- */

/* Records up to a full packet, the begin of a segment, damage or a loss. */
static int fill(struct kymo_cursor *cursor, struct kymo_chunk *chunk, struct kymo_error *error) {
  struct notes notes = {cursor->machine->notes, cursor->machine->note_count, &cursor->next_note};
  int status = cursor->order.is_wanted ? KYMO_OK : report_notes(cursor, notes, chunk, error);
  if (status != KYMO_OK)
    return status;
  if (!cursor->is_pending)
    remember(cursor);
  begin_packet(cursor);
  if (cursor->order.is_wanted)
    return fill_in_order(cursor, chunk, error);
  if (cursor->is_pending) {
    cursor->is_pending = false;
    cursor->machine->note_count = 0;
    if ((status = add_row(cursor, error)) < 0)
      return status;
    cursor->next_note = 0;
  }
  while (status == KYMO_OK) {
    if (kymo_described_search_is_boundary(&cursor->search, cursor->machine)) {
      if (has_rows(cursor))
        return KYMO_OK;
      kymo_described_search_pass(&cursor->search, cursor->machine);
    }
    if (can_have_fast_paths(cursor) && (status = add_fast_rows(cursor, error)) != KYMO_OK)
      break;
    status = kymo_described_heads_next(&cursor->heads);
    cursor->machine = cursor->heads.list[cursor->heads.at].machine;
    if (status == KYMO_OK)
      kymo_described_search_note(&cursor->search, cursor->machine);
    cursor->is_odd_reported = false;
    cursor->next_note = 0;
    cursor->is_segment_next = begins_segment(cursor, status);
    if ((cursor->machine->note_count || cursor->is_segment_next) &&
        (status == KYMO_OK || status == KYMO_AGAIN)) {
      cursor->is_pending = status == KYMO_OK;
      status = KYMO_AGAIN;
    } else if (status == KYMO_OK) {
      status = add_row(cursor, error);
    }
  }
  if (status == KYMO_E_MEMORY)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status == KYMO_AGAIN && !has_rows(cursor))
    return KYMO_AGAIN;
  return has_rows(cursor) ? KYMO_OK : status;
}

static size_t packet_bytes(const struct kymo_cursor *cursor) {
  return cursor->cut ? cursor->cut : kymo_block_used(&cursor->packet);
}

/* Maps the files in their current state. */
static int show(struct kymo_cursor *cursor, struct kymo_error *error) {
  int status = kymo_described_heads_show(&cursor->heads, error);
  if (status == KYMO_OK && !cursor->search.is_looked)
    kymo_described_search_look(&cursor->search, cursor->described, cursor->machine);
  return status;
}

static int described_next(struct kymo_cursor *cursor, struct kymo_chunk *chunk, struct kymo_error *error) {
  struct kymo_block *packet = &cursor->packet;
  int status = KYMO_OK;
  if (cursor->has_failed)
    return KYMO_END;
  if (!cursor->has_packet || packet->skipped >= packet_bytes(cursor)) {
    status = show(cursor, error);
    do
      status = status == KYMO_OK || status == KYMO_AGAIN ? fill(cursor, chunk, error) : status;
    while (status == KYMO_AGAIN);
    if (status == KYMO_END)
      status = kymo_described_heads_check_end(&cursor->heads, error);
    if (status != KYMO_OK)
      packet->skipped = packet_bytes(cursor); /* nothing to be seen */
  }
  cursor->has_failed = status == KYMO_E_SYSTEM;
  if (status < 0)
    return status;
  *chunk = (struct kymo_chunk){.data = packet->bytes + packet->skipped,
                               .size_bytes = packet_bytes(cursor) - packet->skipped,
                               .path = path_of(cursor, cursor->begin.file),
                               .offset = cursor->begin.offset,
                               .file = cursor->begin.file,
                               .marks_segments = true,
                               .begins_segment = cursor->is_segment};
  if (packet->skipped == 0) {
    chunk->event_offsets = cursor->event_offsets;
    chunk->offset_count = cursor->offset_count - (cursor->cut != 0);
  }
  return status;
}

static void described_skip(struct kymo_cursor *cursor, uint64_t size_bytes) {
  cursor->packet.skipped += (size_t)size_bytes;
}

/* The fast path is built again with it. */
static void described_prefilter(struct kymo_cursor *cursor, const struct kymo_prefilter *prefilter) {
  kymo_described_fast_free(cursor->fast);
  cursor->fast = NULL;
  cursor->fast_kind = KYMO_PLAN_NONE;
  cursor->prefilter = prefilter;
}

static void forget_packet(struct kymo_cursor *cursor) {
  kymo_block_clear(&cursor->packet);
  cursor->cut = cursor->offset_count = 0;
  cursor->has_packet = cursor->is_pending = false;
  cursor->is_odd_reported = cursor->is_segment = cursor->is_segment_next = false;
  cursor->next_note = cursor->machine->note_count = 0;
}

/* Whether a packet comes before a position. */
static bool is_after(const struct kymo_cursor *cursor, const struct described_place *place, uint32_t file,
                     uint64_t offset) {
  if (cursor->order.is_wanted)
    return place->has_begun && place->packet >= offset;
  if (cursor->described->has_boxes)
    return place->least[file] > offset;
  if (place->row && place->row_file == file)
    return place->row_offset > offset;
  return kymo_described_place_offset(place, file) > offset;
}

/* The cut row follows a packet of one byte, which the reader has passed. */
static bool restore_row(struct kymo_cursor *cursor, const struct described_place *place) {
  struct kymo_block *packet = &cursor->packet;
  struct kymo_event_offset *event_offset = next_event_offset(cursor);
  if (!event_offset || !kymo_block_reserve(packet, place->row_size + head_bytes(cursor) + 1))
    return false;
  memcpy(packet->bytes + 1, place->row, place->row_size);
  packet->at = packet->bytes + 1 + place->row_size;
  packet->skipped = cursor->cut = 1;
  *event_offset = place->event_offset;
  cursor->offset_count = 1;
  cursor->late = (struct file_place){place->row_file, place->row_offset};
  cursor->has_packet = true;
  return true;
}

static bool restore(struct kymo_cursor *cursor, const struct described_place *place) {
  struct described_order order;
  if ((place->row && !restore_row(cursor, place)) || !kymo_described_order_copy(&order, &place->order))
    return false;
  kymo_described_order_free(&cursor->order);
  cursor->order = order;
  cursor->discarded = place->discarded;
  cursor->has_begun = place->has_begun;
  cursor->is_timed = place->is_timed;
  cursor->latest_cycles = place->latest_cycles;
  cursor->begin.offset = place->packet;
  return kymo_described_place_restore(place, &cursor->heads);
}

/* Rows are in the order of the file, and packets at which reading may begin report no losses. */
static bool is_timed(const struct kymo_cursor *cursor) {
  return !cursor->order.is_wanted && !cursor->described->counts_losses && cursor->described->has_time;
}

static void rewind_all(struct kymo_cursor *cursor) {
  kymo_described_heads_rewind(&cursor->heads);
  kymo_described_order_clear(&cursor->order);
  cursor->discarded = 0;
  cursor->has_begun = false;
  cursor->begin.offset = cursor->latest_cycles = 0;
  cursor->is_timed = is_timed(cursor);
  cursor->search.at = UINT64_MAX;
  cursor->search.has_latest = false;
}

/* Goes back to the last suitable snapshot, or to the start. */
static void go_back(struct kymo_cursor *cursor, size_t count) {
  cursor->search.at = UINT64_MAX; /* snapshots are of positions before the region */
  forget_packet(cursor);
  if (count > 0 && restore(cursor, &cursor->places[count - 1]))
    return;
  forget_packet(cursor);
  rewind_all(cursor);
}

/* Goes to a position before a packet, or at its begin: that of its cell, a snapshot or the start. */
static void go_before(struct kymo_cursor *cursor, uint32_t file, uint64_t offset) {
  size_t count = cursor->place_count;
  forget_packet(cursor);
  if (kymo_described_search_enter(&cursor->search, cursor->machine, offset))
    return;
  while (count > 0 && is_after(cursor, &cursor->places[count - 1], file, offset))
    count--;
  go_back(cursor, count);
}

/* Goes to the packet whose first record is at `offset`, packet by packet. */
static void described_seek(struct kymo_cursor *cursor, uint32_t file, uint64_t offset) {
  struct kymo_chunk chunk = {0};
  struct kymo_error error;
  if (show(cursor, &error) != KYMO_OK)
    return;
  go_before(cursor, file, offset);
  if (kymo_described_heads_show(&cursor->heads, &error) != KYMO_OK)
    return;
  for (;;) {
    int status = described_next(cursor, &chunk, &error);
    if (status == KYMO_END || status == KYMO_E_MEMORY ||
        (status == KYMO_OK && chunk.file == file && chunk.offset == offset))
      break;
    if (status == KYMO_OK)
      described_skip(cursor, chunk.size_bytes);
  }
  cursor->packet.skipped = 0;
}

/* By a search, or from the last snapshot before which all was earlier. Faults of the files are reported when
 * they are read. */
static void described_seek_time(struct kymo_cursor *cursor, const struct kymo_ns *clock, int64_t time_ns) {
  struct kymo_error error;
  struct kymo_ns ns = *clock;
  size_t count = cursor->place_count;
  uint64_t offset;
  forget_packet(cursor);
  if (show(cursor, &error) == KYMO_OK &&
      kymo_described_search_time(&cursor->search, cursor->described, cursor->machine, clock, time_ns,
                                 &offset) &&
      kymo_described_search_enter(&cursor->search, cursor->machine, offset))
    return;
  while (count > 0 && (!cursor->places[count - 1].is_timed ||
                       kymo_ns_of(&ns, cursor->places[count - 1].latest_cycles) >= time_ns))
    count--;
  go_back(cursor, count);
}

static void described_end(struct kymo_cursor *cursor) {
  for (size_t i = 0; i < cursor->place_count; i++)
    kymo_described_place_free(&cursor->places[i], &cursor->heads, cursor->heads.count);
  free(cursor->places);
  free(cursor->event_offsets);
  kymo_described_fast_free(cursor->fast);
  kymo_described_order_free(&cursor->order);
  kymo_described_search_free(&cursor->search, cursor->described->plan);
  free(cursor->row.bytes);
  kymo_described_heads_close(&cursor->heads);
  free(cursor->packet.bytes);
  free(cursor);
}

static int described_begin(struct kymo_cursor **out, void *from, struct kymo_error *error) {
  struct described *described = from;
  struct kymo_cursor *cursor = *out = calloc(1, sizeof *cursor);
  if (!cursor)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  cursor->described = described;
  cursor->interval = 16;
  cursor->fast_kind = KYMO_PLAN_NONE;
  kymo_described_order_begin(&cursor->order, described->plan);
  int status = kymo_described_heads_open(&cursor->heads, described, error);
  if (status == KYMO_OK && !kymo_block_reserve(&cursor->packet, KYMO_BLOCK_BYTES))
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status == KYMO_OK) {
    cursor->machine = cursor->heads.list[0].machine;
    cursor->is_timed = is_timed(cursor);
    return KYMO_OK;
  }
  described_end(cursor);
  *out = NULL;
  return status;
}

static void described_free(void *from) {
  struct described *described = from;
  for (uint32_t i = 0; i < described->file_count; i++)
    kymo_plan_machine_free(described->files[i].filled);
  kymo_plan_found_free(described->found);
  kymo_plan_close(described->plan);
  kymo_arena_free(&described->arena);
  free(described);
}

static int described_table(struct kymo_cursor *cursor, size_t table, const struct kymo_table_key *key,
                           struct kymo_table_value *value) {
  return kymo_described_table_get(cursor->machine, table, key, value);
}

static const struct kymo_source_operations operations = {
    .begin = described_begin,
    .next = described_next,
    .skip = described_skip,
    .prefilter = described_prefilter,
    .seek = described_seek,
    .seek_time = described_seek_time,
    .end = described_end,
    .table_count = kymo_described_table_count,
    .table_name = kymo_described_table_name,
    .table_get = described_table,
    .free = described_free,
};

struct described *kymo_described_of(const struct kymo_stream *stream) {
  return strcmp(stream->part->format, "described") == 0 ? kymo_stream_source(stream) : NULL;
}

/* ---- opening ---- */

/* Files, and the description of each. */
struct inputs {
  const char *const *paths;
  struct kymo_schema *const *keys;
  size_t count;
  bool *are_taken;
};

/* Any file, if the caller chooses a description. */
static int described_probe(const char *path, struct kymo_error *error) {
  size_t size;
  return kymo_file_peek(path, NULL, 0, &size, NULL, error);
}

/* The schema of the description, extended by the results of the passes, or shared. */
static struct kymo_schema *complete_schema(const struct described *described, struct kymo_schema *description,
                                           struct kymo_error *error) {
  if (!described->found)
    return kymo_schema_retain(description);
  struct kymo_builder *builder = kymo_builder_new();
  if (!builder) {
    kymo_fail(error, KYMO_E_MEMORY, "out of memory");
    return NULL;
  }
  struct kymo_hash128 hash = kymo_hash128(description->plan, description->plan_size, 0);
  kymo_builder_schema(builder)->plan_hash = (struct kymo_hash){hash.low, hash.high};
  return kymo_plan_schema(described->plan, builder, described->found, error);
}

static bool is_same_key(const struct kymo_schema *a, const struct kymo_schema *b) {
  return a == b || (a->plan_size == b->plan_size && memcmp(a->plan, b->plan, a->plan_size) == 0);
}

/* The names of files to be merged: a pattern, or all. */
struct merged {
  bool is, has_pattern;
  struct kymo_glob pattern;
};

static int make_merged(struct merged *merged, const struct kymo_plan *plan, const char *path,
                       struct kymo_error *error) {
  const struct kymo_plan_root *root = plan->root;
  uint32_t size;
  size_t at;
  *merged = (struct merged){.is = root->merge == KYMO_MERGE_BY_SEQUENCE,
                            .has_pattern = root->merge_pattern != KYMO_PLAN_NONE};
  if (!merged->is || !merged->has_pattern)
    return KYMO_OK;
  const uint8_t *text = kymo_plan_text(plan, root->merge_pattern, &size);
  const char *wrong = kymo_glob_make(&merged->pattern, (const char *)text, size, &at);
  return wrong ? kymo_fail_at(error, KYMO_E_LIMIT, path, KYMO_ERROR_NO_OFFSET,
                              "MERGE FILES of the description: byte %zu of the pattern: %s", at, wrong)
               : KYMO_OK;
}

static bool is_merged(const struct merged *merged, const char *path) {
  const char *slash = strrchr(path, '/');
  return merged->is &&
         (!merged->has_pattern || kymo_glob_matches(&merged->pattern, slash ? slash + 1 : path));
}

/* Takes the file, and all later ones that are one stream with it. */
static int take_files(struct described *described, const struct inputs *inputs, size_t first,
                      struct kymo_error *error) {
  struct merged merged;
  int status = make_merged(&merged, described->plan, inputs->paths[first], error);
  described->files = kymo_arena_array(&described->arena, inputs->count - first, sizeof *described->files);
  bool are_merged = is_merged(&merged, inputs->paths[first]), ok = described->files != NULL;
  for (size_t i = first; i < inputs->count && ok && !status; i++) {
    const char *path = inputs->paths[i];
    bool is_one =
        i == first || (are_merged && !inputs->are_taken[i] &&
                       is_same_key(inputs->keys[first], inputs->keys[i]) && is_merged(&merged, path));
    if (!is_one)
      continue;
    inputs->are_taken[i] = true;
    char *copy = kymo_arena_copy(&described->arena, path, strlen(path));
    described->files[described->file_count++] = (struct described_file){.path = copy, .number = (uint32_t)i};
    ok = copy != NULL;
  }
  kymo_glob_free(&merged.pattern);
  return status || ok ? status : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

/* Records of one file, in their order in the file, which is promised to be sorted. A packet would have to
 * know the losses before it. */
static bool may_search(const struct described *described) {
  const struct kymo_plan_root *root = described->plan->root;
  bool is_sorted_again = root->sorted == KYMO_SORTED_WITHIN && root->merge == KYMO_MERGE_BY_TIME;
  return kymo_plan_margin(described->plan) != UINT64_MAX && !is_sorted_again && described->file_count == 1 &&
         described->has_time && !described->counts_losses && !described->has_boxes;
}

static int prepare(struct described *described, struct kymo_trace *trace, const struct inputs *inputs,
                   size_t first, struct kymo_error *error) {
  described->all_classes = kymo_trace_options(trace)->all_classes;
  described->plan = kymo_plan_open(inputs->keys[first], "the description", error);
  if (!described->plan)
    return error->code;
  int status = take_files(described, inputs, first, error);
  if (status == KYMO_OK)
    status = kymo_described_pass(described, trace, error);
  if (status == KYMO_OK &&
      !kymo_plan_classes_make(&described->classes, &described->arena, described->plan, described->found))
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  described->has_time = described->classes.clock != KYMO_PLAN_NONE;
  described->counts_losses = kymo_plan_counts_losses(described->plan);
  described->has_boxes = KYMO_PLAN_COUNT(described->plan, BOX) > 0;
  described->may_search = may_search(described);
  return status;
}

/* A stream of the file, and of the files that are merged with it. */
static int open_stream(struct kymo_trace *trace, const struct inputs *inputs, size_t first,
                       struct kymo_error *error) {
  struct described *described = calloc(1, sizeof *described);
  struct kymo_part *part;
  if (!described)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = prepare(described, trace, inputs, first, error);
  struct kymo_part_source source = {
      .format = "described", .path = inputs->paths[first], .path_count = described->file_count};
  if (status == KYMO_OK) {
    source.schema = complete_schema(described, inputs->keys[first], error);
    status = source.schema ? kymo_trace_add_part(trace, &source, &part, error) : error->code;
  }
  if (status != KYMO_OK) {
    described_free(described);
    return status;
  }
  struct kymo_stream_source stream = {.operations = &operations,
                                      .source = described,
                                      .class_ = part->schema->streams[0],
                                      .path = inputs->paths[first],
                                      .instance = UINT64_MAX};
  return kymo_part_add_stream(trace, part, &stream, error);
}

/* Returns the description for a path, for the caller to release; NULL with `error`. */
typedef struct kymo_schema *key_maker(struct kymo_trace *trace, const char *path, struct kymo_error *error);

static int open_all(struct kymo_trace *trace, const char *const *paths, size_t count, key_maker *make,
                    struct kymo_error *error) {
  struct kymo_error local = {.code = KYMO_OK}, *why = error ? error : &local;
  struct kymo_schema **keys = calloc(count, sizeof *keys);
  struct inputs inputs = {paths, keys, count, calloc(count, sizeof *inputs.are_taken)};
  int status = keys && inputs.are_taken ? KYMO_OK : kymo_fail(why, KYMO_E_MEMORY, "out of memory");
  for (size_t i = 0; i < count && status == KYMO_OK; i++)
    status = (keys[i] = make(trace, paths[i], why)) ? KYMO_OK : why->code;
  for (size_t i = 0; i < count && status == KYMO_OK; i++)
    status = inputs.are_taken[i] ? KYMO_OK : open_stream(trace, &inputs, i, why);
  for (size_t i = 0; keys && i < count; i++)
    kymo_schema_release(keys[i]);
  free(keys);
  free(inputs.are_taken);
  return status;
}

static struct kymo_schema *given_description(struct kymo_trace *trace, const char *path,
                                             struct kymo_error *error) {
  (void)path;
  if (!kymo_trace_options(trace)->description)
    kymo_fail(error, KYMO_E_USAGE, "a file of this format needs a description");
  return kymo_trace_options(trace)->description ? kymo_schema_retain(kymo_trace_options(trace)->description)
                                                : NULL;
}

static int described_open(struct kymo_trace *trace, const char *const *paths, size_t count,
                          struct kymo_error *error) {
  return open_all(trace, paths, count, given_description, error);
}

const struct kymo_format kymo_format_described = {
    .name = "described",
    .summary = "any format that a description describes",
    .probe = described_probe,
    .open = described_open,
    .needs_key = true,
};

/* ---- installed descriptions ---- */

static int installed_probe(const char *path, struct kymo_error *error) {
  struct kymo_schema *description;
  int status = kymo_installed_fitting(&description, path, error);
  kymo_schema_release(description);
  return status;
}

static struct kymo_schema *fitting_key(struct kymo_trace *trace, const char *path, struct kymo_error *error) {
  (void)trace;
  struct kymo_schema *description;
  if (kymo_installed_fitting(&description, path, error) == KYMO_E_UNKNOWN)
    kymo_fail_at(error, KYMO_E_UNKNOWN, path, KYMO_ERROR_NO_OFFSET,
                 "it does not match any installed description any more");
  return description;
}

static int installed_open(struct kymo_trace *trace, const char *const *paths, size_t count,
                          struct kymo_error *error) {
  return open_all(trace, paths, count, fitting_key, error);
}

const struct kymo_format kymo_format_installed = {
    .name = "installed",
    .summary = "any format that an installed description matches",
    .probe = installed_probe,
    .open = installed_open,
};
