/* SPDX-License-Identifier: MIT */
/* Types of the file, views, and the forms in which values are delivered. */
#include "lang/tdl/generate.h"
#include <string.h>

#define RECENT 64 /* the most items of a section that are searched for an equal one */

uint32_t kymo_tdl_key_text(struct tdl_generator *gen, struct tdl_bytes bytes) {
  return kymo_plan_add_text(gen->key, bytes.data ? (const void *)bytes.data : "", bytes.length);
}

uint32_t kymo_tdl_key_word(struct tdl_generator *gen, const struct tdl_word *word) {
  return kymo_plan_add_text(gen->key, word ? word->text : "", word ? word->length : 0);
}

/* Adds an item unless one of the last ones is equal. */
static uint32_t add_once(struct tdl_generator *gen, enum kymo_plan_section section, const void *item,
                         size_t size) {
  uint32_t count = kymo_plan_count(gen->key, section);
  for (uint32_t i = count; i > 0 && count - i < RECENT; i--)
    if (memcmp(kymo_plan_item(gen->key, section, i - 1), item, size) == 0)
      return i - 1;
  return kymo_plan_add(gen->key, section, item);
}

/* ---- types ---- */

static uint32_t constant_size(const struct tdl_expr *size) {
  uint64_t value;
  return kymo_tdl_constant(size, &value) && value < KYMO_SIZE_TO_END ? (uint32_t)value : KYMO_SIZE_POPPED;
}

static void set_number(struct kymo_plan_type *out, const struct tdl_type *type) {
  static const uint8_t encodings[] = {
      [TDL_TYPE_UNSIGNED] = KYMO_TYPE_UNSIGNED, [TDL_TYPE_INTEGER] = KYMO_TYPE_SIGNED,
      [TDL_TYPE_FLOAT] = KYMO_TYPE_FLOAT,       [TDL_TYPE_BCD] = KYMO_TYPE_BCD,
      [TDL_TYPE_FIXED] = KYMO_TYPE_FIXED,
  };
  out->encoding = encodings[type->kind];
  out->size = constant_size(type->bits);
  out->fraction = type->kind == TDL_TYPE_FIXED ? type->number : 0;
}

static void set_varint(struct kymo_plan_type *out, const struct tdl_type *type) {
  static const uint8_t encodings[] = {
      [TDL_LEB] = KYMO_TYPE_LEB,
      [TDL_SLEB] = KYMO_TYPE_SLEB,
      [TDL_ZIGZAG] = KYMO_TYPE_ZIGZAG,
      [TDL_MSB] = KYMO_TYPE_VARINT_MSB,
  };
  out->encoding = encodings[type->varint];
  out->size = type->number ? type->number : 10;
}

/* STRING, BYTES and TEXT NUMBER: the size is part of the type only if it is constant. */
static void set_text(const struct tdl_generator *gen, struct kymo_plan_type *out,
                     const struct tdl_type *type) {
  bool is_number = type->kind == TDL_TYPE_TEXT_NUMBER, is_ended = type->size_form == TDL_SIZE_ENDED;
  out->size = type->size_form == TDL_SIZE_BYTES    ? constant_size(type->size)
              : type->size_form == TDL_SIZE_TO_END ? KYMO_SIZE_TO_END
              : is_ended                           ? 0
                                                   : KYMO_SIZE_POPPED;
  if (is_number) {
    out->encoding = is_ended ? KYMO_TYPE_TEXT_NUMBER_ENDED : KYMO_TYPE_TEXT_NUMBER;
    out->extra = type->number ? type->number : 10;
    out->fraction = is_ended ? type->end : 0;
  } else if (type->kind == TDL_TYPE_BYTES) {
    out->encoding = KYMO_TYPE_BYTES;
  } else if (is_ended) {
    out->encoding = KYMO_TYPE_STRING_ENDED;
    out->extra = type->end;
  } else {
    /* characters of 16 bits are cut at a zero of 16 bits, when they are delivered */
    bool is_whole = type->size_form == TDL_SIZE_COUNTED || gen->is_wide_text;
    out->encoding = is_whole ? KYMO_TYPE_STRING_WHOLE : KYMO_TYPE_STRING;
    out->extra = type->is_padded ? type->pad + 1u : 0;
  }
}

