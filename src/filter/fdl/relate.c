/* SPDX-License-Identifier: MIT */
/* Comparisons, sets, patterns and flags of filters: whether the sides match, and what a text means. */
#include "base/regex.h"
#include "filter/fdl/fdl.h"
#include "lang/tdl/address.h"
#include "schema/parts.h"
#include <inttypes.h>
#include <string.h>

static struct kymo_filter_node new_node(uint8_t op, uint32_t a, uint32_t b, uint32_t c) {
  return (struct kymo_filter_node){.op = op, .a = a, .b = b, .c = c, .key = KYMO_FILTER_NONE};
}

static bool is_text(const struct tdl_expr *expr) {
  return expr->operation == TDL_CONSTANT && expr->value.type == TDL_BYTES;
}

/* ---- moments ---- */

static bool check_epoch(struct fdl_compiler *compiler, uint32_t at) {
  bool has_clock = false;
  for (size_t i = 0; i < compiler->schema_count; i++)
    for (uint32_t j = 0; j < compiler->schemas[i]->stream_count; j++) {
      const struct kymo_clock *clock = compiler->schemas[i]->streams[j]->clock;
      has_clock |= clock != NULL;
      if (clock && clock->origin_is_epoch)
        return true;
    }
  return !has_clock || kymo_tdl_fail(&compiler->session, at, "E14",
                                     "the clock has no epoch; moments count from START or END");
}

bool kymo_fdl_add_moment(struct fdl_compiler *compiler, const struct tdl_expr *literal,
                         struct fdl_value *value) {
  struct kymo_filter_moment moment = {.anchor = KYMO_FILTER_EPOCH};
  *value = (struct fdl_value){.at = literal->at, .kinds = FDL_MOMENT, .literal = literal};
  if (!kymo_tdl_moment(&compiler->session, literal->value.bytes, literal->at, &moment.span) ||
      !check_epoch(compiler, literal->at))
    return false;
  struct kymo_filter_node node =
      new_node(KYMO_FILTER_MOMENT, kymo_filter_add_moment(&compiler->builder, &moment), 0, 0);
  return kymo_fdl_add(compiler, &node, value);
}

static bool make_moment(struct fdl_compiler *compiler, const struct tdl_moment *moment, uint32_t *index) {
  struct kymo_filter_moment made = {.anchor = KYMO_FILTER_EPOCH, .span = moment->since};
  bool is_signed = moment->kind == TDL_MOMENT_PLUS || moment->kind == TDL_MOMENT_MINUS;
  if (is_signed && moment->distance.type == TDL_TICKS)
    return kymo_tdl_fail(&compiler->session, moment->at, "E41",
                         "expected a length of time in s, ms, us, ns or ps");
  if (moment->kind == TDL_MOMENT_TEXT && !check_epoch(compiler, moment->at))
    return false;
  if (moment->kind == TDL_MOMENT_START || moment->kind == TDL_MOMENT_PLUS)
    made.anchor = KYMO_FILTER_START;
  if (moment->kind == TDL_MOMENT_END || moment->kind == TDL_MOMENT_MINUS)
    made.anchor = KYMO_FILTER_END;
  if (moment->kind != TDL_MOMENT_TEXT)
    made.span = kymo_wide_of_u64(0);
  if (moment->kind == TDL_MOMENT_PLUS)
    made.span = moment->distance.integer;
  if (moment->kind == TDL_MOMENT_MINUS)
    kymo_wide_subtract(made.span, moment->distance.integer, &made.span);
  *index = kymo_filter_add_moment(&compiler->builder, &made);
  return kymo_fdl_is_ok(compiler);
}

bool kymo_fdl_generate_time(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                            struct fdl_value *value) {
  struct kymo_filter_node node = new_node(KYMO_FILTER_TIME, 0, 0, 0);
  if (!make_moment(compiler, &expr->moments[0], &node.a) ||
      !make_moment(compiler, &expr->moments[1], &node.b))
    return false;
  const struct kymo_filter_moment *low = &compiler->builder.moments[node.a],
                                  *high = &compiler->builder.moments[node.b];
  bool is_swapped = expr->moments[0].kind == TDL_MOMENT_END && expr->moments[1].kind == TDL_MOMENT_START;
  if (is_swapped || (low->anchor == high->anchor && kymo_wide_compare(low->span, high->span) > 0)) {
    const struct tdl_moment *first = &expr->moments[1], *last = &expr->moments[0];
    const char *text = compiler->session.common.text;
    return kymo_tdl_fail(&compiler->session, last->at, "E41",
                         "the range ends before it begins; write: TIME IN (%.*s .. %.*s)", (int)first->length,
                         text + first->at, (int)last->length, text + last->at);
  }
  return kymo_fdl_add(compiler, &node, value);
}

