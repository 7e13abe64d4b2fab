/* SPDX-License-Identifier: MIT */
/* Parses format files, line by line. */
#include "base/fail.h"
#include "lang/ftrace/ftrace.h"
#include "lang/text/cursor.h"
#include "lang/text/session.h"
#include <stdio.h>
#include <string.h>

#define FIELDS_MAX 1024 /* of one event; the kernel has less than a hundred */

struct session {
  struct kymo_lang_session common;
  struct kymo_cursor cursor;
  const struct kymo_ftrace_machine *machine;
  struct kymo_ftrace_field *fields;
  uint32_t count, capacity;
};

/* ---- lines ---- */

static void pass_blanks(struct kymo_cursor *cursor) {
  while (kymo_peek(cursor, 0) == ' ' || kymo_peek(cursor, 0) == '\t')
    cursor->at++;
}

/* Moves after `word`, and blanks before it. */
static bool take(struct session *session, const char *word) {
  struct kymo_cursor *cursor = &session->cursor;
  size_t length = strlen(word);
  pass_blanks(cursor);
  if (length > cursor->length - cursor->at || memcmp(cursor->text + cursor->at, word, length) != 0)
    return false;
  cursor->at += length;
  return true;
}

static bool expect(struct session *session, const char *word) {
  return take(session, word) || kymo_lang_fail(session, session->cursor.at, "expected \"%s\"", word);
}

static bool take_number(struct session *session, uint32_t *number) {
  uint64_t value = 0;
  pass_blanks(&session->cursor);
  size_t begin = session->cursor.at;
  bool fits = kymo_pass_digits(&session->cursor, 10, false, &value) && value <= UINT16_MAX;
  *number = (uint32_t)value;
  if (session->cursor.at == begin)
    return kymo_lang_fail(session, begin, "expected a number");
  return fits || kymo_lang_fail(session, begin, "expected a number up to %d", UINT16_MAX);
}

static void end_line(struct session *session) {
  kymo_pass_line(&session->cursor);
  session->cursor.at += session->cursor.at < session->cursor.length;
}

/* The rest of the line without blanks around it. */
static const char *take_line(struct session *session) {
  struct kymo_cursor *cursor = &session->cursor;
  pass_blanks(cursor);
  size_t begin = cursor->at;
  kymo_pass_line(cursor);
  size_t end = cursor->at;
  while (end > begin && strchr(" \t\r", cursor->text[end - 1]))
    end--;
  end_line(session);
  return kymo_lang_keep_text(session, cursor->text + begin, end - begin);
}

/* ---- declarations ---- */

/* A part of the text. */
struct part {
  const char *text;
  size_t length;
};

static bool is_word(char c) { return kymo_is_letter(c) || kymo_is_digit(c); }

static struct part trim(struct part part) {
  while (part.length && strchr(" \t", part.text[part.length - 1]))
    part.length--;
  while (part.length && strchr(" \t", part.text[0])) {
    part.text++;
    part.length--;
  }
  return part;
}

static bool is_same(struct part part, const char *text) {
  return part.length == strlen(text) && memcmp(part.text, text, part.length) == 0;
}

/* Takes the word at the beginning of the part, if it is this one. */
static bool take_word(struct part *part, const char *word) {
  size_t length = strlen(word);
  if (part->length <= length || memcmp(part->text, word, length) != 0 || is_word(part->text[length]))
    return false;
  *part = trim((struct part){part->text + length, part->length - length});
  return true;
}

/* Cuts "[…]" off the end of the part. False: it does not end so. */
static bool cut_brackets(struct part *part, struct part *inside) {
  size_t open = part->length;
  if (part->length == 0 || part->text[part->length - 1] != ']')
    return false;
  while (open > 0 && part->text[open - 1] != '[')
    open--;
  if (open == 0)
    return false;
  *inside = trim((struct part){part->text + open, part->length - open - 1});
  *part = trim((struct part){part->text, open - 1});
  return true;
}

/* The word at the end of the part, which is cut off. */
static struct part cut_name(struct part *part) {
  size_t begin = part->length;
  while (begin > 0 && is_word(part->text[begin - 1]))
    begin--;
  struct part name = {part->text + begin, part->length - begin};
  *part = trim((struct part){part->text, begin});
  return name;
}

/* ---- sizes ---- */

