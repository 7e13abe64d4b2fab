/* SPDX-License-Identifier: MIT */
/* A whole filter: head, definitions, select. */
#include "base/fail.h"
#include "base/sized.h"
#include "filter/fdl/fdl.h"
#include <string.h>

/* ---- parsing ---- */

static bool fail_end(struct tdl_parser *parser) {
  return kymo_tdl_fail(parser->session, parser->token.at, "E22", "expected \".\" at the end of the filter");
}

/* SAME path, … */
static bool parse_same(struct tdl_parser *parser, struct fdl_definition *definition) {
  definition->same = kymo_lang_new(parser->session, KYMO_FILTER_SAME, sizeof *definition->same);
  if (!definition->same)
    return false;
  do {
    if (definition->same_count == KYMO_FILTER_SAME)
      return kymo_tdl_fail(parser->session, parser->token.at, "E61", "expected at most %d fields after SAME",
                           KYMO_FILTER_SAME);
    if (!kymo_tdl_parse_path(parser, &definition->same[definition->same_count++]))
      return false;
  } while (kymo_tdl_accept(parser, ','));
  return true;
}

static bool parse_limit(struct tdl_parser *parser, struct fdl_definition *definition) {
  const struct tdl_expr *limit = kymo_tdl_parse_sum(parser);
  if (!limit)
    return false;
  bool is_span = limit->operation == TDL_CONSTANT &&
                 (limit->value.type == TDL_DURATION || limit->value.type == TDL_TICKS);
  if (!is_span)
    return kymo_tdl_fail(parser->session, limit->at, limit->operation == TDL_CONSTANT ? "E41" : "E42",
                         "expected a length of time, as \"5 ms\"");
  definition->has_limit = true;
  definition->limit = limit->value;
  return true;
}

/* ACTIVITY name FROM oper TO oper [SAME path, …] [WITHIN sum], the cursor after ACTIVITY. */
static bool parse_activity(struct tdl_parser *parser, struct fdl_definition *definition) {
  if (!kymo_tdl_expect_name(parser, "the name of an activity", &definition->name) ||
      !kymo_tdl_expect(parser, TDL_KEYWORD_FROM) || !(definition->from = kymo_tdl_parse_operand(parser)) ||
      !kymo_tdl_expect(parser, TDL_KEYWORD_TO) || !(definition->to = kymo_tdl_parse_operand(parser)))
    return false;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_SAME) && !parse_same(parser, definition))
    return false;
  return !kymo_tdl_accept(parser, TDL_KEYWORD_WITHIN) || parse_limit(parser, definition);
}

static bool check_name(struct fdl_compiler *compiler, const struct fdl_definition *definition) {
  for (const struct fdl_definition *other = compiler->definitions; other; other = other->next)
    if (other->name.word == definition->name.word)
      return kymo_tdl_fail(&compiler->session, definition->name.at, "E33", "\"%s\" is defined twice",
                           definition->name.word->text);
  return true;
}

static bool parse_definition(struct fdl_compiler *compiler, struct tdl_parser *parser,
                             struct fdl_definition ***end) {
  struct fdl_definition *definition = kymo_lang_new(parser->session, 1, sizeof *definition);
  if (!definition)
    return false;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_ACTIVITY)) {
    if (!parse_activity(parser, definition))
      return false;
  } else if (!kymo_tdl_is_name(parser)) {
    return kymo_tdl_unexpected(parser, "a definition or SELECT");
  } else if (!kymo_tdl_expect_name(parser, "a definition", &definition->name) ||
             !kymo_tdl_expect(parser, '=') || !(definition->expr = kymo_tdl_parse_expression(parser))) {
    return false;
  }
  if (!check_name(compiler, definition) || !kymo_tdl_expect(parser, ';'))
    return false;
  **end = definition;
  *end = &definition->next;
  return true;
}

