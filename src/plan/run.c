/* SPDX-License-Identifier: MIT */
/*
 * Running code. What the verifier has established is not checked again: that operands are there, that jumps
 * lead forward within the block, that stack, windows, loops and remembered positions are deep enough. Only
 * data are checked.
 */
#include "base/bytes.h"
#include "base/list.h"
#include "plan/machine.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define VALUE_OF(machine, at) (&(machine)->slots[at])

bool kymo_plan_as_count(struct kymo_plan_machine *machine, const struct kymo_expr_value *value,
                        const char *what, uint64_t *count) {
  if (value->sort != KYMO_SORT_NUMBER)
    return kymo_plan_raise(machine, 10, kymo_plan_offset(machine), "%s is %s", what,
                           value->sort == KYMO_SORT_ABSENT ? "absent" : "no whole number");
  *count = value->n.low;
  return value->n.high == 0 || kymo_plan_raise(machine, 2, kymo_plan_offset(machine), "%s is %s", what,
                                               value->n.high < 0 ? "negative" : "too large");
}

static struct kymo_plan_window *innermost(struct kymo_plan_machine *machine) {
  return &machine->windows[machine->window];
}

/* ---- filler ---- */

/* Skips `bits`; if `filler` is not 0 they must all consist of the byte `filler` - 1. */
static bool pass(struct kymo_plan_machine *machine, uint64_t bits, uint32_t filler) {
  if (!kymo_plan_need(machine, bits))
    return false;
  uint64_t at = machine->bit / 8, count = machine->bit % 8 == 0 ? bits / 8 : 0;
  const uint8_t *from = innermost(machine)->data + at;
  for (uint64_t i = 0; filler && i < count; i++)
    if (from[i] != filler - 1) {
      if (!kymo_plan_mark(machine, 4, "expected filler of 0x%02x, found 0x%02x", filler - 1, from[i]))
        return false;
      break;
    }
  uint64_t begin = machine->bit;
  machine->bit += bits;
  if (filler && bits)
    KYMO_PLAN_REPORT_LOADED(machine, .begin_bits = begin, .end_bits = machine->bit, .slot = KYMO_PLAN_NONE,
                            .code = machine->failed_at, .name = "(filler)",
                            .value = {.sort = KYMO_SORT_ABSENT});
  return true;
}

static bool pass_counted(struct kymo_plan_machine *machine, const struct kymo_plan_instruction *what,
                         const struct kymo_expr_value *value) {
  uint64_t count = 0;
  if (!kymo_plan_as_count(machine, value, "the size of FILLER", &count))
    return false;
  if (count > UINT64_MAX / 16)
    return kymo_plan_raise(machine, 2, kymo_plan_offset(machine), "FILLER beyond any file");
  return pass(machine, count * what->a, what->b);
}

/* Moves forward to this number of bytes from the base. */
static bool go(struct kymo_plan_machine *machine, uint64_t bytes, uint32_t filler) {
  uint64_t base = innermost(machine)->base, target;
  if (__builtin_add_overflow(base, bytes, &target) || target > UINT64_MAX / 8)
    return kymo_plan_raise(machine, 2, kymo_plan_offset(machine), "a position beyond any file");
  if (target * 8 < machine->bit)
    return kymo_plan_raise(machine, 2, kymo_plan_offset(machine), "FILLER to a position that is passed");
  return pass(machine, target * 8 - machine->bit, filler);
}

static bool align(struct kymo_plan_machine *machine, uint64_t to, uint32_t filler) {
  uint64_t base = innermost(machine)->base, bytes = (machine->bit + 7) / 8 - base;
  if (to == 0)
    return kymo_plan_raise(machine, 10, kymo_plan_offset(machine), "an alignment of 0");
  uint64_t rest = bytes % to;
  return go(machine, rest ? bytes + (to - rest) : bytes, filler);
}

/* ---- positions, lengths ---- */