static const struct type_name {
  const char *name;
  uint8_t size; /* 0: that of a long */
} types[] = {
    {"char", 1},     {"signed char", 1}, {"unsigned char", 1},  {"u8", 1},       {"s8", 1},
    {"__u8", 1},     {"__s8", 1},        {"uint8_t", 1},        {"int8_t", 1},   {"bool", 1},
    {"_Bool", 1},    {"short", 2},       {"unsigned short", 2}, {"u16", 2},      {"s16", 2},
    {"__u16", 2},    {"__s16", 2},       {"__le16", 2},         {"__be16", 2},   {"uint16_t", 2},
    {"int16_t", 2},  {"int", 4},         {"unsigned int", 4},   {"unsigned", 4}, {"u32", 4},
    {"s32", 4},      {"__u32", 4},       {"__s32", 4},          {"__le32", 4},   {"__be32", 4},
    {"uint32_t", 4}, {"int32_t", 4},     {"pid_t", 4},          {"long", 0},     {"unsigned long", 0},
    {"size_t", 0},   {"ssize_t", 0},     {"long long", 8},      {"u64", 8},      {"unsigned long long", 8},
    {"s64", 8},      {"__u64", 8},       {"__s64", 8},          {"__le64", 8},   {"__be64", 8},
    {"uint64_t", 8}, {"int64_t", 8},
};

/* The size of a value of this type; 0: unknown. */
static uint32_t size_of(const struct session *session, struct part type) {
  uint8_t long_size = session->machine->long_size;
  take_word(&type, "const");
  if (type.length && type.text[type.length - 1] == '*')
    return long_size;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (is_same(type, types[i].name))
      return types[i].size ? types[i].size : long_size;
  return 0;
}

/* The number of elements between the brackets, 0 if there is no number. */
static uint32_t count_in(struct part inside) {
  struct kymo_cursor cursor = {.text = inside.text, .length = inside.length};
  uint64_t count = 0;
  bool is_number = kymo_pass_digits(&cursor, 10, false, &count) && cursor.at == inside.length;
  return is_number && count <= UINT16_MAX ? (uint32_t)count : 0;
}

static void set_element(const struct session *session, struct kymo_ftrace_field *field, struct part type,
                        struct part inside) {
  uint32_t count = count_in(inside);
  bool is_fixed = field->place == KYMO_FTRACE_FIXED;
  field->element_size = size_of(session, type);
  if (is_fixed && count && field->size % count == 0)
    field->element_size = field->size / count;
  if (is_fixed && field->element_size && field->size % field->element_size != 0)
    field->element_size = 0;
  uint32_t size = field->element_size;
  if (size != 1 && size != 2 && size != 4 && size != 8)
    field->element_size = 0;
}

/* ---- fields ---- */

/* "unsigned char addr[6]", "__data_loc char[] name", "int (*function)(void)" */
static bool parse_declaration(struct session *session, struct kymo_ftrace_field *field,
                              struct part declaration) {
  size_t at = (size_t)(declaration.text - session->cursor.text);
  struct part inside = {0}, more, name, type = declaration;
  field->place = take_word(&type, "__data_loc")  ? KYMO_FTRACE_DATA_LOC
                 : take_word(&type, "__rel_loc") ? KYMO_FTRACE_REL_LOC
                                                 : KYMO_FTRACE_FIXED;
  field->is_array = cut_brackets(&type, &inside);
  while (cut_brackets(&type, &more))
    inside = (struct part){0}; /* of several dimensions: the size says how many elements there are */
  if (type.length && type.text[type.length - 1] == ')') { /* a pointer to a function */
    const char *star = memmem(type.text, type.length, "(*", 2);
    size_t most = type.length;
    type.length = star ? (size_t)(star - type.text) + 2 : 0;
    while (type.length < most && is_word(type.text[type.length]))
      type.length++;
  }
  name = cut_name(&type);
  if (cut_brackets(&type, &inside))
    field->is_array = true;
  if (type.length && type.text[type.length - 1] == '*' && memchr(type.text, '(', type.length))
    field->is_pointer = true;
  if (name.length == 0 || kymo_is_digit(name.text[0]))
    return kymo_lang_fail(session, at, "expected a type and a name");
  struct part bare = type;
  take_word(&bare, "const");
  field->is_pointer |= bare.length && bare.text[bare.length - 1] == '*';
  if (field->place == KYMO_FTRACE_FIXED && field->size == 0)
    field->place = KYMO_FTRACE_REST;
  field->is_array |= field->place != KYMO_FTRACE_FIXED;
  field->is_text = field->is_array && is_same(bare, "char");
  field->is_bool = !field->is_array && (is_same(bare, "bool") || is_same(bare, "_Bool"));
  if (field->is_array)
    set_element(session, field, bare, inside);
  field->name = kymo_lang_keep_text(session, name.text, name.length);
  field->type = kymo_lang_keep_text(session, type.text, type.length);
  return field->name && field->type;
}

static struct kymo_ftrace_field *add_field(struct session *session) {
  if (session->count == session->capacity) {
    uint32_t capacity = session->capacity ? 2 * session->capacity : 16;
    struct kymo_ftrace_field *fields = kymo_lang_keep(session, capacity, sizeof *fields);
    if (!fields)
      return NULL;
    if (session->count)
      memcpy(fields, session->fields, session->count * sizeof *fields);
    session->fields = fields;
    session->capacity = capacity;
  }
  return &session->fields[session->count++];
}

