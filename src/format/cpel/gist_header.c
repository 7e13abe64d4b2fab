/* SPDX-License-Identifier: MIT */
/* Definitions of Gist's events in comments of C headers. */
#include "format/cpel/gist_header.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/list.h"
#include "base/printfmt.h"
#include "source/format.h"
#include <stdlib.h>
#include <string.h>

#define HEADER_LIMIT (UINT64_C(1) << 20)
#define HEADERS_MAX 1000
#define DEFINITIONS_MAX 100000
#define TEXT_MAX 1024 /* bytes of a name or format */
#define NAMES_HEADERS "pointdefs:"

/* A header that is being read line by line. */
struct header {
  struct gist_definitions *definitions;
  struct kymo_trace *trace;
  struct kymo_error *error;
  const char *path, *text;
  size_t length, at, end, next; /* at: in the line that ends at `end`; next: the begin of the next line */
  bool has_base;
  uint32_t base; /* of EV_NUM */
};

/* A line with a definition: "NUMBER / * text * /". */
struct line {
  size_t number_at, text_at, text_end;
  bool is_relative; /* EV_NUM(number) */
  uint32_t number;
};

static int read_header(struct gist_definitions *definitions, struct kymo_trace *trace, const char *path,
                       const uint32_t *base, struct kymo_error *error);

#define refuse(header, at, ...) \
  kymo_fail_text((header)->error, (header)->path, (header)->text, (header)->length, (at), __VA_ARGS__)

/* ---- a line ---- */

static bool is_blank(char byte) { return byte == ' ' || byte == '\t' || byte == '\r'; }

static void skip_blanks(struct header *header) {
  while (header->at < header->end && is_blank(header->text[header->at]))
    header->at++;
}

/* Moves after `word`, if it is next. */
static bool take(struct header *header, const char *word) {
  size_t length = strlen(word);
  bool is = header->end - header->at >= length && memcmp(header->text + header->at, word, length) == 0;
  header->at += is ? length : 0;
  return is;
}

/* KYMO_END: there is no number. */
static int take_number(struct header *header, uint32_t *number) {
  size_t begin = header->at;
  uint64_t value = 0;
  for (; header->at < header->end && header->text[header->at] >= '0' && header->text[header->at] <= '9';
       header->at++) {
    value = value * 10 + (uint64_t)(header->text[header->at] - '0');
    if (value > UINT32_MAX)
      return refuse(header, begin, "a number above 4294967295");
  }
  *number = (uint32_t)value;
  return header->at > begin ? KYMO_OK : KYMO_END;
}

static int take_code(struct header *header, struct line *line) {
  line->number_at = header->at;
  line->is_relative = take(header, "EV_NUM");
  if (line->is_relative) {
    skip_blanks(header);
    if (!take(header, "("))
      return refuse(header, header->at, "expected \"(\" after EV_NUM");
    skip_blanks(header);
  }
  int status = take_number(header, &line->number);
  if (!line->is_relative || (status != KYMO_OK && status != KYMO_END))
    return status;
  if (status == KYMO_END)
    return refuse(header, header->at, "expected the number of an event");
  skip_blanks(header);
  return take(header, ")") ? KYMO_OK : refuse(header, header->at, "expected \")\"");
}

/* The begin and end of the text of a comment, without blanks around it. */
static int take_comment(struct header *header, struct line *line) {
  size_t begin = header->at - 2, end = header->at;
  while (end + 1 < header->end && (header->text[end] != '*' || header->text[end + 1] != '/'))
    end++;
  if (end + 1 >= header->end)
    return refuse(header, begin, "a comment that does not end on its line");
  skip_blanks(header);
  while (end > header->at && is_blank(header->text[end - 1]))
    end--;
  line->text_at = header->at;
  line->text_end = end;
  return KYMO_OK;
}

