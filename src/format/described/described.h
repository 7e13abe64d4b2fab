/* SPDX-License-Identifier: MIT */
/* Files that a key describes: what the files of this format share. */
#ifndef KYMO_FORMAT_DESCRIBED_DESCRIBED_H
#define KYMO_FORMAT_DESCRIBED_DESCRIBED_H

#include "decode/clock.h"
#include "format/sequence.h"
#include "key/classes.h"
#include "key/lane.h"
#include "source/block.h"
#include "source/map.h"
#include "source/screen.h"

/* A file, its number among all that were given, from 0, and the tables that passes over it have found; NULL:
 * none was needed. */
struct described_file {
  const char *path;
  uint32_t number;
  struct kymo_key_machine *filled;
};

/* What the cursors of a stream share: a key and one file, or those that are merged by sequence. */
struct described {
  struct kymo_key *key;
  struct kymo_key_found *found; /* by passes over the files, or NULL: none was needed */
  struct kymo_key_classes classes;
  struct kymo_arena arena;      /* of the classes */
  struct described_file *files; /* and their paths: in the arena */
  uint32_t file_count;
  bool has_time, tells_losses, all_classes;
  bool may_search; /* it may be worth looking for a struct described_search */
};

/* What a stream is read by, or NULL if it is no described file. */
struct described *kymo_described_of(const struct kymo_stream *stream);

/* ---- pass.c ---- */

/* Goes over the files as often as the plan needs before rows can be laid down; what is damaged then, is told
 * of the trace. */
int kymo_described_pass(struct described *described, struct kymo_trace *trace, struct kymo_error *error);

/* ---- rows.c ---- */

/* A value as the text that rows have of it, with a NUL, in a block of its own, which is the caller's to free;
 * false: rows have no text of it, or memory ran out. */
bool kymo_described_text(const struct described *described, const struct kymo_key_form *form,
                         const struct kymo_key_value *value, struct kymo_block *block);

/* ---- order.c ---- */

/* A row, or what is to be told where there is none; and how far telling is. */
struct described_held {
  int64_t time_ns;
  uint64_t number; /* in the order of decoding */
  uint8_t *bytes;
  size_t size;
  struct kymo_spot spot;
  bool has_row, begins_segment;
  uint64_t offset; /* of the record */
  struct kymo_key_note *notes;
  uint32_t note_count, next_note;
};

/* Rows of a file that wait for earlier ones. */
struct described_order {
  bool is_wanted; /* the key wants the records of a file sorted */
  uint64_t margin_ns;
  struct described_held *heap;
  uint32_t count, capacity;
  size_t bytes;
  uint64_t number;
  bool is_at_end; /* nothing comes any more */
  bool has_given;
  int64_t given_ns; /* the latest of those that are gone */
};

void kymo_described_order_begin(struct described_order *order, const struct kymo_key *key);
void kymo_described_order_free(struct described_order *order);
/* Forgets all rows. */
void kymo_described_order_clear(struct described_order *order);
/* False: out of memory, and nothing is to be freed. */
bool kymo_described_order_copy(struct described_order *to, const struct described_order *from);
/* Takes a copy of a row, and of what the machine has to tell. False: out of memory. */
bool kymo_described_order_add(struct described_order *order, const struct described_held *row,
                              const struct kymo_key_machine *machine);
/* The row that comes next, or NULL if others may come before it. */
struct described_held *kymo_described_order_first(struct described_order *order,
                                                  const struct kymo_key_machine *machine);
/* Whether later rows are gone already. */
bool kymo_described_order_is_late(const struct described_order *order, int64_t time_ns);
/* The first row is gone. */
void kymo_described_order_drop(struct described_order *order);

/* ---- heads.c ---- */

/* How far reading is in each file of a source. */
struct described_head {
  struct kymo_map map;
  bool is_open, is_known;
  struct kymo_key_machine *machine;
};
struct described_heads {
  struct described_head *list;
  struct kymo_sequence_head *next; /* of each, as far as it is known */
  uint32_t count, at;              /* at: whose record came last */
  struct kymo_sequence sequence;
};

/* To be closed even after errors. */
int kymo_described_heads_open(struct described_heads *heads, const struct described *described,
                              struct kymo_error *error);
void kymo_described_heads_close(struct described_heads *heads);
/* KYMO_END; before it KYMO_E_FORMAT, once for each file that was cut while it was read. */
int kymo_described_heads_check_end(struct described_heads *heads, struct kymo_error *error);
/* Before records are asked for, from time to time: files may have been cut. */
int kymo_described_heads_show(struct described_heads *heads, struct kymo_error *error);
/* The next record of all, in the machine of heads->at. Results as of kymo_key_machine_next. */
int kymo_described_heads_next(struct described_heads *heads);
void kymo_described_heads_rewind(struct described_heads *heads);

/* How things were between two records: a snapshot of each file, and the rows that waited. `packet`: where the
 * one before it begins, if has_begun. `row`: the last record's, which was too much for the packet before and
 * is the first of the next one; NULL: none was. */