static bool enter_place(struct kymo_plan_machine *machine, uint64_t bytes) {
  const struct kymo_plan_window *window = innermost(machine);
  machine->returns[machine->return_count++] = machine->bit;
  if (bytes > window->end - window->base)
    return kymo_plan_raise(machine, window->is_file_end ? 1 : 2, kymo_plan_offset(machine),
                           "a place %llu bytes from the start, in a window of %llu",
                           (unsigned long long)bytes, (unsigned long long)(window->end - window->base));
  machine->bit = (window->base + bytes) * 8;
  return true;
}

bool kymo_plan_set_length(struct kymo_plan_machine *machine, uint64_t bytes) {
  struct kymo_plan_window *window = &machine->windows[0];
  uint64_t position = (machine->bit + 7) / 8 - machine->start, room = window->end - machine->start;
  if (machine->window != 0 || bytes < position)
    return kymo_plan_raise(machine, 2, kymo_plan_offset(machine),
                           "a LENGTH of %llu bytes, of which %llu are read already",
                           (unsigned long long)bytes, (unsigned long long)position);
  machine->wanted_end = bytes > room && bytes <= UINT64_MAX - machine->start ? machine->start + bytes : 0;
  if (bytes > room)
    return kymo_plan_raise(machine, window->is_file_end ? 1 : 2, kymo_plan_offset(machine),
                           "a LENGTH of %llu bytes where there are %llu", (unsigned long long)bytes,
                           (unsigned long long)room);
  machine->record_end = window->end = machine->start + bytes;
  window->is_file_end = false;
  return true;
}

static bool check_length(struct kymo_plan_machine *machine, uint64_t bytes) {
  uint64_t end = machine->record_end != UINT64_MAX ? machine->record_end : (machine->bit + 7) / 8;
  return bytes == end - machine->start ||
         kymo_plan_mark(machine, 4, "a length of %llu bytes in a record of %llu", (unsigned long long)bytes,
                        (unsigned long long)(end - machine->start));
}

/* ---- lists ---- */

bool kymo_plan_append(struct kymo_plan_machine *machine, struct kymo_plan_list *list,
                      const struct kymo_expr_value *value, uint32_t option, uint32_t element) {
  if (!KYMO_LIST_ROOM(list->items, list->capacity, list->count)) {
    machine->failed = true;
    return kymo_plan_raise(machine, 9, kymo_plan_offset(machine), "out of memory");
  }
  uint64_t at = machine->loaded_bit / 8 - machine->start;
  bool is_of_file = machine->windows[machine->window].data == machine->bytes && at < KYMO_PLAN_NONE;
  list->items[list->count++] =
      (struct kymo_plan_item){*value, option, is_of_file ? (uint32_t)at : KYMO_PLAN_NONE, element};
  return true;
}

/* The current element of the list of structs that the column is a member of; NONE: it has none yet. */
static uint32_t current_element(const struct kymo_plan_machine *machine, uint32_t column) {
  uint32_t parent = machine->plan->columns[column].parent;
  return parent ? machine->lists[parent - 1].count - 1 : 0;
}

static bool append(struct kymo_plan_machine *machine, const struct kymo_plan_instruction *what,
                   const struct kymo_expr_value *value) {
  return value->sort == KYMO_SORT_ABSENT || kymo_plan_append(machine, &machine->lists[what->a], value,
                                                             what->b, current_element(machine, what->a));
}

static bool add_element(struct kymo_plan_machine *machine, uint32_t column) {
  static const struct kymo_expr_value none = {.sort = KYMO_SORT_ABSENT};
  machine->elements_bytes += machine->element_bytes[column];
  if (machine->elements_bytes > KYMO_PLAN_ELEMENTS_MAX)
    return kymo_plan_raise(machine, 9, kymo_plan_offset(machine),
                           "a record with more than %u MiB in lists of structs",
                           (unsigned)(KYMO_PLAN_ELEMENTS_MAX >> 20));
  return kymo_plan_append(machine, &machine->lists[column], &none, 0, current_element(machine, column));
}

