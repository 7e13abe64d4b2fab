/* SPDX-License-Identifier: MIT */
/*
 * The machine that decodes the records of one file by a plan.
 *
 *   layout (layout.c) ─► where the next record is ─► record.c: dispatch, prefix, body ─► run.c: code ─►
 *   slots, lists
 *                                                       └─► policy: mark, skip, resync, stop
 *
 * The values of a record are borrowed from the file's bytes, from tables and from the record's own memory,
 * and valid until the next record is decoded. The state that outlives a record (S25) is `struct
 * kymo_plan_state`, which snapshots copy (snapshot.c).
 */
#ifndef KYMO_PLAN_MACHINE_H
#define KYMO_PLAN_MACHINE_H

#include "base/arena.h"
#include "base/glob.h"
#include "base/holes.h"
#include "base/table.h"
#include "expr/operate.h"
#include "plan/form.h"
#include "plan/sections.h"

#define KYMO_PLAN_DESCRIBED 80 /* bytes of a value as messages show it */

/* ---- tables ---- */

struct kymo_plan_record; /* a run-time definition */

/* A value from a time on; tables that are not KNOWN BY TIME have only one. */
struct kymo_plan_version {
  struct kymo_expr_value value;
  const struct kymo_plan_record *record;
  uint32_t name;
  bool has_time;
  int64_t time_ns;
};
struct kymo_plan_entry {
  struct kymo_expr_value key;
  struct kymo_plan_version now;      /* sort ABSENT and no record: forgotten */
  struct kymo_plan_version *history; /* KNOWN BY TIME: ascending by time */
  uint32_t history_count, history_capacity;
};
struct kymo_plan_map {
  struct kymo_plan_entry *entries;
  uint32_t count, capacity;     /* entries, including forgotten ones */
  uint32_t live;                /* keys that have a value */
  struct kymo_hash_table large; /* index + 1 of all other keys */
  uint32_t *small, small_count; /* index + 1 of keys that are small numbers */
};
/* One change of a table: from `old` to `new`. */
struct kymo_plan_change {
  uint32_t table, entry;
  struct kymo_plan_version old, new_;
};

/* All definitions so far, in order of their first occurrence: classes and mappings are made from them
 * (classes.h). */
struct kymo_plan_found {
  struct kymo_arena arena;
  struct kymo_plan_names {
    struct kymo_expr_value *texts;
    uint32_t count, capacity;
    struct kymo_hash_table table; /* index + 1 */
  } * names;                      /* by table */
  struct kymo_plan_pairs {
    struct kymo_plan_pair {
      struct kymo_wide key;
      uint32_t name;
    } * list;
    uint32_t count, capacity;
  } * pairs;
  struct kymo_plan_records {
    struct kymo_plan_names spelled;
    struct kymo_plan_record **list;
    uint32_t count, capacity;
  } * records;                         /* by table */
  struct kymo_plan_records unresolved; /* of all tables */
  size_t resolved_bytes;               /* of the identities of resolved definitions */
  uint32_t table_count;
  bool failed;
};

/*
 * A field of a record that was defined at run time: as TYPES says, or as its replacement says. A list of
 * structs is one whose type another definition defines: its members, `inner_count` of them with those of
 * inner lists, follow it directly. The fields of such a type that occurs once are fields of the record.
 */
struct kymo_plan_field {
  const char *name;
  const char *path;          /* as messages show it: LIST.MEMBER */
  uint32_t letter, override; /* or NONE; letter NONE: a list of structs, or `key` names its type */
  uint32_t count;            /* elements; 0: it is no list, or its letter is one */
  uint32_t size;             /* bytes of each, if the definition says so; else NONE */
  uint32_t inner_count;
  uint32_t order;   /* enum kymo_plan_order */
  bool is_optional; /* values may be absent */
  bool is_inner;    /* it is from another definition than the record, which has its time elsewhere */
  bool has_scale;
  double scale, over, offset;    /* … the value is raw × scale / over + offset */
  const char *unit;              /* or NULL */
  struct kymo_plan_form form;    /* of its values; not of a list of structs */
  struct kymo_expr_value absent; /* the raw value that means absent; or absent */
  struct kymo_expr_value key;    /* of the definition of its type, in an unresolved one; else absent … */
  uint32_t key_table;            /* … and the table that has it */
};
struct kymo_plan_record {
  const char *name;
  uint32_t recipe, table;
  uint32_t index; /* among the found ones of its table; of an unresolved one, among all of these */
  uint32_t field_count;
  const struct kymo_plan_field *fields;
  uint64_t item_count; /* values of all fields of a record, without FILLER; not of an unresolved one */
  bool is_unresolved;  /* types of its fields are in other definitions: no record is decoded by it as it is */
  bool has_length;
  uint64_t length;
  bool is_bytes;  /* its fields make no sense: its records are delivered as bytes */
  bool is_misfit; /* … since they did not fit a record's length */
};
/* Whether a field is the record's time: it becomes the time stamp and no column. */
bool kymo_plan_is_record_time(const struct kymo_plan *plan, const struct kymo_plan_record *record,
                              uint32_t field);
