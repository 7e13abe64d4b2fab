/* SPDX-License-Identifier: MIT */
/* The layout of records in files, and the policies about damage. */
#include "base/glob.h"
#include "lang/tdl/syntax.h"
#include <stdlib.h>
#include <string.h>

static bool parse_steps(struct tdl_parser *parser, struct tdl_step **steps);

/* BLOCKS sum BYTES IS {step} END, after BLOCKS */
static bool parse_blocks(struct tdl_parser *parser, struct tdl_step *step) {
  step->block = kymo_tdl_parse_sum(parser);
  if (!kymo_tdl_expect(parser, TDL_KEYWORD_BYTES) || !kymo_tdl_expect(parser, TDL_KEYWORD_IS) ||
      !kymo_tdl_enter(parser) || !parse_steps(parser, &step->steps))
    return false;
  kymo_tdl_leave(parser);
  return kymo_tdl_expect_end(parser, "BLOCKS", step->at);
}

/* [TIMES sum] [UNTIL name] [AT sum] [SIZE sum] */
static bool parse_step_options(struct tdl_parser *parser, struct tdl_step *step) {
  if (kymo_tdl_accept(parser, TDL_KEYWORD_TIMES) && !(step->times = kymo_tdl_parse_sum(parser)))
    return false;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_UNTIL) &&
      !kymo_tdl_expect_name(parser, "a kind of records", &step->until_name))
    return false;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_AT) && !(step->where = kymo_tdl_parse_sum(parser)))
    return false;
  return !kymo_tdl_accept(parser, TDL_KEYWORD_SIZE) || (step->size = kymo_tdl_parse_sum(parser));
}

static bool parse_step(struct tdl_parser *parser, struct tdl_step *step) {
  step->at = parser->token.at;
  bool is_good;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_BLOCKS)) {
    is_good = parse_blocks(parser, step);
  } else {
    step->is_repeat = kymo_tdl_accept(parser, TDL_KEYWORD_REPEAT);
    is_good = kymo_tdl_parse_kinds(parser, &step->kinds) && parse_step_options(parser, step);
  }
  step->length = parser->end - step->at;
  return is_good && kymo_tdl_expect(parser, ';');
}

static bool parse_steps(struct tdl_parser *parser, struct tdl_step **steps) {
  struct tdl_step **end = steps;
  while (parser->token.kind == TDL_KEYWORD_BLOCKS || parser->token.kind == TDL_KEYWORD_REPEAT ||
         kymo_tdl_is_name(parser)) {
    struct tdl_step *step = *end = kymo_lang_new(parser->session, 1, sizeof *step);
    if (!step || !parse_step(parser, step))
      return false;
    end = &step->next;
  }
  return *steps || kymo_tdl_unexpected(parser, "a kind of records, REPEAT or BLOCKS");
}

/* ---- policies ---- */

/* R1 … R10; 0 after reporting. */
static unsigned parse_policy_code(struct tdl_parser *parser) {
  struct tdl_name name;
  if (!kymo_tdl_expect_name(parser, "a code, R1 to R10", &name))
    return 0;
  const char *text = name.word->text;
  char *end = NULL;
  unsigned long code = text[0] == 'R' && text[1] > '0' && text[1] <= '9' ? strtoul(text + 1, &end, 10) : 0;
  if (code > 0 && code < TDL_POLICIES && *end == '\0')
    return (unsigned)code;
  kymo_tdl_fail(parser->session, name.at, "E31", "unknown code \"%s\": expected one of R1 to R10", text);
  return 0;
}

/* RESYNC TO (hex|string) [WITHIN num], after RESYNC */
static bool parse_resync(struct tdl_parser *parser, struct tdl_policy *policy) {
  policy->action = TDL_POLICY_RESYNC;
  if (!kymo_tdl_expect(parser, TDL_KEYWORD_TO))
    return false;
  struct tdl_token token = parser->token;
  if (token.kind != TDL_TOKEN_HEX && token.kind != TDL_TOKEN_STRING)
    return kymo_tdl_unexpected(parser, "a string or bytes");
  if (token.bytes.length == 0)
    return kymo_tdl_fail(parser->session, token.at, "E12", "expected at least one byte to look for");
  policy->pattern = token.bytes;
  kymo_tdl_advance(parser);
  return !kymo_tdl_accept(parser, TDL_KEYWORD_WITHIN) ||
         kymo_tdl_expect_number(parser, UINT64_MAX, &policy->within);
}