/* KYMO_END: the line has no definition. */
static int parse_line(struct header *header, struct line *line) {
  if (!take(header, "#define") || header->at == header->end || !is_blank(header->text[header->at]))
    return KYMO_END;
  skip_blanks(header);
  while (header->at < header->end && !is_blank(header->text[header->at]))
    header->at++;
  skip_blanks(header);
  int status = take_code(header, line);
  if (status != KYMO_OK)
    return status;
  skip_blanks(header);
  return take(header, "/*") ? take_comment(header, line) : KYMO_END;
}

/* ---- what it defines ---- */

/* Appends a text; in formats of names, percent signs are doubled. */
static uint32_t keep(struct gist_definitions *definitions, const char *text, size_t length, bool is_literal) {
  uint32_t at = (uint32_t)definitions->strings.length;
  for (size_t i = 0; i < length; i++)
    kymo_strbuf_add(&definitions->strings, is_literal && text[i] == '%' ? "%%" : text + i,
                    is_literal && text[i] == '%' ? 2 : 1);
  kymo_strbuf_add(&definitions->strings, "", 1);
  return at;
}

static int check_format(const struct header *header, size_t at, size_t end) {
  struct kymo_arena arena = {0};
  struct kymo_printfmt parsed;
  struct kymo_printfmt_fault fault;
  bool is_good =
      kymo_printfmt_parse(&parsed, &arena, header->text + at, end - at, KYMO_GIST_CONVERSIONS, &fault);
  kymo_arena_free(&arena);
  if (is_good)
    return KYMO_OK;
  return fault.what ? refuse(header, at + fault.at, "%s", fault.what)
                    : kymo_fail(header->error, KYMO_E_MEMORY, "out of memory");
}

static int add_definition(struct header *header, const struct line *line) {
  struct gist_definitions *definitions = header->definitions;
  const char *text = header->text + line->text_at, *colon = memchr(text, ':', line->text_end - line->text_at);
  size_t name_end = colon ? (size_t)(colon - header->text) : line->text_end,
         format = colon ? name_end + 1 : line->text_end;
  while (name_end > line->text_at && is_blank(header->text[name_end - 1]))
    name_end--;
  while (format < line->text_end && is_blank(header->text[format]))
    format++;
  if (name_end == line->text_at)
    return refuse(header, line->text_at, "an event without a name");
  if (line->text_end - line->text_at > TEXT_MAX || memchr(text, '\0', line->text_end - line->text_at))
    return refuse(header, line->text_at, "a name and format of more than %d bytes, or with a zero in them",
                  TEXT_MAX);
  if (line->is_relative && !header->has_base)
    return refuse(header, line->number_at,
                  "EV_NUM without a base: read the header that includes this one by " NAMES_HEADERS);
  uint64_t code = (uint64_t)line->number + (line->is_relative ? header->base : 0);
  if (code > UINT32_MAX)
    return refuse(header, line->number_at, "a code above 4294967295");
  int status = check_format(header, format, line->text_end);
  if (status != KYMO_OK)
    return status;
  if (definitions->count == DEFINITIONS_MAX)
    return kymo_fail_at(header->error, KYMO_E_LIMIT, header->path, line->number_at,
                        "more than %d definitions", DEFINITIONS_MAX);
  if (!KYMO_LIST_ROOM(definitions->list, definitions->capacity, definitions->count))
    return kymo_fail(header->error, KYMO_E_MEMORY, "out of memory");
  definitions->list[definitions->count] = (struct cpel_definition){
      .key = (uint32_t)code,
      .at = definitions->count,
      .format = keep(definitions, text, name_end - line->text_at, true),
      .datum_format = format < line->text_end
                          ? keep(definitions, header->text + format, line->text_end - format, false)
                          : 0};
  definitions->count++;
  return definitions->strings.failed ? kymo_fail(header->error, KYMO_E_MEMORY, "out of memory") : KYMO_OK;
}

/* The path of a header that another one includes; the caller owns it, or NULL. */
static char *path_beside(const char *path, const char *name, size_t length) {
  const char *slash = strrchr(path, '/');
  size_t directory = slash && name[0] != '/' ? (size_t)(slash - path) + 1 : 0;
  char *joined = calloc(1, directory + length + 1);
  if (joined) {
    memcpy(joined, path, directory);
    memcpy(joined + directory, name, length);
  }
  return joined;
}