/* Whether a field is delivered: FILLER is not, nor is a list of structs without any other members. */
bool kymo_plan_is_delivered(const struct kymo_plan *plan, const struct kymo_plan_record *record,
                            uint32_t field);
/* The number of values of a field: the count in the definition times that of its type. */
static inline uint64_t kymo_plan_values_of(const struct kymo_plan *plan, uint32_t letter, uint32_t count) {
  uint64_t each = letter == KYMO_PLAN_NONE ? 1 : plan->letters[letter].count;
  return (each ? each : 1) * (count ? count : 1);
}

struct kymo_plan_found *kymo_plan_found_new(const struct kymo_plan *plan);
void kymo_plan_found_free(struct kymo_plan_found *found);
/* The number of a text among names; a new one is added if they may grow, else the result is NONE. */
uint32_t kymo_plan_found_text(struct kymo_plan_found *found, struct kymo_plan_names *names,
                              const struct kymo_expr_value *text, bool may_grow);

/* ---- clocks, sequences ---- */

struct kymo_plan_clock_state {
  struct kymo_wide last;
  bool has_last;
};
struct kymo_plan_sync {
  bool is_set;
  uint32_t to;
  struct kymo_wide here, there;
};
struct kymo_plan_counter {
  uint64_t last;
  bool has_last;
};
/* Of clock or counter `index` by the value of PER. */
struct kymo_plan_per_state {
  uint32_t index;
  bool is_counter;
  uint64_t per_low;
  int64_t per_high;
  struct kymo_plan_clock_state clock;
  struct kymo_plan_counter counter;
};

/* ---- containers ---- */

/* Where a byte is: `offset` in the file; if depth > 0, within[0] in what is unpacked from the container that
 * begins there, and so on. */
enum { KYMO_PLAN_BOXES = 4 }; /* containers within each other */
struct kymo_plan_place {
  uint64_t offset;
  uint32_t depth;
  uint64_t within[KYMO_PLAN_BOXES];
};

/* What one container adds to the bytes of a box. */
struct kymo_plan_piece {
  uint64_t container, at, end; /* its record, and the packed bytes, in the enclosing bytes */
  uint64_t from;               /* where the unpacked bytes begin in the box, … */
  uint64_t skip, size;         /* … after the first `skip` of their `size` bytes */
  uint32_t how;                /* of the plan's boxes */
  struct kymo_expr_value key;  /* of XOR; a copy */
};
/* The bytes in which records are that are packed in the file: of one container, after the begin of a record
 * that the containers before it have left. */
struct kymo_plan_contents {
  struct kymo_plan_piece *pieces; /* NULL: it is not open */
  uint32_t count, capacity;
  uint32_t outer; /* the enclosing bytes: as kymo_plan_frame.box */
  uint8_t *bytes; /* NULL: not unpacked yet since a snapshot was restored */
  uint64_t size;
  uint64_t before; /* bytes of the joined containers before its first byte */
  uint64_t wanted; /* carried: the record ends there, if that is known */
  uint64_t tried;  /* carried: bytes of attempts to decode the record */
};

/* ---- state that outlives records ---- */