/* FOR name: one of the descriptions must have this name, unless none has a name. */
static bool check_for(struct fdl_compiler *compiler, const struct tdl_name *name) {
  const char *other = NULL;
  for (size_t i = 0; i < compiler->schema_count; i++) {
    const char *own = compiler->schemas[i]->trace_name;
    if (own && strcmp(own, name->word->text) == 0)
      return true;
    other = own ? own : other;
  }
  return !other ||
         kymo_tdl_fail(&compiler->session, name->at, "E31",
                       "this filter is for \"%s\", and the trace is \"%s\"", name->word->text, other);
}

/* FILTER name [FOR name] [OVER ALL];, the cursor after FILTER. */
static bool parse_head(struct fdl_compiler *compiler, struct tdl_parser *parser) {
  struct tdl_name name, of;
  if (!kymo_tdl_expect_name(parser, "the name of the filter", &name))
    return false;
  compiler->builder.name = kymo_arena_copy(&compiler->builder.arena, name.word->text, name.word->length);
  if (!compiler->builder.name)
    return kymo_lang_no_memory(parser->session);
  if (kymo_tdl_accept(parser, TDL_KEYWORD_FOR) &&
      (!kymo_tdl_expect_name(parser, "the name of a description", &of) || !check_for(compiler, &of)))
    return false;
  compiler->builder.over_all = kymo_tdl_accept(parser, TDL_KEYWORD_OVER);
  return (!compiler->builder.over_all || kymo_tdl_expect(parser, TDL_KEYWORD_ALL)) &&
         kymo_tdl_expect(parser, ';');
}

static bool parse_select(struct fdl_compiler *compiler, struct tdl_parser *parser,
                         const struct tdl_expr **select) {
  *select = kymo_tdl_parse_expression(parser);
  if (!*select)
    return false;
  uint32_t at = parser->token.at;
  if (!kymo_tdl_accept(parser, TDL_KEYWORD_FIRST))
    return true;
  at = parser->token.at;
  if (!kymo_tdl_expect_number(parser, UINT64_MAX, &compiler->builder.first))
    return false;
  return compiler->builder.first > 0 ||
         kymo_tdl_fail(parser->session, at, "E13", "expected a number of at least 1");
}

static bool parse_filter(struct fdl_compiler *compiler, struct tdl_parser *parser,
                         const struct tdl_expr **select) {
  struct fdl_definition **end = &compiler->definitions;
  if (!parse_head(compiler, parser))
    return false;
  while (!kymo_tdl_accept(parser, TDL_KEYWORD_SELECT))
    if (!parse_definition(compiler, parser, &end))
      return false;
  if (!parse_select(compiler, parser, select))
    return false;
  if (parser->token.kind == TDL_TOKEN_END)
    return fail_end(parser);
  return kymo_tdl_expect(parser, '.') &&
         (parser->token.kind == TDL_TOKEN_END || kymo_tdl_unexpected(parser, "the end of the text"));
}

static bool parse(struct fdl_compiler *compiler, const struct tdl_expr **select) {
  struct tdl_parser parser = kymo_tdl_parser(&compiler->session);
  if (kymo_tdl_accept(&parser, TDL_KEYWORD_FILTER))
    return parse_filter(compiler, &parser, select);
  if ((int)parser.token.kind == TDL_KEYWORD_ACTIVITY)
    return kymo_tdl_fail(
        &compiler->session, parser.token.at, "E21",
        "expected a value, found ACTIVITY, which only a whole filter defines: FILTER name; ACTIVITY …; "
        "SELECT ….");
  return parse_select(compiler, &parser, select) &&
         (parser.token.kind == TDL_TOKEN_END || kymo_tdl_unexpected(&parser, "AND, OR, FIRST or the end"));
}

/* ---- building ---- */

