/* SPDX-License-Identifier: MIT */
/* kymo compile: a description in any language becomes a registry, which is the key file of what it describes. */
#include "format/language.h"
#include "tool/tool.h"
#include <argp.h>
#include <stdlib.h>
#include <string.h>

struct compile {
  const char *path, *output;
  const struct kymo_language *language; /* NULL: look at the file */
};

static const struct argp_option options[] = {
    {"from", 'f', "LANGUAGE", 0, "Take the file as LANGUAGE (see below), whatever it looks like", 0},
    {"output", 'o', "FILE", 0,
     "Write FILE; without this, the file's name with .key as its end; - is the standard output", 0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct compile *compile = state->input;
  switch (key) {
  case 'f':
    compile->language = kymo_language_find(argument);
    if (!compile->language)
      argp_error(state, "there is no language \"%s\"", argument);
    return 0;
  case 'o': compile->output = argument; return 0;
  case ARGP_KEY_ARG:
    if (compile->path)
      argp_error(state, "one file at a time");
    compile->path = argument;
    return 0;
  case ARGP_KEY_NO_ARGS: argp_error(state, "which file?"); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

/* Appends the table of languages to the help. */
static char *help_filter(int key, const char *text, void *input) {
  (void)input;
  char *out = NULL;
  size_t size;
  FILE *stream = key == ARGP_KEY_HELP_POST_DOC ? open_memstream(&out, &size) : NULL;
  if (!stream)
    return (char *)text;
  fputs("Languages:\n", stream);
  for (const struct kymo_language *const *language = kymo_languages; *language; language++)
    fprintf(stream, "  %-12s %s\n", (*language)->name, (*language)->summary);
  fclose(stream);
  return out ? out : (char *)text;
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "FILE",
    .doc = "Compile a description of events to a registry, the key file.\v",
    .help_filter = help_filter,
};

/* x.tsdl → x.key, metadata → metadata.key, standard input → standard output; the caller's. */
static char *output_name(const char *path) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
  bool has_end = dot && (!slash || dot > slash + 1) && dot > path;
  char *name = NULL;
  if (strcmp(path, "-") == 0)
    return strdup("-");
  int length = asprintf(&name, "%.*s.key", has_end ? (int)(dot - path) : (int)strlen(path), path);
  return length < 0 ? NULL : name;
}

/* Where to; a compiled registry must not take the place of what it was compiled from. */
static int write_registry(const struct compile *compile, const void *bytes, size_t size) {
  char *name = compile->output ? strdup(compile->output) : output_name(compile->path);
  int status = TOOL_FAILED;
  if (!name)
    tool_say("out of memory");
  else if (!compile->output && strcmp(name, "-") != 0 && strcmp(name, compile->path) == 0) {
    tool_say("%s: would be written over itself; say where to with -o", name);
    status = TOOL_USAGE;
  } else
    status = tool_write(name, bytes, size);
  free(name);
  return status;
}

static int run(int argc, char **argv) {
  struct compile compile = {0};
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  uint8_t *bytes = NULL;
  size_t size;
  argp_parse(&parser, argc, argv, 0, NULL, &compile);
  struct kymo_schema *schema = kymo_language_load(compile.path, compile.language, &error);
  if (!schema || kymo_registry_write(schema, &bytes, &size, &error) < 0) {
    tool_say_error(&error);
    kymo_schema_release(schema);
    return tool_status_of(error.code);
  }
  int status = write_registry(&compile, bytes, size);
  kymo_schema_release(schema);
  free(bytes);
  return status;
}

const struct tool_command tool_compile = {
    .name = "compile",
    .summary = "compile a description to a registry",
    .run = run,
};
