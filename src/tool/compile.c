/* SPDX-License-Identifier: MIT */
/* kymo compile: compiles a description in any language to a registry, which is the compiled description
 * (.key) of the format; and a filter to its binary form, for traces of one description. */
#include "format/language.h"
#include "tool/filter.h"
#include "tool/words.h"
#include <argp.h>
#include <stdlib.h>
#include <string.h>

struct compile {
  const char *path, *output;
  const char *key;                      /* the traces of a filter, or NULL: it is not a filter */
  const struct kymo_language *language; /* NULL: look at the file */
};

enum { OPTION_FROM = 256 };

static const struct argp_option options[] = {
    {"from", OPTION_FROM, "LANGUAGE", 0, "Read the file as LANGUAGE (see below), whatever it looks like", 0},
    {0, 'f', "LANGUAGE", OPTION_HIDDEN, NULL, 0}, /* a format in other commands, and formerly the language
                                                   * here */
    {"key", 'k', "KEY", 0,
     "Compile a filter (FILE.fdl) for the traces that KEY describes: a description, compiled or not, or a "
     "trace",
     0},
    {"output", 'o', "FILE", 0,
     "Write FILE; default: the file's name with the suffix .key (.filter); - is standard output", 0},
    {0},
};

static bool list_language(size_t index, struct tool_row *row) {
  const struct kymo_language *language = kymo_languages[index];
  if (language)
    *row = (struct tool_row){language->name, language->summary};
  return language != NULL;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct compile *compile = state->input;
  switch (key) {
  case OPTION_FROM:
    compile->language = kymo_language_find(argument);
    if (!compile->language)
      argp_error(state, "there is no language \"%s\"%s", argument,
                 tool_row_hint(argument, list_language).text);
    return 0;
  case 'f': argp_error(state, "-f is a format; the language of the file is --from %s", argument); return 0;
  case 'k': compile->key = argument; return 0;
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

static char *help_filter(int key, const char *text, void *input) {
  (void)input;
  return tool_help_table(key, text, "Languages:", list_language);
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "FILE",
    .doc = "Compile a description of events to its binary form (FILE.key), or a filter to its own "
           "(FILE.filter).\v",
    .help_filter = help_filter,
};

/* x.tsdl → x.key, x.fdl → x.filter, metadata → metadata.key, standard input → standard output; the caller
 * frees it. */
static char *output_name(const char *path, const char *end) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
  bool has_end = dot && (!slash || dot > slash + 1) && dot > path;
  char *name = NULL;
  if (strcmp(path, "-") == 0)
    return strdup("-");
  int length = asprintf(&name, "%.*s%s", has_end ? (int)(dot - path) : (int)strlen(path), path, end);
  return length < 0 ? NULL : name;
}

/* The output must not replace the file that it was compiled from. */
static int write_output(const struct compile *compile, const void *bytes, size_t size) {
  char *name = compile->output ? strdup(compile->output)
                               : output_name(compile->path, compile->key ? ".filter" : ".key");
  int status = TOOL_FAILED;
  if (!name)
    tool_say("out of memory");
  else if (!compile->output && strcmp(name, "-") != 0 && strcmp(name, compile->path) == 0) {
    tool_say("%s: the output would overwrite the input; name another file with -o", name);
    status = TOOL_USAGE;
  } else
    status = tool_write(name, bytes, size);
  free(name);
  return status;
}

static void say_warning(void *context, const struct kymo_error *warning) {
  (void)context;
  tool_say_error(warning);
}

/* ---- filters ---- */

static int compile_for(const struct compile *compile, const struct kymo_schema *const *schemas,
                       size_t count) {
  struct kymo_filter_options filter_options = {.schemas = schemas, .schema_count = count};
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_filter *filter;
  uint8_t *bytes;
  size_t size;
  int status = tool_filter_make(&filter, NULL, compile->path, &filter_options);
  if (status != TOOL_OK)
    return status == TOOL_USAGE ? TOOL_DAMAGED : status;
  if (kymo_filter_save(filter, &bytes, &size, &error) < 0) {
    tool_say_error(&error);
    status = TOOL_FAILED;
  } else {
    status = write_output(compile, bytes, size);
    free(bytes);
  }
  kymo_filter_release(filter);
  return status;
}

static int compile_for_trace(const struct compile *compile) {
  const char *path = compile->key;
  struct tool_input input = {.paths = &path, .count = 1, .force_correlate = true};
  struct kymo_trace *trace;
  int status = tool_open(&trace, &input);
  if (status != TOOL_OK)
    return status;
  size_t count = kymo_trace_part_count(trace);
  const struct kymo_schema **schemas = calloc(count + 1, sizeof *schemas);
  for (size_t i = 0; schemas && i < count; i++)
    schemas[i] = kymo_trace_part(trace, i)->schema;
  if (schemas)
    status = compile_for(compile, schemas, count);
  else
    status = TOOL_FAILED;
  free(schemas);
  kymo_trace_close(trace);
  return status;
}

static int compile_filter(const struct compile *compile) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  if (!kymo_language_is_known(compile->key))
    return compile_for_trace(compile);
  const struct kymo_warnings warnings = {.warn = say_warning};
  struct kymo_schema *schema = kymo_language_load(compile->key, NULL, &warnings, &error);
  if (!schema) {
    tool_say_error(&error);
    return tool_status_of(error.code);
  }
  const struct kymo_schema *one = schema;
  int status = compile_for(compile, &one, 1);
  kymo_schema_release(schema);
  return status;
}

static int run(int argc, char **argv) {
  struct compile compile = {0};
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  const struct kymo_warnings warnings = {.warn = say_warning};
  uint8_t *bytes = NULL;
  size_t size;
  tool_parse(&parser, argc, argv, 0, NULL, &compile);
  if (compile.key)
    return compile_filter(&compile);
  if (!compile.language && tool_filter_is_name(compile.path)) {
    tool_say("%s: a filter is compiled for the traces it will read; add --key KEY, or --key TRACE",
             compile.path);
    return TOOL_USAGE;
  }
  struct kymo_schema *schema = kymo_language_load(compile.path, compile.language, &warnings, &error);
  if (!schema || kymo_registry_write(schema, &bytes, &size, &error) < 0) {
    tool_say_error(&error);
    kymo_schema_release(schema);
    return tool_status_of(error.code);
  }
  int status = write_output(&compile, bytes, size);
  kymo_schema_release(schema);
  free(bytes);
  return status;
}

const struct tool_command tool_compile = {
    .name = "compile",
    .summary = "compile a description to a registry, or a filter",
    .run = run,
};
