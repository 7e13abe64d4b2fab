/* SPDX-License-Identifier: MIT */
/* Files that a description describes: shared declarations of the files of this format. */
#ifndef KYMO_FORMAT_DESCRIBED_DESCRIBED_H
#define KYMO_FORMAT_DESCRIBED_DESCRIBED_H

#include "decode/clock.h"
#include "format/sequence.h"
#include "plan/classes.h"
#include "plan/fast.h"
#include "source/block.h"
#include "source/map.h"
#include "source/prefilter.h"

/* A file, its number among all given files, from 0, and the tables that passes over it have filled; NULL: no
 * pass was needed. */
struct described_file {
  const char *path;
  uint32_t number;
  struct kymo_plan_machine *filled;
};

/* Shared data of the cursors of a stream: a description and one file, or the files that are merged by
 * sequence. */
struct described {
  struct kymo_plan *plan;
  struct kymo_plan_found *found; /* found by passes over the files, or NULL: none was needed */
  struct kymo_plan_classes classes;
  struct kymo_arena arena;      /* of the classes */
  struct described_file *files; /* and their paths: in the arena */
  uint32_t file_count;
  bool has_time, counts_losses, all_classes;
  bool has_boxes;  /* records may be in unpacked bytes */
  bool may_search; /* a struct described_search may find a region */
};

/* The source of a stream, or NULL if it is not a described file. */
struct described *kymo_described_of(const struct kymo_stream *stream);

/* ---- pass.c ---- */

/* Reads the files as often as the plan needs before rows can be stored; damage found then is listed for the
 * trace. */
int kymo_described_pass(struct described *described, struct kymo_trace *trace, struct kymo_error *error);

/* ---- rows.c ---- */

/* A value as the text that its row contains, with a NUL, in a separate block, which the caller frees; false:
 * the row has no text of it, or there is no memory. */
bool kymo_described_text(const struct described *described, const struct kymo_plan_form *form,
                         const struct kymo_expr_value *value, struct kymo_block *block);

/* ---- order.c ---- */

/* A row, or the notes if there is no row; and how many were reported. */
struct described_held {
  int64_t time_ns;
  uint64_t number; /* in the order of decoding */
  uint8_t *bytes;
  size_t size;
  struct kymo_event_offset event_offset;
  bool has_row, begins_segment;
  uint64_t offset; /* of the record */
  struct kymo_plan_note *notes;
  uint32_t note_count, next_note;
};

/* Rows of a file that wait for earlier ones. */
struct described_order {
  bool is_wanted; /* the description says that the records of a file are sorted */
  uint64_t margin_ns;
  struct described_held *heap;
  uint32_t count, capacity;
  size_t bytes;
  uint64_t number;
  bool is_at_end; /* nothing comes any more */
  bool has_given;
  int64_t given_ns; /* the latest time of the returned rows */
};

void kymo_described_order_begin(struct described_order *order, const struct kymo_plan *plan);
void kymo_described_order_free(struct described_order *order);
/* Forgets all rows. */
void kymo_described_order_clear(struct described_order *order);
/* False: out of memory, and nothing needs to be freed. */
bool kymo_described_order_copy(struct described_order *to, const struct described_order *from);
/* Takes a copy of a row, and of the machine's notes. False: out of memory. */
bool kymo_described_order_add(struct described_order *order, const struct described_held *row,
                              const struct kymo_plan_machine *machine);
/* The next row, or NULL if others may come before it. */
struct described_held *kymo_described_order_first(struct described_order *order,
                                                  const struct kymo_plan_machine *machine);
/* Whether later rows have been returned already. */
bool kymo_described_order_is_late(const struct described_order *order, int64_t time_ns);
/* The first row is gone. */
void kymo_described_order_drop(struct described_order *order);

/* ---- heads.c ---- */

/* The position in each file of a source. */
struct described_head {
  struct kymo_map map;
  bool is_open, is_known;
  uint64_t least; /* for plans with boxes: the next packet that begins in the file has at least this offset */
  struct kymo_plan_machine *machine;
};
struct described_heads {
  struct described_head *list;
  struct kymo_sequence_head *next; /* of each, as far as it is known */
  uint32_t count, at;              /* at: the file of the last record */
  struct kymo_sequence sequence;
};

/* To be closed also after errors. */
int kymo_described_heads_open(struct described_heads *heads, const struct described *described,
                              struct kymo_error *error);
void kymo_described_heads_close(struct described_heads *heads);
/* KYMO_END; before it KYMO_E_FORMAT, once for each file that was truncated while it was read. */
int kymo_described_heads_check_end(struct described_heads *heads, struct kymo_error *error);
/* Called from time to time before records are read: files may have been truncated. */
int kymo_described_heads_show(struct described_heads *heads, struct kymo_error *error);
/* The next record of all files, in the machine of heads->at. Results as of kymo_plan_machine_next. */
int kymo_described_heads_next(struct described_heads *heads);
void kymo_described_heads_rewind(struct described_heads *heads);

/* The position between two records: a snapshot of each file, and the waiting rows. `packet`: the begin of the
 * previous packet, if has_begun. `row`: the row of the last record, which did not fit the previous packet and
 * is the first of the next one; NULL: there is none. */
