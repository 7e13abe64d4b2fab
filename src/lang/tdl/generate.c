/* SPDX-License-Identifier: MIT */
/* A description as a whole → key: declarations, then kinds, then layout. */
#include "lang/tdl/generate.h"
#include "base/fail.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

static void set_64(uint64_t value, uint32_t *low, uint32_t *high) {
  *low = (uint32_t)value;
  *high = (uint32_t)(value >> 32);
}

/* ---- declarations ---- */

/* A resolution that depends on the data becomes a rate. */
static uint32_t rate_of_resolution(struct tdl_generator *gen, const struct tdl_expr *resolution) {
  kymo_plan_block_begin(gen->key);
  kymo_tdl_emit_number(gen, INT64_C(1000000000000));
  kymo_tdl_emit(gen, resolution);
  kymo_tdl_code(gen, KYMO_DO_DIVIDE, 0, 0);
  return kymo_plan_block_end(gen->key);
}

static bool add_clock(struct tdl_generator *gen, const struct tdl_clock *clock) {
  uint64_t resolution = 1000;
  bool is_given = !clock->resolution || kymo_tdl_constant(clock->resolution, &resolution);
  struct kymo_wide epoch = {0}, thousand = kymo_wide_of_u64(1000);
  if (is_given && resolution == 0)
    return kymo_tdl_fail(gen->session, clock->name.at, "E41", "a tick lasts more than nothing");
  kymo_tdl_come_from(gen, kymo_tdl_name_span(&clock->name));
  if (clock->epoch.data && !kymo_wide_divide(clock->epoch_ps, thousand, &epoch, NULL))
    return false;
  struct kymo_plan_clock out = {
      .name = kymo_tdl_key_word(gen, clock->name.word),
      .has_epoch = clock->epoch.data != NULL,
      .rate = is_given ? kymo_tdl_block(gen, clock->rate) : rate_of_resolution(gen, clock->resolution),
      .slack = kymo_tdl_block(gen, clock->slack),
      .slack_in_ticks = clock->slack && clock->slack->type != TDL_DURATION,
  };
  if (!kymo_wide_fits(epoch) || (epoch.high == 0 && epoch.low > INT64_MAX)) {
    struct kymo_wide days, day = kymo_wide_of_i64(INT64_C(86400000000000)), rest;
    if (!kymo_wide_divide(epoch, day, &days, &rest))
      return false;
    out.epoch_days = (uint32_t)days.low;
    epoch = rest;
  }
  set_64(epoch.low, &out.epoch_low, &out.epoch_high);
  set_64(resolution, &out.resolution_low, &out.resolution_high);
  kymo_plan_add_clock(gen->key, &out);
  return true;
}

static void add_tokens(struct tdl_generator *gen, const struct tdl_token_list *list) {
  struct kymo_plan_token out = {
      .name = kymo_tdl_key_word(gen, list->name.word),
      .first = kymo_plan_count(gen->key, KYMO_SECTION_TOKEN_ITEM),
      .count = list->count,
      .or_error = list->or_error,
  };
  for (const struct tdl_token_item *item = list->items; item; item = item->next) {
    const struct tdl_expr *high = item->high ? item->high : item->low;
    struct kymo_plan_token_item each = {.text = kymo_tdl_key_text(gen, item->text)};
    set_64(item->low->value.integer.low, &each.low_low, &each.low_high);
    set_64(high->value.integer.low, &each.high_low, &each.high_high);
    kymo_plan_add_token_item(gen->key, &each);
  }
  kymo_plan_add_token(gen->key, &out);
}

static void add_flags(struct tdl_generator *gen, const struct tdl_flag_list *list) {
  struct kymo_plan_flag out = {
      .name = kymo_tdl_key_word(gen, list->name.word),
      .first = kymo_plan_count(gen->key, KYMO_SECTION_FLAG_ITEM),
      .count = list->count,
  };
  for (const struct tdl_flag *flag = list->flags; flag; flag = flag->next) {
    struct kymo_plan_flag_item each = {.text = kymo_tdl_key_text(gen, flag->text)};
    set_64(flag->mask, &each.mask_low, &each.mask_high);
    set_64(flag->value, &each.value_low, &each.value_high);
    kymo_plan_add_flag_item(gen->key, &each);
  }
  kymo_plan_add_flag(gen->key, &out);
}

static void add_table(struct tdl_generator *gen, const struct tdl_table *table) {
  static const uint8_t holds[] = {
      [TDL_HOLDS_RECORDS] = KYMO_HOLDS_RECORDS,
      [TDL_HOLDS_NAMES] = KYMO_HOLDS_NAMES,
      [TDL_HOLDS_NUMBERS] = KYMO_HOLDS_NUMBERS,
      [TDL_HOLDS_BYTES] = KYMO_HOLDS_BYTES,
  };
  static const uint8_t pers[] = {
      [TDL_PER_NONE] = KYMO_PER_FILE,   [TDL_PER_FILE] = KYMO_PER_FILE,  [TDL_PER_SEGMENT] = KYMO_PER_SEGMENT,
      [TDL_PER_TRACE] = KYMO_PER_TRACE, [TDL_PER_NAME] = KYMO_PER_VALUE,
  };
  static const uint8_t known[] = {
      [TDL_KNOWN_EARLIER] = KYMO_KNOWN_EARLIER,
      [TDL_KNOWN_BY_TIME] = KYMO_KNOWN_BY_TIME,
      [TDL_KNOWN_ALWAYS] = KYMO_KNOWN_ALWAYS,
  };
  struct kymo_plan_table out = {
      .name = kymo_tdl_key_word(gen, table->name.word),
      .is_by_name = table->key == TDL_KEY_NAME,
      .holds = holds[table->holds],
      .per = pers[table->per],
      .known = known[table->known],
      .limit = table->limit > UINT32_MAX ? UINT32_MAX : (uint32_t)table->limit,
      .pass = table->rank,
  };
  kymo_plan_add_table(gen->key, &out);
}

