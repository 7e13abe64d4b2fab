/* SPDX-License-Identifier: MIT */
/*
 * kymo types: writes a C header that lists the structs, unions and enumerations of a program for its
 * tracepoints, from its debug information.
 *
 *   names asked for, or those in the call sites ──► definitions in the units ──► listings ──► header
 *
 * Unknown names end the command before anything is written: the header is written completely or not at all.
 */
#include "infer/types.h"
#include "base/list.h"
#include "base/strbuf.h"
#include "infer/program.h"
#include "tool/tool.h"
#include <argp.h>
#include <stdlib.h>
#include <string.h>

struct types {
  const char *output;
  struct kymo_types_wanted wanted;
  size_t name_capacity;
  bool all_traced;
};

/* ---- command line ---- */

static const struct argp_option options[] = {
    {"struct", 's', "NAME", 0,
     "List this type and the types it contains: \"struct point\", \"enum state\", \"union value\", the "
     "name of a typedef, a tag, or a glob of these; may be given several times",
     0},
    {"all-traced", 'a', NULL, 0, "List the types that the tracepoints of BINARY use", 0},
    {"unit", 'u', "FILE", 0, "Take types from this source file, or what the glob matches", 0},
    {"output", 'o', "FILE", 0, "Write to FILE instead of the standard output", 0},
    {0},
};

static void add_name(struct types *types, struct kymo_types_name name) {
  if (!KYMO_LIST_ROOM(types->wanted.names, types->name_capacity, types->wanted.count)) {
    tool_say("out of memory");
    exit(TOOL_FAILED);
  }
  types->wanted.names[types->wanted.count++] = name;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct types *types = state->input;
  switch (key) {
  case 's': add_name(types, (struct kymo_types_name){.text = argument}); return 0;
  case 'a': types->all_traced = true; return 0;
  case 'u': types->wanted.unit = argument; return 0;
  case 'o': types->output = argument; return 0;
  case ARGP_KEY_ARG:
    if (!types->wanted.path)
      types->wanted.path = argument;
    else
      add_name(types, (struct kymo_types_name){.text = argument});
    return 0;
  case ARGP_KEY_END:
    if (!types->wanted.path)
      argp_error(state, "of which program?");
    if (!types->wanted.count && !types->all_traced)
      argp_error(state, "which types? add --struct, or --all-traced");
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "BINARY --struct NAME...\nBINARY --all-traced",
    .doc =
        "Write a C header with listings (<kymo/types.h>) of structs, unions and enumerations. BINARY is a "
        "program, library or object file for any machine, and was compiled with -g. Include the header after "
        "those that define the types.",
};

/* ---- the types that call sites name ---- */

static const struct {
  const char *word;
  enum kymo_types_kind kind;
} words[] = {
    {"KYMO_STRUCT", KYMO_TYPES_ANY},      {"KYMO_STRUCT_ARRAY", KYMO_TYPES_ANY},
    {"KYMO_UNION", KYMO_TYPES_ANY},       {"KYMO_OPTIONAL_STRUCT", KYMO_TYPES_ANY},
    {"KYMO_ENUM", KYMO_TYPES_ENUM},       {"KYMO_FLAGS", KYMO_TYPES_FLAGS},
    {"KYMO_VARIANT", KYMO_TYPES_VARIANT}, {"KYMO_TYPED", KYMO_TYPES_ANY},
};

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The second argument after "(", with single spaces; NULL if there is none. */
static char *second_argument(const char *at, const char *end) {
  struct kymo_strbuf name = {0};
  while (at < end && *at != ',' && *at != '(' && *at != ')')
    at++;
  for (at++; at < end && (is_word(*at) || *at == ' ' || *at == '\n' || *at == '\t'); at++) {
    bool is_space = !is_word(*at);
    if (!is_space || (name.length && name.text[name.length - 1] != ' '))
      kymo_strbuf_add(&name, is_space ? " " : at, 1);
  }
  bool is_whole = at < end && (*at == ',' || *at == ')');
  if (is_whole && name.length && name.text[name.length - 1] == ' ')
    name.text[--name.length] = '\0';
  if (name.failed)
    tool_end_without_memory();
  if (is_whole && name.length)
    return name.text;
  kymo_strbuf_free(&name);
  return NULL;
}

/* After a text or character constant that begins at `at`. */
static const char *skip_quoted(const char *at, const char *end) {
  char quote = *at++;
  while (at < end && *at != quote)
    at += *at == '\\' ? 2 : 1;
  return at < end ? at + 1 : end;
}

static void note_word(struct types *types, const char *at, const char *after, const char *end) {
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t length = strlen(words[i].word);
    if ((size_t)(after - at) != length || memcmp(at, words[i].word, length))
      continue;
    while (after < end && *after == ' ')
      after++;
    char *name = after < end && *after == '(' ? second_argument(after + 1, end) : NULL;
    for (size_t j = 0; name && j < types->wanted.count; j++)
      if (!strcmp(types->wanted.names[j].text, name))
        return free(name);
    if (name)
      add_name(types, (struct kymo_types_name){.text = name, .kind = words[i].kind, .is_traced = true});
    return;
  }
}