/* ---- instructions that push a value ---- */

static struct kymo_expr_value number_at(const struct kymo_plan_machine *machine,
                                        const struct kymo_plan_instruction *what) {
  const struct kymo_plan_window *window = &machine->windows[machine->window];
  const struct kymo_plan_frame *frame =
      machine->state.depth ? &machine->state.frames[machine->state.depth - 1] : NULL;
  switch ((enum kymo_plan_code)what->code) {
  case KYMO_DO_POSITION: return kymo_value_u64(machine->bit / 8 - window->base);
  case KYMO_DO_REMAINING: return kymo_value_u64(kymo_plan_rest_bits(machine) / 8);
  case KYMO_DO_HERE: return kymo_value_u64((machine->bit + 7) / 8);
  case KYMO_DO_START: return kymo_value_u64(machine->start);
  case KYMO_DO_END:
    return kymo_value_u64(machine->record_end != UINT64_MAX ? machine->record_end : window->end);
  case KYMO_DO_FILE_SIZE: return kymo_value_u64(machine->size);
  case KYMO_DO_FILE_NUMBER: return kymo_value_u64(machine->file_number);
  case KYMO_DO_COUNT_OF: return kymo_value_u64(machine->tables[what->a].live);
  case KYMO_DO_LIST_COUNT: return kymo_value_u64(machine->lists[what->a].count);
  case KYMO_DO_PREVIOUS:
    if (frame && frame->previous != UINT64_MAX)
      return kymo_value_u64(frame->previous);
    break;
  default: break;
  }
  return (struct kymo_expr_value){.sort = KYMO_SORT_ABSENT};
}

static struct kymo_expr_value constant(const struct kymo_plan_machine *machine,
                                       const struct kymo_plan_instruction *what) {
  uint64_t number = kymo_plan_wide(what->b, what->c);
  uint32_t size;
  const uint8_t *text;
  switch ((enum kymo_plan_code)what->code) {
  case KYMO_DO_NUMBER:
    return kymo_value_number(what->a ? kymo_wide_of_u64(number) : kymo_wide_of_i64((int64_t)number));
  case KYMO_DO_TEXT:
    text = kymo_plan_text(machine->plan, what->a, &size);
    return kymo_value_bytes(text, size);
  case KYMO_DO_KEPT: return machine->state.kept[what->a];
  default: return number_at(machine, what);
  }
}

static void look_up(struct kymo_plan_machine *machine, const struct kymo_plan_instruction *what,
                    struct kymo_expr_value *top) {
  const struct kymo_plan_version *version = kymo_plan_table_get(machine, what->a, top);
  if (what->code == KYMO_DO_HAS_KEY)
    *top = kymo_value_u64(version != NULL);
  else if (!version)
    top->sort = KYMO_SORT_ABSENT;
  else
    *top = version->record ? kymo_value_u64(1) : version->value;
}

/* ---- items: each takes its operands; the new top, NULL after raising ---- */

static struct kymo_expr_value *load(struct kymo_plan_machine *machine,
                                    const struct kymo_plan_instruction *what, struct kymo_expr_value *top) {
  const struct kymo_plan_type *type = &machine->plan->types[what->a];
  uint64_t size = type->size;
  if (type->size == KYMO_SIZE_POPPED && !kymo_plan_as_count(machine, top--, "a width or size", &size))
    return NULL;
  if (size >= KYMO_SIZE_POPPED && type->size == KYMO_SIZE_POPPED) {
    kymo_plan_raise(machine, innermost(machine)->is_file_end ? 1 : 2, kymo_plan_offset(machine),
                    "a field of %llu bytes", (unsigned long long)size);
    return NULL;
  }
  uint64_t begin = machine->bit;
  if (!kymo_plan_load_value(machine, type, (uint32_t)size, false, KYMO_PLAN_LITTLE, top + 1))
    return NULL;
  machine->loaded_bit = begin;
  KYMO_PLAN_REPORT_LOADED(machine, .begin_bits = begin, .end_bits = machine->bit, .slot = KYMO_PLAN_NONE,
                          .code = what, .after = what + 1, .value = top[1]);
  return top + 1;
}