struct described_place {
  struct kymo_key_snapshot *snapshots;
  uint8_t *row;
  size_t row_size;
  struct kymo_spot spot; /* of the row, which stands in this file at this byte */
  uint32_t row_file;
  uint64_t row_offset;
  struct kymo_sequence sequence;
  struct described_order order;
  uint64_t discarded, packet;
  bool has_begun;
  bool is_timed; /* no row before it is later than this */
  uint64_t latest_cycles;
};
/* False: out of memory, or something is to be told first. */
bool kymo_described_place_take(struct described_place *place, const struct described_heads *heads,
                               const struct described_order *order);
/* Of the heads alone. False: these have to be rewound. */
bool kymo_described_place_restore(const struct described_place *place, struct described_heads *heads);
/* Of `count` files. */
void kymo_described_place_free(struct described_place *place, const struct described_heads *heads,
                               uint32_t count);
/* Of the next record of a file then; UINT64_MAX: it was over. */
uint64_t kymo_described_place_offset(const struct described_place *place, uint32_t file);
/* Whether reading has come further than there, and is nowhere behind. */
bool kymo_described_heads_is_ahead(const struct described_heads *heads, const struct described_place *place);

/* ---- search.c ---- */

/*
 * A sorted file whose last step is a region of records of one size that reading may begin at (key/search.h):
 * it is cut into cells, and packets end with them, whatever way one has come. So a place in it means the same
 * to all.
 */
struct described_search {
  bool is_looked;       /* whether the file has such a region is known */
  uint64_t record;      /* bytes of each; 0: it has none */
  uint64_t begin, cell; /* of the region; bytes of each cell */
  uint64_t at;          /* the cell that reading is in; UINT64_MAX: it is not there yet */
  bool has_latest, has_head;
  int64_t latest_ns;              /* of the records of that cell */
  int64_t head_ns;                /* the latest time of rows that stand before the region */
  struct kymo_key_snapshot start; /* before its first record */
};

/* Looks for the region, with a machine that stands at the begin of the file and then does again. */
void kymo_described_search_look(struct described_search *search, const struct described *described,
                                struct kymo_key_machine *machine);
void kymo_described_search_free(struct described_search *search, const struct kymo_key *key);
/* Whether the next record is the first of another cell than the one that reading is in. */
bool kymo_described_search_is_boundary(const struct described_search *search,
                                       const struct kymo_key_machine *machine);
/* Reading goes on into that cell. */
void kymo_described_search_pass(struct described_search *search, struct kymo_key_machine *machine);
/* Behind each record. */
void kymo_described_search_note(struct described_search *search, const struct kymo_key_machine *machine);
/* Puts the machine before the cell that a place is in, as reading would come there. False: that can only be
 * found by reading, and the machine is anywhere. */
bool kymo_described_search_enter(struct described_search *search, struct kymo_key_machine *machine,
                                 uint64_t offset);
/* Where a cell begins that has an event before a time, and none of that time or later stands before it.
 * False: there is none, or none that can be entered. The machine is anywhere then. */
bool kymo_described_search_time(struct described_search *search, const struct described *described,
                                struct kymo_key_machine *machine, const struct kymo_ns *ns, int64_t time_ns,
                                uint64_t *offset);

/* ---- rows.c ---- */

/* The time of the machine's record: its own, or that of the last one that had any. */
static inline int64_t kymo_described_time(const struct kymo_key_machine *machine) {
  return machine->has_time              ? machine->time_ns
         : machine->state.has_last_time ? machine->state.last_time_ns
                                        : 0;
}

/* Lays the record that the machine holds down as a row, and tells where and what it is. Notes what its fields
 * cannot hold. False: out of memory. */
bool kymo_described_row(const struct described *described, struct kymo_key_machine *machine,
                        struct kymo_block *block, struct kymo_spot *spot);

/* ---- table.c ---- */

/* As the operations of sources (source/format.h). */
size_t kymo_described_table_count(const void *source);
const char *kymo_described_table_name(const void *source, size_t table, size_t *length);
int kymo_described_table_get(struct kymo_key_machine *machine, size_t table, const struct kymo_table_key *key,
                             struct kymo_table_value *value);

/* ---- lane.c ---- */

/* Rows of a kind that has a fast lane, of those records that pass the screen, if there is one. NULL: it has
 * none, or out of memory. */
struct described_lane;
struct described_lane *kymo_described_lane_new(const struct described *described, uint32_t kind,
                                               const struct kymo_screen *screen);
void kymo_described_lane_free(struct described_lane *lane);
/* Decodes records and lays them down, up to *count, which becomes how many they are, or till the packet is
 * full. 1: so many are done; 0: the next one is for the machine to do; KYMO_E_MEMORY. */
int kymo_described_lane_rows(struct described_lane *lane, struct kymo_key_machine *machine,
                             struct kymo_block *block, struct kymo_spot *spots, uint32_t *count);

#endif