static int read_named(struct header *header, const struct line *line) {
  size_t begin = line->text_at + strlen(NAMES_HEADERS), end;
  while (begin < line->text_end && is_blank(header->text[begin]))
    begin++;
  for (end = begin; end < line->text_end && !is_blank(header->text[end]); end++)
    ;
  if (header->has_base)
    return refuse(header, line->text_at,
                  "expected definitions in a header that another one includes, found a further header");
  if (line->is_relative)
    return refuse(header, line->number_at, "expected a number, the base of the header's codes");
  if (begin == end)
    return refuse(header, begin, "expected the path of a header");
  char *path = path_beside(header->path, header->text + begin, end - begin);
  if (!path)
    return kymo_fail(header->error, KYMO_E_MEMORY, "out of memory");
  int status = read_header(header->definitions, header->trace, path, &line->number, header->error);
  free(path);
  return status;
}

static bool names_header(const struct header *header, const struct line *line) {
  size_t length = strlen(NAMES_HEADERS);
  return line->text_end - line->text_at >= length &&
         memcmp(header->text + line->text_at, NAMES_HEADERS, length) == 0;
}

/* ---- files ---- */

/* Moves to the next line. */
static bool next_line(struct header *header) {
  if (header->next >= header->length)
    return false;
  header->at = header->next;
  const char *end = memchr(header->text + header->at, '\n', header->length - header->at);
  header->end = end ? (size_t)(end - header->text) : header->length;
  header->next = header->end + 1;
  return true;
}

static int read_lines(struct header *header) {
  int status = KYMO_OK;
  while ((status == KYMO_OK || status == KYMO_END) && next_line(header)) {
    struct line line = {0};
    status = parse_line(header, &line);
    if (status == KYMO_OK)
      status = names_header(header, &line) ? read_named(header, &line) : add_definition(header, &line);
  }
  return status == KYMO_END ? KYMO_OK : status;
}

/* base: of EV_NUM, or NULL. */
static int read_header(struct gist_definitions *definitions, struct kymo_trace *trace, const char *path,
                       const uint32_t *base, struct kymo_error *error) {
  uint8_t *text;
  struct header header = {.definitions = definitions,
                          .trace = trace,
                          .error = error,
                          .path = path,
                          .has_base = base != NULL,
                          .base = base ? *base : 0};
  if (definitions->headers++ == HEADERS_MAX)
    return kymo_fail_at(error, KYMO_E_LIMIT, path, KYMO_ERROR_NO_OFFSET, "more than %d headers", HEADERS_MAX);
  if (!definitions->strings.length)
    kymo_strbuf_add(&definitions->strings, "", 1);
  int status = kymo_file_read(path, HEADER_LIMIT, &text, &header.length, error);
  if (status != KYMO_OK)
    return status;
  header.text = (const char *)text;
  status = read_lines(&header);
  free(text);
  return status;
}

int kymo_gist_read_header(struct gist_definitions *definitions, struct kymo_trace *trace, const char *path,
                          struct kymo_error *error) {
  int status = read_header(definitions, trace, path, NULL, error);
  size_t count = definitions->count;
  if (status != KYMO_OK)
    return status;
  definitions->count = kymo_cpel_sort(definitions->list, count);
  if (definitions->count < count)
    kymo_trace_warn(trace, path, KYMO_ERROR_NO_OFFSET,
                    "%zu definitions of codes that were defined before: the first one of each is used",
                    count - definitions->count);
  return KYMO_OK;
}

bool kymo_gist_names_headers(const char *path) {
  uint8_t *text;
  size_t length;
  if (kymo_file_read(path, HEADER_LIMIT, &text, &length, NULL) != KYMO_OK)
    return false;
  bool names = memmem(text, length, NAMES_HEADERS, strlen(NAMES_HEADERS)) != NULL;
  free(text);
  return names;
}

void kymo_gist_free(struct gist_definitions *definitions) {
  free(definitions->list);
  kymo_strbuf_free(&definitions->strings);
}
