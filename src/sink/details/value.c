/* SPDX-License-Identifier: MIT */
/* Numbers and user attributes in details. */
#include "base/list.h"
#include "base/utf8.h"
#include "lang/ctf2/json.h"
#include "schema/attribute.h"
#include "sink/details/details.h"
#include <stdlib.h>

/* ---- numbers ---- */

/* Copies the digits, with a separator before every group but the first. */
static char *put_groups(char *at, const char *digits, size_t count, size_t group, char separator) {
  for (size_t i = 0; i < count; i++) {
    if (i > 0 && (count - i) % group == 0)
      *at++ = separator;
    *at++ = digits[i];
  }
  return at;
}

static size_t digits_of(char digits[KYMO_DETAILS_NUMBER], uint64_t value, unsigned base) {
  if (base == 8 && value == 0) {
    digits[0] = '0';
    return 1;
  }
  char *end = base == 10  ? kymo_put_u64(digits, value)
              : base == 8 ? kymo_put_octal(digits, value)
                          : kymo_put_hex(digits, value, false);
  return (size_t)(end - digits);
}

char *kymo_details_put_unsigned(char *at, uint64_t value, unsigned base) {
  char digits[KYMO_DETAILS_NUMBER];
  size_t count = digits_of(digits, value, base);
  if (base == 10)
    return put_groups(at, digits, count, value <= 9999 ? count : 3, ',');
  *at++ = '0';
  if (base == 8)
    return put_groups(at, digits, count, 3, ':');
  *at++ = 'x';
  return put_groups(at, digits, count, 4, ':');
}

char *kymo_details_put_signed(char *at, int64_t value, unsigned base) {
  if (value < 0)
    *at++ = '-';
  return kymo_details_put_unsigned(at, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, base);
}

/* ---- lines ---- */

void kymo_details_indent(struct kymo_details *details) {
  for (unsigned i = 0; i < details->indent; i++)
    kymo_strbuf_add(&details->text, " ", 1);
}

void kymo_details_unsigned(struct kymo_details *details, uint64_t value) {
  char number[KYMO_DETAILS_NUMBER];
  kymo_strbuf_add(&details->text, number, (size_t)(kymo_details_put_unsigned(number, value, 10) - number));
}

void kymo_details_signed(struct kymo_details *details, int64_t value) {
  char number[KYMO_DETAILS_NUMBER];
  kymo_strbuf_add(&details->text, number, (size_t)(kymo_details_put_signed(number, value, 10) - number));
}

void kymo_details_line(struct kymo_details *details, const char *name, const char *value) {
  kymo_details_indent(details);
  kymo_strbuf_printf(&details->text, "%s: %s\n", name, value);
}

/* ---- user attributes ---- */

/*
 * Reads JSON that was checked (kymo_ctf2_has_members) from `at` on, which moves after it. Members are printed
 * in the order of their names, so an object's members are listed first.
 */
struct json {
  const char *at;
};

static void skip_space(struct json *json) { json->at += strspn(json->at, " \t\r\n"); }

static uint32_t hex4(const char *at) {
  char digits[5] = {at[0], at[1], at[2], at[3], 0};
  return (uint32_t)strtoul(digits, NULL, 16);
}

static void read_escape(struct json *json, struct kymo_strbuf *buf) {
  static const char letters[] = "bfnrt", bytes[] = "\b\f\n\r\t";
  char c = *json->at++;
  const char *letter = strchr(letters, c);
  if (c != 'u') {
    kymo_strbuf_add(buf, letter ? &bytes[letter - letters] : &c, 1);
    return;
  }
  uint32_t character = hex4(json->at);
  json->at += 4;
  if (character >> 10 == 0xd800 >> 10 && json->at[0] == '\\' && json->at[1] == 'u') {
    character = 0x10000 + ((character & 0x3ff) << 10) + (hex4(json->at + 2) & 0x3ff);
    json->at += 6;
  }
  char utf8[4];
  kymo_strbuf_add(buf, utf8, (size_t)(kymo_put_character(utf8, character) - utf8));
}

/* A text, without its quotes. */
static void read_text(struct json *json, struct kymo_strbuf *buf) {
  for (json->at++; *json->at != '"';) {
    size_t plain = strcspn(json->at, "\\\"");
    kymo_strbuf_add(buf, json->at, plain);
    json->at += plain;
    if (*json->at != '\\')
      continue;
    json->at++;
    read_escape(json, buf);
  }
  json->at++;
}

static void skip_text(struct json *json) {
  for (json->at++; *json->at != '"'; json->at++)
    json->at += *json->at == '\\';
  json->at++;
}

static void skip_value(struct json *json) {
  unsigned depth = 0;
  do {
    skip_space(json);
    if (*json->at == '"') {
      skip_text(json);
    } else if (strchr("{}[],:", *json->at)) {
      depth += *json->at == '{' || *json->at == '[';
      depth -= *json->at == '}' || *json->at == ']';
      json->at++;
    } else {
      json->at += strcspn(json->at, "{}[],: \t\r\n");
    }
  } while (depth > 0);
}

struct member {
  char *name;
  struct json value;
};

struct members {
  struct member *list;
  size_t count, capacity;
};

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct member *)a)->name, ((const struct member *)b)->name);
}

static void free_members(struct members *members) {
  for (size_t i = 0; i < members->count; i++)
    free(members->list[i].name);
  free(members->list);
}

static bool add_member(struct members *members, char *name, struct json value) {
  if (!name || !KYMO_LIST_ROOM(members->list, members->capacity, members->count)) {
    free(name);
    return false;
  }
  members->list[members->count++] = (struct member){name, value};
  return true;
}