/* ---- what a text means ---- */

/* A text compared with a value: it is a moment if the value is one, and an interpretation if the value has
 * some. */
static bool generate_beside(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                            const struct fdl_value *other, struct fdl_value *value) {
  const struct fdl_field *field = other->field;
  if (!is_text(expr))
    return kymo_fdl_generate(compiler, expr, value);
  if (other->kinds == FDL_MOMENT)
    return kymo_fdl_add_moment(compiler, expr, value);
  bool has_names =
      field && !field->has_text && (field->kinds & FDL_LABELLED || field->is_event || field->is_group);
  if (has_names && !kymo_fdl_check_label(compiler, field, expr->value.bytes, expr->at))
    return false;
  return kymo_fdl_generate(compiler, expr, value);
}

/* Both sides; a text of the filter is resolved after the other side. */
static bool generate_sides(struct fdl_compiler *compiler, const struct tdl_expr *expr, struct fdl_value *a,
                           struct fdl_value *b) {
  const struct tdl_expr *left = expr->operands[0], *right = expr->operands[1];
  if (is_text(left) && !is_text(right))
    return kymo_fdl_generate(compiler, right, b) && generate_beside(compiler, left, b, a);
  return kymo_fdl_generate(compiler, left, a) && generate_beside(compiler, right, a, b);
}

/* ---- whether sides match ---- */

static bool has_unit(const struct fdl_value *value) { return value->field && value->field->has_unit; }

static bool is_literal_text(const struct fdl_value *value) {
  return value->literal && value->kinds & FDL_TEXT;
}

/* Numbers of 32 bits may be addresses: a text with dots that is compared with them is one. */
static bool is_address(const struct fdl_value *value, const struct fdl_value *other) {
  if (!is_literal_text(other) || !value->field || !(value->kinds & FDL_NUMBER))
    return false;
  return memchr(other->literal->value.bytes.data, '.', other->literal->value.bytes.length) != NULL;
}

static bool go_together(const struct fdl_value *a, const struct fdl_value *b) {
  const unsigned texts = FDL_TEXT | FDL_BLOB;
  if ((a->kinds & FDL_ANY_NUMBER && b->kinds & FDL_ANY_NUMBER) || (a->kinds & texts && b->kinds & texts))
    return true;
  if ((a->kinds & FDL_MOMENT && b->kinds & FDL_MOMENT) || (a->kinds & FDL_SPAN && b->kinds & FDL_SPAN))
    return true;
  if ((a->kinds & FDL_SPAN && has_unit(b)) || (b->kinds & FDL_SPAN && has_unit(a)))
    return true;
  if ((a->kinds & FDL_LABELLED && b->kinds & FDL_TEXT) || (b->kinds & FDL_LABELLED && a->kinds & FDL_TEXT))
    return true;
  return is_address(a, b) || is_address(b, a);
}

/* Texts have no order, but those that mean a code or a moment do. */
static bool have_order(const struct fdl_value *a, const struct fdl_value *b) {
  const unsigned ordered = FDL_ANY_NUMBER | FDL_SPAN | FDL_MOMENT;
  if (is_literal_text(a) && is_literal_text(b))
    return false;
  return (a->kinds & ordered && b->kinds & (ordered | FDL_TEXT)) ||
         (b->kinds & ordered && a->kinds & (ordered | FDL_TEXT)) ||
         (a->kinds & FDL_BLOB && is_literal_text(b)) || (b->kinds & FDL_BLOB && is_literal_text(a));
}

/* Names of addresses have no order. */
static bool is_name_of_address(const struct fdl_value *value, const struct fdl_value *other) {
  return is_literal_text(other) && value->field && value->field->has_addresses && !is_address(value, other);
}

/* The hint that turns a text into a number or a number into a text, if only the quotes are wrong. */
static const char *quote_hint(const struct fdl_value *a, const struct fdl_value *b) {
  const struct tdl_bytes *text = is_literal_text(b) ? &b->literal->value.bytes : NULL;
  bool is_number = text && text->length > 0;
  for (uint32_t i = 0; is_number && i < text->length; i++)
    is_number = text->data[i] >= '0' && text->data[i] <= '9';
  if (is_number && a->kinds & FDL_ANY_NUMBER)
    return "; a number has no quotes";
  return a->kinds & FDL_TEXT && b->kinds & FDL_ANY_NUMBER && !b->field ? "; a text is in quotes" : "";
}

