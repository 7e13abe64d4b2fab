/* SPDX-License-Identifier: MIT */
/*
 * Plan → text:
 *
 *   kind packet: event, 16 bytes
 *     0: unsigned 32 current -> s0
 *     code 3
 *       12 get s0
 *       13 time c0 …
 */
#include "plan/dump.h"
#include <inttypes.h>

/* The meaning of operand `a` of an instruction. */
enum operand {
  OPERAND_NONE,
  OPERAND_SLOT,
  OPERAND_TEXT,
  OPERAND_TABLE,
  OPERAND_TOKEN,
  OPERAND_TYPE,
  OPERAND_COLUMN,
  OPERAND_CLOCK,
  OPERAND_INSTRUCTION,
  OPERAND_NUMBER,
  OPERAND_NUMBERS,
  OPERAND_VALUE,
};

static const struct {
  const char *name;
  enum operand operand;
} codes[KYMO_DO_COUNT] = {
    [KYMO_DO_NUMBER] = {"number", OPERAND_VALUE},
    [KYMO_DO_TEXT] = {"text", OPERAND_TEXT},
    [KYMO_DO_ABSENT] = {"absent", 0},
    [KYMO_DO_GET] = {"get", OPERAND_SLOT},
    [KYMO_DO_SET] = {"set", OPERAND_SLOT},
    [KYMO_DO_CLEAR] = {"clear", OPERAND_NUMBERS},
    [KYMO_DO_KEPT] = {"kept", OPERAND_NUMBER},
    [KYMO_DO_DUP] = {"dup", 0},
    [KYMO_DO_DROP] = {"drop", 0},
    [KYMO_DO_POSITION] = {"position", 0},
    [KYMO_DO_REMAINING] = {"remaining", 0},
    [KYMO_DO_HERE] = {"here", 0},
    [KYMO_DO_START] = {"start", 0},
    [KYMO_DO_END] = {"end", 0},
    [KYMO_DO_PREVIOUS] = {"previous", 0},
    [KYMO_DO_FILE_SIZE] = {"file size", 0},
    [KYMO_DO_FILE_NUMBER] = {"file number", 0},
    [KYMO_DO_COUNT_OF] = {"count of", OPERAND_TABLE},
    [KYMO_DO_LIST_COUNT] = {"list count", OPERAND_COLUMN},
    [KYMO_DO_SIZE_OF] = {"size of", 0},
    [KYMO_DO_JOIN] = {"join", 0},
    [KYMO_DO_LOOKUP] = {"lookup", OPERAND_TABLE},
    [KYMO_DO_HAS_KEY] = {"has key", OPERAND_TABLE},
    [KYMO_DO_KNOWN] = {"known", OPERAND_TOKEN},
    [KYMO_DO_ADD] = {"add", 0},
    [KYMO_DO_SUBTRACT] = {"subtract", 0},
    [KYMO_DO_MULTIPLY] = {"multiply", 0},
    [KYMO_DO_DIVIDE] = {"divide", 0},
    [KYMO_DO_REMAINDER] = {"remainder", 0},
    [KYMO_DO_SHIFT_LEFT] = {"shift left", 0},
    [KYMO_DO_SHIFT_RIGHT] = {"shift right", 0},
    [KYMO_DO_AND] = {"and", 0},
    [KYMO_DO_OR] = {"or", 0},
    [KYMO_DO_XOR] = {"xor", 0},
    [KYMO_DO_NEGATE] = {"negate", 0},
    [KYMO_DO_COMPLEMENT] = {"complement", 0},
    [KYMO_DO_RANGE] = {"range", 0},
    [KYMO_DO_EQUAL] = {"equal", 0},
    [KYMO_DO_UNEQUAL] = {"unequal", 0},
    [KYMO_DO_LESS] = {"less", 0},
    [KYMO_DO_LESS_EQUAL] = {"less or equal", 0},
    [KYMO_DO_GREATER] = {"greater", 0},
    [KYMO_DO_GREATER_EQUAL] = {"greater or equal", 0},
    [KYMO_DO_BETWEEN] = {"between", 0},
    [KYMO_DO_FALSE] = {"not", 0},
    [KYMO_DO_TRUTH] = {"truth", 0},
    [KYMO_DO_BITS] = {"bits", 0},
    [KYMO_DO_SIGNED] = {"signed", 0},
    [KYMO_DO_POWER] = {"power", 0},
    [KYMO_DO_MINIMUM] = {"minimum", 0},
    [KYMO_DO_MAXIMUM] = {"maximum", 0},
    [KYMO_DO_DEFAULT] = {"default", 0},
    [KYMO_DO_PRESENT] = {"present", 0},
    [KYMO_DO_TEXT_AT] = {"text at", 0},
    [KYMO_DO_ALIGN_UP] = {"align up", 0},
    [KYMO_DO_ABSENT_IF] = {"absent if", 0},
    [KYMO_DO_JUMP] = {"jump", OPERAND_INSTRUCTION},
    [KYMO_DO_JUMP_FALSE] = {"jump if false", OPERAND_INSTRUCTION},
    [KYMO_DO_JUMP_TRUE] = {"jump if true", OPERAND_INSTRUCTION},
    [KYMO_DO_LOAD] = {"load", OPERAND_TYPE},
    [KYMO_DO_FILL] = {"fill", OPERAND_NUMBERS},
    [KYMO_DO_GO] = {"go", 0},
    [KYMO_DO_ALIGN] = {"align", 0},
    [KYMO_DO_APPEND] = {"append", OPERAND_COLUMN},
    [KYMO_DO_CHECK] = {"check", OPERAND_NUMBER},
    [KYMO_DO_FAIL] = {"fail", OPERAND_NUMBER},
    [KYMO_DO_AT] = {"at", 0},
    [KYMO_DO_BACK] = {"back", 0},
    [KYMO_DO_ENTER] = {"enter", 0},
    [KYMO_DO_AFTER] = {"after", OPERAND_NUMBER},
    [KYMO_DO_LEAVE] = {"leave", 0},
    [KYMO_DO_LENGTH] = {"length", 0},
    [KYMO_DO_LENGTH_CHECK] = {"length check", 0},
    [KYMO_DO_LOOP] = {"loop", OPERAND_INSTRUCTION},
    [KYMO_DO_TURN] = {"turn", OPERAND_INSTRUCTION},
    [KYMO_DO_ORDER] = {"order", OPERAND_NUMBER},
    [KYMO_DO_ORDER_FILE] = {"order file", OPERAND_NUMBER},
    [KYMO_DO_CHECKSUM] = {"checksum", OPERAND_NUMBERS},
    [KYMO_DO_DEFINE] = {"define", OPERAND_TABLE},
    [KYMO_DO_FORGET] = {"forget", OPERAND_TABLE},
    [KYMO_DO_DEFINE_RECORD] = {"define record", OPERAND_NUMBER},
    [KYMO_DO_SYNC] = {"sync", OPERAND_NUMBERS},
    [KYMO_DO_TIME] = {"time", OPERAND_CLOCK},
    [KYMO_DO_SEQUENCE] = {"sequence", OPERAND_NUMBERS},
    [KYMO_DO_LOST] = {"lost", 0},
    [KYMO_DO_EXPECT] = {"expect", OPERAND_NUMBER},
    [KYMO_DO_ELEMENT] = {"element", OPERAND_COLUMN},
    [KYMO_DO_NAME_OF] = {"name of", OPERAND_TOKEN},
    [KYMO_DO_CONCAT] = {"concat", 0},
    [KYMO_DO_FIELDS] = {"fields", 0},
    [KYMO_DO_FIELD] = {"field", OPERAND_TEXT},
};