/* Loads may have read ahead beyond the record's end: the end is then known nevertheless. */
static bool set_length(struct kymo_plan_machine *machine, uint64_t bytes, uint32_t ahead) {
  uint64_t position = (machine->bit + 7) / 8 - machine->start,
           room = machine->windows[0].end - machine->start;
  if (machine->window != 0 || bytes >= position || bytes + ahead < position || bytes > room)
    return kymo_plan_set_length(machine, bytes);
  machine->record_end = machine->start + bytes;
  return kymo_plan_raise(machine, 2, kymo_plan_offset(machine),
                         "fields of %llu bytes in a record with a LENGTH of %llu",
                         (unsigned long long)position, (unsigned long long)bytes);
}

/* Instructions that pop a count. */
static bool counted(struct kymo_plan_machine *machine, const struct kymo_plan_instruction *what,
                    const struct kymo_expr_value *value) {
  uint64_t count = 0;
  machine->failed_at = what;
  if (what->code == KYMO_DO_FILL)
    return pass_counted(machine, what, value);
  if (!kymo_plan_as_count(machine, value, "a position, size or length", &count))
    return false;
  switch ((enum kymo_plan_code)what->code) {
  case KYMO_DO_GO: return go(machine, count, what->b);
  case KYMO_DO_ALIGN: return align(machine, count, what->b);
  case KYMO_DO_AT: return enter_place(machine, count);
  case KYMO_DO_ENTER: return kymo_plan_enter(machine, count);
  case KYMO_DO_LENGTH: return set_length(machine, count, what->a);
  default: return check_length(machine, count);
  }
}

static const char *message_of(const struct kymo_plan_machine *machine, uint32_t text, int *size) {
  uint32_t length = 0;
  const uint8_t *bytes = kymo_plan_text(machine->plan, text, &length);
  *size = (int)(length > 120 ? 120 : length);
  return bytes ? (const char *)bytes : "";
}

void kymo_plan_describe(const struct kymo_expr_value *value, bool is_hex, char *out, size_t room) {
  bool is_plain = true;
  *out = '\0';
  if (value->sort == KYMO_SORT_NUMBER && kymo_wide_fits(value->n) && value->n.high < 0)
    snprintf(out, room, "%" PRId64, (int64_t)value->n.low);
  else if (value->sort == KYMO_SORT_NUMBER && value->n.high == 0)
    snprintf(out, room, is_hex ? "0x%" PRIx64 : "%" PRIu64, value->n.low);
  if (value->sort != KYMO_SORT_BYTES)
    return;
  for (uint32_t i = 0; i < value->size; i++)
    is_plain &= value->p[i] >= ' ' && value->p[i] <= '~' && value->p[i] != '"';
  uint32_t size = value->size < 16 ? (uint32_t)value->size : 16;
  int used =
      snprintf(out, room, is_plain ? "\"%.*s\"" : "x\"", (int)size, is_plain ? (const char *)value->p : "");
  for (uint32_t i = 0; !is_plain && i < size; i++)
    used += snprintf(out + used, room - (size_t)used, i ? " %02x" : "%02x", value->p[i]);
  snprintf(out + used, room - (size_t)used, "%s%s", is_plain ? "" : "\"", size < value->size ? " …" : "");
}

/* The distance in bits from a field's begin to the position: values of bytes know it themselves. */
static uint64_t begin_of(const struct kymo_plan_machine *machine, const struct kymo_expr_value *field,
                         uint32_t bits) {
  uint64_t since = kymo_plan_bits_since(machine, field);
  return since ? since : bits;
}