/* The position of reading: nested steps of the layout and regions. */
enum kymo_plan_frame_kind { KYMO_FRAME_STEPS, KYMO_FRAME_REGION, KYMO_FRAME_BLOCKS };
struct kymo_plan_frame {
  enum kymo_plan_frame_kind kind;
  uint32_t step, stop;      /* STEPS: the next step and the end of the list; BLOCKS: the steps inside */
  uint32_t dispatch, until; /* REGION */
  bool is_single;           /* REGION: it has one record */
  bool has_times;
  uint64_t times;          /* the number left */
  uint64_t begin, at, end; /* of the window, in the file; `at`: the next record */
  uint64_t block;          /* BLOCKS: bytes of each */
  uint64_t previous;       /* REGION: size of the previous record, UINT64_MAX: none */
  uint32_t holder;         /* REGION of a kind with HOLDS, else NONE: its kept values end with it */
  uint32_t box;            /* the bytes of its window: 0: of the file; n: state.opened[n - 1] */
  bool is_joined;          /* REGION that is all of a box: its last record may continue in the next box */
  bool is_lost;            /* what the next joined box in it begins with is the rest of a lost record … */
  bool is_after_loss;      /* … and this is that box */
};

struct kymo_plan_state {
  struct kymo_plan_frame frames[KYMO_PLAN_DEPTH + 2];
  uint32_t depth;
  enum kymo_plan_order order; /* ORDER FILE */
  struct kymo_plan_clock_state *clocks;
  struct kymo_plan_sync *syncs;
  struct kymo_plan_counter *counters;
  struct kymo_plan_per_state *per;
  uint32_t per_count, per_capacity;
  struct kymo_hash_table per_table; /* index in `per` + 1 */
  struct kymo_expr_value *kept;     /* their bytes are copies */
  struct kymo_expr_value *saved;    /* kept values from outside of regions, for nested holders; also copies */
  uint32_t saved_count, saved_capacity;
  bool has_last_time, has_latest;
  int64_t last_time_ns;
  int64_t latest_ns; /* the latest time of all delivered records, if SORTED promises an order */
  bool is_over;      /* STOP */
  /* by frame: the box that is its window, and the begin of a record that a box in it has left; NULL: the plan
   * has no boxes */
  struct kymo_plan_contents *opened, *carried;
  uint64_t unpacked; /* bytes unpacked in a container of the file and all containers in it */
};

/* ---- what a record leaves ---- */

/* `at`: bytes from the record's start where it was read; NONE: in what was unpacked. `element`: of a member
 * of a list of structs, the element of that list, counted over the record; else 0. The items of a list are in
 * the order of these elements. The items of a list of structs have no values. */
struct kymo_plan_item {
  struct kymo_expr_value value;
  uint32_t option, at, element;
};
struct kymo_plan_list {
  struct kymo_plan_item *items;
  uint32_t count, capacity;
  uint32_t next; /* the item that is stored next, while a row is made */
};

struct kymo_plan_window {
  const uint8_t *data;
  uint64_t base, at, end;
  bool is_file_end;
};

/* A damage or loss that was found; the code that reports it makes the message. */
enum kymo_plan_note_kind { KYMO_NOTE_DAMAGE, KYMO_NOTE_LOSS };
struct kymo_plan_note {
  enum kymo_plan_note_kind kind;
  uint32_t r;      /* R1…R10 */
  uint64_t offset; /* in the file: place.offset */
  uint64_t at;     /* in the bytes of its record */
  struct kymo_plan_place place;
  uint64_t start; /* where its record begins, … */
  uint64_t fault; /* … and the byte that is at fault: at, or after it, in the same bytes */
  uint64_t bytes_lost, count;
  const struct kymo_plan_instruction *code; /* that found it, or NULL: none did */
  uint32_t dispatch;                        /* of the region in which it is; or NONE */
  char text[200];                           /* without the place in unpacked bytes */
};

/* over / under, in lowest terms. */
struct kymo_plan_ratio {
  uint64_t over, under;
};
/* A unit of a clock's fields in ticks, as computed last. */
struct kymo_plan_unit {
  uint32_t clock, kind;
  uint64_t amount;
  struct kymo_plan_ratio ticks;
};
#define KYMO_PLAN_UNITS 8
#define KYMO_PLAN_UNIT_PLACE(amount, clock, kind) \
  (((amount) ^ (amount) >> 9 ^ (clock) ^ (kind) >> 8) % KYMO_PLAN_UNITS)

/* One load from the bytes of the record (machine->bytes), between two bits of them: its slot if it is at a
 * constant offset, the instruction after it, or its name in a run-time definition. */
