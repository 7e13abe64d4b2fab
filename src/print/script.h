/* SPDX-License-Identifier: MIT */
/*
 * Scripts: how to print an event class, computed once. Reading stores where each field begins
 * (decode/layout.h), so a line is a sequence of steps, each a prepared text and one value after it:
 *
 *   struct { u32 x; string s; struct { u8 a; } t; }     as  { x = 1, s = "hi", t = { a = 2 } }
 *
 *     "{ x = "        UNSIGNED  segment 0 + 0
 *     ", s = "        TEXT      segment 0 + 32
 *     ", t = { a = "  UNSIGNED  segment 1 + 0
 *     " } }\n"        END
 *
 * A scope with parts that have no fixed shape (variants, optionals, unions, arrays of structs) becomes one
 * step WALK, which the sink prints by walking; so does a scope that is too large to prepare.
 *
 * All values were checked against the end of the packet when the event was found.
 *
 * Segments are known without running the event's program (kymo_located) as long as nothing but printed texts
 * moves them: a TEXT at segment n determines where segment n + 1 begins.
 */
#ifndef KYMO_PRINT_SCRIPT_H
#define KYMO_PRINT_SCRIPT_H

#include "decode/layout.h"
#include "decode/message.h"
#include "print/names.h"

enum kymo_script_code {
  KYMO_SCRIPT_NOTHING,    /* only the text */
  KYMO_SCRIPT_END,        /* the same; the last step */
  KYMO_SCRIPT_UNSIGNED,   /* an integer to be printed in base 10: bytes, the lowest first */
  KYMO_SCRIPT_SIGNED,     /* the same, signed */
  KYMO_SCRIPT_HEX,        /* the same, to be printed in base 16 */
  KYMO_SCRIPT_DECIMAL,    /* an integer to be printed in base 10, at any bit and in any order */
  KYMO_SCRIPT_INTEGER,    /* any other integer */
  KYMO_SCRIPT_LABEL,      /* a boolean, bit map, enumeration, or an integer with labels */
  KYMO_SCRIPT_TEXT,       /* a zero-ended text of bytes, between its quotes */
  KYMO_SCRIPT_TEXT_ARRAY, /* the same in a fixed number of bytes */
  KYMO_SCRIPT_VALUE,      /* float, other texts, blob, varint: read by kymo_value_read */
  KYMO_SCRIPT_ARRAY,      /* numbers one after another */
  KYMO_SCRIPT_WALK,       /* all members of a scope */
};

/* Which members of a scope's outermost struct are left out (NULL: none). */
typedef bool kymo_script_filter(const void *user, uint32_t index);

#define KYMO_SCRIPT_LABEL_BITS 4

/* What was printed for a value with labels. */
struct kymo_script_label {
  uint64_t value;
  uint32_t length; /* 0: nothing yet */
  char text[KYMO_PIECE_SLACK];
};

struct kymo_script_step {
  const char *lead;          /* the text before it; a piece (print/out.h) … */
  uint32_t lead_length;      /* … of at most KYMO_PIECE_SLACK bytes */
  uint8_t code, bits, shift; /* shift: 64 - bits */
  bool is_big;
  bool more;              /* WALK: there is a value before the first member */
  bool is_bare;           /* values have no names */
  uint32_t segment, slot; /* slot: of the length, or KYMO_SLOT_NONE */
  uint64_t offset_bits;
  uint32_t stride_bits;               /* of an array's elements */
  struct kymo_script_label *labels;   /* LABEL: of recent values, by their hash */
  enum kymo_scope scope;              /* WALK */
  const struct kymo_type *type;       /* of the value or array; WALK: of the scope */
  const struct kymo_message *message; /* WALK: the message that shows the payload's members, or NULL */
  kymo_script_filter *leaves_out;     /* WALK of the payload: members that are not printed, or NULL */
  const void *user;                   /* of leaves_out */
};

struct kymo_sink_state;

