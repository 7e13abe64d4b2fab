/* SPDX-License-Identifier: MIT */
#include "print/json_value.h"
#include "decode/walk.h"
#include "print/json_writer.h"
#include "print/unicode.h"
#include "schema/attribute.h"
#include "schema/parts.h"
#include <math.h>

/* ---- scalars ---- */

static void add_text(struct kymo_strbuf *out, const struct kymo_value *value) {
  char escaped[8];
  kymo_strbuf_puts(out, "\"");
  for (const uint8_t *at = value->bytes, *end = at + value->count; at < end;) {
    uint32_t character = kymo_next_character(value->type->encoding, &at, end);
    kymo_strbuf_add(out, escaped, (size_t)(kymo_json_put_character(escaped, character) - escaped));
  }
  kymo_strbuf_puts(out, "\"");
}

static void add_hex(struct kymo_strbuf *out, const struct kymo_value *value) {
  char digits[2];
  kymo_strbuf_puts(out, "\"");
  for (uint64_t i = 0; i < value->count; i++) {
    kymo_put_hex_byte(digits, value->bytes[i]);
    kymo_strbuf_add(out, digits, sizeof digits);
  }
  kymo_strbuf_puts(out, "\"");
}

static void add_integer(struct kymo_strbuf *out, const struct kymo_value *value) {
  const struct kymo_type *type = value->type;
  char text[32];
  if (type->is_enumeration || type->mapping_count > 0) {
    kymo_json_add_labelled(out, type, value->u);
  } else if (type->kind == KYMO_KIND_BOOLEAN) {
    kymo_strbuf_puts(out, value->u ? "true" : "false");
  } else {
    char *end = type->is_signed ? kymo_put_i64(text, value->i) : kymo_put_u64(text, value->u);
    kymo_strbuf_add(out, text, (size_t)(end - text));
  }
}

static void add_float(struct kymo_strbuf *out, const struct kymo_value *value) {
  char text[40];
  if (isnan(value->f)) {
    kymo_strbuf_puts(out, "\"NaN\"");
  } else if (isinf(value->f)) {
    kymo_strbuf_puts(out, value->f < 0 ? "\"-Infinity\"" : "\"Infinity\"");
  } else {
    char *end = kymo_put_double(text, value->f, value->type->size_bits <= 32, true);
    kymo_strbuf_add(out, text, (size_t)(end - text));
  }
}

void kymo_json_add_scalar(struct kymo_strbuf *out, enum kymo_token token, const struct kymo_value *value) {
  switch (token) {
  case KYMO_TOKEN_INTEGER: add_integer(out, value); break;
  case KYMO_TOKEN_FLOAT: add_float(out, value); break;
  case KYMO_TOKEN_TEXT: add_text(out, value); break;
  case KYMO_TOKEN_BLOB: add_hex(out, value); break;
  default: kymo_strbuf_puts(out, "null"); break;
  }
}

/* ---- structure ---- */

static bool is_list(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_ARRAY || type->kind == KYMO_KIND_SEQUENCE;
}

/* A struct that is only there for one element of a list is shown as the element. */
static bool is_around(const struct kymo_type *type) { return !is_list(type) && kymo_element_member(type); }

static void add_member(struct kymo_strbuf *out, const struct kymo_value *value) {
  kymo_json_add_text(out, value->member && value->member->name ? value->member->name : "");
  kymo_strbuf_puts(out, ":");
}

static const char *closing(const struct kymo_type *type) {
  return is_list(type) ? "]" : is_around(type) ? "" : "}";
}

bool kymo_json_add_rest(struct kymo_strbuf *out, struct kymo_walk *walk, const struct kymo_type *outer) {
  const struct kymo_type *open[KYMO_WALK_DEPTH + 1];
  bool has_more[KYMO_WALK_DEPTH + 1];
  struct kymo_value value;
  enum kymo_token token;
  int depth = 0;
  open[0] = outer;
  has_more[0] = false;
  while ((token = kymo_walk_next(walk, &value)) != KYMO_TOKEN_DONE && token != KYMO_TOKEN_ERROR) {
    const struct kymo_type *in = open[depth];
    if (token == KYMO_TOKEN_END && depth == 0)
      return true;
    if (token == KYMO_TOKEN_END) {
      kymo_strbuf_puts(out, closing(in));
      depth--;
      continue;
    }
    if (!is_list(in) && value.member && kymo_member_is_hidden(value.member))
      continue;
    kymo_strbuf_puts(out, has_more[depth] ? "," : "");
    has_more[depth] = true;
    if (!is_list(in) && !is_around(in))
      add_member(out, &value);
    if (token != KYMO_TOKEN_BEGIN) {
      kymo_json_add_scalar(out, token, &value);
      continue;
    }
    open[++depth] = value.type;
    has_more[depth] = false;
    kymo_strbuf_puts(out, is_list(value.type) ? "[" : is_around(value.type) ? "" : "{");
  }
  for (; depth > 0; depth--) /* a walk that fails is ended as if it were complete */
    kymo_strbuf_puts(out, closing(open[depth]));
  return false;
}