/* After "field:". */
static bool parse_field(struct session *session) {
  struct kymo_cursor *cursor = &session->cursor;
  size_t begin = cursor->at;
  const char *end = memchr(cursor->text + begin, ';', cursor->length - begin);
  uint32_t is_signed = 0;
  if (session->count == FIELDS_MAX)
    return kymo_lang_fail(session, begin, "more than %d fields", FIELDS_MAX);
  if (!end)
    return kymo_lang_fail(session, begin, "expected ';' after a declaration");
  struct part declaration = trim((struct part){cursor->text + begin, (size_t)(end - cursor->text) - begin});
  struct kymo_ftrace_field *field = add_field(session);
  cursor->at = (size_t)(end - cursor->text) + 1;
  if (!field || !expect(session, "offset:") || !take_number(session, &field->offset) ||
      !expect(session, ";") || !expect(session, "size:") || !take_number(session, &field->size) ||
      !expect(session, ";"))
    return false;
  if (take(session, "signed:") && (!take_number(session, &is_signed) || !expect(session, ";")))
    return false;
  field->is_signed = is_signed != 0;
  end_line(session);
  if (!parse_declaration(session, field, declaration))
    return false;
  bool is_loc = field->place == KYMO_FTRACE_DATA_LOC || field->place == KYMO_FTRACE_REL_LOC;
  if (is_loc && field->size != 4)
    return kymo_lang_fail(session, begin, "expected 4 bytes for the place of %s, found %u", field->name,
                          field->size);
  return true;
}

/* Whether an earlier field has this name. */
static bool has_name(const struct session *session, uint32_t before, const char *name) {
  for (uint32_t i = 0; i < before; i++)
    if (strcmp(session->fields[i].name, name) == 0)
      return true;
  return false;
}

/* Some events of the kernel have two fields of one name. The print fmt means the first; the others get a
 * number. */
static bool rename_repeated(struct session *session) {
  for (uint32_t i = 1; i < session->count; i++) {
    struct kymo_ftrace_field *field = &session->fields[i];
    if (!has_name(session, i, field->name))
      continue;
    size_t length = strlen(field->name);
    char *name = kymo_lang_keep(session, length + 12, 1);
    if (!name)
      return false;
    for (unsigned number = 2; number <= session->count + 1; number++) {
      snprintf(name, length + 12, "%s_%u", field->name, number);
      if (!has_name(session, session->count, name))
        break;
    }
    field->name = name;
  }
  return true;
}

static bool parse_all(struct session *session, struct kymo_ftrace_format *out) {
  struct kymo_cursor *cursor = &session->cursor;
  if (!expect(session, "name:") || !(out->name = take_line(session)))
    return false;
  if (!out->name[0])
    return kymo_lang_fail(session, 0, "expected the name of an event");
  if (!expect(session, "ID:") || !take_number(session, &out->id))
    return false;
  end_line(session);
  if (!expect(session, "format:"))
    return false;
  end_line(session);
  while (take(session, "field:") || kymo_peek(cursor, 0) == '\n' || kymo_peek(cursor, 0) == '\r') {
    if (kymo_peek(cursor, 0) != '\n' && kymo_peek(cursor, 0) != '\r') {
      if (!parse_field(session))
        return false;
      continue;
    }
    end_line(session);
    if (!out->common_count)
      out->common_count = session->count;
  }
  if (!rename_repeated(session))
    return false;
  out->fields = session->fields;
  out->count = session->count;
  if (!take(session, "print fmt:"))
    return cursor->at == cursor->length || kymo_lang_fail(session, cursor->at, "expected \"print fmt:\"");
  pass_blanks(cursor);
  size_t end = cursor->length;
  while (end > cursor->at && strchr(" \t\r\n", cursor->text[end - 1]))
    end--;
  out->print = kymo_lang_keep_text(session, cursor->text + cursor->at, end - cursor->at);
  return out->print != NULL;
}

int kymo_ftrace_parse(struct kymo_ftrace_format *out, struct kymo_arena *arena,
                      const struct kymo_ftrace_machine *machine, const char *text, size_t length,
                      const char *file, struct kymo_error *error) {
  struct kymo_error local = {.code = KYMO_OK};
  struct session session = {.common = {.text = text,
                                       .length = length,
                                       .file = file,
                                       .what = "a format file",
                                       .error = error ? error : &local,
                                       .keep = arena},
                            .cursor = {.text = text, .length = length},
                            .machine = machine};
  *out = (struct kymo_ftrace_format){0};
  bool is_good = parse_all(&session, out);
  kymo_lang_end(&session);
  return is_good ? KYMO_OK : session.common.error->code;
}
