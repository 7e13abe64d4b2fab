/* SPDX-License-Identifier: MIT */
/*
 * Compiles layouts to programs. One pass over the nodes in the order of the bytes; it tracks what is known
 * about the position (modulo a power of two), so that most alignments need no operation.
 */
#include "decode/program.h"
#include "base/fail.h"
#include "decode/load.h"
#include <stdlib.h>
#include <string.h>

#define ORDER_UNKNOWN (-1)
/* Maximum number of operations of one node: ORDER, ALIGN, SAVE, ROLE, SPEND, itself, GOTO, NO_CASE. */
#define OPS_PER_NODE 8
/* Constant sizes above this never fit a packet; sums of a few of them do not overflow. */
#define SIZE_LIMIT KYMO_MAX_BITS

/* A compilation under way. */
struct emit {
  struct kymo_op *ops;
  uint32_t count;
  struct kymo_arena *arena;
  struct kymo_counters *counters;
  struct kymo_residue at;
  uint64_t offset; /* from the begin of the current segment */
  uint32_t segment;
  uint32_t loops; /* number of surrounding loops: no segments are stored in them */
  int order;      /* byte order of the last bits */
  bool with_roles;
  bool no_memory;
};

static struct kymo_op *add(struct emit *e, enum kymo_op_code code, const struct kymo_node *node) {
  struct kymo_op *op = &e->ops[e->count++];
  *op = (struct kymo_op){.code = (uint8_t)code,
                         .slot = KYMO_SLOT_NONE,
                         .segment = KYMO_SEGMENT_NONE,
                         .offset = e->offset,
                         .node = node};
  return op;
}

/* The number of the segment that begins after an operation just added. */
static uint32_t new_segment(struct emit *e) {
  e->offset = 0;
  e->order = ORDER_UNKNOWN;
  e->segment = e->loops ? KYMO_SEGMENT_NONE : e->counters->segments++;
  return e->segment;
}

static void advance(struct emit *e, uint64_t bits) {
  e->offset = e->offset + bits < SIZE_LIMIT ? e->offset + bits : SIZE_LIMIT;
  e->at.residue = (e->at.residue + bits) & (e->at.modulus - 1);
}

static void align(struct emit *e, uint64_t boundary) {
  if (boundary <= e->at.modulus) {
    advance(e, -e->at.residue & (boundary - 1));
    return;
  }
  struct kymo_op *op = add(e, KYMO_OP_ALIGN, NULL);
  int order = boundary < 8 ? e->order : ORDER_UNKNOWN;
  op->align = boundary;
  op->segment = new_segment(e);
  e->order = order;
  e->at = (struct kymo_residue){boundary, 0};
}

/* What is known where two paths meet. */
static struct kymo_residue meet(struct kymo_residue a, struct kymo_residue b) {
  uint64_t modulus = a.modulus < b.modulus ? a.modulus : b.modulus;
  while (((a.residue ^ b.residue) & (modulus - 1)) != 0)
    modulus /= 2;
  return (struct kymo_residue){modulus, a.residue & (modulus - 1)};
}

static bool is_bytes(enum kymo_type_kind kind) {
  return kind >= KYMO_KIND_STRING && kind <= KYMO_KIND_BLOB_SEQUENCE;
}

static uint64_t alignment(const struct kymo_type *type) {
  if (type->kind == KYMO_KIND_VARIANT || type->kind == KYMO_KIND_OPTIONAL)
    return 1; /* only the chosen option is aligned */
  uint64_t boundary = type->align_bits ? type->align_bits : 1;
  return is_bytes(type->kind) || type->kind == KYMO_KIND_VARINT ? kymo_round_up(boundary, 8) : boundary;
}

/* Refuses to fold types whose bits change byte order inside a byte: these must fail when they are read. */
static bool is_odd(const struct kymo_type *type) { return type->size_bits % 8 != 0 || type->align_bits < 8; }

static unsigned unit_bits(const struct kymo_type *type) {
  switch (type->encoding) {
  case KYMO_ENCODING_UTF16LE:
  case KYMO_ENCODING_UTF16BE: return 16;
  case KYMO_ENCODING_UTF32LE:
  case KYMO_ENCODING_UTF32BE: return 32;
  default: return 8;
  }
}

/* Whether a text of fixed length may end inside a character, if no zero comes before. */
static bool may_be_cut(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_TEXT_ARRAY && type->length % (unit_bits(type) / 8) != 0;
}