struct kymo_plan_loaded {
  uint64_t begin_bits, end_bits;
  uint32_t slot;                             /* or NONE */
  const struct kymo_plan_load *load;         /* at a constant offset; or NULL */
  const struct kymo_plan_instruction *code;  /* that has loaded it, also of FILLER; or NULL */
  const struct kymo_plan_instruction *after; /* or NULL */
  const char *name;                          /* or NULL */
  struct kymo_expr_value value;              /* as it was loaded; absent of FILLER */
};
/* A callback for each load. A record may be tried as several kinds, its prefix more than once. */
struct kymo_plan_watch {
  void (*report)(void *user, const struct kymo_plan_loaded *loaded);
  void *user;
};

struct kymo_plan_machine {
  const struct kymo_plan *plan;
  const struct kymo_plan_watch *watch; /* or NULL */
  struct kymo_holes holes;             /* of the file */
  struct kymo_plan_found *found;
  bool may_find; /* the first pass: found grows */
  uint64_t file_number;
  struct kymo_plan_machine
      *first; /* the machine that keeps the counters PER TRACE for all files that are read as one; itself
               * if there is only one */
  /* the file */
  const uint8_t *data;
  uint64_t size;
  const uint32_t *box_of; /* by kind: index of its box + 1; NULL: the plan has none */
  bool is_careful; /* decoding the begin of a record and then all of it may differ from decoding it once */
  /* state */
  struct kymo_plan_state state;
  struct kymo_plan_map *tables;
  struct kymo_plan_change *changes;
  uint32_t change_count, change_capacity;
  uint32_t change_high;    /* the number of changes that can be made (again) */
  uint32_t generation;     /* how often the changes were dropped because there were too many */
  struct kymo_arena texts; /* the memory that tables refer to; lives as long as the machine */
  size_t text_bytes;
  uint32_t pass;    /* 0: reading; n: filling tables KNOWN ALWAYS of pass n - 1 */
  bool is_ordering; /* filling tables KNOWN BY TIME, in order of time */
  struct kymo_plan_tick {
    uint64_t rate;
    struct kymo_plan_ratio ps, ns;
  } * ticks;                                    /* by clock: the length of a tick, once known (ps.under is
                                               * not 0); rate: ticks a second, of clocks with RATE */
  struct kymo_plan_unit units[KYMO_PLAN_UNITS]; /* ticks.under 0: none */
  uint32_t *prefix_slots;                       /* the number of slots of each prefix */
  /* the current record */
  uint32_t kind;
  const uint8_t *bytes; /* those that it is in: of the file, or of a box; and their size */
  uint64_t bytes_size;
  uint32_t box;        /* as kymo_plan_frame.box */
  uint64_t start;      /* offset in these bytes */
  uint64_t record_end; /* by LENGTH; UINT64_MAX: unknown */
  uint64_t own_length; /* its end without the region of records that it HOLDS */
  uint64_t wanted_end; /* where its LENGTH says that it ends, if that is beyond the bytes; else 0 */
  uint32_t open_end;   /* the byte expected after a field that the file's end ended, or NONE; the caller
                      * sets it to NONE before */
  uint64_t length;     /* its end */
  struct kymo_expr_value *slots;
  struct kymo_plan_list *lists; /* by column */
  uint32_t *element_bytes; /* by column: the most that an element takes in a row, without its texts, blobs of
                            * any length, and lists */
  uint64_t elements_bytes; /* of all elements of the record so far */
  struct kymo_plan_window windows[KYMO_PLAN_DEPTH + 2]; /* the last is the innermost; 0 is the record's */
  uint32_t window;
  uint64_t bit; /* position: bits from windows[window].data */
  uint64_t returns[KYMO_PLAN_DEPTH];
  uint32_t return_count;
  struct kymo_plan_loop_state {
    uint32_t head;
    uint64_t left, turns, bit;
  } loops[KYMO_PLAN_DEPTH];
  uint32_t loop_count;
  uint64_t idle_turns; /* the zero-width turns of all loops, and those that read elsewhere (AT) */
  enum kymo_plan_order order;
  struct kymo_arena work;  /* of the record; emptied before the next */
  size_t work_bytes;       /* its bytes in use */
  bool is_damaged, is_dry; /* dry: it leaves no state */
  bool has_time, time_is_acquisition;
  int64_t time_ns;
  struct kymo_wide time_ticks, field_ticks; /* of the record; of the TIME field before */
  uint32_t time_clock, field_clock;
  bool field_is_record;                  /* an ADD also counts for the record's time */
  const struct kymo_plan_record *record; /* of FROM, with values in `fields` */
  bool has_fields;                       /* FIELDS has run */
  struct kymo_plan_list fields;          /* in the order of the file, without FILLER */
  uint64_t definitions;                  /* how often tables that hold definitions have changed */
  struct kymo_plan_resolution {
    uint64_t definitions; /* one more than when it was made; 0: never */
    const struct kymo_plan_record *record;
    char wrong[4 * KYMO_PLAN_DESCRIBED]; /* … or why there is none */
  } * resolutions;                       /* by the index of the unresolved definition */
  uint32_t resolution_count;
  uint32_t resolved_fields; /* since the last jump */
  struct kymo_glob *globs;  /* by override: of its pattern. NULL: no override has one */
  uint64_t lost;
  struct kymo_plan_number {
    uint64_t number;
    uint32_t bits;
  } number;       /* SEQUENCE, modulo 2^bits; bits 0: none */
  bool is_placed; /* peeked: notes about the way to the next record are not reported yet */
  /* decode errors */
  uint32_t r; /* that ended the record, or 0 */
  uint64_t r_offset;
  char r_text[160];
  uint64_t checksum_at; /* byte of the window's data where the field of the last CHECKSUM begins */
  uint64_t loaded_bit;  /* the begin of the value that code has loaded last */
  const struct kymo_plan_instruction
      *failed_at;               /* the code that has raised, or marks; NULL: no code does, as when constant
                                * bytes are cut */
  struct kymo_plan_note *notes; /* since the last record was asked for */
  uint32_t note_count, note_capacity;
  bool failed; /* memory ran out */
};