/* A sink's spelling, and how it prints values that a script does not print itself. */
struct kymo_script_style {
  const char *open, *close, *empty; /* of structs inside: "{" " }" "{ }" */
  const char *array_open, *array_close;
  bool is_upper;                 /* capitals as hexadecimal digits */
  bool leaves_addresses;         /* addresses are printed by `integer`, which may know their names */
  struct kymo_specials specials; /* in texts */
  /* The base of an integer without labels; 0: not a simple one. */
  unsigned (*base)(const struct kymo_type *type);
  /* The text before an array's element; `is_bare`: without its index. */
  void (*element)(struct kymo_out *out, uint64_t index, bool is_bare);
  /* An array that is the address of a network, as its bytes; NULL: fields have only names from the trace
   * (struct kymo_node). */
  void (*address)(struct kymo_out *out, const uint8_t *bytes, unsigned count);
  /* The rest of a text of bytes, from its first special byte on. */
  void (*characters)(struct kymo_out *out, const uint8_t *from, size_t size);
  /* An integer, boolean, bit map, enumeration. */
  void (*integer)(struct kymo_sink_state *state, uint32_t part, const struct kymo_value *value);
  /* Any value except those that begin and end something. */
  void (*scalar)(struct kymo_sink_state *state, uint32_t part, enum kymo_token token,
                 const struct kymo_value *value);
  /* The members of a scope, by walking. */
  void (*walk)(struct kymo_sink_state *state, const struct kymo_event *event,
               const struct kymo_script_step *step);
};

/* The address of a network while it is collected: its element `index`, of `size` bytes (1 or 2). */
enum { KYMO_ADDRESS_BYTES = 16 };
static inline void kymo_script_add_address(uint8_t bytes[KYMO_ADDRESS_BYTES], unsigned index, unsigned size,
                                           uint64_t value) {
  if (size == 2)
    bytes[2 * index] = (uint8_t)(value >> 8);
  bytes[size * index + size - 1] = (uint8_t)value;
}

/* A script that is done. */
struct kymo_script {
  const struct kymo_script_step *steps; /* ended by an END; NULL: not created yet */
  bool must_locate;                     /* the places cannot be computed while printing */
};

/* A script under construction. */
struct kymo_scripting {
  const struct kymo_script_style *style;
  const struct kymo_names *names;
  bool is_bare;
  uint32_t part;
  struct kymo_arena *arena;
  struct kymo_strbuf lead; /* the text before the next step */
  struct kymo_script_step *steps;
  uint32_t count, capacity;
  uint64_t room;                        /* how much text may still be prepared */
  uint32_t first_segment, last_segment; /* the segments that are known when printing arrives here */
  bool must_locate;
  bool failed; /* out of memory */
};

void kymo_script_begin(struct kymo_scripting *script, const struct kymo_script_style *style,
                       const struct kymo_names *names, struct kymo_arena *arena,
                       const struct kymo_event *event);
/* The labels of the following scopes; `is_bare`: they are only separators, not names. */
void kymo_script_names(struct kymo_scripting *script, const struct kymo_names *names, bool is_bare);
void kymo_script_text(struct kymo_scripting *script, const char *text);
/* The members of a scope, the first (unless `more`) without the first character of its label. `root` may be
 * NULL. */
void kymo_script_scope(struct kymo_scripting *script, enum kymo_scope scope, const struct kymo_node *root,
                       kymo_script_filter *leaves_out, const void *user, bool more);
/* The payload as a text, which the sink prints in its walk. */
void kymo_script_message(struct kymo_scripting *script, const struct kymo_message *message);
/* The script, in the arena; steps are NULL when out of memory. */
struct kymo_script kymo_script_finish(struct kymo_scripting *script);

/* Prints an event by its script. */
void kymo_script_print(const struct kymo_script_style *style, struct kymo_sink_state *state,
                       struct kymo_out *out, const struct kymo_event *event,
                       const struct kymo_script *script);

#endif
