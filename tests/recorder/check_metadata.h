/* SPDX-License-Identifier: MIT */
/* As much of TSDL as the metadata of recorded traces needs: the trace's UUID, event classes, packed
 * fields. */
#ifndef KYMO_TEST_CHECK_METADATA_H
#define KYMO_TEST_CHECK_METADATA_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum field_kind { FIELD_NUMBER, FIELD_TEXT, FIELD_ARRAY, FIELD_SEQUENCE };
struct field {
  enum field_kind kind;
  char name[128];
  uint64_t bytes, count; /* of one element; elements of an array */
};
struct event_class {
  const char *name;
  uint32_t fields;
  struct field field[40];
};
struct metadata {
  uint8_t uuid[16];
  bool is_big;
  uint64_t classes; /* room below; ids without a class have no name */
  struct event_class *class_;
  char *text;
};

/* The checker and the traces are of one machine. */
static inline uint64_t number(const uint8_t *at, uint64_t bytes) {
  uint64_t value = 0;
  for (uint64_t i = 0; i < bytes; i++)
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    value |= (uint64_t)at[i] << 8 * i;
#else
    value = value << 8 | at[i];
#endif
  return value;
}

static inline void metadata_free(struct metadata *m) {
  free(m->class_);
  free(m->text);
}

static inline char *metadata_slurp(const char *path) {
  enum { ROOM = 64 << 20 };
  FILE *in = fopen(path, "r");
  char *text = in ? malloc(ROOM) : NULL;
  if (text)
    text[fread(text, 1, ROOM - 1, in)] = 0;
  if (in)
    fclose(in);
  return text;
}

/* One line of "fields := struct {": a type and a name. Returns why it is not understood. */
static inline const char *metadata_field(struct field *f, const char *line) {
  const char *at = line + strspn(line, " "), *name = strchr(at, '}');
  *f = (struct field){.kind = FIELD_NUMBER, .bytes = 1};
  if (!strncmp(at, "string ", 7)) {
    f->kind = FIELD_TEXT;
    name = strrchr(at, ' ');
  } else if (!strncmp(at, "integer", 7)) {
    const char *size = strstr(at, "size = ");
    f->bytes = size ? strtoull(size + 7, NULL, 10) / 8 : 0;
  } else if (!strncmp(at, "floating_point", 14))
    f->bytes = strstr(at, "exp_dig = 8") ? 4 : 8;
  else
    return "a field of unknown type";
  if (!name || !strstr(line, ";") || !f->bytes)
    return "a field that is not understood";
  if (!strstr(at, "align = 8") && f->kind != FIELD_TEXT)
    return "a field that is not packed";
  if (name[0] == '}')
    name++;
  const char *comment = strstr(name, "*/");
  if (comment)
    name = comment + 2;
  name += strspn(name, " ");
  size_t length = strcspn(name, "[;");
  if (length >= sizeof f->name)
    return "a long name";
  memcpy(f->name, name, length);
  if (name[length] != '[')
    return NULL;
  f->kind = name[length + 1] == '_' ? FIELD_SEQUENCE : FIELD_ARRAY;
  if (f->kind == FIELD_ARRAY)
    f->count = strtoull(name + length + 1, NULL, 10);
  return NULL;
}

/* Names of scalars, as "typealias integer { … } := unsigned int;" gives them within an event. */
struct aliases {
  uint32_t count;
  struct {
    const char *name, *body;
  } alias[40];
};

/* Takes a typealias; false: the line is none. */
static inline bool metadata_alias(struct aliases *aliases, char *line) {
  char *body = strstr(line, "typealias "), *name = body ? strstr(body, " := ") : NULL;
  if (!name || aliases->count == sizeof aliases->alias / sizeof *aliases->alias)
    return false;
  *name = 0;
  name[strcspn(name + 4, ";") + 4] = 0;
  aliases->alias[aliases->count].name = name + 4;
  aliases->alias[aliases->count++].body = body + 10;
  return true;
}

/* Writes the line of a field, with its type resolved, to `out`. */
static inline const char *metadata_unalias(const struct aliases *aliases, const char *line, char out[512]) {
  const char *at = line + strspn(line, " ");
  for (uint32_t i = 0; i < aliases->count; i++) {
    size_t length = strlen(aliases->alias[i].name);
    if (strncmp(at, aliases->alias[i].name, length) || strncmp(at + length, " _", 2))
      continue;
    snprintf(out, 512, "%s%s", aliases->alias[i].body, at + length);
    return out;
  }
  return line;
}

/* The block between "event {" and "};" at the margin; `text` is split into lines in place. */
static inline const char *metadata_event(struct metadata *m, char *text) {
  struct event_class class_ = {0};
  uint64_t id = UINT64_MAX;
  bool in_fields = false;
  struct aliases aliases = {0};
  for (char *line = strtok_r(text, "\n", &text); line; line = strtok_r(NULL, "\n", &text)) {
    char *name = strstr(line, "  name = \"");
    if (!in_fields && name) {
      class_.name = name + 10;
      char *end = strrchr(line, '"');
      *end = 0;
    } else if (!in_fields && !strncmp(line, "  id = ", 7))
      id = strtoull(line + 7, NULL, 10);
    else if (strstr(line, "fields := struct {"))
      in_fields = true;
    else if (in_fields && strstr(line, "  }"))
      break;
    else if (in_fields && !metadata_alias(&aliases, line)) {
      char plain[512];
      if (class_.fields == sizeof class_.field / sizeof *class_.field)
        return "too many fields";
      const char *wrong =
          metadata_field(&class_.field[class_.fields++], metadata_unalias(&aliases, line, plain));
      if (wrong)
        return wrong;
    }
  }
  if (!class_.name || id > 65535)
    return "an event without a name, or with a large id";
  if (id >= m->classes) {
    uint64_t room = id * 2 + 16;
    m->class_ = realloc(m->class_, room * sizeof *m->class_);
    if (!m->class_)
      return "out of memory";
    memset(m->class_ + m->classes, 0, (room - m->classes) * sizeof *m->class_);
    m->classes = room;
  }
  if (m->class_[id].name)
    return "two events with one id";
  m->class_[id] = class_;
  return NULL;
}

/* NULL, or what is wrong with the metadata. */
static inline const char *metadata_read(struct metadata *m, const char *path) {
  *m = (struct metadata){.text = metadata_slurp(path)};
  if (!m->text)
    return "no metadata";
  if (strncmp(m->text, "/* CTF 1.8", 10))
    return "no signature";
  const char *uuid = strstr(m->text, "uuid = \"");
  if (!uuid)
    return "no UUID";
  uuid += 8;
  for (int i = 0; i < 16; i++, uuid += 2) {
    if (*uuid == '-')
      uuid++;
    char digits[3] = {uuid[0], uuid[1], 0};
    m->uuid[i] = (uint8_t)strtoul(digits, NULL, 16);
  }
  m->is_big = strstr(m->text, "byte_order = be;") != NULL;
  const char *wrong = NULL;
  for (char *event = strstr(m->text, "\nevent {"), *next; event && !wrong; event = next) {
    next = strstr(event + 1, "\nevent {");
    if (next)
      *next = 0;
    /* a block that is cut off would end the trace for any reader */
    if (!strstr(event + 1, "\n};"))
      return "a torn event";
    wrong = metadata_event(m, event + 1);
  }
  return wrong;
}

#endif