static bool check(struct kymo_plan_machine *machine, const struct kymo_plan_instruction *what,
                  const struct kymo_expr_value *top) {
  int size;
  char found[KYMO_PLAN_DESCRIBED] = "";
  uint64_t bits = 0;
  machine->failed_at = what;
  const char *text = message_of(machine, what->b, &size);
  text = size           ? text
         : what->a == 4 ? "a check failed"
         : what->a == 5 ? "a value without interpretation"
                        : "not as described";
  size = size ? size : (int)strlen(text);
  if (what->code == KYMO_DO_CHECK && what->c > 0) {
    bits = begin_of(machine, top - 1, what->c - 1);
    kymo_plan_describe(top - 1, memmem(text, (size_t)size, "0x", 2) != NULL, found, sizeof found);
  }
  const char *comma = *found ? ", found " : "";
  if (what->code == KYMO_DO_CHECK && what->a >= 4)
    return kymo_plan_mark_field(machine, what->a, bits, "%.*s%s%s", size, text, comma, found);
  return kymo_plan_raise(machine, what->a, kymo_plan_offset(machine), "%.*s%s%s", size, text, comma, found);
}

/* Compares the found value with the computed one. */
static bool expect(struct kymo_plan_machine *machine, const struct kymo_plan_instruction *what,
                   const struct kymo_expr_value *expected, const struct kymo_expr_value *found) {
  char texts[2][KYMO_PLAN_DESCRIBED];
  int size;
  if (kymo_value_is_equal(expected, found))
    return true;
  const char *text = message_of(machine, what->b, &size);
  kymo_plan_describe(expected, true, texts[0], sizeof texts[0]);
  kymo_plan_describe(found, true, texts[1], sizeof texts[1]);
  uint64_t bits = machine->bit > machine->checksum_at * 8 ? machine->bit - machine->checksum_at * 8 : 0;
  return kymo_plan_mark_field(machine, what->a, bits, "%.*s, expected %s, found %s", size, text, texts[0],
                              texts[1]);
}

static bool lost(struct kymo_plan_machine *machine, const struct kymo_expr_value *value) {
  if (value->sort == KYMO_SORT_NUMBER && value->n.high == 0 && value->n.low > 0 && !machine->is_dry)
    kymo_plan_note_loss(machine, value->n.low);
  return true;
}

/* The number of values that a definition of a record takes besides the key. */
static unsigned operands_of(const struct kymo_plan_recipe *recipe) {
  static const unsigned sources[] = {[KYMO_STYLE_LETTERS] = 2, [KYMO_STYLE_TEXT] = 1, [KYMO_STYLE_LIST] = 0};
  return 2 + sources[recipe->style] + (recipe->has_length != 0);
}

static struct kymo_expr_value *do_time(struct kymo_plan_machine *machine,
                                       const struct kymo_plan_instruction *what,
                                       struct kymo_expr_value *top) {
  machine->failed_at = what;
  unsigned count = 1u + ((what->b & KYMO_TIME_UNITS) != 0) + ((what->b & KYMO_TIME_PER) != 0);
  struct kymo_expr_value *first = top - (count - 1), out = {0};
  if (!kymo_plan_time(machine, what, first, &out))
    return NULL;
  *first = out;
  return first;
}