uint32_t kymo_tdl_type(struct tdl_generator *gen, const struct tdl_type *type, enum tdl_order order) {
  struct kymo_plan_type out = {
      .order = order == TDL_BIG             ? KYMO_PLAN_BIG
               : order == TDL_ORDER_DYNAMIC ? KYMO_PLAN_CURRENT
                                            : KYMO_PLAN_LITTLE,
      .is_msb_first = gen->tree->bit_order == TDL_BITS_LSB   ? 0
                      : gen->tree->bit_order == TDL_BITS_MSB ? 1
                                                             : 2,
  };
  switch (type->kind) {
  case TDL_TYPE_VARINT: set_varint(&out, type); break;
  case TDL_TYPE_BYTES:
  case TDL_TYPE_STRING:
  case TDL_TYPE_TEXT_NUMBER: set_text(gen, &out, type); break;
  default: set_number(&out, type);
  }
  return add_once(gen, KYMO_SECTION_TYPE, &out, sizeof out);
}

/* ---- views ---- */

static void set_double(double value, uint32_t *low, uint32_t *high) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  *low = (uint32_t)bits;
  *high = (uint32_t)(bits >> 32);
}

static uint32_t add_view(struct tdl_generator *gen, const struct kymo_plan_view *view) {
  return add_once(gen, KYMO_SECTION_VIEW, view, sizeof *view);
}

static uint32_t plain_unit(struct tdl_generator *gen, const char *unit) {
  struct kymo_plan_view view = {.token = KYMO_PLAN_NONE, .names = KYMO_PLAN_NONE, .flags = KYMO_PLAN_NONE};
  view.unit = kymo_plan_add_text(gen->key, unit, strlen(unit));
  return add_view(gen, &view);
}

uint32_t kymo_tdl_view(struct tdl_generator *gen, const struct tdl_attributes *attributes) {
  if (!attributes->token && !attributes->token_table && !attributes->flags && !attributes->has_scale &&
      !attributes->units.data && attributes->show == TDL_SHOW_NONE)
    return KYMO_PLAN_NONE;
  static const uint8_t shows[] = {
      [TDL_SHOW_NONE] = KYMO_SHOW_NONE,       [TDL_SHOW_HEX] = KYMO_SHOW_HEX,
      [TDL_SHOW_ADDRESS] = KYMO_SHOW_ADDRESS, [TDL_SHOW_UUID] = KYMO_SHOW_UUID,
      [TDL_SHOW_CHAR] = KYMO_SHOW_CHAR,
  };
  struct kymo_plan_view view = {
      .token = attributes->token ? attributes->token->index : KYMO_PLAN_NONE,
      .names = attributes->token_table ? attributes->token_table->index : KYMO_PLAN_NONE,
      .flags = attributes->flags ? attributes->flags->index : KYMO_PLAN_NONE,
      .has_scale = attributes->has_scale,
      .unit = attributes->units.data ? kymo_tdl_key_text(gen, attributes->units) : KYMO_PLAN_NONE,
      .show = shows[attributes->show],
  };
  if (attributes->has_scale) {
    set_double(attributes->scale, &view.scale_low, &view.scale_high);
    set_double(attributes->offset, &view.offset_low, &view.offset_high);
  }
  return add_view(gen, &view);
}

/* ---- forms of delivery ---- */

/* The least width of 8, 16, 32, 64 bits that holds all of the range; 64 if none does: results of expressions
 * are no larger without a sign (S6), and larger ones with it are R10. */
static void set_width(struct tdl_option *option, struct tdl_range range) {
  bool is_signed = range.low.high < 0;
  option->shape = is_signed ? KYMO_SHAPE_SIGNED : KYMO_SHAPE_UNSIGNED;
  for (option->bits = 8; option->bits < 64; option->bits *= 2) {
    unsigned free_bits = option->bits - is_signed;
    struct kymo_wide high = kymo_wide_of_u64((UINT64_C(1) << free_bits) - 1);
    bool fits_low = !is_signed || kymo_wide_compare(range.low, kymo_wide_not(high)) >= 0;
    if (fits_low && kymo_wide_compare(range.high, high) <= 0)
      return;
  }
}

