/* SPDX-License-Identifier: MIT */
#include "tool/hex.h"
#include "base/search.h"
#include "base/strbuf.h"
#include "decode/labels.h"
#include "decode/walk.h"
#include "schema/attribute.h"
#include "schema/parts.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_SHOWN 8
#define TEXT_SHOWN 60

void tool_hex_line(const uint8_t *bytes, uint64_t base, uint64_t begin_bits, uint64_t end_bits,
                   const char *text) {
  uint64_t begin = begin_bits / 8, end = (end_bits + 7) / 8;
  printf("  %8" PRIu64 "  ", begin);
  for (uint64_t i = 0; i < BYTES_SHOWN; i++)
    if (begin + i < end)
      printf("%02x ", bytes[begin + i - base]);
    else
      fputs("   ", stdout);
  if (end - begin > BYTES_SHOWN)
    printf("… (%" PRIu64 ")", end - begin);
  else if (begin_bits % 8 || end_bits % 8)
    printf("bits %" PRIu64 "-%" PRIu64, begin_bits - begin * 8, end_bits - begin * 8 - 1);
  fputs("  ", stdout);
  tool_print_safe(text);
  putchar('\n');
}

/* ---- described files ---- */

/* A line for bits of the record's bytes. In a container, bytes are counted from the first that is unpacked
 * from the one in which the record begins. */
static void print_bits(const struct kymo_look *look, uint64_t begin_bits, uint64_t end_bits,
                       const char *text) {
  const struct kymo_plan_machine *machine = look->machine;
  struct kymo_plan_place place = kymo_plan_record_place(machine);
  uint64_t base = place.depth ? place.within[place.depth - 1] - machine->start : 0;
  tool_hex_line(machine->bytes, base, begin_bits + base * 8, end_bits + base * 8, text);
}

static const char *text_of(const struct kymo_plan *plan, uint32_t index, int *length) {
  *length = index == KYMO_PLAN_NONE ? 0 : (int)plan->texts[index].size;
  return index == KYMO_PLAN_NONE ? "" : (const char *)plan->bytes + plan->texts[index].offset;
}

const char *tool_hex_kind(const struct kymo_look *look, int *length) {
  return text_of(look->plan, look->plan->kinds[look->machine->kind].name, length);
}

const char *tool_hex_class(const struct kymo_look *look) {
  static const char *const names[] = {"event", "control", "definition", "segment"};
  return names[look->plan->kinds[look->machine->kind].class_ % 4];
}

bool tool_hex_is_container(const struct kymo_plan_machine *machine) {
  const struct kymo_plan *plan = machine->plan;
  uint32_t box = machine->box_of ? machine->box_of[machine->kind] : 0;
  return box && (plan->boxes[box - 1].method != KYMO_METHOD_PLAIN || plan->boxes[box - 1].is_joined);
}

static void add_value(struct kymo_strbuf *out, const struct kymo_expr_value *value) {
  switch (value->sort) {
  case KYMO_SORT_ABSENT: kymo_strbuf_puts(out, "-"); break;
  case KYMO_SORT_NUMBER:
  case KYMO_SORT_SPAN:
  case KYMO_SORT_MOMENT:
    kymo_strbuf_printf(out, value->n.high < 0 ? "%" PRId64 : "%" PRIu64, value->n.low);
    break;
  case KYMO_SORT_FLOAT: kymo_strbuf_printf(out, "%.17g", value->f); break;
  case KYMO_SORT_BYTES:
    kymo_strbuf_puts(out, "\"");
    for (uint32_t i = 0; i < value->size && i < TEXT_SHOWN; i++) {
      bool is_plain = value->p[i] >= ' ' && value->p[i] < 0x7f && value->p[i] != '"';
      kymo_strbuf_printf(out, is_plain ? "%c" : "\\x%02x", value->p[i]);
    }
    kymo_strbuf_puts(out, value->size > TEXT_SHOWN ? "…\"" : "\"");
  }
}

/* The column that shows a slot of the record's kind, or NULL. */
static const struct kymo_plan_column *column_of(const struct kymo_look *look, uint32_t slot) {
  const struct kymo_plan *plan = look->plan;
  if (look->machine->kind == KYMO_PLAN_NONE)
    return NULL;
  const struct kymo_plan_kind *kind = &plan->kinds[look->machine->kind];
  for (uint32_t i = kind->first_column; i < kind->first_column + kind->column_count; i++)
    for (uint32_t k = 0; kymo_plan_is_single(&plan->columns[i]) && k < plan->columns[i].option_count; k++)
      if (slot != KYMO_PLAN_NONE && plan->options[plan->columns[i].first_option + k].slot == slot)
        return &plan->columns[i];
  return NULL;
}

/* Whether a slot is part of a time, which is shown as the event's. */
static bool is_time(const struct kymo_look *look, uint32_t slot) {
  const struct kymo_plan *plan = look->plan;
  for (uint32_t i = 0; i + 3 < plan->counts[KYMO_SECTION_INSTRUCTION]; i++)
    if (plan->code[i].code == KYMO_DO_GET && plan->code[i].a == slot)
      for (uint32_t k = 1; k < 4; k++)
        if (plan->code[i + k].code == KYMO_DO_TIME)
          return true;
  return false;
}