/* Instructions that change state or take several operands. */
static struct kymo_expr_value *effect(struct kymo_plan_machine *machine,
                                      const struct kymo_plan_instruction *what, struct kymo_expr_value *top) {
  static const struct kymo_expr_value nothing = {.sort = KYMO_SORT_ABSENT};
  struct kymo_expr_value out;
  unsigned count = 1;
  bool ok = true;
  machine->failed_at = what;
  switch ((enum kymo_plan_code)what->code) {
  case KYMO_DO_DEFINE:
    ok = top->sort == KYMO_SORT_ABSENT || kymo_plan_table_set(machine, what->a, top - 1, top, NULL);
    count = 2;
    break;
  case KYMO_DO_FORGET: ok = kymo_plan_table_set(machine, what->a, top, &nothing, NULL); break;
  case KYMO_DO_DEFINE_RECORD:
    count = operands_of(&machine->plan->recipes[what->a]);
    ok = kymo_plan_define_record(machine, &machine->plan->recipes[what->a], top - (count - 1));
    break;
  case KYMO_DO_SYNC:
    ok = kymo_plan_sync(machine, what, top - 1);
    count = 2;
    break;
  case KYMO_DO_EXPECT:
    ok = expect(machine, what, top - 1, top);
    count = 2;
    break;
  case KYMO_DO_SEQUENCE:
    count = what->c == KYMO_PER_VALUE ? 2 : 1;
    ok = kymo_plan_sequence(machine, what, top - (count - 1));
    break;
  case KYMO_DO_LOST: ok = lost(machine, top); break;
  case KYMO_DO_AFTER:
    count = what->a == KYMO_METHOD_XOR ? 1 : 0;
    ok = kymo_plan_unpack(machine, (enum kymo_plan_method)what->a, count ? top : NULL);
    break;
  case KYMO_DO_CHECKSUM:
    ok = kymo_plan_checksum(machine, what, top - 3, &out);
    top[-3] = out;
    count = 3;
    break;
  case KYMO_DO_APPEND: ok = append(machine, what, top); break;
  case KYMO_DO_ELEMENT:
    ok = add_element(machine, what->a);
    count = 0;
    break;
  default: ok = check(machine, what, top); count = 0;
  }
  return ok ? top - count : NULL;
}

/* ---- loops ---- */

/* Whether the loop is entered. *ok becomes false after raising. */
static bool begin_loop(struct kymo_plan_machine *machine, const struct kymo_plan_instruction *what,
                       uint32_t head, const struct kymo_expr_value *value, bool *ok) {
  struct kymo_plan_loop_state *loop = &machine->loops[machine->loop_count];
  uint64_t times = UINT64_MAX;
  *ok = what->b != KYMO_LOOP_TIMES || kymo_plan_as_count(machine, value, "the number of turns", &times);
  if (*ok && what->b == KYMO_LOOP_TIMES && times > what->c)
    *ok = kymo_plan_raise(machine, 9, kymo_plan_offset(machine),
                          "REPEAT with %llu turns, where at most %u are allowed", (unsigned long long)times,
                          what->c);
  if (!*ok || times == 0 || (what->b == KYMO_LOOP_TO_END && kymo_plan_rest_bits(machine) == 0))
    return false;
  *loop = (struct kymo_plan_loop_state){.head = head, .left = times, .bit = machine->bit};
  machine->loop_count++;
  return true;
}

/* Whether the loop has another turn. */
static bool next_turn(struct kymo_plan_machine *machine, const struct kymo_plan_instruction *head,
                      bool is_until, bool *ok) {
  struct kymo_plan_loop_state *loop = &machine->loops[machine->loop_count - 1];
  bool is_over = head->b == KYMO_LOOP_UNTIL   ? is_until
                 : head->b == KYMO_LOOP_TIMES ? --loop->left == 0
                                              : kymo_plan_rest_bits(machine) == 0;
  *ok = true;
  if (!is_over && machine->bit == loop->bit && head->b != KYMO_LOOP_TIMES)
    *ok = kymo_plan_raise(machine, 2, kymo_plan_offset(machine), "REPEAT with a turn that consumes nothing");
  if (*ok && !is_over && ++loop->turns >= head->c)
    *ok = kymo_plan_raise(machine, 9, kymo_plan_offset(machine), "REPEAT with more than %u turns", head->c);
  /* loops within loops: the bytes of the file do not bound turns that consume nothing, nor turns that read
   * elsewhere (AT) again and again */
  if (*ok && !is_over && (machine->bit == loop->bit || machine->return_count) &&
      ++machine->idle_turns > machine->size + KYMO_PLAN_REPEAT_LIMIT)
    *ok = kymo_plan_raise(machine, 9, kymo_plan_offset(machine),
                          "REPEAT with %llu turns in a record that consume nothing",
                          (unsigned long long)machine->idle_turns);
  loop->bit = machine->bit;
  if (is_over)
    machine->loop_count--;
  return *ok && !is_over;
}