static const char *const orders[] = {"little", "big", "current"};
static const char *const encodings[] = {"unsigned",     "signed",         "float",
                                        "bcd",          "fixed",          "leb",
                                        "sleb",         "zigzag",         "varint",
                                        "bytes",        "string",         "whole string",
                                        "ended string", "number in text", "ended number in text"};
static const char *const shapes[] = {"unsigned", "signed", "float", "text", "blob"};
static const char *const classes[] = {"event", "control", "definition", "segment"};

/* At most 60 octets of a text, in quotes. */
static void add_text(const struct kymo_plan *plan, struct kymo_strbuf *out, uint32_t index) {
  if (index >= plan->counts[KYMO_SECTION_TEXT]) {
    kymo_strbuf_puts(out, "-");
    return;
  }
  const struct kymo_plan_text *text = &plan->texts[index];
  kymo_strbuf_puts(out, "\"");
  for (uint32_t i = 0; i < text->size && i < 60; i++) {
    uint8_t byte = plan->bytes[text->offset + i];
    bool is_plain = byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\';
    kymo_strbuf_printf(out, is_plain ? "%c" : "\\x%02x", byte);
  }
  kymo_strbuf_puts(out, text->size > 60 ? "…\"" : "\"");
}

static void add_type(const struct kymo_plan *plan, struct kymo_strbuf *out, uint32_t index) {
  const struct kymo_plan_type *type = &plan->types[index];
  kymo_strbuf_printf(out, "%s ", encodings[type->encoding]);
  if (type->size == KYMO_SIZE_POPPED)
    kymo_strbuf_puts(out, "popped");
  else if (type->size == KYMO_SIZE_TO_END)
    kymo_strbuf_puts(out, "to end");
  else
    kymo_strbuf_printf(out, "%" PRIu32, type->size);
  kymo_strbuf_printf(out, " %s", orders[type->order]);
  if (type->extra != 0)
    kymo_strbuf_printf(out, " extra %" PRIu32, type->extra);
}

