/* SPDX-License-Identifier: MIT */
/* Makes the steps of a print fmt. */
#include "decode/kernel_program.h"
#include "base/list.h"
#include <stdlib.h>
#include <string.h>

struct maker {
  const struct kymo_kernel_message *message;
  const struct kymo_type *payload;
  struct kymo_arena *arena;
  struct kymo_kernel_step *steps;
  uint32_t count, capacity;
  bool is_trace_cmd, failed;
};

/* ---- steps ---- */

static uint32_t add(struct maker *maker, enum kymo_kernel_code code) {
  static const char nothing[KYMO_KERNEL_TEXT];
  if (!KYMO_LIST_ROOM(maker->steps, maker->capacity, maker->count)) {
    maker->failed = true;
    return 0;
  }
  maker->steps[maker->count] = (struct kymo_kernel_step){.code = (uint8_t)code, .text = nothing};
  return maker->count++;
}

/* The text with the bytes after it that copying reads. */
static const char *keep(struct maker *maker, const char *text, size_t length) {
  char *copy = kymo_arena_alloc(maker->arena, length + KYMO_KERNEL_TEXT);
  maker->failed |= !copy;
  if (copy)
    memcpy(copy, text, length);
  return copy;
}

/* A text, in as many steps as it needs. */
static void add_text(struct maker *maker, const char *text, size_t length) {
  const char *copy = length ? keep(maker, text, length) : NULL;
  for (size_t at = 0, part; copy && !maker->failed && at < length; at += part) {
    part = length - at < KYMO_KERNEL_TEXT ? length - at : KYMO_KERNEL_TEXT;
    uint32_t step = add(maker, KYMO_KERNEL_NOTHING);
    if (!maker->failed) {
      maker->steps[step].text = copy + at;
      maker->steps[step].length = (uint8_t)part;
    }
  }
}

/* A step for a value: that of the text before it, if there is one and nothing jumps between them. */
static struct kymo_kernel_step *add_value(struct maker *maker, enum kymo_kernel_code code, uint32_t since) {
  uint32_t last = maker->count ? maker->count - 1 : 0;
  if (maker->count <= since || maker->steps[last].code != KYMO_KERNEL_NOTHING)
    last = add(maker, code);
  if (maker->failed)
    return NULL;
  maker->steps[last].code = (uint8_t)code;
  return &maker->steps[last];
}

/* ---- numbers ---- */

/* Whether the field is a number in whole bytes. */
static bool set_field(const struct maker *maker, struct kymo_kernel_operand *value, uint32_t field) {
  const struct kymo_type *type = maker->payload->members[field].type;
  unsigned bits = type->size_bits;
  if (type->kind > KYMO_KIND_BITMAP || type->bits_reversed || type->align_bits < 8 ||
      (bits != 8 && bits != 16 && bits != 32 && bits != 64))
    return false;
  value->node = maker->message->nodes[field];
  value->unused_bits = (uint8_t)(64 - bits);
  value->is_big = type->order == KYMO_ORDER_BIG;
  value->is_signed = type->is_signed && !maker->is_trace_cmd;
  return value->right == 0 || !value->is_signed;
}

/* The operand of an operation with a constant, which must be the right one; NULL: it is another operation. */
static const struct kymo_ftrace_node *take_constant(const struct kymo_ftrace_node *node,
                                                    struct kymo_kernel_operand *value) {
  if (node->b->kind != KYMO_FTRACE_NUMBER)
    return NULL;
  if (node->operation == KYMO_FTRACE_BIT_AND) {
    value->mask &= node->b->number >> value->right;
  } else if (node->operation == KYMO_FTRACE_RIGHT && node->b->number < 64u - value->right) {
    value->right = (uint8_t)(value->right + node->b->number);
  } else {
    return NULL;
  }
  return node->a;
}

/* Casts that cut bits off, masks and shifts to the right of a field become one operand. */
static bool set_simple(const struct maker *maker, struct kymo_kernel_operand *value,
                       const struct kymo_ftrace_node *node) {
  *value = (struct kymo_kernel_operand){.mask = UINT64_MAX};
  while (node && node->kind != KYMO_FTRACE_FIELD) {
    if (node->kind == KYMO_FTRACE_BINARY) {
      node = take_constant(node, value);
      continue;
    }
    bool is_whole = node->kind == KYMO_FTRACE_CAST && kymo_kernel_is_whole(node, maker->is_trace_cmd);
    bool is_signed = node->is_signed && !node->is_pointer && !maker->is_trace_cmd;
    if (node->kind != KYMO_FTRACE_CAST || (is_signed && (!is_whole || value->right)))
      return false;
    if (!is_whole)
      value->mask &= kymo_bits_mask(node->bits) >> value->right;
    node = node->a;
  }
  return node && set_field(maker, value, node->field);
}