/* ---- the loop over instructions ---- */

/* Runs a block on a stack whose top becomes *top. */
static bool run(struct kymo_plan_machine *machine, uint32_t block, struct kymo_expr_value *stack,
                struct kymo_expr_value **result) {
  const struct kymo_plan_instruction *code = machine->plan->code;
  uint32_t at = machine->plan->blocks[block].first, end = at + machine->plan->blocks[block].count;
  struct kymo_expr_value *top = stack;
  bool ok = true;
  while (at < end) {
    const struct kymo_plan_instruction *what = &code[at++];
    switch ((enum kymo_plan_code)what->code) {
    case KYMO_DO_NUMBER:
    case KYMO_DO_TEXT:
    case KYMO_DO_KEPT:
    case KYMO_DO_POSITION:
    case KYMO_DO_REMAINING:
    case KYMO_DO_HERE:
    case KYMO_DO_START:
    case KYMO_DO_END:
    case KYMO_DO_PREVIOUS:
    case KYMO_DO_FILE_SIZE:
    case KYMO_DO_FILE_NUMBER:
    case KYMO_DO_COUNT_OF:
    case KYMO_DO_LIST_COUNT: *++top = constant(machine, what); break;
    case KYMO_DO_ABSENT: (++top)->sort = KYMO_SORT_ABSENT; break;
    case KYMO_DO_FIELD:
      *++top = kymo_plan_defined_value(machine, what->a, (enum kymo_plan_field_sort)what->b);
      break;
    case KYMO_DO_FIELDS: top = kymo_plan_run_fields(machine) ? top : NULL; break;
    case KYMO_DO_GET: *++top = *VALUE_OF(machine, what->a); break;
    case KYMO_DO_SET: *VALUE_OF(machine, what->a) = *top--; break;
    case KYMO_DO_CLEAR:
      for (uint32_t i = 0; i < what->b; i++)
        VALUE_OF(machine, what->a + i)->sort = KYMO_SORT_ABSENT;
      break;
    case KYMO_DO_DUP:
      top[1] = *top;
      top++;
      break;
    case KYMO_DO_DROP: top--; break;
    case KYMO_DO_LOOKUP:
    case KYMO_DO_HAS_KEY: look_up(machine, what, top); break;
    case KYMO_DO_JUMP: at = what->a; break;
    case KYMO_DO_JUMP_FALSE: at = kymo_value_is_true(top--) ? at : what->a; break;
    case KYMO_DO_JUMP_TRUE: at = kymo_value_is_true(top--) ? what->a : at; break;
    case KYMO_DO_LOAD: top = load(machine, what, top); break;
    case KYMO_DO_FILL:
    case KYMO_DO_GO:
    case KYMO_DO_ALIGN:
    case KYMO_DO_AT:
    case KYMO_DO_ENTER:
    case KYMO_DO_LENGTH:
    case KYMO_DO_LENGTH_CHECK: top = counted(machine, what, top) ? top - 1 : NULL; break;
    case KYMO_DO_CHECK: top = kymo_value_is_true(top) || check(machine, what, top) ? top - 1 : NULL; break;
    case KYMO_DO_BACK: machine->bit = machine->returns[--machine->return_count]; break;
    case KYMO_DO_LEAVE: kymo_plan_leave(machine); break;
    case KYMO_DO_LOOP:
      at = begin_loop(machine, what, at - 1, top, &ok) ? at : what->a;
      top = ok ? top - (what->b == KYMO_LOOP_TIMES) : NULL;
      break;
    case KYMO_DO_TURN:
      at = next_turn(machine, &code[what->a], code[what->a].b == KYMO_LOOP_UNTIL && kymo_value_is_true(top),
                     &ok)
               ? what->a + 1
               : at;
      top = ok ? top - (code[what->a].b == KYMO_LOOP_UNTIL) : NULL;
      break;
    case KYMO_DO_ORDER_FILE:
      machine->state.order =
          machine->is_dry ? machine->state.order : (enum kymo_plan_order)what->a; /* fall through */
    case KYMO_DO_ORDER: machine->order = (enum kymo_plan_order)what->a; break;
    case KYMO_DO_TIME: top = do_time(machine, what, top); break;
    case KYMO_DO_APPEND:
    case KYMO_DO_FAIL:
    case KYMO_DO_AFTER:
    case KYMO_DO_CHECKSUM:
    case KYMO_DO_DEFINE:
    case KYMO_DO_FORGET:
    case KYMO_DO_DEFINE_RECORD:
    case KYMO_DO_SYNC:
    case KYMO_DO_SEQUENCE:
    case KYMO_DO_LOST:
    case KYMO_DO_EXPECT:
    case KYMO_DO_ELEMENT: top = effect(machine, what, top); break;
    default: top = kymo_plan_operate(machine, what, top);
    }
    if (!top) {
      machine->failed_at = what;
      return false;
    }
  }
  *result = top;
  return true;
}