/* All RESYNC have the same pattern: there is one search for the next valid record. */
static bool check_resync(struct tdl_parser *parser, const struct tdl_layout *layout, unsigned code,
                         uint32_t at) {
  const struct tdl_policy *own = &layout->policies[code];
  for (unsigned i = 1; i < TDL_POLICIES; i++) {
    const struct tdl_policy *other = &layout->policies[i];
    bool is_same = other->within == own->within && other->pattern.length == own->pattern.length &&
                   memcmp(other->pattern.data, own->pattern.data, own->pattern.length) == 0;
    if (i != code && other->action == TDL_POLICY_RESYNC && !is_same)
      return kymo_tdl_fail(parser->session, at, "E33",
                           "R%u looks for another pattern: expected one for all errors", i);
  }
  return true;
}

static bool parse_policy(struct tdl_parser *parser, struct tdl_layout *layout) {
  uint32_t at = parser->token.at;
  unsigned code = parse_policy_code(parser);
  struct tdl_policy *policy = &layout->policies[code];
  if (code == 0)
    return false;
  if (policy->action != TDL_POLICY_DEFAULT)
    return kymo_tdl_fail(parser->session, at, "E33", "the policy for R%u is already defined", code);
  if (kymo_tdl_accept(parser, TDL_KEYWORD_STOP))
    policy->action = TDL_POLICY_STOP;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_SKIP))
    policy->action = TDL_POLICY_SKIP;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_MARK))
    policy->action = TDL_POLICY_MARK;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_RESYNC))
    return parse_resync(parser, policy) && check_resync(parser, layout, code, at);
  else
    return kymo_tdl_unexpected(parser, "STOP, SKIP, MARK or RESYNC");
  return true;
}

/* ON ERROR policy {, policy}; */
static bool parse_policies(struct tdl_parser *parser, struct tdl_layout *layout) {
  if (!kymo_tdl_expect(parser, TDL_KEYWORD_ERROR))
    return false;
  do
    if (!parse_policy(parser, layout))
      return false;
  while (kymo_tdl_accept(parser, ','));
  return kymo_tdl_expect(parser, ';');
}

/* ---- order of time, and of files ---- */

static bool parse_sorted(struct tdl_parser *parser, struct tdl_layout *layout) {
  if (kymo_tdl_accept(parser, TDL_KEYWORD_YES)) {
    layout->sorted = TDL_SORTED_YES;
  } else if (kymo_tdl_accept(parser, TDL_KEYWORD_NO)) {
    layout->sorted = TDL_SORTED_NO;
  } else if (kymo_tdl_accept(parser, TDL_KEYWORD_WITHIN)) {
    layout->sorted = TDL_SORTED_WITHIN;
    layout->sorted_within = kymo_tdl_parse_sum(parser);
  } else if (kymo_tdl_accept(parser, TDL_KEYWORD_PER)) {
    layout->sorted = TDL_SORTED_PER;
    kymo_tdl_expect_name(parser, "a field", &layout->sorted_per);
  } else {
    return kymo_tdl_unexpected(parser, "YES, NO, WITHIN or PER");
  }
  return kymo_tdl_expect(parser, ';');
}

/* A pattern of file names. */
static bool parse_files(struct tdl_parser *parser, struct tdl_layout *layout) {
  uint32_t place = parser->token.at;
  struct kymo_glob glob;
  size_t at;
  if (!kymo_tdl_expect_string(parser, &layout->merge_files))
    return false;
  const char *wrong =
      kymo_glob_make(&glob, (const char *)layout->merge_files.data, layout->merge_files.length, &at);
  kymo_glob_free(&glob);
  return !wrong || kymo_tdl_fail(parser->session, place, "E12", "in this pattern: %s", wrong);
}

static bool parse_merge(struct tdl_parser *parser, struct tdl_layout *layout) {
  if (!kymo_tdl_expect(parser, TDL_KEYWORD_FILES) ||
      (parser->token.kind == TDL_TOKEN_STRING && !parse_files(parser, layout)) ||
      !kymo_tdl_expect(parser, TDL_KEYWORD_BY))
    return false;
  if (kymo_tdl_accept(parser, TDL_KEYWORD_TIME))
    layout->merge = TDL_MERGE_BY_TIME;
  else if (kymo_tdl_accept(parser, TDL_KEYWORD_SEQUENCE))
    layout->merge = TDL_MERGE_BY_SEQUENCE;
  else
    return kymo_tdl_unexpected(parser, "TIME or SEQUENCE");
  return kymo_tdl_expect(parser, ';');
}

bool kymo_tdl_parse_layout(struct tdl_parser *parser, struct tdl_layout *layout) {
  return parse_steps(parser, &layout->steps) &&
         (!kymo_tdl_accept(parser, TDL_KEYWORD_ON) || parse_policies(parser, layout)) &&
         (!kymo_tdl_accept(parser, TDL_KEYWORD_SORTED) || parse_sorted(parser, layout)) &&
         (!kymo_tdl_accept(parser, TDL_KEYWORD_MERGE) || parse_merge(parser, layout));
}