/* The element of the list that a field becomes, or NULL. */
static const struct kymo_plan_item *item_of(const struct kymo_look *look,
                                            const struct kymo_look_field *field) {
  const struct kymo_plan_list *list =
      field->column == KYMO_PLAN_NONE ? NULL : &look->machine->lists[field->column];
  return list && field->item < list->count ? &list->items[field->item] : NULL;
}

/* The final value of a field; for earlier turns of a REPEAT that are in no list the stored value, since later
 * turns replaced it. */
static const struct kymo_expr_value *value_of(const struct kymo_look *look,
                                              const struct kymo_look_field *field) {
  static const struct kymo_expr_value absent = {.sort = KYMO_SORT_ABSENT};
  const struct kymo_plan_item *item = item_of(look, field);
  if (field->column != KYMO_PLAN_NONE)
    return item ? &item->value : field->item == KYMO_PLAN_NONE ? &absent : &field->value;
  bool is_last = field->slot != KYMO_PLAN_NONE && field->column == KYMO_PLAN_NONE;
  for (const struct kymo_look_field *other = field + 1; is_last && other < look->fields + look->field_count;
       other++)
    is_last = other->slot != field->slot;
  return is_last ? &look->machine->slots[field->slot] : &field->value;
}

/* The option of its column by which a field is delivered, or NULL. */
static const struct kymo_plan_option *option_of(const struct kymo_look *look,
                                                const struct kymo_look_field *field,
                                                const struct kymo_plan_column *column) {
  const struct kymo_plan_item *item = item_of(look, field);
  const struct kymo_plan_option *options = &look->plan->options[column->first_option];
  if (!kymo_plan_is_single(column))
    return item ? &options[item->option] : NULL;
  for (uint32_t i = 0; i < column->option_count; i++)
    if (options[i].slot == field->slot)
      return &options[i];
  return NULL;
}

/* A value, and in parentheses its displayed form; a number in another base is shown only in that base. */
static void add_shown(const struct kymo_look *look, const struct kymo_look_field *field,
                      const struct kymo_plan_column *column, struct kymo_strbuf *out) {
  const struct kymo_expr_value *value = value_of(look, field);
  const struct kymo_plan_option *option = column ? option_of(look, field, column) : NULL;
  struct kymo_strbuf shown = {0};
  bool is_shown = option && kymo_look_show(look, option, value, &shown) && shown.text;
  if (shown.failed)
    tool_end_without_memory();
  bool is_base = is_shown && value->sort == KYMO_SORT_NUMBER && strncmp(shown.text, "0x", 2) == 0;
  if (!is_base)
    add_value(out, value);
  if (is_shown)
    kymo_strbuf_printf(out, is_base ? "%s" : " (%s)", shown.text);
  kymo_strbuf_free(&shown);
}

/* "o[2].i[0]." before the name of a member of a list of structs. */
static void add_place(const struct kymo_look *look, const struct kymo_plan_column *column, uint32_t element,
                      struct kymo_strbuf *out) {
  const struct kymo_plan_column *list = column->parent ? &look->plan->columns[column->parent - 1] : NULL;
  int length;
  if (!list)
    return;
  const struct kymo_plan_list *all = &look->machine->lists[column->parent - 1];
  uint32_t outer = element < all->count ? all->items[element].element : KYMO_PLAN_NONE;
  uint32_t first = KYMO_COUNT_BEFORE(all->count, i, all->items[i].element + 1 < outer + 1);
  add_place(look, list, outer, out);
  const char *name = text_of(look->plan, list->name, &length);
  if (element < all->count)
    kymo_strbuf_printf(out, "%.*s[%" PRIu32 "].", length, name, element - first);
  else
    kymo_strbuf_printf(out, "%.*s.", length, name);
}

void tool_hex_field(const struct kymo_look *look, const struct kymo_look_field *field,
                    struct tool_hex_text *text) {
  const struct kymo_plan_column *column = column_of(look, field->slot);
  if (!column && field->column != KYMO_PLAN_NONE)
    column = &look->plan->columns[field->column];
  int length = 0;
  const char *name = column ? text_of(look->plan, column->name, &length) : "";
  *text = (struct tool_hex_text){.is_named = column || field->name};
  if (column)
    add_place(look, column, field->element, &text->place);
  kymo_strbuf_printf(&text->name, "%.*s", length, name);
  if (!column)
    kymo_strbuf_puts(&text->name, field->name                  ? field->name
                                  : is_time(look, field->slot) ? "(time)"
                                                               : "(hidden)");
  text->has_value = field->value.sort != KYMO_SORT_ABSENT || field->slot != KYMO_PLAN_NONE;
  if (text->has_value)
    add_shown(look, field, column, &text->value);
  if (text->place.failed || text->name.failed || text->value.failed)
    tool_end_without_memory();
}

void tool_hex_text_free(struct tool_hex_text *text) {
  kymo_strbuf_free(&text->place);
  kymo_strbuf_free(&text->name);
  kymo_strbuf_free(&text->value);
}