static bool check_sides(struct fdl_compiler *compiler, const struct fdl_value *a, const struct fdl_value *b,
                        bool needs_order) {
  if (!go_together(a, b))
    return kymo_tdl_fail(&compiler->session, b->at, "E41",
                         "expected something that compares with %s, found %s%s", kymo_fdl_kind_name(a->kinds),
                         kymo_fdl_kind_name(b->kinds), quote_hint(a, b));
  if (needs_order && (!have_order(a, b) || is_name_of_address(a, b) || is_name_of_address(b, a)))
    return kymo_tdl_fail(&compiler->session, b->at, "E41", "texts are equal or not, but have no order");
  if (a->is_many && b->is_many)
    return kymo_tdl_fail(&compiler->session, b->at, "E41",
                         "expected one value to compare a sequence with, found a sequence");
  return true;
}

/* ---- always true or false ---- */

/* Where a number is relative to the values of a type: below all, above all, or within. */
static int side_of(const struct kymo_type *type, struct kymo_wide number) {
  bool is_varint = type->kind == KYMO_KIND_VARINT;
  unsigned bits = is_varint ? 64 : type->size_bits;
  struct kymo_wide low = kymo_wide_of_u64(0), high = kymo_wide_of_u64(UINT64_MAX >> (64 - bits));
  if (type->is_signed) {
    high = kymo_wide_of_u64(UINT64_MAX >> (64 - bits) >> 1);
    low = kymo_wide_not(high);
  }
  return kymo_wide_compare(number, low) < 0 ? -1 : kymo_wide_compare(number, high) > 0;
}

/* -1: below the least value of all types of the field; 1: above the greatest; 0: neither, or not known. */
static int side_of_all(const struct fdl_value *field, struct kymo_wide number) {
  int side = 2;
  if (!field->field || field->kinds & ~(unsigned)(FDL_NUMBER | FDL_LABELLED) || field->field->type_count == 0)
    return 0;
  for (uint32_t i = 0; i < field->field->type_count; i++) {
    const struct kymo_type *type = field->field->types[i];
    if (type->size_bits == 0 && type->kind != KYMO_KIND_VARINT)
      return 0;
    int one = side_of(type, number);
    if (side != 2 && one != side)
      return 0;
    side = one;
  }
  return side;
}

/* The value of a literal, also with a minus sign. */
static bool number_of(const struct tdl_expr *expr, struct kymo_wide *number) {
  bool is_negative = expr->operation == TDL_NEGATE;
  if (is_negative)
    expr = expr->operands[0];
  if (expr->operation != TDL_CONSTANT || expr->value.type != TDL_INTEGER)
    return false;
  *number = expr->value.integer;
  return !is_negative || kymo_wide_subtract(kymo_wide_of_u64(0), *number, number);
}

/* n < 0 of an unsigned n: W21. */
static void warn_if_decided(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                            const struct fdl_value *a) {
  struct kymo_wide number;
  if (!number_of(expr->operands[1], &number))
    return;
  int side = side_of_all(a, number);
  bool is_less = expr->operation == TDL_LESS || expr->operation == TDL_LESS_EQUAL;
  bool is_greater = expr->operation == TDL_GREATER || expr->operation == TDL_GREATER_EQUAL;
  bool at_least_zero = kymo_wide_is_zero(number) && side_of_all(a, kymo_wide_of_i64(-1)) < 0;
  bool is_true = expr->operation == TDL_UNEQUAL || (is_less && side > 0) || (is_greater && side < 0);
  if (side == 0 && at_least_zero && (expr->operation == TDL_LESS || expr->operation == TDL_GREATER_EQUAL))
    is_true = expr->operation == TDL_GREATER_EQUAL;
  else if (side == 0)
    return;
  kymo_tdl_warn(&compiler->session, expr->at, "W21", "this is %s where %s is present",
                is_true ? "always true" : "never true", a->field->path);
}

/* a = "eth*": the text with the star alone. */
static void warn_of_pattern(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                            const struct fdl_value *of) {
  const struct tdl_bytes *text = &expr->value.bytes;
  if (!is_text(expr) || !of->field || !of->field->has_text || text->length < 2)
    return;
  char first = (char)text->data[0], last = (char)text->data[text->length - 1];
  if (first == '*' || first == '%' || last == '*' || last == '%')
    kymo_tdl_warn(&compiler->session, expr->at, "W22",
                  "this compares with exactly this text; a pattern is LIKE \"*.log\"");
}