static void add_operand(const struct kymo_plan *plan, struct kymo_strbuf *out,
                        const struct kymo_plan_instruction *do_) {
  kymo_strbuf_puts(out, codes[do_->code].operand == OPERAND_NONE ? "" : " ");
  switch (codes[do_->code].operand) {
  case OPERAND_SLOT: kymo_strbuf_printf(out, "s%" PRIu32, do_->a); break;
  case OPERAND_TEXT: add_text(plan, out, do_->a); break;
  case OPERAND_TABLE: add_text(plan, out, plan->tables[do_->a].name); break;
  case OPERAND_TOKEN: add_text(plan, out, plan->tokens[do_->a].name); break;
  case OPERAND_TYPE: add_type(plan, out, do_->a); break;
  case OPERAND_COLUMN:
    add_text(plan, out, plan->columns[do_->a].name);
    if (do_->b != 0)
      kymo_strbuf_printf(out, " as %" PRIu32, do_->b);
    break;
  case OPERAND_CLOCK:
    add_text(plan, out, plan->clocks[do_->a].name);
    kymo_strbuf_printf(out, " 0x%" PRIx32 " %" PRIu32, do_->b, do_->c);
    break;
  case OPERAND_INSTRUCTION: kymo_strbuf_printf(out, "%" PRIu32, do_->a); break;
  case OPERAND_NUMBER:
    kymo_strbuf_printf(out, "%" PRIu32, do_->a);
    if (do_->code == KYMO_DO_CHECK || do_->code == KYMO_DO_FAIL) {
      kymo_strbuf_puts(out, " ");
      add_text(plan, out, do_->b);
    }
    break;
  case OPERAND_NUMBERS:
    kymo_strbuf_printf(out, "%" PRIu32 " %" PRIu32 " %" PRIu32, do_->a, do_->b, do_->c);
    break;
  case OPERAND_VALUE: {
    uint64_t value = do_->b | (uint64_t)do_->c << 32;
    kymo_strbuf_printf(out, do_->a ? "%" PRIu64 : "%" PRId64, value);
    break;
  }
  default: break;
  }
}

static void add_block(const struct kymo_plan *plan, struct kymo_strbuf *out, const char *what,
                      uint32_t index) {
  if (index == KYMO_PLAN_NONE)
    return;
  const struct kymo_plan_block *block = &plan->blocks[index];
  kymo_strbuf_printf(out, "  %s\n", what);
  for (uint32_t i = block->first; i < block->first + block->count; i++) {
    kymo_strbuf_printf(out, "    %" PRIu32 " %s", i, codes[plan->code[i].code].name);
    add_operand(plan, out, &plan->code[i]);
    kymo_strbuf_puts(out, "\n");
  }
}

static void add_part(const struct kymo_plan *plan, struct kymo_strbuf *out,
                     const struct kymo_plan_part *part) {
  for (uint32_t i = part->first_load; i < part->first_load + part->load_count; i++) {
    const struct kymo_plan_load *load = &plan->loads[i];
    kymo_strbuf_printf(out, "  byte %" PRIu32 ": %s %" PRIu32 " %s -> s%" PRIu32 "\n", load->offset,
                       encodings[load->is_signed != 0], load->bits, orders[load->order], load->slot);
  }
  add_block(plan, out, "code", part->block);
}

static void add_column(const struct kymo_plan *plan, struct kymo_strbuf *out,
                       const struct kymo_plan_column *column) {
  kymo_strbuf_puts(out, "  column ");
  add_text(plan, out, column->name);
  if (column->parent) {
    kymo_strbuf_puts(out, " of ");
    add_text(plan, out, plan->columns[column->parent - 1].name);
  }
  kymo_strbuf_printf(out, "%s%s%s%s:", column->is_list ? " list" : "", column->is_struct ? " of structs" : "",
                     column->is_optional ? " optional" : "", column->is_hidden ? " hidden" : "");
  for (uint32_t i = column->first_option; i < column->first_option + column->option_count; i++) {
    const struct kymo_plan_option *option = &plan->options[i];
    kymo_strbuf_printf(out, " %s %" PRIu32, shapes[option->shape], option->bits);
    if (kymo_plan_is_single(column))
      kymo_strbuf_printf(out, " of s%" PRIu32, option->slot);
    if (option->view != KYMO_PLAN_NONE)
      kymo_strbuf_printf(out, " view %" PRIu32, option->view);
  }
  kymo_strbuf_puts(out, "\n");
}