static void print_field(const struct kymo_look *look, const struct kymo_look_field *field) {
  struct tool_hex_text text;
  struct kymo_strbuf line = {0};
  tool_hex_field(look, field, &text);
  kymo_strbuf_printf(&line, "%s%s%s%s", text.place.text ? text.place.text : "",
                     text.name.text ? text.name.text : "", text.has_value ? " = " : "",
                     text.value.text ? text.value.text : "");
  if (line.failed)
    tool_end_without_memory();
  print_bits(look, field->begin_bits, field->end_bits, line.text);
  kymo_strbuf_free(&line);
  tool_hex_text_free(&text);
}

void tool_hex_record(const struct kymo_look *look) {
  const struct kymo_plan_machine *machine = look->machine;
  uint64_t own = kymo_look_own_bytes(look), at = machine->start * 8, end = (machine->start + own) * 8;
  int length;
  const char *kind = tool_hex_kind(look, &length);
  struct kymo_plan_place place = kymo_plan_record_place(machine);
  char text[KYMO_PLAN_PLACE_BYTES];
  kymo_plan_place_text(&place, text);
  printf("%.*s (%s), %" PRIu64 " bytes at %s\n", length, kind, tool_hex_class(look), machine->length, text);
  for (size_t i = 0; i < look->field_count; i++) {
    const struct kymo_look_field *field = &look->fields[i];
    if (field->begin_bits > at)
      print_bits(look, at, field->begin_bits, "(not read)");
    print_field(look, field);
    at = field->end_bits > at ? field->end_bits : at;
  }
  if (at < end)
    print_bits(look, at, end, "(not read)");
  if (own < machine->length)
    print_bits(look, end, (machine->start + machine->length) * 8, "(records that it holds)");
}

/* ---- other traces ---- */

static void add_labels(struct kymo_strbuf *out, const struct kymo_value *value) {
  struct kymo_labels labels = kymo_labels_begin(value->type, value->u);
  const char *label, *between = " (";
  for (; (label = kymo_labels_next(&labels)); between = "|")
    kymo_strbuf_printf(out, "%s%s", between, label);
  if (*between == '|')
    kymo_strbuf_puts(out, ")");
}

static void print_token(const struct kymo_walk *walk, uint64_t from, const struct kymo_value *value,
                        enum kymo_token token) {
  const struct kymo_packet *packet = walk->event->packet;
  bool is_hidden = value->member && kymo_member_is_hidden(value->member);
  const char *name = value->member ? value->member->name : "(element)";
  struct kymo_strbuf text = {0};
  kymo_strbuf_printf(&text, is_hidden ? "(%s)" : "%s", name);
  unsigned bits = value->type->size_bits && value->type->size_bits < 64 ? value->type->size_bits : 64;
  bool is_hex = token == KYMO_TOKEN_INTEGER && (value->type->base == 16 || value->type->is_address);
  if (is_hex)
    kymo_strbuf_printf(&text, " = 0x%" PRIx64, value->u & UINT64_MAX >> (64 - bits));
  else if (token == KYMO_TOKEN_INTEGER)
    kymo_strbuf_printf(&text, value->type->is_signed ? " = %" PRId64 : " = %" PRIu64, value->u);
  else if (token == KYMO_TOKEN_FLOAT)
    kymo_strbuf_printf(&text, " = %.17g", value->f);
  if (token == KYMO_TOKEN_INTEGER)
    add_labels(&text, value);
  else if (token == KYMO_TOKEN_TEXT)
    kymo_strbuf_printf(&text, " = \"%.*s\"", value->count > TEXT_SHOWN ? TEXT_SHOWN : (int)value->count,
                       (const char *)value->bytes);
  tool_hex_line(packet->data - packet->offset, 0, packet->offset * 8 + from,
                packet->offset * 8 + walk->at_bits, text.failed ? "" : text.text);
  kymo_strbuf_free(&text);
}

void tool_hex_event(const struct kymo_event *event) {
  static const enum kymo_scope scopes[] = {KYMO_SCOPE_EVENT_HEADER, KYMO_SCOPE_COMMON_CONTEXT,
                                           KYMO_SCOPE_SPECIFIC_CONTEXT, KYMO_SCOPE_PAYLOAD};
  printf("%s, at %" PRIu64 " in %s\n", event->class_->name, event->packet->offset + event->offset_bits / 8,
         event->packet->stream->path);
  for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++) {
    struct kymo_walk walk;
    struct kymo_value value;
    if (!kymo_walk_begin(&walk, event, scopes[i]))
      continue;
    for (uint64_t from = walk.at_bits;; from = walk.at_bits) {
      enum kymo_token token = kymo_walk_next(&walk, &value);
      if (token == KYMO_TOKEN_DONE || token == KYMO_TOKEN_ERROR)
        break;
      if (token != KYMO_TOKEN_BEGIN && token != KYMO_TOKEN_END && token != KYMO_TOKEN_ABSENT)
        print_token(&walk, from, &value, token);
    }
  }
}
