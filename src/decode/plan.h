/* SPDX-License-Identifier: MIT */
/*
 * The plan: all that reading a trace needs to know about its schema, computed once.
 *
 *   schema plan ── packet header: nodes, program
 *     └─ stream plan ── packet context, event header, common context: nodes, programs, fast header
 *          └─ event plan ── specific context, payload: nodes; one program for all that follows
 *                           the event header
 *
 * Plans live in the trace's arena and do not change once made.
 */
#ifndef KYMO_DECODE_PLAN_H
#define KYMO_DECODE_PLAN_H

#include "decode/program.h"

/* Where a scope's struct begins. */
struct kymo_place {
  uint32_t segment;
  uint64_t offset_bits;
};

struct kymo_event_plan {
  const struct kymo_event_class *class_;
  uint32_t kind; /* its number among all event classes of the schema */
  bool
      is_unwanted; /* see kymo_trace_select_classes; besides fields and filter the only member that changes */
  struct kymo_program program; /* from the end of the event header to the end */
  bool is_constant;            /* the whole body is `size_bits` long */
  bool is_aligned;             /* the next header may begin where the body ends */
  bool has_fixed_scopes;       /* all scopes begin at scope_offsets from the body's first bit */
  uint64_t scope_offsets[3];   /* common context, specific context, payload */
  uint64_t size_bits;
  struct kymo_place scopes[3];                  /* if their places are constant */
  bool is_dependent[3];                         /* has lengths or tags in other scopes of the event */
  struct kymo_node *specific_context, *payload; /* NULL: the class has none */
  const struct kymo_message *message;           /* NULL: the class has none */
  struct kymo_fields *fields;                   /* made by kymo_field_id */
  struct kymo_filter_class *filter;             /* created when the first event is filtered (filter.h) */
};

/* Data of an event class for lookahead. Where there is no class, or one that needs the slow step, the offset
 * leads beyond any packet. A plain one is constant except for at most one text or counted sequence of bytes
 * at `offset_bits`; absent parts are masked, so that no branch depends on the class. */
struct kymo_lead {
  const struct kymo_event_plan *plan;
  const struct kymo_op *op; /* the first operation, at offset_bits */
  uint64_t offset_bits;
  bool is_plain, varies;            /* varies: the size is not constant */
  uint32_t count_distance;          /* bytes between the count and the first element */
  uint64_t count_mask, stride_bits; /* of the sequence */
  uint64_t text_mask;               /* all ones: there is a text */
  uint64_t tail_bits;               /* after the sequence, or the text without its zero */
};

/* One number in an event header: (8 bytes at `offset`, in the byte order) >> shift & mask. */
struct kymo_load {
  uint32_t offset;
  uint8_t shift, bits;
  bool is_big;
  uint64_t mask;
};

/* One shape of event header. */
struct kymo_header_case {
  uint64_t low, high; /* tags that choose it */
  uint64_t size_bits;
  bool has_id, has_time;
  struct kymo_load id, time;
};

/* Event headers whose parts are at constant places once a tag is known: LTTng's compact and large ones,
 * packed words, plain structs. Programs read the others. */
struct kymo_header {
  bool has_tag;
  bool is_word; /* tag and first case are within the first 64 bits, little-endian */
  struct kymo_load tag;
  uint32_t case_count; /* 1 without tag */
  struct kymo_header_case *cases;
};

struct kymo_decoder;
/* Finds events of the packet for the entries from `count` on; returns the new count. (ahead.c) */
typedef uint32_t kymo_finder(struct kymo_decoder *decoder, uint32_t count);

struct kymo_stream_plan {
  const struct kymo_stream_class *class_;
  struct kymo_node *packet_context, *event_header, *common_context; /* NULL: none */
  struct kymo_program packet_program, header_program;
  uint64_t header_align;
  bool has_fast_header;
  bool is_aligned;      /* all events end where event headers may begin */
  kymo_finder *find;    /* finds its events; NULL: the slow step */
  bool is_constant;     /* all events are of constant size */
  uint64_t stride_bits; /* from one event header to the next, if all events are of one size; or 0 */
  bool has_timed;       /* headers have the member KYMO_TIMED at a constant place: events where it is 0 have
                        * no time */
  uint64_t timed_bits;  /* from the header's begin */
  const struct kymo_type *timed;
  struct kymo_header header;
  struct kymo_event_plan *events; /* by class index, and one for events that a prefilter held back */
  struct kymo_lead *by_id;        /* for ids below id_count */
  uint64_t id_count;
  struct kymo_lead only_lead;   /* of `only` */
  struct kymo_event_plan *only; /* for headers without id: the only class, else that with the id 0, or NULL */
};

struct kymo_schema_plan {
  const struct kymo_schema *schema;
  struct kymo_node *packet_header; /* NULL: none */
  struct kymo_program header_program;
  struct kymo_stream_plan *streams;   /* by class index */
  uint32_t slot_count, segment_count; /* maximum number that reading needs */
  uint32_t shown_count; /* types by which nodes are shown; their ids follow those of the schema */
};

/* Creates the plan of a schema, which must outlive it. */
int kymo_schema_plan_new(struct kymo_schema_plan **out, struct kymo_arena *arena,
                         const struct kymo_schema *schema, struct kymo_error *error);
/* The plan for an event id, or NULL. */
struct kymo_event_plan *kymo_stream_plan_event(const struct kymo_stream_plan *plan, uint64_t id);

/* The finder that suits a stream class, once all else is known. (ahead.c) */
kymo_finder *kymo_choose_finder(const struct kymo_stream_plan *plan);

/* Checks whether the header program has a fast form, and fills plan->header if so (header.c). */
int kymo_header_analyse(struct kymo_stream_plan *plan, struct kymo_arena *arena);

#endif