static bool make_activity(struct fdl_compiler *compiler, struct fdl_definition *definition) {
  struct kymo_filter_builder *builder = &compiler->builder;
  struct kymo_filter_activity activity = {.limit = KYMO_FILTER_NONE, .key_count = definition->same_count};
  uint32_t keys[KYMO_FILTER_SAME];
  for (uint32_t i = 0; i < definition->same_count; i++)
    if (!kymo_fdl_find_key(compiler, &definition->same[i], &keys[i]))
      return false;
  if (!kymo_fdl_generate_test(compiler, definition->from, &activity.from) ||
      !kymo_fdl_generate_test(compiler, definition->to, &activity.to) ||
      (definition->has_limit && !kymo_fdl_add_span(compiler, &definition->limit, &activity.limit)))
    return false;
  activity.first_key = kymo_filter_add_list(builder, keys, definition->same_count);
  activity.name = kymo_filter_add_text(builder, definition->name.word->text, definition->name.word->length);
  definition->node = kymo_filter_add_activity(builder, &activity);
  struct kymo_filter_node node = {.op = KYMO_FILTER_JOB, .a = definition->node, .key = KYMO_FILTER_NONE};
  *definition->value = (struct fdl_value){.at = definition->name.at, .kinds = FDL_NUMBER};
  return kymo_fdl_add(compiler, &node, definition->value);
}

static bool make_definitions(struct fdl_compiler *compiler) {
  for (struct fdl_definition *definition = compiler->definitions; definition; definition = definition->next) {
    definition->value = kymo_lang_new(&compiler->session, 1, sizeof *definition->value);
    if (!definition->value)
      return false;
    if (definition->expr ? !kymo_fdl_generate(compiler, definition->expr, definition->value)
                         : !make_activity(compiler, definition))
      return false;
    definition->is_made = true;
  }
  return true;
}

static void warn_unused(struct fdl_compiler *compiler) {
  for (const struct fdl_definition *definition = compiler->definitions; definition;
       definition = definition->next)
    if (definition->expr && definition->uses == 0)
      kymo_tdl_warn(&compiler->session, definition->name.at, "W11", "\"%s\" is not used",
                    definition->name.word->text);
}

static bool compile(struct fdl_compiler *compiler, uint32_t *select) {
  const struct tdl_expr *expr = NULL;
  if (!parse(compiler, &expr) || !make_definitions(compiler) ||
      !kymo_fdl_generate_test(compiler, expr, select))
    return false;
  warn_unused(compiler);
  return true;
}

bool kymo_filter_is_over_all(const char *text, size_t length) {
  struct kymo_error error;
  struct fdl_compiler compiler = {
      .session.common = {
          .text = text, .length = length, .file = "filter", .what = "filter", .error = &error}};
  bool is_good = kymo_tdl_begin(&compiler.session, TDL_LANGUAGE_FDL);
  if (is_good) {
    struct tdl_parser parser = kymo_tdl_parser(&compiler.session);
    is_good = kymo_tdl_accept(&parser, TDL_KEYWORD_FILTER) && parse_head(&compiler, &parser);
  }
  kymo_lang_end(&compiler.session);
  is_good = is_good && compiler.builder.over_all;
  kymo_filter_builder_free(&compiler.builder);
  return is_good;
}

int kymo_filter_compile_(struct kymo_filter **out, const char *text, size_t length,
                         const struct kymo_filter_options *given, size_t size, struct kymo_error *error) {
  struct kymo_filter_options options;
  kymo_sized_in(&options, sizeof options, given, size);
  struct kymo_error own;
  struct fdl_compiler compiler = {.schemas = options.schemas, .schema_count = options.schema_count};
  uint32_t select = 0;
  *out = NULL;
  error = error ? error : &own;
  const char *file = options.file ? options.file : "filter";
  if (length > UINT32_MAX / 2)
    return kymo_fail(error, KYMO_E_LIMIT, "E61 %s: the text is too long", file);
  compiler.session.common =
      (struct kymo_lang_session){.text = text, .length = length, .file = file, .what = file, .error = error};
  compiler.session.warnings = (struct kymo_warnings){options.warn, options.user};
  compiler.builder.target = kymo_filter_target_of(options.schemas, options.schema_count);
  bool is_good = kymo_tdl_begin(&compiler.session, TDL_LANGUAGE_FDL) && compile(&compiler, &select);
  kymo_lang_end(&compiler.session);
  if (is_good)
    return kymo_filter_finish(out, &compiler.builder, select, error);
  kymo_filter_builder_free(&compiler.builder);
  return error->code;
}