/* If all values of a type have one size from an aligned start: that size. */
static bool constant_size(const struct kymo_type *type, uint64_t *size, int *order) {
  uint64_t bits = 0, part;
  switch (type->kind) {
  case KYMO_KIND_INTEGER:
  case KYMO_KIND_BOOLEAN:
  case KYMO_KIND_BITMAP:
  case KYMO_KIND_FLOAT:
    if (is_odd(type) && *order != ORDER_UNKNOWN && *order != (int)type->order)
      return false;
    *order = (int)type->order;
    *size = type->size_bits;
    return true;
  case KYMO_KIND_TEXT_ARRAY:
  case KYMO_KIND_BLOB_ARRAY:
    *size = type->length < SIZE_LIMIT / 8 ? type->length * 8 : SIZE_LIMIT;
    return !may_be_cut(type);
  case KYMO_KIND_ARRAY:
    if (!constant_size(type->element, &part, order))
      return false;
    bits = kymo_round_up(part, alignment(type->element));
    if (type->length == 0 || bits == 0)
      *size = 0;
    else
      *size = type->length - 1 < SIZE_LIMIT / bits ? (type->length - 1) * bits + part : SIZE_LIMIT;
    return true;
  case KYMO_KIND_STRUCT:
    for (uint32_t i = 0; i < type->member_count; i++) {
      if (!constant_size(type->members[i].type, &part, order))
        return false;
      bits = kymo_round_up(bits, alignment(type->members[i].type)) + part;
      bits = bits < SIZE_LIMIT ? bits : SIZE_LIMIT;
    }
    *size = bits;
    return true;
  case KYMO_KIND_UNION: /* whole bytes */
    *order = ORDER_UNKNOWN;
    *size = type->size_bits;
    return true;
  default: return false;
  }
}

/* Array elements of a type of constant size that take no bytes: steps of a walk that the size of the packet
 * does not limit. */
static uint64_t weight(const struct kymo_type *type) {
  uint64_t sum = 0, size = 0;
  int order = ORDER_UNKNOWN;
  if (type->kind == KYMO_KIND_STRUCT || type->kind == KYMO_KIND_UNION) {
    for (uint32_t i = 0; i < type->member_count && sum < SIZE_LIMIT; i++)
      sum += weight(type->members[i].type);
  } else if (type->kind == KYMO_KIND_ARRAY && constant_size(type->element, &size, &order)) {
    sum = weight(type->element) + (size == 0);
    if (__builtin_mul_overflow(sum, type->length, &sum))
      sum = SIZE_LIMIT;
  }
  return sum < SIZE_LIMIT ? sum : SIZE_LIMIT;
}

/* Whether a value in the tree is needed during a run: saved values, roles. */
static bool is_wanted(const struct emit *e, const struct kymo_node *tree) {
  for (const struct kymo_node *node = tree; node < tree + tree->span; node++)
    if (node->save_slot != KYMO_SLOT_NONE || (e->with_roles && node->type->roles))
      return true;
  return false;
}

static bool is_foldable(const struct emit *e, const struct kymo_node *node, uint64_t *size) {
  int order = ORDER_UNKNOWN;
  return constant_size(node->type, size, &order) && !is_wanted(e, node);
}

/* ---- one kind after the other ---- */

static void emit_node(struct emit *e, struct kymo_node *node);

static void describe_integer(struct kymo_op *op, const struct kymo_type *type) {
  op->bits = (uint8_t)type->size_bits;
  op->is_big = type->order == KYMO_ORDER_BIG;
  op->is_signed = type->is_signed;
  op->is_reversed = type->bits_reversed;
}

static void emit_scalar(struct emit *e, struct kymo_node *node) {
  const struct kymo_type *type = node->type;
  bool may_be_inside = e->at.modulus < 8 || (e->at.residue & 7) != 0;
  if (may_be_inside && e->order != ORDER_UNKNOWN && e->order != (int)type->order)
    add(e, KYMO_OP_ORDER, node);
  e->order = (int)type->order;
  if (node->save_slot != KYMO_SLOT_NONE) {
    struct kymo_op *op = add(e, KYMO_OP_SAVE, node);
    describe_integer(op, type);
    op->slot = node->save_slot;
  }
  if (e->with_roles && type->roles && type->kind != KYMO_KIND_FLOAT) {
    struct kymo_op *op = add(e, KYMO_OP_ROLE, node);
    describe_integer(op, type);
    op->roles = type->roles;
  }
  advance(e, type->size_bits);
}