/* `found` may be NULL; it is borrowed. NULL: out of memory. */
struct kymo_plan_machine *kymo_plan_machine_new(const struct kymo_plan *plan, struct kymo_plan_found *found,
                                                uint64_t file_number);
void kymo_plan_machine_free(struct kymo_plan_machine *machine);
/* Where the first large hole of the file begins at or after a place, or its size: no records are read there
 * (docs/tdl.md). */
uint64_t kymo_plan_hole(struct kymo_plan_machine *machine, uint64_t at);
/* Sets the file's bytes (KYMO_PLAN_SLACK readable bytes follow them): before the first record and whenever
 * they have moved. */
void kymo_plan_machine_bytes(struct kymo_plan_machine *machine, const uint8_t *data, uint64_t size);
#define KYMO_PLAN_SLACK 16
/* Goes back to the start; tables that were filled in passes stay. */
void kymo_plan_machine_rewind(struct kymo_plan_machine *machine);
/* Copies the results of passes (tables KNOWN ALWAYS, BY TIME) from another machine, which must live longer.
 * False: out of memory. */
bool kymo_plan_tables_copy(struct kymo_plan_machine *machine, const struct kymo_plan_machine *from);

/* Takes a snapshot of the state between two records. */
struct kymo_plan_snapshot {
  struct kymo_plan_state state;
  uint32_t changes, generation;
};
bool kymo_plan_snapshot_take(struct kymo_plan_snapshot *snapshot, const struct kymo_plan_machine *machine);
/* Goes back, or forward to where the machine was already. False: out of memory, too many changes of tables
 * in between, or the file ends before. */
bool kymo_plan_snapshot_restore(const struct kymo_plan_snapshot *snapshot, struct kymo_plan_machine *machine);
void kymo_plan_snapshot_free(struct kymo_plan_snapshot *snapshot, const struct kymo_plan *plan);

/* The next record of any class: KYMO_OK, KYMO_END, or KYMO_E_MEMORY. machine->notes has the notes since the
 * previous call: those before the record and those about it. */
int kymo_plan_machine_next(struct kymo_plan_machine *machine);

/* How far records may be before the latest one in ns, as SORTED YES and WITHIN promise. UINT64_MAX: there is
 * no promise for all records. */
uint64_t kymo_plan_margin(const struct kymo_plan *plan);

/* The region in which the next record will be searched, as far as that is known without decoding it; NULL at
 * the end, or at a decode error, which is reported with the next record. */
const struct kymo_plan_frame *kymo_plan_machine_place(struct kymo_plan_machine *machine);

/* Whether there is a next record, and its number if it has one and is valid. The current record becomes
 * invalid; the next one is decoded again when it is asked for. */