/* W23: an IPv4 address is compared with a number of a described file that is not in network order. */
static void warn_of_order(struct fdl_compiler *compiler, const struct fdl_value *field,
                          const struct fdl_value *text) {
  uint32_t number;
  if (is_literal_text(text) && field->field && field->kinds & FDL_NUMBER &&
      kymo_tdl_ipv4(text->literal->value.bytes, &number) && kymo_fdl_is_little(compiler, field->field))
    kymo_tdl_warn(&compiler->session, text->at, "W23",
                  "\"%s\" is stored LITTLE, so its last byte is compared with %" PRIu32
                  "; declare it BIG if it is in the order of the network",
                  field->field->path, number >> 24);
}

static bool generate_compare(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                             struct fdl_value *value) {
  static const uint8_t relations[] = {KYMO_FILTER_EQUAL,   KYMO_FILTER_UNEQUAL, KYMO_FILTER_LESS,
                                      KYMO_FILTER_AT_MOST, KYMO_FILTER_GREATER, KYMO_FILTER_AT_LEAST};
  uint8_t relation = relations[expr->operation - TDL_EQUAL];
  struct fdl_value a, b;
  if (!generate_sides(compiler, expr, &a, &b) ||
      !check_sides(compiler, &a, &b, relation > KYMO_FILTER_UNEQUAL))
    return false;
  warn_if_decided(compiler, expr, &a);
  warn_of_order(compiler, &a, &b);
  warn_of_order(compiler, &b, &a);
  if (relation <= KYMO_FILTER_UNEQUAL)
    warn_of_pattern(compiler, expr->operands[1], &a);
  struct kymo_filter_node node = new_node(KYMO_FILTER_COMPARE, a.node, b.node, 0);
  node.detail = relation;
  return kymo_fdl_add(compiler, &node, value);
}

/* ---- sets ---- */

/* The codes of a label in the first type of the field that has it. */
static bool codes_of(const struct fdl_field *field, struct tdl_bytes label, struct kymo_wide *low,
                     struct kymo_wide *high) {
  for (uint32_t i = 0; i < field->type_count; i++)
    for (uint32_t j = 0; j < field->types[i]->mapping_count; j++) {
      const struct kymo_mapping *mapping = &field->types[i]->mappings[j];
      bool is_signed = field->types[i]->is_signed;
      if (strlen(mapping->name) != label.length || memcmp(mapping->name, label.data, label.length) != 0)
        continue;
      *low = is_signed ? kymo_wide_of_i64((int64_t)mapping->low) : kymo_wide_of_u64(mapping->low);
      *high = is_signed ? kymo_wide_of_i64((int64_t)mapping->high) : kymo_wide_of_u64(mapping->high);
      return true;
    }
  return false;
}

static bool is_empty_range(const struct fdl_value *of, const struct tdl_expr *low,
                           const struct tdl_expr *high) {
  struct kymo_wide from, to, rest;
  if (number_of(low, &from) && number_of(high, &to))
    return kymo_wide_compare(from, to) > 0;
  if (is_text(low) && is_text(high) && of->field && !of->field->has_text)
    return codes_of(of->field, low->value.bytes, &from, &rest) &&
           codes_of(of->field, high->value.bytes, &rest, &to) && kymo_wide_compare(from, to) > 0;
  bool are_constant = low->operation == TDL_CONSTANT && high->operation == TDL_CONSTANT &&
                      low->value.type == high->value.type;
  if (are_constant && low->value.type == TDL_FRACTION)
    return low->value.fraction > high->value.fraction;
  return are_constant && low->value.type == TDL_DURATION &&
         kymo_wide_compare(low->value.integer, high->value.integer) > 0;
}

