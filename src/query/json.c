/* SPDX-License-Identifier: MIT */
#include "query/json.h"
#include "base/likely.h"
#include "decode/load.h"
#include "print/json_value.h"
#include "print/json_writer.h"
#include "schema/attribute.h"
#include <stdlib.h>

/* ---- payloads of numbers ---- */

/* A number at a constant distance from the event header, and the text before it: {"name": or ,"name": */
struct number {
  const char *label;
  uint32_t length;
  bool is_signed, is_big;
  uint8_t size_bits;
  uint64_t offset_bits;
};

struct query_json_class {
  const struct kymo_event_plan *plan; /* of which the rest is known; NULL: none */
  bool is_plain;                      /* the payload is these numbers: */
  struct number *numbers;
  uint32_t count;
  size_t room; /* that they need at most */
};

static bool is_number(const struct kymo_node *node, const struct kymo_event_plan *plan) {
  const struct kymo_type *type = node->type;
  return type->kind == KYMO_KIND_INTEGER && type->size_bits > 0 && !type->bits_reversed &&
         !type->is_enumeration && type->mapping_count == 0 && node->segment == plan->program.first_segment &&
         node->member && !kymo_member_is_hidden(node->member);
}

static bool add_number(struct query_reader *reader, struct query_json_class *class_,
                       const struct kymo_node *node) {
  const struct kymo_type *type = node->type;
  struct kymo_strbuf label = {0};
  kymo_strbuf_puts(&label, class_->count ? "," : "{");
  kymo_json_add_text(&label, node->member->name ? node->member->name : "");
  kymo_strbuf_puts(&label, ":");
  const char *copy = label.failed ? NULL : kymo_arena_copy(&reader->arena, label.text, label.length);
  class_->numbers[class_->count++] = (struct number){.label = copy,
                                                     .length = (uint32_t)label.length,
                                                     .is_signed = type->is_signed,
                                                     .is_big = type->order == KYMO_ORDER_BIG,
                                                     .size_bits = (uint8_t)type->size_bits,
                                                     .offset_bits = node->offset_bits};
  class_->room += label.length + KYMO_DECIMAL_ROOM;
  kymo_strbuf_free(&label);
  return copy;
}

/* Whether all members are numbers; those so far are in `class_`. */
static bool find_numbers(struct query_reader *reader, struct query_json_class *class_) {
  const struct kymo_node *root = class_->plan->payload, *node = root ? kymo_node_first(root) : NULL;
  uint32_t count = root ? root->type->member_count : 0;
  class_->numbers = kymo_arena_array(&reader->arena, count + 1u, sizeof *class_->numbers);
  bool is_plain = count && class_->numbers;
  class_->room = 1;
  for (uint32_t i = 0; is_plain && i < count; i++, node += node->span)
    is_plain = is_number(node, class_->plan) && add_number(reader, class_, node);
  return is_plain;
}

/* Adds the payload as an object if its class is one of numbers. */
static bool add_numbers(struct query_reader *reader, const struct kymo_event *event) {
  if (!reader->json && !(reader->json = calloc(reader->source->class_count + 1u, sizeof *reader->json)))
    return false;
  struct query_json_class *class_ = &reader->json[kymo_kind_of(event)];
  if (KYMO_UNLIKELY(!class_->plan)) {
    class_->plan = event->plan;
    class_->is_plain = find_numbers(reader, class_);
  }
  char *at =
      class_->is_plain && class_->plan == event->plan ? kymo_strbuf_room(&reader->text, class_->room) : NULL;
  if (!at)
    return false;
  uint64_t body = kymo_body_bits(event);
  for (uint32_t i = 0; i < class_->count; i++) {
    const struct number *number = &class_->numbers[i];
    uint64_t bits =
        kymo_fast_bits(event->packet->data, body + number->offset_bits, number->size_bits, number->is_big);
    memcpy(at, number->label, number->length);
    at = number->is_signed ? kymo_put_i64(at + number->length, kymo_sign_extend(bits, number->size_bits))
                           : kymo_put_u64(at + number->length, bits);
  }
  *at++ = '}';
  kymo_strbuf_used(&reader->text, (size_t)(at - reader->text.text));
  return true;
}

/* ---- all values ---- */

static bool is_list(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_ARRAY || type->kind == KYMO_KIND_SEQUENCE;
}

void query_json_scope(struct query_reader *reader, const struct kymo_event *event, enum kymo_scope scope) {
  static const struct kymo_type group = {.kind = KYMO_KIND_STRUCT};
  reader->text.length = 0;
  if (scope == KYMO_SCOPE_PAYLOAD && event->plan && add_numbers(reader, event))
    return;
  kymo_strbuf_puts(&reader->text, "{");
  if (kymo_walk_begin(reader->walk, event, scope))
    kymo_json_add_rest(&reader->text, reader->walk, &group);
  kymo_strbuf_puts(&reader->text, "}");
}

bool query_json_field(struct query_reader *reader, const struct kymo_event *event, uint32_t field) {
  struct kymo_value value;
  enum kymo_token token;
  reader->text.length = 0;
  if (kymo_event_get_value(event, field, &value, &token) != KYMO_OK || token == KYMO_TOKEN_ABSENT)
    return false;
  if (token != KYMO_TOKEN_BEGIN) {
    kymo_json_add_scalar(&reader->text, token, &value);
    return true;
  }
  kymo_strbuf_puts(&reader->text, is_list(value.type) ? "[" : "{");
  if (kymo_walk_field(reader->walk, event, field) == KYMO_OK)
    kymo_json_add_rest(&reader->text, reader->walk, value.type);
  kymo_strbuf_puts(&reader->text, is_list(value.type) ? "]" : "}");
  return true;
}