/* The members of an object, in the order of their names. False: out of memory. */
static bool read_members(struct json *json, struct members *members) {
  bool ok = true;
  json->at++;
  for (skip_space(json); ok && *json->at != '}'; skip_space(json)) {
    struct kymo_strbuf name = {0};
    if (*json->at == ',') {
      json->at++;
      continue;
    }
    read_text(json, &name);
    kymo_strbuf_add(&name, "", 0);
    skip_space(json);
    json->at++;
    ok = add_member(members, name.failed ? NULL : name.text, *json);
    skip_value(json);
  }
  json->at++;
  if (members->count > 0)
    qsort(members->list, members->count, sizeof(*members->list), by_name);
  return ok;
}

static void write_value(struct kymo_details *details, struct json json);

static void write_scalar(struct kymo_details *details, struct json json) {
  struct kymo_strbuf *text = &details->text;
  bool is_real = strcspn(json.at, ".eE") < strcspn(json.at, ",]} \t\r\n");
  kymo_strbuf_puts(text, " ");
  switch (*json.at) {
  case '"': read_text(&json, text); break;
  case 't': kymo_strbuf_puts(text, "Yes"); break;
  case 'f': kymo_strbuf_puts(text, "No"); break;
  case 'n': kymo_strbuf_puts(text, "Null"); break;
  default:
    if (is_real)
      kymo_strbuf_printf(text, "%f", strtod(json.at, NULL));
    else if (*json.at == '-')
      kymo_details_signed(details, strtoll(json.at, NULL, 10));
    else
      kymo_details_unsigned(details, strtoull(json.at, NULL, 10));
  }
}

static void write_array(struct kymo_details *details, struct json json) {
  uint64_t count = 0;
  struct json walk = {json.at + 1};
  for (skip_space(&walk); *walk.at != ']'; skip_space(&walk)) {
    walk.at += *walk.at == ',';
    skip_value(&walk);
    count++;
  }
  if (count == 0) {
    kymo_strbuf_puts(&details->text, " Empty");
    return;
  }
  kymo_strbuf_puts(&details->text, " Length ");
  kymo_details_unsigned(details, count);
  kymo_strbuf_puts(&details->text, ":");
  details->indent += 2;
  walk = (struct json){json.at + 1};
  for (uint64_t i = 0; i < count; i++) {
    skip_space(&walk);
    walk.at += *walk.at == ',';
    skip_space(&walk);
    kymo_strbuf_puts(&details->text, "\n");
    kymo_details_indent(details);
    kymo_strbuf_puts(&details->text, "[");
    kymo_details_unsigned(details, i);
    kymo_strbuf_puts(&details->text, "]:");
    write_value(details, walk);
    skip_value(&walk);
  }
  details->indent -= 2;
}

static void write_members(struct kymo_details *details, const struct members *members) {
  details->indent += 2;
  for (size_t i = 0; i < members->count; i++) {
    kymo_strbuf_puts(&details->text, "\n");
    kymo_details_indent(details);
    kymo_strbuf_printf(&details->text, "%s:", members->list[i].name);
    write_value(details, members->list[i].value);
  }
  details->indent -= 2;
}

static void write_value(struct kymo_details *details, struct json json) {
  struct members members = {0};
  skip_space(&json);
  if (*json.at == '[') {
    write_array(details, json);
  } else if (*json.at != '{') {
    write_scalar(details, json);
  } else {
    details->text.failed |= !read_members(&json, &members);
    if (members.count == 0)
      kymo_strbuf_puts(&details->text, " Empty");
    write_members(details, &members);
    free_members(&members);
  }
}

#define IDENTITY KYMO_ATTRIBUTE_IDENTITY

static bool read_attributes(const char *text, struct members *members) {
  struct json json = {text};
  if (!text || !kymo_ctf2_has_members(text))
    return true;
  skip_space(&json);
  return read_members(&json, members);
}

bool kymo_details_attributes(struct kymo_details *details, const char *json) {
  struct members members = {0};
  details->text.failed |= !read_attributes(json, &members);
  size_t kept = 0;
  for (size_t i = 0; i < members.count; i++) {
    struct member member = members.list[i];
    if (strcmp(member.name, IDENTITY) == 0)
      free(member.name);
    else
      members.list[kept++] = member;
  }
  members.count = kept;
  if (kept > 0) {
    kymo_details_indent(details);
    kymo_strbuf_puts(&details->text, "User attributes:");
    write_members(details, &members);
  }
  free_members(&members);
  return kept > 0;
}

/* The value of a member, or none. */
static struct json find(const struct members *members, const char *name) {
  for (size_t i = 0; i < members->count; i++)
    if (strcmp(members->list[i].name, name) == 0)
      return members->list[i].value;
  return (struct json){NULL};
}

char *kymo_details_identity(const char *text, const char *property) {
  struct members all = {0}, identity = {0};
  struct kymo_strbuf found = {0};
  struct json json = {NULL};
  if (read_attributes(text, &all) && (json = find(&all, IDENTITY)).at) {
    skip_space(&json);
    if (*json.at == '{')
      read_members(&json, &identity);
    json = find(&identity, property);
  }
  if (json.at) {
    skip_space(&json);
    if (*json.at == '"')
      read_text(&json, &found);
    else
      kymo_strbuf_add(&found, json.at, strcspn(json.at, ",]} \t\r\n"));
    kymo_strbuf_add(&found, "", 0);
  }
  free_members(&all);
  free_members(&identity);
  return found.text;
}