static void emit_varint(struct emit *e, struct kymo_node *node) {
  struct kymo_op *op = add(e, KYMO_OP_VARINT, node);
  op->is_signed = node->type->is_signed;
  op->slot = node->save_slot;
  op->roles = e->with_roles ? node->type->roles : 0;
  op->segment = new_segment(e);
  e->at = (struct kymo_residue){8, 0};
}

static void emit_string(struct emit *e, struct kymo_node *node) {
  unsigned bits = unit_bits(node->type);
  struct kymo_op *op = add(e, bits == 8 ? KYMO_OP_STRING : KYMO_OP_WIDE_STRING, node);
  op->bits = (uint8_t)bits;
  op->segment = new_segment(e);
  e->at = (struct kymo_residue){8, 0};
}

static void emit_whole(struct emit *e, struct kymo_node *node) {
  struct kymo_op *op = add(e, KYMO_OP_WHOLE, node);
  op->bits = (uint8_t)unit_bits(node->type);
  op->count = node->type->length;
}

/* A uuid may be an array of any kind. */
static void emit_uuid(struct emit *e, struct kymo_node *node) {
  if (e->with_roles && (node->type->roles & KYMO_ROLE_UUID))
    add(e, KYMO_OP_ROLE, node)->roles = KYMO_ROLE_UUID;
}

/* Merges a count that was just saved and the sequence with this count into one operation, if both are plain
 * enough for lookahead without checks: see kymo_program_end. */
static struct kymo_op *add_sequence(struct emit *e, const struct kymo_node *node, uint64_t spend,
                                    uint64_t stride) {
  struct kymo_op *last = e->count ? &e->ops[e->count - 1] : NULL;
  bool follows = last && last->code == KYMO_OP_SAVE && last->slot == node->selector_slot &&
                 !last->is_signed && !last->is_reversed && last->bits <= 32 &&
                 e->offset - last->offset <= UINT32_MAX;
  bool is_wide = node->type->kind == KYMO_KIND_TEXT_SEQUENCE && unit_bits(node->type) > 8;
  if (!follows || is_wide || spend > 0 || stride > KYMO_COUNTED_STRIDE_MAX)
    return add(e, KYMO_OP_SEQUENCE, node);
  last->code = KYMO_OP_COUNTED;
  last->count_distance = (uint32_t)(e->offset - last->offset);
  last->offset = e->offset;
  last->node = node;
  return last;
}

static void emit_sequence(struct emit *e, struct kymo_node *node, uint64_t size, uint64_t boundary) {
  uint64_t spend = node->type->kind == KYMO_KIND_SEQUENCE ? weight(node->type->element) + (size == 0) : 0;
  struct kymo_op *op = add_sequence(e, node, spend, kymo_round_up(size, boundary));
  if (node->type->kind == KYMO_KIND_TEXT_SEQUENCE && unit_bits(node->type) > 8)
    op->bits = (uint8_t)unit_bits(node->type);
  op->slot = node->selector_slot;
  op->count = spend;
  op->align = boundary;
  op->size = size;
  op->stride = kymo_round_up(size, boundary);
  /* If there is no element, the end is the position after the alignment. */
  struct kymo_residue start = {boundary > e->at.modulus ? boundary : e->at.modulus, 0};
  if (boundary <= e->at.modulus)
    start.residue = (e->at.residue + (-e->at.residue & (boundary - 1))) & (start.modulus - 1);
  uint64_t unit = (size | op->stride) & -(size | op->stride); /* lowest bit that counts × stride can have */
  uint64_t modulus = unit && unit < start.modulus ? unit : start.modulus;
  op->segment = new_segment(e);
  e->at = (struct kymo_residue){modulus, start.residue & (modulus - 1)};
}

static void emit_loop(struct emit *e, struct kymo_node *node) {
  struct kymo_node *element = kymo_node_first(node);
  uint64_t boundary = alignment(element->type);
  align(e, boundary);
  struct kymo_residue before = e->at;
  uint32_t loop = e->count;
  struct kymo_op *op = add(e, KYMO_OP_LOOP, node);
  op->slot = node->selector_slot;
  op->count = node->type->length;
  op->align = boundary;
  e->loops++;
  new_segment(e);
  /* The second element begins where the first one ends, so only the boundary is known. */
  e->at = (struct kymo_residue){boundary, 0};
  emit_node(e, element);
  struct kymo_op *repeat = add(e, KYMO_OP_REPEAT, node);
  repeat->align = boundary;
  repeat->target = loop + 1;
  e->loops--;
  repeat->segment = new_segment(e);
  e->ops[loop].target = e->count;
  e->ops[loop].segment = repeat->segment;
  e->at = meet(before, e->at);
}