static uint64_t power_of_ten(uint64_t digits) {
  uint64_t value = 1;
  for (uint64_t i = 0; i < digits; i++)
    value *= 10;
  return value;
}

static struct tdl_range unsigned_below(uint64_t high) {
  return (struct tdl_range){kymo_wide_of_u64(0), kymo_wide_of_u64(high)};
}

struct tdl_range kymo_tdl_type_range(const struct tdl_generator *gen, const struct tdl_type *type) {
  if (type->kind == TDL_TYPE_ARRAY)
    return kymo_tdl_type_range(gen, type->element);
  if (type->kind == TDL_TYPE_VARINT) {
    bool is_signed = type->varint == TDL_SLEB || type->varint == TDL_ZIGZAG;
    struct tdl_range whole = unsigned_below(is_signed ? INT64_MAX : UINT64_MAX);
    whole.low = kymo_wide_of_i64(is_signed ? INT64_MIN : 0);
    return whole;
  }
  if (!type->bits)
    return kymo_tdl_any_number();
  struct tdl_range width = kymo_tdl_range_of(gen, type->bits);
  uint64_t bits = width.high.high != 0 || width.high.low > 64 ? 64 : width.high.low;
  if (bits == 0)
    bits = 1;
  if (type->kind == TDL_TYPE_BCD)
    return unsigned_below(power_of_ten(bits / 4) - 1);
  if (type->kind == TDL_TYPE_UNSIGNED)
    return unsigned_below(bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1);
  int64_t most = (int64_t)((UINT64_C(1) << (bits - 1)) - 1);
  return (struct tdl_range){kymo_wide_of_i64(-most - 1), kymo_wide_of_i64(most)};
}

static bool is_float(const struct tdl_type *type) {
  return type->kind == TDL_TYPE_FLOAT || type->kind == TDL_TYPE_FIXED;
}

/* Of a type without attributes. */
static struct tdl_option type_option(const struct tdl_generator *gen, const struct tdl_type *type) {
  struct tdl_option option = {0};
  uint64_t bits;
  while (type->kind == TDL_TYPE_ARRAY)
    type = type->element;
  if (is_float(type)) {
    bool is_short = type->kind == TDL_TYPE_FLOAT && kymo_tdl_constant(type->bits, &bits) && bits <= 32;
    option.shape = KYMO_SHAPE_FLOAT;
    option.bits = is_short ? 32 : 64;
  } else if (type->kind == TDL_TYPE_STRING) {
    option.shape = KYMO_SHAPE_TEXT;
  } else if (type->kind == TDL_TYPE_BYTES) {
    option.shape = KYMO_SHAPE_BLOB;
    if (type->size_form == TDL_SIZE_BYTES && kymo_tdl_constant(type->size, &bits) && bits <= 4096)
      option.bits = (uint32_t)bits * 8;
  } else {
    set_width(&option, kymo_tdl_type_range(gen, type));
  }
  return option;
}

static void set_expression(struct tdl_generator *gen, struct tdl_option *option,
                           const struct tdl_expr *expr) {
  option->bits = 0;
  if (expr->type == TDL_BYTES)
    option->shape = kymo_tdl_is_bytes(gen, expr) ? KYMO_SHAPE_BLOB : KYMO_SHAPE_TEXT;
  else
    set_width(option, kymo_tdl_range_of(gen, expr));
}

struct tdl_option kymo_tdl_option(struct tdl_generator *gen, const struct tdl_item *item) {
  const struct tdl_attributes *attributes = &item->field->attributes;
  struct tdl_option option = {0};
  if (item->kind == TDL_ITEM_LET) {
    set_expression(gen, &option, item->expr);
  } else if (attributes->as) {
    gen->value_range = kymo_tdl_type_range(gen, item->field->type);
    set_expression(gen, &option, attributes->as);
  } else {
    option = type_option(gen, item->field->type);
  }
  option.is_time = attributes->time.mode != TDL_TIME_NONE && attributes->time.mode != TDL_TIME_ADD;
  bool is_duration = item->kind == TDL_ITEM_LET && item->expr->type == TDL_DURATION;
  if (option.is_time || is_duration) {
    option.is_time = true;
    option.shape = KYMO_SHAPE_SIGNED;
    option.bits = 64;
    option.view = plain_unit(gen, "ns");
    return option;
  }
  option.view = kymo_tdl_view(gen, attributes);
  if (attributes->has_scale) {
    option.shape = KYMO_SHAPE_FLOAT;
    option.bits = 64;
  }
  return option;
}