bool kymo_plan_machine_peek(struct kymo_plan_machine *machine, struct kymo_plan_number *number);

/* ---- between the files of this folder ---- */

/* layout.c: the region that has the next record, at frame->at; NULL at the end, or after raising. */
struct kymo_plan_frame *kymo_plan_next_place(struct kymo_plan_machine *machine);
/* The current record has ended: counts it, and enters the region that it holds from `from` on. False after
 * raising. */
bool kymo_plan_pass_record(struct kymo_plan_machine *machine, struct kymo_plan_frame *frame, uint64_t from);
/* layout.c: ends all regions in the innermost box, after a decode error. */
void kymo_plan_leave_box(struct kymo_plan_machine *machine);
/* record.c: one record at frame->at. False after raising. */
bool kymo_plan_decode(struct kymo_plan_machine *machine, const struct kymo_plan_frame *frame);
/* record.c: FROM: reads the fields of the record's definition. */
bool kymo_plan_run_fields(struct kymo_plan_machine *machine);
/* record.c: memory until the next record. NULL after raising: out of memory, or the record has used more
 * than its limit. */
#define KYMO_PLAN_WORK_MAX ((size_t)256 << 20)
void *kymo_plan_work(struct kymo_plan_machine *machine, size_t size);
/* machine.c: frees what a state refers to. */
void kymo_plan_state_free(const struct kymo_plan *plan, struct kymo_plan_state *state);
/* machine.c: replaces a value by a copy of another, bytes included. False: out of memory. */
bool kymo_plan_own(struct kymo_expr_value *own, const struct kymo_expr_value *value);

/* Reports to the callback, if there is one, that a field of the file was read: its struct kymo_plan_loaded,
 * which is not even made if there is none. */
#define KYMO_PLAN_REPORT_LOADED(machine, ...)                                                    \
  do {                                                                                           \
    if ((machine)->watch && (machine)->windows[(machine)->window].data == (machine)->bytes)      \
      (machine)->watch->report((machine)->watch->user, &(struct kymo_plan_loaded){__VA_ARGS__}); \
  } while (0)

/* Appends a value to a list, of this element (0: it is no member of a list of structs); false: out of
 * memory. */
bool kymo_plan_append(struct kymo_plan_machine *machine, struct kymo_plan_list *list,
                      const struct kymo_expr_value *value, uint32_t option, uint32_t element);
/* Rows of a record may have no more bytes in lists of structs: a turn of a REPEAT may read less than its
 * element takes. */
#define KYMO_PLAN_ELEMENTS_MAX (UINT64_C(1) << 30)