static void emit_array(struct emit *e, struct kymo_node *node) {
  struct kymo_node *element = kymo_node_first(node);
  uint64_t size, whole;
  emit_uuid(e, node);
  bool is_uuid = e->with_roles && (node->type->roles & KYMO_ROLE_UUID);
  if (!is_foldable(e, element, &size) && !is_uuid) {
    emit_loop(e, node);
    return;
  }
  int order = ORDER_UNKNOWN;
  if (!constant_size(node->type, &whole, &order))
    return;
  uint64_t steps = weight(node->type);
  if (steps > 0)
    add(e, KYMO_OP_SPEND, node)->count = steps;
  e->order = order;
  advance(e, whole);
}

static void emit_counted(struct emit *e, struct kymo_node *node) {
  struct kymo_node *element = kymo_node_first(node);
  uint64_t size;
  if (is_foldable(e, element, &size))
    emit_sequence(e, node, size, alignment(element->type));
  else
    emit_loop(e, node);
}

/* ---- choices ---- */

/* Collects the positions after all cases. */
struct join {
  struct kymo_residue start, end;
  int start_order, order;
  bool any;
  uint32_t last_goto; /* the GOTOs form a list through their targets until the end is known */
};

static void begin_case(struct emit *e, struct join *join) {
  e->at = join->start;
  e->order = join->start_order;
  e->offset = 0;
}

static void end_case(struct emit *e, struct join *join, const struct kymo_node *node) {
  uint32_t index = e->count;
  struct kymo_op *op = add(e, KYMO_OP_GOTO, node);
  op->target = join->last_goto;
  join->last_goto = index;
  join->end = join->any ? meet(join->end, e->at) : e->at;
  join->order = join->any && join->order != e->order ? ORDER_UNKNOWN : e->order;
  join->any = true;
}

static void end_select(struct emit *e, struct join *join) {
  uint32_t segment = new_segment(e);
  for (uint32_t index = join->last_goto; index != UINT32_MAX;) {
    struct kymo_op *op = &e->ops[index];
    index = op->target;
    op->target = e->count;
    op->segment = segment;
  }
  e->at = join->any ? join->end : KYMO_AT_ANY_BIT;
  e->order = join->order;
}

static struct kymo_op *begin_select(struct emit *e, const struct kymo_node *node, struct join *join) {
  *join = (struct join){.start_order = e->order, .order = ORDER_UNKNOWN, .last_goto = UINT32_MAX};
  struct kymo_op *op = add(e, KYMO_OP_SELECT, node);
  op->slot = node->selector_slot;
  op->segment = new_segment(e);
  join->start = e->at;
  return op;
}

static struct kymo_case *new_cases(struct emit *e, size_t count) {
  struct kymo_case *cases = kymo_arena_array(e->arena, count ? count : 1, sizeof *cases);
  if (!cases)
    e->no_memory = true;
  return cases;
}

/* Every case starts in the segment that SELECT begins. */
static void emit_variant(struct emit *e, struct kymo_node *node) {
  const struct kymo_type *type = node->type;
  size_t count = 0, filled = 0;
  for (uint32_t i = 0; i < type->member_count; i++)
    count += type->members[i].range_count;
  struct kymo_case *cases = new_cases(e, count);
  if (!cases)
    return;
  struct join join;
  uint32_t select = (uint32_t)(begin_select(e, node, &join) - e->ops);
  uint32_t segment = e->segment;
  struct kymo_node *option = kymo_node_first(node);
  for (uint32_t i = 0; i < type->member_count; i++, option += option->span) {
    const struct kymo_member *member = &type->members[i];
    for (uint32_t k = 0; k < member->range_count; k++)
      cases[filled++] = (struct kymo_case){member->ranges[k].low, member->ranges[k].high, e->count,
                                           type->selector_type && type->selector_type->is_signed};
    begin_case(e, &join);
    e->segment = segment;
    emit_node(e, option);
    end_case(e, &join, node);
  }
  e->ops[select].cases = cases;
  e->ops[select].case_count = (uint32_t)count;
  e->ops[select].target = e->count;
  add(e, KYMO_OP_NO_CASE, node);
  end_select(e, &join);
}