static bool add_declarations(struct tdl_generator *gen) {
  const struct tdl_tree *tree = gen->tree;
  for (const struct tdl_token_list *list = tree->tokens; list; list = list->next)
    add_tokens(gen, list);
  for (const struct tdl_flag_list *list = tree->flags; list; list = list->next)
    add_flags(gen, list);
  for (const struct tdl_table *table = tree->tables; table; table = table->next)
    add_table(gen, table);
  for (const struct tdl_clock *clock = tree->clocks; clock; clock = clock->next)
    if (!add_clock(gen, clock))
      return false;
  return kymo_tdl_letters(gen);
}

/* ---- the whole ---- */

/* ENCODING: names as usual, without regard of case. */
static bool set_characters(struct tdl_generator *gen, struct kymo_plan_root *root) {
  static const struct {
    const char *name;
    uint32_t characters;
  } known[] = {
      {"UTF-8", KYMO_CHARACTERS_UTF8},         {"ASCII", KYMO_CHARACTERS_UTF8},
      {"US-ASCII", KYMO_CHARACTERS_UTF8},      {"ISO-8859-1", KYMO_CHARACTERS_LATIN1},
      {"LATIN1", KYMO_CHARACTERS_LATIN1},      {"UTF-16LE", KYMO_CHARACTERS_UTF16_LITTLE},
      {"UTF-16BE", KYMO_CHARACTERS_UTF16_BIG},
  };
  struct tdl_bytes wanted = gen->tree->encoding;
  if (!wanted.data)
    return true;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (strlen(known[i].name) == wanted.length &&
        strncasecmp(known[i].name, (const char *)wanted.data, wanted.length) == 0) {
      root->characters = known[i].characters;
      gen->is_wide_text = root->characters >= KYMO_CHARACTERS_UTF16_LITTLE;
      return true;
    }
  return kymo_tdl_fail(gen->session, gen->tree->encoding_at, "E31",
                       "no encoding \"%.*s\": expected UTF-8, ASCII, ISO-8859-1, UTF-16LE or UTF-16BE",
                       (int)wanted.length, (const char *)wanted.data);
}

static bool add_all(struct tdl_generator *gen) {
  const struct tdl_tree *tree = gen->tree;
  struct kymo_plan_root root = {
      .name = kymo_tdl_key_word(gen, tree->name.word),
      .version = KYMO_PLAN_NONE,
      .order = tree->order == TDL_BIG ? KYMO_PLAN_BIG : KYMO_PLAN_LITTLE,
      .source = kymo_plan_add_text(gen->key, gen->session->common.text, gen->session->common.length),
  };
  char version[16];
  if (tree->version != 0) {
    snprintf(version, sizeof version, "%u", tree->version);
    root.version = kymo_plan_add_text(gen->key, version, strlen(version));
  }
  if (!set_characters(gen, &root) || !kymo_tdl_survey(gen) || !kymo_tdl_lists(gen) ||
      !add_declarations(gen) || !kymo_tdl_kinds(gen) || !kymo_tdl_layout(gen, &root))
    return false;
  root.kept_count = gen->kept_count;
  root.sequence_count = gen->sequences;
  kymo_plan_add_root(gen->key, &root);
  return !gen->failed && !gen->session->common.failed;
}

static struct kymo_schema *generate(struct tdl_tree *tree, struct kymo_tdl_origins *origins,
                                    struct kymo_error *error) {
  struct tdl_generator gen = {
      .tree = tree, .session = &tree->session, .key = kymo_plan_builder_new(), .origins = origins};
  gen.session->common.error = error;
  if (!gen.key) {
    kymo_lang_no_memory(gen.session);
    return NULL;
  }
  if (add_all(&gen))
    return kymo_plan_finish(gen.key, error);
  if (!gen.session->common.failed)
    kymo_lang_no_memory(gen.session);
  kymo_plan_builder_free(gen.key);
  return NULL;
}

static struct kymo_schema *compile(const char *text, size_t length, const char *file,
                                   const struct kymo_warnings *warnings, struct kymo_tdl_origins *origins,
                                   struct kymo_error *error) {
  struct tdl_tree *tree = kymo_tdl_parse(text, length, file, error);
  if (!tree)
    return NULL;
  struct kymo_schema *schema = NULL;
  if (kymo_tdl_check(tree, warnings, error) == KYMO_OK)
    schema = generate(tree, origins, error);
  kymo_tdl_free(tree);
  return schema;
}

struct kymo_schema *kymo_tdl_compile(const char *text, size_t length, const char *file,
                                     const struct kymo_warnings *warnings, struct kymo_error *error) {
  return compile(text, length, file, warnings, NULL, error);
}

struct kymo_schema *kymo_tdl_compile_origins(const char *text, size_t length, const char *file,
                                             struct kymo_tdl_origins *origins, struct kymo_error *error) {
  return compile(text, length, file, NULL, origins, error);
}
