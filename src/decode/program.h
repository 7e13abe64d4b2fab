/* SPDX-License-Identifier: MIT */
/*
 * Programs compute the size of a layout. Constant parts become offsets; only parts that depend on the data
 * are operations:
 *
 *   struct { u32 a; u8 n; u16 b[n]; string s; u64 c; }         (all aligned to bytes)
 *     SAVE      slot 0 ← 8 bits at +32
 *     SEQUENCE  at +40: slot 0 × 16 bits              → segment 1
 *     STRING    at +0                                 → segment 2
 *     END       at +64
 *
 * Offsets count from the begin of the current segment. An event of constant size is END alone.
 */
#ifndef KYMO_DECODE_PROGRAM_H
#define KYMO_DECODE_PROGRAM_H

#include "decode/layout.h"

enum kymo_op_code {
  /* The operations of most programs: see step.h. */
  KYMO_OP_END,      /* go forward; the program ends */
  KYMO_OP_STRING,   /* until a zero byte                                          → segment */
  KYMO_OP_COUNTED,  /* slot = unsigned integer of ≤ 32 bits before it, then as SEQUENCE → segment */
  KYMO_OP_SEQUENCE, /* count × stride                                             → segment */
  /* All others. */
  KYMO_OP_ALIGN,       /* go forward and up to a boundary                              → segment */
  KYMO_OP_SAVE,        /* slot = integer; does not move */
  KYMO_OP_ROLE,        /* report the integer (or the place of a uuid) to the caller; does not move */
  KYMO_OP_ORDER,       /* fail unless at a byte boundary: the byte order changes here */
  KYMO_OP_WIDE_STRING, /* until a zero unit of 16 or 32 bits                       → segment */
  KYMO_OP_VARINT,      /* LEB128; slot and role as SAVE and ROLE if there are any    → segment */
  KYMO_OP_WHOLE,       /* fail if a text of `count` bytes ends inside a wide character; does not move */
  KYMO_OP_SPEND,       /* a constant number of elements without bytes; does not move */
  KYMO_OP_LOOP,        /* repeat the operations up to REPEAT count times (align before each) */
  KYMO_OP_REPEAT,      /* end of a loop's body; after it                            → segment */
  KYMO_OP_SELECT,      /* go to the case of slot, else to target                     → segment */
  KYMO_OP_GOTO,        /* end of a case: go to target                                → segment */
  KYMO_OP_NO_CASE,     /* fail: no case of the variant has this tag */
};

/* 2^32 elements of this size are still within bounds. */
#define KYMO_COUNTED_STRIDE_MAX (UINT64_C(1) << 24)

struct kymo_case {
  uint64_t low, high;
  uint32_t target;
  bool is_signed;
};

struct kymo_op {
  uint8_t code, bits; /* width of the integer of SAVE, ROLE, COUNTED; unit of WIDE_STRING, WHOLE, and of
                                    SEQUENCE if it is 16 or 32, else 0 */
  bool is_big, is_signed, is_reversed;
  uint32_t slot; /* written by SAVE, VARINT, COUNTED; else read; NONE: `count` */
  uint32_t segment;
  uint32_t count_distance; /* COUNTED: distance of the count before `offset` */
  uint64_t offset, align;  /* align: of elements for SEQUENCE, LOOP, REPEAT */
  uint64_t size, stride;   /* of one element: without and with padding to the next */
  uint64_t count;          /* LOOP, SPEND: constant count; SEQUENCE: budget for each element */
  uint32_t target, case_count, roles;
  const struct kymo_case *cases;
  const struct kymo_node *node; /* for messages */
};

struct kymo_program {
  const struct kymo_op *ops;
  uint32_t op_count;
  uint32_t first_segment; /* begins where the program is started */
};

/* What is known about a position: position mod modulus = residue. */
struct kymo_residue {
  uint64_t modulus, residue;
};
#define KYMO_AT_PACKET_START ((struct kymo_residue){UINT64_C(1) << 62, 0})
#define KYMO_AT_ANY_BIT ((struct kymo_residue){1, 0})

/*
 * Compiles adjacent trees into one program. `at` is the knowledge about the start, and afterwards about the
 * end. Roles are reported only `with_roles`. Fills segment and offset of all nodes.
 */
int kymo_program_new(struct kymo_program *out, struct kymo_arena *arena, struct kymo_node *const *trees,
                     size_t tree_count, struct kymo_counters *counters, struct kymo_residue *at,
                     bool with_roles, struct kymo_error *error);

/* ---- running ---- */

/* The values of the roles of a packet or event header. Indexed by role bit number. */
#define KYMO_ROLE_COUNT 11
struct kymo_meaning {
  uint32_t present;                 /* role bits */
  uint64_t values[KYMO_ROLE_COUNT]; /* UUID: bit position in the packet */
  uint8_t widths[KYMO_ROLE_COUNT];
  /* Event header only: the clock, updated by each time stamp. */
  uint64_t clock;
};

enum kymo_decode_error {
  KYMO_DECODE_ERROR_NONE,
  KYMO_DECODE_ERROR_SHORT,
  KYMO_DECODE_ERROR_ORDER,
  KYMO_DECODE_ERROR_STRING,
  KYMO_DECODE_ERROR_VARINT,
  KYMO_DECODE_ERROR_COUNT,
  KYMO_DECODE_ERROR_UNIT,
  KYMO_DECODE_ERROR_TAG,
  KYMO_DECODE_ERROR_EMPTY,
  KYMO_DECODE_ERROR_ID,
  KYMO_DECODE_ERROR_NOTHING,
  KYMO_DECODE_ERROR_HEADER,
};

/* One run: bytes, bounds, where to store, and where it failed. */
struct kymo_run {
  const uint8_t *data;
  uint64_t at, end; /* bits; at: start, then end or place of the decode error */
  uint64_t *segments, *slots;
  uint64_t budget;              /* left for elements without bits */
  struct kymo_meaning *meaning; /* for programs with roles */
  enum kymo_decode_error error;
  const struct kymo_node *node; /* the field of the decode error, or NULL */
  uint64_t number;              /* the count or tag of the decode error */
};

/* Elements without bits cost steps of a walk that no size limits: all events of a packet together may have
 * this many of them, plus one for each bit of the packet. */
#define KYMO_SPEND_LIMIT UINT64_C(4096)

/* True if everything fits before `end`. */
bool kymo_program_run(const struct kymo_program *program, struct kymo_run *run);
/* The message of a run that failed. */
void kymo_decode_error_text(const struct kymo_run *run, char *out, size_t size);

/* The clock after a field of `bits` bits with its low part: the next time that has this value. */
static inline uint64_t kymo_clock_update(uint64_t clock, uint64_t value, unsigned bits) {
  return clock + ((value - clock) & (UINT64_MAX >> (64 - bits)));
}

#endif