static void emit_optional(struct emit *e, struct kymo_node *node) {
  const struct kymo_type *type = node->type;
  bool by_boolean = type->presence_count == 0;
  uint32_t count = by_boolean ? 1 : type->presence_count;
  struct kymo_case *cases = new_cases(e, count);
  if (!cases)
    return;
  struct join join;
  uint32_t select = (uint32_t)(begin_select(e, node, &join) - e->ops);
  uint32_t segment = e->segment;
  for (uint32_t i = 0; i < count; i++) {
    struct kymo_range range = by_boolean ? (struct kymo_range){1, UINT64_MAX} : type->presence[i];
    cases[i] = (struct kymo_case){range.low, range.high, e->count,
                                  !by_boolean && type->selector_type && type->selector_type->is_signed};
  }
  begin_case(e, &join);
  emit_node(e, kymo_node_first(node));
  end_case(e, &join, node);
  e->ops[select].cases = cases;
  e->ops[select].case_count = count;
  e->ops[select].target = e->count;
  begin_case(e, &join);
  e->segment = segment;
  end_case(e, &join, node);
  end_select(e, &join);
}

/* Members are of constant size and begin where the union begins, with the alignment of the strictest one:
 * they only result in SAVE. It is unknown which of them is valid, so none has a role. */
static void emit_union(struct emit *e, struct kymo_node *node) {
  const struct emit before = *e;
  struct kymo_node *member = kymo_node_first(node);
  e->with_roles = false;
  for (; member < node + node->span; member += member->span) {
    emit_node(e, member);
    e->at = before.at;
    e->offset = before.offset;
    e->order = before.order;
  }
  e->with_roles = before.with_roles;
  e->order = ORDER_UNKNOWN;
  advance(e, node->type->size_bits);
}

static void emit_node(struct emit *e, struct kymo_node *node) {
  const struct kymo_type *type = node->type;
  align(e, alignment(type));
  node->segment = e->segment;
  node->offset_bits = e->offset;
  uint64_t size = 0;
  int order = ORDER_UNKNOWN;
  switch (type->kind) {
  case KYMO_KIND_INTEGER:
  case KYMO_KIND_BOOLEAN:
  case KYMO_KIND_BITMAP:
  case KYMO_KIND_FLOAT: emit_scalar(e, node); break;
  case KYMO_KIND_VARINT: emit_varint(e, node); break;
  case KYMO_KIND_STRING: emit_string(e, node); break;
  case KYMO_KIND_TEXT_ARRAY:
  case KYMO_KIND_BLOB_ARRAY:
    emit_uuid(e, node);
    if (!constant_size(type, &size, &order))
      emit_whole(e, node);
    advance(e, size);
    break;
  case KYMO_KIND_TEXT_SEQUENCE:
  case KYMO_KIND_BLOB_SEQUENCE: emit_sequence(e, node, 8, 8); break;
  case KYMO_KIND_ARRAY: emit_array(e, node); break;
  case KYMO_KIND_SEQUENCE: emit_counted(e, node); break;
  case KYMO_KIND_VARIANT: emit_variant(e, node); break;
  case KYMO_KIND_OPTIONAL: emit_optional(e, node); break;
  case KYMO_KIND_UNION: emit_union(e, node); break;
  case KYMO_KIND_STRUCT: {
    struct kymo_node *member = kymo_node_first(node);
    for (; member < node + node->span; member += member->span)
      emit_node(e, member);
    break;
  }
  }
}

int kymo_program_new(struct kymo_program *out, struct kymo_arena *arena, struct kymo_node *const *trees,
                     size_t tree_count, struct kymo_counters *counters, struct kymo_residue *at,
                     bool with_roles, struct kymo_error *error) {
  size_t capacity = 1;
  for (size_t i = 0; i < tree_count; i++)
    capacity += trees[i] ? (size_t)trees[i]->span * OPS_PER_NODE : 0;
  struct emit e = {.ops = malloc(capacity * sizeof *e.ops),
                   .arena = arena,
                   .counters = counters,
                   .at = *at,
                   .order = ORDER_UNKNOWN,
                   .with_roles = with_roles};
  if (!e.ops)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  out->first_segment = new_segment(&e);
  for (size_t i = 0; i < tree_count; i++)
    if (trees[i])
      emit_node(&e, trees[i]);
  add(&e, KYMO_OP_END, NULL);
  struct kymo_op *ops = kymo_arena_array(arena, e.count, sizeof *ops);
  if (ops)
    memcpy(ops, e.ops, e.count * sizeof *ops);
  free(e.ops);
  if (!ops || e.no_memory)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  out->ops = ops;
  out->op_count = e.count;
  *at = e.at;
  return KYMO_OK;
}
