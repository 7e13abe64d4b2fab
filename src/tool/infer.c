/* SPDX-License-Identifier: MIT */
/* kymo infer: writes a first description in TDL of the files of a program, from its debug information, or
 * from a trace's metadata. */
#include "format/language.h"
#include "infer/skeleton.h"
#include "infer/program.h"
#include "tool/input.h"

struct infer {
  const char *output, *path, *name;
};

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Write to FILE instead of the standard output", 0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct infer *infer = state->input;
  switch (key) {
  case 'o': infer->output = argument; return 0;
  case ARGP_KEY_ARG:
    if (state->arg_num > 1)
      return ARGP_ERR_UNKNOWN;
    *(state->arg_num == 0 ? &infer->path : &infer->name) = argument;
    return 0;
  case ARGP_KEY_END:
    if (!infer->path)
      argp_error(state, "of which program or trace?");
    if (!infer->name && kymo_is_program(infer->path))
      argp_error(state, "which struct of \"%s\"?", infer->path);
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "PROGRAM STRUCT\nTRACE|METADATA",
    .doc = "Write a description in TDL for files that hold structs of a program one after another, as "
           "fwrite() of an array writes them. PROGRAM is a program, library or object file for any machine, "
           "and was compiled with -g. For a CTF trace or its metadata: write a description of its stream "
           "files.",
};

/* ---- work ---- */

static int infer_metadata(struct kymo_strbuf *text, const char *path, struct kymo_error *error) {
  struct kymo_schema *schema = kymo_language_load(path, NULL, NULL, error);
  int status = schema ? tool_infer_trace(text, schema, path, error) : error->code;
  kymo_schema_release(schema);
  return status;
}

static int infer_opened(struct kymo_strbuf *text, const char *path, struct kymo_error *error) {
  struct kymo_trace *trace;
  int status = kymo_trace_open(&trace, &path, 1, NULL, error);
  if (status < 0)
    return status;
  status = tool_infer_trace(text, kymo_trace_part(trace, 0)->schema, path, error);
  kymo_trace_close(trace);
  return status;
}

static int infer_any(const struct infer *infer, struct kymo_strbuf *text, struct kymo_error *error) {
  if (infer->name)
    return tool_infer_struct(text, infer->path, infer->name, error);
  return kymo_language_is_known(infer->path) ? infer_metadata(text, infer->path, error)
                                             : infer_opened(text, infer->path, error);
}

static int run(int argc, char **argv) {
  struct infer infer = {.output = "-"};
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_strbuf text = {0};
  tool_parse(&parser, argc, argv, 0, NULL, &infer);
  int status = TOOL_FAILED;
  if (infer_any(&infer, &text, &error) < 0)
    tool_say_error(&error);
  else if (text.failed)
    tool_say("out of memory");
  else
    status = tool_write(infer.output, text.text, text.length);
  kymo_strbuf_free(&text);
  return status;
}

const struct tool_command tool_infer = {
    .name = "infer",
    .summary = "write a first description of the files that a program writes",
    .run = run,
};