/* The macro's arguments as in the source. */
static void note_site(void *user, const char *text, size_t size) {
  const char *end = text + size;
  for (const char *at = text; at < end;) {
    if (*at == '"' || *at == '\'') {
      at = skip_quoted(at, end);
    } else if (is_word(*at)) {
      const char *from = at;
      while (at < end && is_word(*at))
        at++;
      note_word(user, from, at, end);
    } else
      at++;
  }
}

/* ---- the header ---- */

/* "KYMO_TYPES_GEO_TYPES_H" of "src/geo-types.h". */
static void put_guard(struct kymo_strbuf *out, const char *path) {
  kymo_strbuf_puts(out, "KYMO_TYPES_");
  for (const char *at = basename(path); *at; at++) {
    char c = *at >= 'a' && *at <= 'z' ? (char)(*at - 32) : is_word(*at) ? *at : '_';
    kymo_strbuf_add(out, &c, 1);
  }
}

static void put_header(const struct types *types, struct kymo_strbuf *out,
                       const struct kymo_types_made *made) {
  struct kymo_strbuf guard = {0};
  put_guard(&guard, types->output ? types->output : types->wanted.path);
  kymo_strbuf_puts(out, "/* Made by kymo types of ");
  kymo_types_comment(out, basename(types->wanted.path));
  kymo_strbuf_printf(out, " (%s%s). Include it after the headers that define these types. */\n",
                     *made->build_id ? "build id " : "no build id", made->build_id);
  kymo_strbuf_printf(out, "#ifndef %s\n#define %s\n\n#include <kymo/types.h>\n\n", guard.text, guard.text);
  kymo_strbuf_puts(out, made->listings.text ? made->listings.text : "");
  kymo_strbuf_puts(out, "#endif\n");
  out->failed |= guard.failed;
  kymo_strbuf_free(&guard);
}

/* ---- */

static void report(void *user, const char *name, const char *why) {
  const struct types *types = user;
  tool_say("%s: %s is not listed: %s", types->wanted.path, name, why);
}

static int fail(const struct kymo_error *error) {
  tool_say_error(error);
  return TOOL_FAILED;
}

static int make(struct types *types) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_types_made made = {.lacks = report, .user = types};
  struct kymo_strbuf text = {0};
  int status = TOOL_FAILED;
  if (types->all_traced && kymo_program_texts(types->wanted.path, note_site, types, &error))
    return fail(&error);
  if (!types->wanted.count) {
    tool_say("%s: no tracepoint uses a type; add --struct NAME", types->wanted.path);
    return TOOL_FAILED;
  }
  if (kymo_types_make(&made, &types->wanted, &error))
    fail(&error);
  else if (!made.unknown && !made.lacking && !made.listed)
    tool_say("%s: nothing that matches can be listed", types->wanted.path);
  else if (!made.unknown && made.listed) {
    put_header(types, &text, &made);
    if (text.failed)
      tool_end_without_memory();
    status = tool_write(types->output ? types->output : "-", text.text, text.length);
    status = status == TOOL_OK && made.lacking ? TOOL_DAMAGED : status;
  }
  kymo_strbuf_free(&made.listings);
  kymo_strbuf_free(&text);
  return status;
}

static void free_names(struct types *types) {
  for (size_t i = 0; i < types->wanted.count; i++)
    if (types->wanted.names[i].is_traced)
      free(types->wanted.names[i].text);
  free(types->wanted.names);
}

static int run(int argc, char **argv) {
  struct types types = {0};
  tool_parse(&parser, argc, argv, 0, NULL, &types);
  int status = make(&types);
  free_names(&types);
  return status;
}

const struct tool_command tool_types = {
    .name = "types",
    .summary = "write listings of a program's structs for its tracepoints",
    .run = run,
};