static void set_operand(const struct maker *maker, struct kymo_kernel_operand *value,
                        const struct kymo_ftrace_node *node) {
  if (!set_simple(maker, value, node))
    *value = (struct kymo_kernel_operand){.mask = UINT64_MAX, .tree = node};
}

static bool add_number(struct maker *maker, const struct kymo_ftrace_piece *piece, uint32_t since) {
  char conversion = piece->number.conversion;
  if (!piece->is_plain || (conversion == 'x' && piece->number.width > KYMO_KERNEL_TEXT / 2))
    return false;
  struct kymo_kernel_step *step = add_value(maker,
                                            conversion == 'x'   ? KYMO_KERNEL_HEX
                                            : conversion == 'u' ? KYMO_KERNEL_UNSIGNED
                                                                : KYMO_KERNEL_SIGNED,
                                            since);
  if (!step)
    return true;
  set_operand(maker, &step->value, piece->argument);
  step->width = (uint8_t)piece->number.width;
  step->is_long = piece->longs == 1 && !maker->is_trace_cmd;
  step->unused_bits = piece->longs >= 1 ? 0 : piece->longs == 0 ? 32 : piece->longs == -1 ? 48 : 56;
  return true;
}

/* ---- names of numbers ---- */

/* The labels that count. NULL: they have rules of their own, or one is long. */
static struct kymo_kernel_label *copy_labels(struct maker *maker, const struct kymo_ftrace_node *node,
                                             uint32_t *count) {
  bool is_flags = node->kind == KYMO_FTRACE_FLAGS;
  struct kymo_kernel_label *labels = kymo_arena_array(maker->arena, node->label_count + 1u, sizeof *labels);
  maker->failed |= !labels;
  *count = 0;
  for (uint32_t i = 0; labels && i < node->label_count; i++) {
    const struct kymo_ftrace_label *from = &node->labels[i];
    uint64_t value = maker->is_trace_cmd ? (uint64_t)from->trace_cmd_value : from->value;
    if (!maker->is_trace_cmd && from->is_end)
      break;
    if (!maker->is_trace_cmd && from->is_unknown)
      continue;
    size_t length = from->name ? strlen(from->name) : SIZE_MAX;
    if (length > KYMO_KERNEL_TEXT || (is_flags && maker->is_trace_cmd && from->trace_cmd_value < 0))
      return NULL;
    if (!is_flags || value)
      labels[(*count)++] =
          (struct kymo_kernel_label){value, keep(maker, from->name, length), (uint32_t)length};
  }
  return labels;
}

static const uint8_t *make_direct(struct maker *maker, const struct kymo_kernel_label *labels,
                                  uint32_t count) {
  uint8_t *direct = kymo_arena_alloc(maker->arena, KYMO_KERNEL_DIRECT);
  maker->failed |= !direct;
  if (!direct)
    return NULL;
  memset(direct, UINT8_MAX, KYMO_KERNEL_DIRECT);
  for (uint32_t i = count; i-- > 0;)
    if (labels[i].value < KYMO_KERNEL_DIRECT)
      direct[labels[i].value] = (uint8_t)i;
  return direct;
}

static bool add_names(struct maker *maker, const struct kymo_ftrace_node *node, uint32_t since) {
  bool is_flags = node->kind == KYMO_FTRACE_FLAGS;
  uint32_t count;
  if (is_flags && (!node->text || strlen(node->text) > KYMO_KERNEL_TEXT))
    return false;
  struct kymo_kernel_label *labels = copy_labels(maker, node, &count);
  if (!labels || (!is_flags && count >= UINT8_MAX))
    return false;
  const char *between = is_flags ? keep(maker, node->text, strlen(node->text)) : NULL;
  const uint8_t *direct = is_flags ? NULL : make_direct(maker, labels, count);
  struct kymo_kernel_step *step = add_value(maker, is_flags ? KYMO_KERNEL_FLAGS : KYMO_KERNEL_SYMBOL, since);
  if (!step)
    return true;
  set_operand(maker, &step->value, node->a);
  step->labels = labels;
  step->count = count;
  step->direct = direct;
  step->between = between;
  step->width = is_flags ? (uint8_t)strlen(node->text) : 0;
  return true;
}