static void add_kind(const struct kymo_plan *plan, struct kymo_strbuf *out,
                     const struct kymo_plan_kind *kind) {
  kymo_strbuf_puts(out, "kind ");
  add_text(plan, out, kind->name);
  kymo_strbuf_printf(out, ": %s, %" PRIu32 " bytes, %" PRIu32 " slots", classes[kind->class_],
                     kind->part.fixed, kind->slot_count);
  if (kind->prefix != KYMO_PLAN_NONE) {
    kymo_strbuf_puts(out, ", prefix ");
    add_text(plan, out, plan->prefixes[kind->prefix].name);
  }
  kymo_strbuf_puts(out, "\n");
  for (uint32_t i = kind->first_column; i < kind->first_column + kind->column_count; i++)
    add_column(plan, out, &plan->columns[i]);
  for (uint32_t i = kind->first_keep; i < kind->first_keep + kind->keep_count; i++)
    kymo_strbuf_printf(out, "  keep s%" PRIu32 " as %" PRIu32 "\n", plan->keeps[i].slot,
                       plan->keeps[i].index);
  add_block(plan, out, "when", kind->when);
  add_block(plan, out, "align", kind->align);
  add_block(plan, out, "from", kind->from_key);
  add_part(plan, out, &kind->part);
}

static void add_dispatch(const struct kymo_plan *plan, struct kymo_strbuf *out, uint32_t index) {
  const struct kymo_plan_dispatch *dispatch = &plan->dispatches[index];
  for (uint32_t i = dispatch->first; i < dispatch->first + dispatch->count; i++) {
    kymo_strbuf_puts(out, " ");
    add_text(plan, out, plan->kinds[plan->kind_refs[i].kind].name);
  }
  if (dispatch->slot != KYMO_PLAN_NONE)
    kymo_strbuf_printf(out, " by %" PRIu32 " values of s%" PRIu32, dispatch->case_count, dispatch->slot);
}

static void add_plan(const struct kymo_plan *plan, struct kymo_strbuf *out) {
  kymo_strbuf_puts(out, "trace ");
  add_text(plan, out, plan->root->name);
  kymo_strbuf_puts(out, "\n");
  for (uint32_t i = 0; i < plan->counts[KYMO_SECTION_PREFIX]; i++) {
    kymo_strbuf_puts(out, "prefix ");
    add_text(plan, out, plan->prefixes[i].name);
    kymo_strbuf_printf(out, ": %" PRIu32 " bytes\n", plan->prefixes[i].part.fixed);
    add_part(plan, out, &plan->prefixes[i].part);
  }
  for (uint32_t i = 0; i < plan->counts[KYMO_SECTION_KIND]; i++)
    add_kind(plan, out, &plan->kinds[i]);
  for (uint32_t i = 0; i < plan->counts[KYMO_SECTION_STEP]; i++) {
    const struct kymo_plan_step *step = &plan->steps[i];
    kymo_strbuf_printf(out, "step %" PRIu32 "%s%s:", i, step->is_repeat ? " repeat" : "",
                       step->dispatch == KYMO_PLAN_NONE ? " blocks" : "");
    if (step->dispatch != KYMO_PLAN_NONE)
      add_dispatch(plan, out, step->dispatch);
    kymo_strbuf_puts(out, "\n");
    add_block(plan, out, "times", step->times);
    add_block(plan, out, "at", step->at);
    add_block(plan, out, "size", step->size);
  }
}

/* ---- of a schema ---- */

static struct kymo_plan *open_plan(struct kymo_strbuf *out, const struct kymo_schema *schema) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_plan *plan = kymo_plan_open(schema, "plan", &error);
  if (!plan)
    kymo_strbuf_printf(out, "-- %s\n", error.message);
  return plan;
}

void kymo_plan_print_plan(struct kymo_strbuf *out, const struct kymo_schema *schema) {
  struct kymo_plan *plan = open_plan(out, schema);
  if (plan)
    add_plan(plan, out);
  kymo_plan_close(plan);
}

void kymo_plan_print_source(struct kymo_strbuf *out, const struct kymo_schema *schema) {
  struct kymo_plan *plan = open_plan(out, schema);
  uint32_t source = plan ? plan->root->source : KYMO_PLAN_NONE;
  if (source != KYMO_PLAN_NONE)
    kymo_strbuf_add(out, (const char *)plan->bytes + plan->texts[source].offset, plan->texts[source].size);
  else if (plan)
    kymo_strbuf_puts(out,
                     "-- the compiled description does not contain the text that it was compiled from\n");
  kymo_plan_close(plan);
}