static bool generate_members(struct fdl_compiler *compiler, const struct tdl_set *set,
                             const struct fdl_value *of, uint32_t *first, uint32_t *count) {
  uint32_t capacity = 0;
  *count = 0;
  for (const struct tdl_member *member = set->members; member; member = member->next)
    capacity++;
  uint32_t *list = kymo_lang_new(&compiler->session, 2 * (size_t)capacity + 1, sizeof *list);
  if (!list)
    return false;
  for (const struct tdl_member *member = set->members; member; member = member->next) {
    struct fdl_value low, high;
    if (!generate_beside(compiler, member->low, of, &low) ||
        !check_sides(compiler, of, &low, member->high != NULL))
      return false;
    high = low;
    if (member->high &&
        (!generate_beside(compiler, member->high, of, &high) || !check_sides(compiler, of, &high, true)))
      return false;
    warn_of_order(compiler, of, &low);
    if (low.is_many || high.is_many)
      return kymo_tdl_fail(&compiler->session, low.at, "E41", "expected one value, found a sequence");
    if (member->high && is_empty_range(of, member->low, member->high))
      return kymo_tdl_fail(&compiler->session, low.at, "E41", "the range ends before it begins");
    list[2 * *count] = low.node;
    list[2 * (*count)++ + 1] = high.node;
  }
  *first = kymo_filter_add_list(&compiler->builder, list, 2 * (size_t)*count);
  return kymo_fdl_is_ok(compiler);
}

/* x IN name: the name is of a sequence, and some element is x. */
static bool generate_in_sequence(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                                 const struct fdl_value *a, struct fdl_value *value) {
  struct tdl_name name = expr->set->name;
  struct tdl_path path = {.names = &name, .count = 1};
  const struct fdl_field *field = kymo_fdl_find(compiler, &path);
  struct fdl_value b = {.at = name.at, .field = field};
  if (!field)
    return false;
  b.kinds = field->kinds;
  b.is_many = field->is_many;
  if (!field->is_many)
    return kymo_tdl_fail(&compiler->session, name.at, "E41", "expected a set or a sequence, found %s",
                         kymo_fdl_kind_name(field->kinds));
  struct kymo_filter_node node = new_node(KYMO_FILTER_FIELD, kymo_fdl_add_path(compiler, field), 0, 0);
  if (!check_sides(compiler, a, &b, false) || !kymo_fdl_add(compiler, &node, &b))
    return false;
  node = new_node(KYMO_FILTER_COMPARE, a->node, b.node, 0);
  if (!kymo_fdl_add(compiler, &node, value))
    return false;
  node = new_node(KYMO_FILTER_NOT, value->node, 0, 0);
  return !expr->is_negated || kymo_fdl_add(compiler, &node, value);
}

static bool generate_in(struct fdl_compiler *compiler, const struct tdl_expr *expr, struct fdl_value *value) {
  struct fdl_value a;
  struct kymo_filter_node node = new_node(KYMO_FILTER_IN, 0, 0, 0);
  if (!kymo_fdl_generate(compiler, expr->operands[0], &a))
    return false;
  if (!expr->set->members)
    return generate_in_sequence(compiler, expr, &a, value);
  if (!generate_members(compiler, expr->set, &a, &node.b, &node.c))
    return false;
  node.a = a.node;
  node.detail = expr->is_negated;
  return kymo_fdl_add(compiler, &node, value);
}

bool kymo_fdl_generate_numbers(struct fdl_compiler *compiler, const struct tdl_set *set, uint32_t *first,
                               uint32_t *count) {
  const struct fdl_value number = {.at = set->at, .kinds = FDL_NUMBER};
  if (!set->members)
    return kymo_tdl_fail(&compiler->session, set->at, "E21", "expected numbers in parentheses, found a name");
  return generate_members(compiler, set, &number, first, count);
}

/* ---- patterns, flags ---- */

/* Where byte `at` of a pattern is in the text; for strings, where they begin. */
static uint32_t place_in_pattern(const struct fdl_compiler *compiler, const struct tdl_expr *expr,
                                 size_t at) {
  const char *text = compiler->session.common.text;
  uint32_t from = expr->operands[0]->at + expr->operands[0]->length, end = expr->at + expr->length;
  char quote = expr->operation == TDL_MATCHES ? '/' : '"';
  while (from < end && text[from] != quote)
    from++;
  if (quote == '"' || from == end)
    return from;
  for (from++; at > 0 && from < end; at--)
    from += text[from] == '\\' && text[from + 1] == '/' ? 2 : 1;
  return from;
}

/* EVENT LIKE "r*" where all events are called net:…: equality would be refused. */
static void warn_if_no_event(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                             const struct fdl_value *a, const struct kymo_regex *regex) {
  if (!a->field || !a->field->is_event || a->field->has_text || expr->is_negated ||
      kymo_fdl_some_event(compiler, regex))
    return;
  kymo_tdl_warn(&compiler->session, expr->at, "W21",
                "this is never true: no event has such a name; names are GROUP:NAME where there are groups");
}