/* ---- texts ---- */

/* A field of characters: of an array, or up to a zero. */
static bool add_characters(struct maker *maker, const struct kymo_ftrace_node *node, uint32_t since) {
  const struct kymo_type *type = maker->payload->members[node->field].type;
  bool is_text = type->kind == KYMO_KIND_TEXT_ARRAY || type->kind == KYMO_KIND_STRING;
  if (!is_text || (node->kind == KYMO_FTRACE_VALUE && maker->is_trace_cmd && !node->is_text))
    return false;
  struct kymo_kernel_step *step = add_value(maker, KYMO_KERNEL_CHARACTERS, since);
  if (step)
    step->value.node = maker->message->nodes[node->field];
  return true;
}

static void add_string(struct maker *maker, const struct kymo_ftrace_piece *piece,
                       const struct kymo_ftrace_node *node, uint32_t since);

/* Value 0: to the second text; after the first one, beyond it. */
static void add_condition(struct maker *maker, const struct kymo_ftrace_piece *piece,
                          const struct kymo_ftrace_node *node, uint32_t since) {
  struct kymo_kernel_step *step = add_value(maker, KYMO_KERNEL_UNLESS, since);
  if (!step)
    return;
  uint32_t unless = (uint32_t)(step - maker->steps);
  set_operand(maker, &step->value, node->a);
  add_string(maker, piece, node->b, maker->count);
  uint32_t jump = add(maker, KYMO_KERNEL_JUMP);
  add_string(maker, piece, node->c, maker->count);
  if (maker->failed)
    return;
  maker->steps[unless].jump = jump - unless;
  maker->steps[jump].jump = maker->count - 1 - jump;
}

static void add_string(struct maker *maker, const struct kymo_ftrace_piece *piece,
                       const struct kymo_ftrace_node *node, uint32_t since) {
  bool is_added = false, is_plain = piece->number.width == 0 && !piece->number.has_precision && !piece->width;
  if (is_plain && node->kind == KYMO_FTRACE_TEXT) {
    add_text(maker, node->text, strlen(node->text));
    return;
  }
  if (is_plain && node->kind == KYMO_FTRACE_CONDITION) {
    add_condition(maker, piece, node, since);
    return;
  }
  if (is_plain && (node->kind == KYMO_FTRACE_FLAGS || node->kind == KYMO_FTRACE_SYMBOLIC))
    is_added = add_names(maker, node, since);
  if (is_plain && (node->kind == KYMO_FTRACE_FIELD || node->kind == KYMO_FTRACE_VALUE))
    is_added = add_characters(maker, node, since);
  struct kymo_kernel_step *step = is_added ? NULL : add_value(maker, KYMO_KERNEL_STRING, since);
  if (step) {
    step->piece = piece;
    step->node = node;
  }
}

/* ---- the whole ---- */

/* `since`: the first step that no jump leads beyond. */
static void add_piece(struct maker *maker, const struct kymo_ftrace_piece *piece, uint32_t since) {
  const struct kymo_printfmt_piece *number = &piece->number;
  add_text(maker, piece->text, piece->length);
  if (!number->conversion || maker->failed)
    return;
  if (number->conversion == 's' && !piece->width)
    add_string(maker, piece, piece->argument, since);
  else if (number->conversion == 's' || number->conversion == 'p' || piece->width ||
           !add_number(maker, piece, since)) {
    struct kymo_kernel_step *step = add_value(maker, KYMO_KERNEL_PIECE, since);
    if (step)
      step->piece = piece;
  }
}

const struct kymo_kernel_step *kymo_kernel_compile(const struct kymo_kernel_message *message,
                                                   struct kymo_arena *arena,
                                                   const struct kymo_type *payload) {
  struct maker maker = {.message = message,
                        .payload = payload,
                        .arena = arena,
                        .is_trace_cmd = message->style == KYMO_KERNEL_AS_TRACE_CMD};
  for (uint32_t i = 0; i < message->print.count && !maker.failed; i++)
    add_piece(&maker, &message->print.pieces[i], maker.count);
  add(&maker, KYMO_KERNEL_END);
  struct kymo_kernel_step *steps = maker.failed ? NULL : kymo_arena_array(arena, maker.count, sizeof *steps);
  if (steps)
    memcpy(steps, maker.steps, maker.count * sizeof *steps);
  free(maker.steps);
  return steps;
}