bool kymo_plan_run(struct kymo_plan_machine *machine, uint32_t block) {
  struct kymo_expr_value stack[KYMO_PLAN_STACK + 1], *top;
  return block == KYMO_PLAN_NONE || run(machine, block, stack, &top);
}

bool kymo_plan_evaluate(struct kymo_plan_machine *machine, uint32_t block, struct kymo_expr_value *value) {
  struct kymo_expr_value stack[KYMO_PLAN_STACK + 1], *top;
  if (!run(machine, block, stack, &top))
    return false;
  *value = *top;
  return true;
}

bool kymo_plan_count_of(struct kymo_plan_machine *machine, uint32_t block, const char *what,
                        uint64_t *count) {
  struct kymo_expr_value value;
  return kymo_plan_evaluate(machine, block, &value) && kymo_plan_as_count(machine, &value, what, count);
}

/* ---- parts ---- */

static uint64_t load_constant(const uint8_t *from, const struct kymo_plan_load *load, bool is_big) {
  switch (load->bits) {
  case 8: return *from;
  case 16: return is_big ? kymo_load_be16(from) : kymo_load_le16(from);
  case 32: return is_big ? kymo_load_be32(from) : kymo_load_le32(from);
  case 64: return is_big ? kymo_load_be64(from) : kymo_load_le64(from);
  default: return kymo_bits(from, 0, load->bits, is_big);
  }
}

bool kymo_plan_run_part(struct kymo_plan_machine *machine, const struct kymo_plan_part *part) {
  machine->failed_at = NULL;
  if (part->fixed) {
    if (!kymo_plan_need(machine, (uint64_t)part->fixed * 8))
      return false;
    const uint8_t *from = innermost(machine)->data + machine->bit / 8;
    const struct kymo_plan_load *load = &machine->plan->loads[part->first_load];
    for (uint32_t i = 0; i < part->load_count; i++, load++) {
      bool is_big =
          (load->order == KYMO_PLAN_CURRENT ? (uint32_t)machine->order : load->order) == KYMO_PLAN_BIG;
      uint64_t raw = load_constant(from + load->offset, load, is_big);
      machine->slots[load->slot] = kymo_value_number(
          load->is_signed ? kymo_wide_of_i64(kymo_sign_extend(raw, load->bits)) : kymo_wide_of_u64(raw));
      uint64_t begin = machine->bit + (uint64_t)load->offset * 8;
      KYMO_PLAN_REPORT_LOADED(machine, .begin_bits = begin, .end_bits = begin + load->bits,
                              .slot = load->slot, .load = load, .value = machine->slots[load->slot]);
    }
    machine->bit += (uint64_t)part->fixed * 8;
  }
  return kymo_plan_run(machine, part->block);
}
