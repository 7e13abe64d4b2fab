/* SPDX-License-Identifier: MIT */
#include "query/json.h"
#include "print/json_value.h"

static bool is_list(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_ARRAY || type->kind == KYMO_KIND_SEQUENCE;
}

void query_json_scope(struct query_reader *reader, const struct kymo_event *event, enum kymo_scope scope) {
  static const struct kymo_type group = {.kind = KYMO_KIND_STRUCT};
  reader->text.length = 0;
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
