/* SPDX-License-Identifier: MIT */
/* Displayed forms of values of a described file: the names of tokens and flags, scaled numbers, texts that
 * are made of bytes. */
#include "format/described/described.h"
#include "format/described/look.h"
#include "source/block.h"
#include <inttypes.h>

static bool add_text(const struct kymo_look *look, uint32_t text, struct kymo_strbuf *out) {
  const struct kymo_plan_text *place = &look->plan->texts[text];
  kymo_strbuf_add(out, (const char *)look->plan->bytes + place->offset, place->size);
  return true;
}

static bool add_token(const struct kymo_look *look, const struct kymo_plan_view *view,
                      const struct kymo_expr_value *value, struct kymo_strbuf *out) {
  const struct kymo_plan_version *version;
  uint32_t item;
  if (view->token != KYMO_PLAN_NONE)
    return value->sort == KYMO_SORT_NUMBER && kymo_token_find(look->plan, view->token, &value->n, &item) &&
           add_text(look, look->plan->token_items[look->plan->tokens[view->token].first + item].text, out);
  if (!(version = kymo_plan_table_get(look->machine, view->names, value)) ||
      version->value.sort != KYMO_SORT_BYTES)
    return false;
  const char *text = (const char *)version->value.p;
  kymo_strbuf_add(out, text, version->value.size ? strnlen(text, version->value.size) : 0);
  return true;
}

static uint64_t wide(uint32_t low, uint32_t high) { return low | (uint64_t)high << 32; }

/* Bits that several flags require. */
static uint64_t shared_bits(const struct kymo_plan *plan, const struct kymo_plan_flag *list) {
  uint64_t once = 0, shared = 0;
  for (uint32_t i = list->first; i < list->first + list->count; i++) {
    uint64_t mask = wide(plan->flag_items[i].mask_low, plan->flag_items[i].mask_high);
    shared |= once & mask;
    once |= mask;
  }
  return shared;
}

/* The rule for set flags is that of the types of CTF (decode/labels.h). */
static bool add_flags(const struct kymo_look *look, const struct kymo_plan_form *form,
                      const struct kymo_expr_value *value, struct kymo_strbuf *out) {
  const struct kymo_plan_flag *list = &look->plan->flags[form->view->flags];
  uint64_t bits = value->n.low, rest = bits, all = UINT64_MAX >> (64 - form->bytes * 8),
           shared = shared_bits(look->plan, list);
  size_t begin = out->length;
  for (uint32_t i = list->first; value->sort == KYMO_SORT_NUMBER && i < list->first + list->count; i++) {
    const struct kymo_plan_flag_item *item = &look->plan->flag_items[i];
    uint64_t mask = wide(item->mask_low, item->mask_high),
             ones = mask & wide(item->value_low, item->value_high);
    bool is_whole = (bits & mask) == ones;
    uint64_t found = is_whole || ones != mask ? ones : bits & ones & ~shared;
    if ((mask & ~all) || (ones != mask ? !is_whole : !found))
      continue;
    kymo_strbuf_puts(out, out->length > begin ? "|" : "");
    add_text(look, item->text, out);
    rest &= ~found;
  }
  if (rest && out->length > begin)
    kymo_strbuf_printf(out, "|0x%" PRIx64, rest);
  return out->length > begin;
}

static bool add_scaled(const struct kymo_plan_form *form, const struct kymo_expr_value *value,
                       struct kymo_strbuf *out) {
  double number = value->sort == KYMO_SORT_FLOAT ? value->f : kymo_wide_to_double(value->n);
  if (value->sort == KYMO_SORT_BYTES)
    return false;
  kymo_strbuf_printf(out, "%.15g", kymo_plan_scaled(number, form->scale, form->divisor, form->offset));
  return true;
}

/* Addresses, UUIDs, characters and texts in a custom encoding of the file, as in rows. */
static bool add_row_text(const struct kymo_look *look, const struct kymo_plan_form *form,
                         const struct kymo_expr_value *value, struct kymo_strbuf *out) {
  struct kymo_block block = {0};
  bool is_made = look->plan->root->characters != KYMO_CHARACTERS_UTF8 || form->show != KYMO_SHOW_NONE;
  if (!is_made || !kymo_described_text(look->described, form, value, &block))
    return false;
  kymo_strbuf_printf(out, "\"%s\"", (const char *)block.bytes);
  free(block.bytes);
  return true;
}

bool kymo_look_show(const struct kymo_look *look, const struct kymo_plan_option *option,
                    const struct kymo_expr_value *value, struct kymo_strbuf *out) {
  struct kymo_plan_form form = kymo_plan_form(look->plan, option->shape, option->bits, option->view);
  const struct kymo_plan_view *view = form.view;
  if (value->sort == KYMO_SORT_ABSENT)
    return false;
  if (view && (view->token != KYMO_PLAN_NONE || view->names != KYMO_PLAN_NONE))
    return add_token(look, view, value, out);
  if (view && view->flags != KYMO_PLAN_NONE)
    return add_flags(look, &form, value, out);
  if (form.has_scale)
    return add_scaled(&form, value, out);
  if (form.kind == KYMO_FORM_TEXT)
    return add_row_text(look, &form, value, out);
  bool is_hex = view && (view->show == KYMO_SHOW_HEX || view->show == KYMO_SHOW_ADDRESS) &&
                value->sort == KYMO_SORT_NUMBER;
  if (is_hex)
    kymo_strbuf_printf(out, "0x%" PRIx64, value->n.low & UINT64_MAX >> (64 - form.bytes * 8));
  return is_hex;
}