bool kymo_tdl_may_be_negative(struct tdl_generator *gen, const struct tdl_item *item) {
  const struct tdl_expr *as = item->kind == TDL_ITEM_LET ? item->expr : item->field->attributes.as;
  const struct tdl_type *type = item->field->type;
  if (item->kind != TDL_ITEM_LET && as)
    gen->value_range = kymo_tdl_type_range(gen, type);
  if (as)
    return kymo_tdl_range_of(gen, as).low.high < 0;
  return type->kind == TDL_TYPE_FLOAT || type->kind == TDL_TYPE_FIXED ||
         kymo_tdl_type_range(gen, type).low.high < 0;
}

static bool is_integer(const struct tdl_option *option) {
  return option->shape == KYMO_SHAPE_UNSIGNED || option->shape == KYMO_SHAPE_SIGNED;
}

/* Numbers that differ in their width alone are one option, as wide as the wider one. */
bool kymo_tdl_same_option(const struct tdl_option *a, const struct tdl_option *b) {
  if (a->shape != b->shape || a->view != b->view || a->is_time != b->is_time)
    return false;
  return a->bits == b->bits || is_integer(a) || a->shape == KYMO_SHAPE_BLOB;
}

/* ---- TYPES ---- */

static bool letter_is_plain(const struct tdl_field *field, const struct tdl_type *element) {
  const struct tdl_attributes *attributes = &field->attributes;
  bool is_sized = element->kind == TDL_TYPE_VARINT || element->size_form == TDL_SIZE_ENDED ||
                  element->size_form == TDL_SIZE_TO_END || element->fixed_bits >= 0 ||
                  (kymo_tdl_is_sized_late(element) && element == field->type);
  return is_sized && element->kind != TDL_TYPE_ARRAY && !attributes->equals && !attributes->in &&
         !attributes->where && !attributes->as && attributes->time.mode == TDL_TIME_NONE &&
         attributes->length.kind == TDL_LENGTH_NONE && attributes->checksum.algorithm == TDL_CHECKSUM_NONE;
}

/* ABSENT WHEN, a constant or NULL. */
static uint32_t absent_sort(const struct tdl_expr *absent) {
  return !absent                           ? KYMO_ABSENT_NONE
         : absent->value.type == TDL_BYTES ? KYMO_ABSENT_TEXT
         : absent->value.integer.high < 0  ? KYMO_ABSENT_SIGNED
                                           : KYMO_ABSENT_UNSIGNED;
}

static void set_absent(struct tdl_generator *gen, const struct tdl_expr *absent, uint32_t *low,
                       uint32_t *high) {
  if (!absent)
    return;
  bool is_text = absent->value.type == TDL_BYTES;
  *low = is_text ? kymo_tdl_key_text(gen, absent->value.bytes) : (uint32_t)absent->value.integer.low;
  *high = is_text ? 0 : (uint32_t)(absent->value.integer.low >> 32);
}

