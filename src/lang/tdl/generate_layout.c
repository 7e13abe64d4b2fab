/* SPDX-License-Identifier: MIT */
/* The dispatch of kinds, the layout, and the policies for errors. */
#include "lang/tdl/generate.h"
#include <stdlib.h>

/* ---- dispatch ---- */

static int compare_cases(const void *a, const void *b) {
  const struct kymo_plan_case *x = a, *y = b;
  if (x->high != y->high)
    return x->high < y->high ? -1 : 1;
  return x->low < y->low ? -1 : x->low > y->low;
}

/* Whether one number after one prefix determines the kind: all but the last are `WHEN field = number`
 * (S29). */
static bool is_table(const struct tdl_names *kinds, const struct tdl_slot **slot) {
  const struct tdl_prefix *prefix = kinds->record->prefix;
  *slot = NULL;
  for (const struct tdl_names *each = kinds; each; each = each->next) {
    const struct tdl_record *record = each->record;
    bool is_last_without = !each->next && !record->when;
    if (!prefix || record->prefix != prefix || record->align)
      return false;
    if (is_last_without)
      break;
    bool is_number =
        record->when_slot && record->when_value.type == TDL_INTEGER && record->when_value.integer.high == 0;
    if (!is_number || (*slot && record->when_slot != *slot))
      return false;
    *slot = record->when_slot;
  }
  return *slot;
}

static bool add_cases(struct tdl_generator *gen, const struct tdl_names *kinds,
                      struct kymo_plan_dispatch *dispatch) {
  uint32_t count = 0;
  struct kymo_plan_case *cases = kymo_lang_new(gen->session, dispatch->count, sizeof *cases);
  if (!cases)
    return false;
  for (const struct tdl_names *each = kinds; each; each = each->next) {
    uint64_t value = each->record->when_value.integer.low;
    if (!each->record->when)
      dispatch->otherwise = each->record->index;
    else
      cases[count++] = (struct kymo_plan_case){(uint32_t)value, (uint32_t)(value >> 32), each->record->index};
  }
  qsort(cases, count, sizeof *cases, compare_cases);
  dispatch->first_case = kymo_plan_count(gen->key, KYMO_SECTION_CASE);
  for (uint32_t i = 0; i < count; i++) {
    bool is_new = i == 0 || compare_cases(&cases[i], &cases[i - 1]) != 0;
    if (is_new)
      kymo_plan_add_case(gen->key, &cases[i]);
    dispatch->case_count += is_new;
  }
  return true;
}

uint32_t kymo_tdl_dispatch(struct tdl_generator *gen, const struct tdl_names *kinds) {
  struct kymo_plan_dispatch dispatch = {
      .first = kymo_plan_count(gen->key, KYMO_SECTION_KIND_REF),
      .slot = KYMO_PLAN_NONE,
      .otherwise = KYMO_PLAN_NONE,
  };
  const struct tdl_slot *slot;
  for (const struct tdl_names *each = kinds; each; each = each->next, dispatch.count++) {
    struct kymo_plan_kind_ref reference = {each->record->index};
    kymo_plan_add_kind_ref(gen->key, &reference);
  }
  if (is_table(kinds, &slot)) {
    dispatch.slot = slot->index; /* prefixes have their slots first */
    if (!add_cases(gen, kinds, &dispatch))
      gen->failed = true;
  }
  return kymo_plan_add_dispatch(gen->key, &dispatch);
}

/* ---- steps ---- */

static uint32_t count_steps(const struct tdl_step *steps) {
  uint32_t count = 0;
  for (; steps; steps = steps->next)
    count += 1 + count_steps(steps->steps);
  return count;
}

static void add_steps(struct tdl_generator *gen, const struct tdl_step *steps) {
  for (const struct tdl_step *step = steps; step; step = step->next) {
    kymo_tdl_come_from(gen, (struct kymo_tdl_span){step->at, step->length});
    kymo_tdl_note_origin(gen, KYMO_SECTION_DISPATCH, gen->origin);
    struct kymo_plan_step out = {
        .dispatch = step->kinds ? kymo_tdl_dispatch(gen, step->kinds) : KYMO_PLAN_NONE,
        .is_repeat = step->is_repeat,
        .times = kymo_tdl_block(gen, step->times),
        .at = kymo_tdl_block(gen, step->where),
        .size = kymo_tdl_block(gen, step->kinds ? step->size : step->block),
        .until = step->until ? step->until->index : KYMO_PLAN_NONE,
        .inner_count = count_steps(step->steps),
    };
    kymo_plan_add_step(gen->key, &out);
    add_steps(gen, step->steps);
  }
}