/* Raises R<r> at a byte offset of the record's bytes; false, so that callers return it. */
bool kymo_plan_raise(struct kymo_plan_machine *machine, uint32_t r, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Notes damage that does not end the record; false if by policy it ends the record. */
bool kymo_plan_mark(struct kymo_plan_machine *machine, uint32_t r, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, of a field that began some bits before the position. */
bool kymo_plan_mark_field(struct kymo_plan_machine *machine, uint32_t r, uint64_t bits, const char *format,
                          ...) __attribute__((format(printf, 4, 5)));
void kymo_plan_note_loss(struct kymo_plan_machine *machine, uint64_t count);
/* Notes damage from `begin` to `end` of the bytes of the current record. */
void kymo_plan_note_damage(struct kymo_plan_machine *machine, uint32_t r, uint64_t begin, uint64_t end,
                           const char *text);
/* The same at any place. */
void kymo_plan_note_damage_at(struct kymo_plan_machine *machine, uint32_t r,
                              const struct kymo_plan_place *place, uint64_t bytes_lost, const char *text);
/* The message of a note, with its place in unpacked bytes. */
#define KYMO_PLAN_NOTE_BYTES 320
void kymo_plan_note_text(const struct kymo_plan_note *note, char out[KYMO_PLAN_NOTE_BYTES]);
/* The text of a place: 144, or 144+48 for byte 48 of what is unpacked from the container at byte 144. */
#define KYMO_PLAN_PLACE_BYTES 120
void kymo_plan_place_text(const struct kymo_plan_place *place, char out[KYMO_PLAN_PLACE_BYTES]);
enum kymo_plan_policy kymo_plan_policy_of(const struct kymo_plan *plan, uint32_t r);
/* Offset of the position in the record's bytes; inside of what AFTER unpacks in it, where the packed bytes
 * end. */
uint64_t kymo_plan_offset(const struct kymo_plan_machine *machine);

/* run.c: a block of items; false after raising. An expression: *value. */
bool kymo_plan_run(struct kymo_plan_machine *machine, uint32_t block);
bool kymo_plan_evaluate(struct kymo_plan_machine *machine, uint32_t block, struct kymo_expr_value *value);
/* The part: bounds, loads, code. */
bool kymo_plan_run_part(struct kymo_plan_machine *machine, const struct kymo_plan_part *part);
/* A value of a block as a count; false after raising R10 (absent) or R2 (negative). */
bool kymo_plan_count_of(struct kymo_plan_machine *machine, uint32_t block, const char *what, uint64_t *count);
/* A value as messages show it: nothing if it is absent or a float. `is_hex`: numbers in hexadecimal. */
/* How many bits before the position these bytes begin, if they are of the innermost window; else 0. */
uint64_t kymo_plan_bits_since(const struct kymo_plan_machine *machine, const struct kymo_expr_value *bytes);
void kymo_plan_describe(const struct kymo_expr_value *value, bool is_hex, char *out, size_t room);
/* The record has `bytes` bytes from its start. */
bool kymo_plan_set_length(struct kymo_plan_machine *machine, uint64_t bytes);
bool kymo_plan_as_count(struct kymo_plan_machine *machine, const struct kymo_expr_value *value,
                        const char *what, uint64_t *count);

/* fault.c: adds to an R1 or R2 the field that it is in or after. Returns false. */
bool kymo_plan_name_in_kind(struct kymo_plan_machine *machine, const struct kymo_plan_kind *kind);
bool kymo_plan_name_in_prefix(struct kymo_plan_machine *machine, uint32_t prefix);
/* The same as text, of a record that is defined at run time: ", in FIELD of RECORD". Without the field if
 * there is none. */
void kymo_plan_describe_field(const struct kymo_plan_record *record, uint32_t field, char *out, size_t room);

/* expression.c: the operation at the top of the stack; the new top. NULL after raising. */
struct kymo_expr_value *kymo_plan_operate(struct kymo_plan_machine *machine,
                                          const struct kymo_plan_instruction *what,
                                          struct kymo_expr_value *top);
bool kymo_token_find(const struct kymo_plan *plan, uint32_t token, const struct kymo_wide *n, uint32_t *item);

/* load.c */
bool kymo_plan_load_value(struct kymo_plan_machine *machine, const struct kymo_plan_type *type, uint32_t size,
                          bool has_order, enum kymo_plan_order order, struct kymo_expr_value *out);
bool kymo_plan_need(struct kymo_plan_machine *machine, uint64_t bits);
static inline uint64_t kymo_plan_rest_bits(const struct kymo_plan_machine *machine) {
  const struct kymo_plan_window *window = &machine->windows[machine->window];
  return window->end * 8 > machine->bit ? window->end * 8 - machine->bit : 0;
}

/* window.c, checksum.c */
bool kymo_plan_enter(struct kymo_plan_machine *machine, uint64_t bytes);
bool kymo_plan_unpack(struct kymo_plan_machine *machine, enum kymo_plan_method method,
                      const struct kymo_expr_value *key);
void kymo_plan_leave(struct kymo_plan_machine *machine);
bool kymo_plan_checksum(struct kymo_plan_machine *machine, const struct kymo_plan_instruction *what,
                        const struct kymo_expr_value *operands, struct kymo_expr_value *out);

/* table.c */
const struct kymo_plan_version *kymo_plan_table_get(struct kymo_plan_machine *machine, uint32_t table,
                                                    const struct kymo_expr_value *key);
/* Sets a value or a record; neither removes the key. False after raising. */
bool kymo_plan_table_set(struct kymo_plan_machine *machine, uint32_t table, const struct kymo_expr_value *key,
                         const struct kymo_expr_value *value, const struct kymo_plan_record *record);
void kymo_plan_tables_clear(struct kymo_plan_machine *machine, enum kymo_plan_per per);
/* Removes all that records have defined. */
void kymo_plan_tables_reset(struct kymo_plan_machine *machine);
/* Undoes or redoes changes until there are `count`. */
void kymo_plan_changes_go(struct kymo_plan_machine *machine, uint32_t count);

/* ticks.c */
bool kymo_plan_time(struct kymo_plan_machine *machine, const struct kymo_plan_instruction *what,
                    struct kymo_expr_value *operands, struct kymo_expr_value *out);
/* The latest time, in nanoseconds, of the records with this value of the field of SORTED PER; NULL after
 * raising. */
struct kymo_plan_clock_state *kymo_plan_latest_of(struct kymo_plan_machine *machine,
                                                  const struct kymo_expr_value *per);
bool kymo_plan_sync(struct kymo_plan_machine *machine, const struct kymo_plan_instruction *what,
                    const struct kymo_expr_value *operands);
bool kymo_plan_sequence(struct kymo_plan_machine *machine, const struct kymo_plan_instruction *what,
                        const struct kymo_expr_value *operands);

/* box.c */
/* Arrays for the boxes of a plan, if it has any. False: out of memory. */
bool kymo_plan_boxes_make(struct kymo_plan_machine *machine);
/* For snapshots: copies what is needed to unpack again. False: out of memory; `to` can be freed. */
bool kymo_plan_boxes_copy(struct kymo_plan_state *to, const struct kymo_plan_state *from);
/* Takes over unpacked bytes that are still the right ones. */
void kymo_plan_boxes_take(struct kymo_plan_state *to, struct kymo_plan_state *from);
void kymo_plan_boxes_clear(struct kymo_plan_state *state);
void kymo_plan_boxes_free(struct kymo_plan_state *state);
/* The bytes that a frame's window is in become those of the record. */
void kymo_plan_face(struct kymo_plan_machine *machine, const struct kymo_plan_frame *frame);
/* Makes the region of the record, from `from` to `end`, the window of a frame that is about to become
 * state.frames[state.depth]. Corrupt containers are noted, and the window is empty. False after raising. */
bool kymo_plan_box_open(struct kymo_plan_machine *machine, struct kymo_plan_frame *inner);
/* Unpacks the frame's box again after a snapshot was restored. False after raising. */
bool kymo_plan_box_ready(struct kymo_plan_machine *machine, const struct kymo_plan_frame *frame);
/* A record was cut by the end of its box: keeps its begin for the next one. False: it was not, or cannot. */
bool kymo_plan_box_carry(struct kymo_plan_machine *machine, struct kymo_plan_frame *frame);
/* The frame with this index ends. */
void kymo_plan_box_close(struct kymo_plan_machine *machine, uint32_t index);
/* The place of a byte of these bytes (kymo_plan_frame.box). */
struct kymo_plan_place kymo_plan_place_at(const struct kymo_plan_state *state, uint32_t box, uint64_t at);
/* The reverse. False: the place is not in these bytes. */
bool kymo_plan_place_find(const struct kymo_plan_state *state, uint32_t box,
                          const struct kymo_plan_place *place, uint64_t *at);
/* The place of the current record. */
static inline struct kymo_plan_place kymo_plan_record_place(const struct kymo_plan_machine *machine) {
  return kymo_plan_place_at(&machine->state, machine->box, machine->start);
}

/* runtime.c */
/* Compiles the patterns of overrides. False: out of memory. */
bool kymo_plan_globs_make(struct kymo_plan_machine *machine);
void kymo_plan_globs_free(struct kymo_plan_machine *machine);
bool kymo_plan_define_record(struct kymo_plan_machine *machine, const struct kymo_plan_recipe *recipe,
                             const struct kymo_expr_value *operands);

/* nested.c: the definition with the fields of those that it names, as they are now. NULL after raising;
 * itself, after a mark, if there is one that it cannot have. */
const struct kymo_plan_record *kymo_plan_resolve(struct kymo_plan_machine *machine,
                                                 const struct kymo_plan_record *record);

/* defined.c */
/* The value of the field with this name (not in a list), if it has this sort; else absent. */
struct kymo_expr_value kymo_plan_defined_value(const struct kymo_plan_machine *machine, uint32_t name,
                                               enum kymo_plan_field_sort sort);
/* The number of values that a field and its members have. */
uint64_t kymo_plan_items_of(const struct kymo_plan *plan, const struct kymo_plan_record *record,
                            uint32_t field);
/* Fills in what FIELD and the type say of a field, besides what the definition does. */
void kymo_plan_field_settle(const struct kymo_plan *plan, struct kymo_plan_field *field);
bool kymo_plan_run_record(struct kymo_plan_machine *machine, const struct kymo_plan_record *record);

#endif