static bool add_letter(struct tdl_generator *gen, const struct tdl_types_item *item) {
  const struct tdl_field *field = item->field;
  const struct tdl_type *type = field->type;
  uint64_t count = 0;
  bool is_array = type->kind == TDL_TYPE_ARRAY,
       is_counted = !is_array || kymo_tdl_constant(type->count, &count);
  const struct tdl_type *element = is_array ? type->element : type;
  if (!is_counted || count > UINT32_MAX || (is_array && count == 0) || !letter_is_plain(field, element))
    return kymo_tdl_fail(gen->session, item->at, "E42",
                         "a type of TYPES needs a constant size and no other attributes: use UNSIGNED 16, "
                         "ARRAY 3 OF …, LITTLE, BIG and views; times are FIELD \"name\" IS TIME");
  struct tdl_item like = {.kind = TDL_ITEM_FIELD, .field = item->field};
  struct tdl_option option = kymo_tdl_option(gen, &like);
  struct kymo_plan_letter letter = {
      .text = kymo_tdl_key_text(gen, item->key),
      .type = kymo_tdl_type(gen, element, field->order),
      .shape = option.shape,
      .bits = option.bits,
      .count = (uint32_t)count,
      .view = option.view,
      .has_order = (field->attributes.given & TDL_GIVES_ORDER) != 0,
      .absent = absent_sort(field->attributes.absent),
  };
  set_absent(gen, field->attributes.absent, &letter.absent_low, &letter.absent_high);
  kymo_plan_add_letter(gen->key, &letter);
  return true;
}

bool kymo_tdl_letters(struct tdl_generator *gen) {
  for (const struct tdl_types *types = gen->tree->types; types; types = types->next) {
    struct kymo_plan_letters letters = {
        .name = kymo_tdl_key_word(gen, types->name.word),
        .first = kymo_plan_count(gen->key, KYMO_SECTION_LETTER),
        .count = types->count,
    };
    for (const struct tdl_types_item *item = types->items; item; item = item->next)
      if (!add_letter(gen, item))
        return false;
    kymo_plan_add_letters(gen->key, &letters);
  }
  return true;
}

/* ---- FIELD of run-time definitions ---- */

void kymo_tdl_add_override(struct tdl_generator *gen, const struct tdl_override *over) {
  static const uint8_t modes[] = {
      [TDL_TIME_NONE] = 0,
      [TDL_TIME_POINT] = KYMO_TIME_POINT,
      [TDL_TIME_DISTANCE] = KYMO_TIME_DISTANCE,
      [TDL_TIME_ADD] = KYMO_TIME_ADD,
      [TDL_TIME_LOW] = KYMO_TIME_LOW,
      [TDL_TIME_BASE] = KYMO_TIME_BASE,
      [TDL_TIME_UNTIL] = KYMO_TIME_UNTIL,
      [TDL_TIME_SPAN] = KYMO_TIME_SPAN,
  };
  const struct tdl_attributes *attributes = &over->attributes;
  const struct tdl_time *time = &attributes->time;
  const struct tdl_expr *unit = time->unit ? time->unit : time->rate;
  uint64_t value = 0;
  bool is_plain = !attributes->equals && !attributes->in && !attributes->where && !attributes->as &&
                  attributes->length.kind == TDL_LENGTH_NONE &&
                  attributes->checksum.algorithm == TDL_CHECKSUM_NONE;
  if (!is_plain || (unit && !kymo_tdl_constant(unit, &value))) {
    gen->failed = true;
    kymo_tdl_fail(
        gen->session, over->at, "E42",
        "FIELD has other attributes: use LITTLE, BIG, ABSENT WHEN, views, and TIME c POINT UNIT 1 ms "
        "with a constant unit");
    return;
  }
  struct kymo_plan_override out = {
      .name = kymo_tdl_key_text(gen, over->label),
      .view = kymo_tdl_view(gen, attributes),
      .order = attributes->order == TDL_ORDER_NONE ? KYMO_PLAN_NONE
               : attributes->order == TDL_BIG      ? KYMO_PLAN_BIG
                                                   : KYMO_PLAN_LITTLE,
      .clock = time->mode == TDL_TIME_NONE ? KYMO_PLAN_NONE : time->clock->index,
      .time_mode = modes[time->mode],
      .low_bits = time->low_bits,
      .unit_low = (uint32_t)value,
      .unit_high = (uint32_t)(value >> 32),
      .is_pattern = over->is_pattern,
      .is_filler = over->is_filler,
      .absent = absent_sort(attributes->absent),
  };
  set_absent(gen, attributes->absent, &out.absent_low, &out.absent_high);
  if (unit)
    out.unit_kind = time->rate                   ? KYMO_TIME_RATE
                    : unit->type == TDL_DURATION ? KYMO_TIME_UNIT
                                                 : KYMO_TIME_TICKS;
  kymo_plan_add_override(gen->key, &out);
}