struct described_place {
  struct kymo_plan_snapshot *snapshots;
  uint64_t *least; /* of each file */
  uint8_t *row;
  size_t row_size;
  struct kymo_event_offset event_offset; /* of the row: its file and offset */
  uint32_t row_file;
  uint64_t row_offset;
  struct kymo_sequence sequence;
  struct described_order order;
  uint64_t discarded, packet;
  bool has_begun;
  bool is_timed; /* no row before it is later than this */
  uint64_t latest_cycles;
};
/* False: out of memory, or a note must be reported first. */
bool kymo_described_place_take(struct described_place *place, const struct described_heads *heads,
                               const struct described_order *order);
/* Restores only the heads. False: they have to be rewound. */
bool kymo_described_place_restore(const struct described_place *place, struct described_heads *heads);
/* Of `count` files. */
void kymo_described_place_free(struct described_place *place, const struct described_heads *heads,
                               uint32_t count);
/* Offset of the next record of a file then; UINT64_MAX: the file was at its end. */
uint64_t kymo_described_place_offset(const struct described_place *place, uint32_t file);
/* Whether reading has come further in some file, and is in no file before it. `has_boxes`: the offsets of
 * packets decide, since those of records may be in unpacked bytes. */
bool kymo_described_heads_is_ahead(const struct described_heads *heads, const struct described_place *place,
                                   bool has_boxes);

/* ---- search.c ---- */

/*
 * A sorted file whose last step is a region of records of one size that reading may begin at (key/search.h):
 * it is divided into cells, and packets end with cells, whatever moves came before. So a position in it is
 * always the same.
 */
struct described_search {
  bool is_looked;       /* whether the search for the region was done */
  uint64_t record;      /* bytes of a record; 0: there is no region */
  uint64_t begin, cell; /* begin of the region; bytes of each cell */
  uint64_t at;          /* the current cell; UINT64_MAX: reading is before the region */
  bool has_latest, has_head;
  int64_t latest_ns;               /* of the records of that cell */
  int64_t head_ns;                 /* the latest time of rows before the region */
  struct kymo_plan_snapshot start; /* before its first record */
};

/* Looks for the region, with a machine that is at the begin of the file, before and after. */
void kymo_described_search_look(struct described_search *search, const struct described *described,
                                struct kymo_plan_machine *machine);
void kymo_described_search_free(struct described_search *search, const struct kymo_plan *plan);
/* Whether the next record is the first of another cell than the current one. */
bool kymo_described_search_is_boundary(const struct described_search *search,
                                       const struct kymo_plan_machine *machine);
/* Reading continues in that cell. */
void kymo_described_search_pass(struct described_search *search, struct kymo_plan_machine *machine);
/* After each record. */
void kymo_described_search_note(struct described_search *search, const struct kymo_plan_machine *machine);
/* Moves the machine to the begin of the cell with this position, in the state in which reading would arrive
 * there. False: only reading can find that state, and the machine is at an undefined position. */
bool kymo_described_search_enter(struct described_search *search, struct kymo_plan_machine *machine,
                                 uint64_t offset);
/* The begin of a cell that has an event before a time, and before which no event has that time or a later
 * one. False: there is none, or none that can be entered. The machine is then at an undefined position. */
bool kymo_described_search_time(struct described_search *search, const struct described *described,
                                struct kymo_plan_machine *machine, const struct kymo_ns *ns, int64_t time_ns,
                                uint64_t *offset);

/* ---- rows.c ---- */

/* The time of the machine's record: its own, or that of the last record with a time. */
static inline int64_t kymo_described_time(const struct kymo_plan_machine *machine) {
  return machine->has_time              ? machine->time_ns
         : machine->state.has_last_time ? machine->state.last_time_ns
                                        : 0;
}

/* Stores the machine's record as a row, with its place and kind. Notes values that do not fit their fields.
 * False: out of memory. */
bool kymo_described_row(const struct described *described, struct kymo_plan_machine *machine,
                        struct kymo_block *block, struct kymo_event_offset *event_offset);

/* ---- table.c ---- */

/* As the operations of sources (source/format.h). */
size_t kymo_described_table_count(const void *source);
const char *kymo_described_table_name(const void *source, size_t table, size_t *length);
int kymo_described_table_get(struct kymo_plan_machine *machine, size_t table,
                             const struct kymo_table_key *key, struct kymo_table_value *value);

/* ---- fast.c ---- */

/* Rows of a kind that has a fast path, for records that pass the prefilter, if there is one. NULL: it has
 * none, or out of memory. */
struct described_fast;
struct described_fast *kymo_described_fast_new(const struct described *described, uint32_t kind,
                                               const struct kymo_prefilter *prefilter);
void kymo_described_fast_free(struct described_fast *fast);
/* Decodes records and stores them, up to *count, which becomes their number, or until the packet is full. 1:
 * that many are done; 0: the machine must decode the next one; KYMO_E_MEMORY. */
int kymo_described_fast_rows(struct described_fast *fast, struct kymo_plan_machine *machine,
                             struct kymo_block *block, struct kymo_event_offset *event_offsets,
                             uint32_t *count);

#endif