/* A % that means only itself: probably a pattern of SQL, if it has none of our wildcards. */
static bool check_wildcards(struct fdl_compiler *compiler, const struct tdl_expr *expr) {
  const char *pattern = (const char *)expr->pattern.data;
  size_t length = expr->pattern.length;
  bool has_percent = false, has_glob = false, is_class = false;
  for (size_t i = 0; i < length; i++) {
    is_class = is_class ? pattern[i] != ']' : pattern[i] == '[';
    has_glob |= is_class || pattern[i] == '*' || pattern[i] == '?';
    has_percent |= pattern[i] == '%' && !is_class;
  }
  uint32_t at = place_in_pattern(compiler, expr, 0);
  if (has_percent && !has_glob)
    return kymo_tdl_fail(
        &compiler->session, at, "E12",
        "%% has no special meaning in a pattern: write * for any text, [%%] for the character");
  if (has_percent)
    kymo_tdl_warn(&compiler->session, at, "W22",
                  "%% has no special meaning in a pattern: write * for any text, [%%] for the character");
  return true;
}

static bool generate_pattern(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                             struct fdl_value *value) {
  const char *pattern = (const char *)expr->pattern.data, *wrong;
  size_t at;
  bool is_like = expr->operation == TDL_LIKE;
  struct fdl_value a;
  if (!kymo_fdl_generate(compiler, expr->operands[0], &a))
    return false;
  if (!(a.kinds & (FDL_TEXT | FDL_BLOB | FDL_LABELLED)))
    return kymo_tdl_fail(&compiler->session, a.at, "E41", "expected a text, found %s",
                         kymo_fdl_kind_name(a.kinds));
  struct kymo_regex *regex =
      (is_like ? kymo_regex_new_like : kymo_regex_new)(pattern, expr->pattern.length, &wrong, &at);
  if (!regex)
    return wrong ? kymo_tdl_fail(&compiler->session, place_in_pattern(compiler, expr, at), "E12",
                                 "in this pattern: %s", wrong)
                 : kymo_lang_no_memory(&compiler->session);
  warn_if_no_event(compiler, expr, &a, regex);
  kymo_regex_free(regex);
  if (is_like && !check_wildcards(compiler, expr))
    return false;
  struct kymo_filter_node node =
      new_node(is_like ? KYMO_FILTER_LIKE : KYMO_FILTER_MATCHES, a.node,
               kymo_filter_add_text(&compiler->builder, pattern, expr->pattern.length), 0);
  node.detail = expr->is_negated;
  return kymo_fdl_add(compiler, &node, value);
}

static bool generate_has(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                         struct fdl_value *value) {
  struct fdl_value a;
  struct kymo_filter_node node = new_node(KYMO_FILTER_HAS, 0, 0, 0);
  if (!kymo_fdl_generate(compiler, expr->operands[0], &a))
    return false;
  if (!(a.kinds & FDL_FLAGS) || !a.field)
    return kymo_tdl_fail(&compiler->session, a.at, "E41", "expected flags, found %s",
                         kymo_fdl_kind_name(a.kinds));
  for (const struct tdl_texts *text = expr->texts; text; text = text->next, node.c++) {
    if (!kymo_fdl_check_label(compiler, a.field, text->text, text->at))
      return false;
    uint32_t index =
        kymo_filter_add_text(&compiler->builder, (const char *)text->text.data, text->text.length);
    uint32_t at = kymo_filter_add_list(&compiler->builder, &index, 1);
    node.b = node.c == 0 ? at : node.b;
  }
  node.a = a.node;
  node.detail = expr->quantifier == TDL_ALL_OF   ? KYMO_FILTER_HAS_ALL
                : expr->quantifier == TDL_ANY_OF ? KYMO_FILTER_HAS_ANY
                                                 : KYMO_FILTER_HAS_NO;
  return kymo_fdl_add(compiler, &node, value);
}

bool kymo_fdl_generate_relation(struct fdl_compiler *compiler, const struct tdl_expr *expr,
                                struct fdl_value *value) {
  value->kinds = FDL_NUMBER;
  switch (expr->operation) {
  case TDL_IN: return generate_in(compiler, expr, value);
  case TDL_MATCHES:
  case TDL_LIKE: return generate_pattern(compiler, expr, value);
  case TDL_HAS: return generate_has(compiler, expr, value);
  default: return generate_compare(compiler, expr, value);
  }
}