/* ---- policies, order of time ---- */

static bool set_policies(struct tdl_generator *gen, struct kymo_plan_root *root) {
  static const uint8_t actions[] = {
      [TDL_POLICY_DEFAULT] = KYMO_PLAN_POLICY_DEFAULT, [TDL_POLICY_STOP] = KYMO_PLAN_POLICY_STOP,
      [TDL_POLICY_SKIP] = KYMO_PLAN_POLICY_SKIP,       [TDL_POLICY_MARK] = KYMO_PLAN_POLICY_MARK,
      [TDL_POLICY_RESYNC] = KYMO_PLAN_POLICY_RESYNC,
  };
  root->resync = KYMO_PLAN_NONE;
  for (unsigned i = 1; i < TDL_POLICIES; i++) {
    const struct tdl_policy *policy = &gen->tree->layout.policies[i];
    root->policies[i] = actions[policy->action];
    if (policy->action != TDL_POLICY_RESYNC)
      continue;
    uint32_t pattern = kymo_tdl_key_text(gen, policy->pattern);
    uint32_t within = policy->within > UINT32_MAX ? UINT32_MAX : (uint32_t)policy->within;
    if (root->resync != KYMO_PLAN_NONE && (root->resync != pattern || root->resync_within != within))
      return kymo_tdl_fail(gen->session, gen->tree->layout.at, "E33",
                           "RESYNC has one pattern for all errors");
    root->resync = pattern;
    root->resync_within = within;
  }
  return true;
}

static void set_64(uint64_t value, uint32_t *low, uint32_t *high) {
  *low = (uint32_t)value;
  *high = (uint32_t)(value >> 32);
}

/* SORTED WITHIN ticks: of the first clock, in the resolution of the text. */
static uint64_t margin_ps(const struct tdl_generator *gen, const struct tdl_expr *within) {
  uint64_t value = 0, tick = 1000;
  const struct tdl_clock *clock = gen->tree->clocks;
  kymo_tdl_constant(within, &value);
  if (within->type == TDL_DURATION)
    return value;
  if (clock && clock->resolution)
    kymo_tdl_constant(clock->resolution, &tick);
  return tick && value > UINT64_MAX / tick ? UINT64_MAX : value * tick;
}

static void set_sorted(struct tdl_generator *gen, struct kymo_plan_root *root) {
  static const uint8_t modes[] = {
      [TDL_SORTED_NO] = KYMO_SORTED_NO,
      [TDL_SORTED_YES] = KYMO_SORTED_YES,
      [TDL_SORTED_WITHIN] = KYMO_SORTED_WITHIN,
      [TDL_SORTED_PER] = KYMO_SORTED_PER,
  };
  const struct tdl_layout *layout = &gen->tree->layout;
  root->sorted = modes[layout->sorted];
  if (layout->sorted == TDL_SORTED_WITHIN)
    set_64(margin_ps(gen, layout->sorted_within), &root->sorted_low, &root->sorted_high);
  else if (layout->sorted == TDL_SORTED_PER)
    root->sorted_low = kymo_tdl_key_word(gen, layout->sorted_per.word);
}

bool kymo_tdl_layout(struct tdl_generator *gen, struct kymo_plan_root *root) {
  static const uint8_t merges[] = {
      [TDL_MERGE_NONE] = KYMO_MERGE_NONE,
      [TDL_MERGE_BY_TIME] = KYMO_MERGE_BY_TIME,
      [TDL_MERGE_BY_SEQUENCE] = KYMO_MERGE_BY_SEQUENCE,
  };
  const struct tdl_layout *layout = &gen->tree->layout;
  gen->frame = NULL;
  add_steps(gen, layout->steps);
  set_sorted(gen, root);
  root->merge = merges[layout->merge];
  root->merge_pattern =
      layout->merge_files.data ? kymo_tdl_key_text(gen, layout->merge_files) : KYMO_PLAN_NONE;
  return set_policies(gen, root);
}
