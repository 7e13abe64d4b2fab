/* SPDX-License-Identifier: MIT */
/* Names and lists of skeletons. */
#include "infer/skeleton.h"
#include "base/list.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tool_skeleton_free(struct tool_skeleton *skeleton) {
  kymo_strbuf_free(&skeleton->lists);
  kymo_strbuf_free(&skeleton->groups);
  kymo_strbuf_free(&skeleton->body);
  free(skeleton->names);
}

/* ---- names ---- */

/* Names with a special meaning for TDL, which these fields need not have. */
static bool is_special(const char *name) {
  static const char *const names[] = {"EVENT", "ACQUISITION", "STREAM", "SEQUENCE",
                                      "LOST",  "DURATION",    "TEXT"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i], name) == 0)
      return true;
  return false;
}

/* Letters, digits and '_' of a text; at most 70 of them. */
static void make_name(char name[80], const char *text) {
  size_t length = 0;
  if (!text || !*text)
    text = "unnamed";
  if (*text >= '0' && *text <= '9')
    name[length++] = 'n';
  for (; *text && length < 70; text++) {
    char c = *text;
    bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name[length++] = is_plain ? c : '_';
  }
  name[length] = '\0';
  if (is_special(name))
    memcpy(name + length, "_", 2);
}

/* In backquotes if it could be a keyword, which are upper case. */
static const char *quote_name(const char *name) {
  static char texts[4][84];
  static unsigned next;
  char *text = texts[next++ % 4];
  bool is_lower = strpbrk(name, "abcdefghijklmnopqrstuvwxyz");
  snprintf(text, sizeof texts[0], is_lower ? "%s" : "`%s`", name);
  return text;
}

const char *tool_skeleton_name(const char *text) {
  char name[80];
  make_name(name, text);
  return quote_name(name);
}

static bool is_given(const struct tool_skeleton *skeleton, const char *name) {
  for (size_t i = 0; i < skeleton->name_count; i++)
    if (strcmp(skeleton->names[i], name) == 0)
      return true;
  return false;
}

const char *tool_skeleton_new_name(struct tool_skeleton *skeleton, const char *text) {
  char name[80];
  make_name(name, text);
  size_t length = strlen(name);
  for (unsigned i = 2; is_given(skeleton, name); i++)
    snprintf(name + length, sizeof name - length, "_%u", i % 1000000);
  if (!KYMO_LIST_ROOM(skeleton->names, skeleton->name_capacity, skeleton->name_count)) {
    skeleton->failed = true;
    return "unnamed";
  }
  memcpy(skeleton->names[skeleton->name_count++], name, strlen(name) + 1);
  return quote_name(name);
}

/* ---- texts ---- */

void tool_skeleton_quote(struct kymo_strbuf *out, const char *text) {
  kymo_strbuf_puts(out, "\"");
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c < ' ' || c == 0x7f)
      kymo_strbuf_printf(out, "\\x%02x", c);
    else
      kymo_strbuf_printf(out, c == '"' || c == '\\' ? "\\%c" : "%c", c);
  }
  kymo_strbuf_puts(out, "\"");
}

void tool_skeleton_comment(struct kymo_strbuf *out, const char *text) {
  for (; text && *text; text++)
    kymo_strbuf_add(out, *text < ' ' || *text > '~' ? "?" : text, 1);
}

/* ---- lists ---- */

static void put_value(struct kymo_strbuf *out, const struct tool_skeleton_value *value, bool is_flags,
                      bool is_signed) {
  tool_skeleton_quote(out, value->name);
  if (is_flags)
    kymo_strbuf_printf(out, "=MASK 0x%" PRIx64, value->low);
  else if (is_signed && (int64_t)value->low == INT64_MIN) /* 2^63 alone is not a valid number with a sign */
    kymo_strbuf_puts(out, "=-9223372036854775807-1");
  else
    kymo_strbuf_printf(out, is_signed ? "=%" PRId64 : "=%" PRIu64, value->low);
  if (is_flags && value->high != value->low)
    kymo_strbuf_printf(out, " VALUE 0x%" PRIx64, value->high);
  else if (!is_flags && value->high != value->low)
    kymo_strbuf_printf(out, is_signed ? "..%" PRId64 : "..%" PRIu64, value->high);
}

/* Whether an earlier value also has the code or the bits. */
static bool is_shared(const struct tool_skeleton_value *values, size_t index, bool is_flags, bool is_signed) {
  const struct tool_skeleton_value *value = &values[index];
  for (size_t i = 0; i < index; i++) {
    bool begins = is_signed ? (int64_t)values[i].low <= (int64_t)value->high : values[i].low <= value->high;
    bool ends = is_signed ? (int64_t)value->low <= (int64_t)values[i].high : value->low <= values[i].high;
    uint64_t common = values[i].low & value->low;
    if (is_flags ? common && !((values[i].high ^ value->high) & common) : begins && ends)
      return true;
  }
  return false;
}

void tool_skeleton_list(struct tool_skeleton *skeleton, const char *name,
                        const struct tool_skeleton_value *values, size_t count, bool is_flags,
                        bool is_signed) {
  struct kymo_strbuf *out = &skeleton->lists;
  size_t line = out->length, written = 0;
  kymo_strbuf_printf(out, "  %s %s=(", is_flags ? "FLAGS" : "TOKEN", name);
  for (size_t i = 0; i < count; i++) {
    if (is_shared(values, i, is_flags, is_signed) || (is_flags && values[i].low == 0))
      continue;
    kymo_strbuf_puts(out, written++ ? "," : "");
    if (out->length - line > 100) {
      kymo_strbuf_puts(out, "\n   ");
      line = out->length;
    }
    kymo_strbuf_puts(out, written > 1 ? " " : "");
    put_value(out, &values[i], is_flags, is_signed);
  }
  kymo_strbuf_puts(out, ");\n");
}
