/* SPDX-License-Identifier: MIT */
/* kymo describe: prints the description of traces, registries and texts, in the requested language. */
#include "base/list.h"
#include "base/strbuf.h"
#include "format/language.h"
#include "plan/dump.h"
#include "lang/c/declare.h"
#include "lang/ctf2/write.h"
#include "lang/doc/document.h"
#include "lang/registry/text.h"
#include "lang/tsdl/write.h"
#include "tool/filter.h"
#include "tool/input.h"
#include "tool/words.h"
#include <stdlib.h>
#include <string.h>

/* ---- forms ---- */

struct form {
  const char *name, *summary;
  void (*write)(struct kymo_strbuf *out, const struct kymo_schema *schema);
};

static const struct form forms[] = {
    {"registry", "everything, as text that kymo compile reads", kymo_registry_print},
    {"tsdl", "TSDL, the metadata of CTF 1.8", kymo_tsdl_write},
    {"ctf2", "the metadata of CTF 2", kymo_ctf2_write},
    {"c",
     "C declarations with the same layout as the bytes; for a compiled description also the numbers of "
     "record kinds and names of fields",
     kymo_c_print},
    {"doc", "a Markdown document: event classes, fields, units, meanings of values", kymo_doc_print},
    {"tdl", "for a compiled description: the text it was compiled from", kymo_plan_print_source},
    {"plan", "for a compiled description: how records are decoded, instruction by instruction",
     kymo_plan_print_plan},
};
#define FORM_COUNT (sizeof forms / sizeof forms[0])

static const struct form *find_form(const char *name) {
  for (size_t i = 0; i < FORM_COUNT; i++)
    if (strcmp(forms[i].name, name) == 0)
      return &forms[i];
  return NULL;
}

static bool list_form(size_t index, struct tool_row *row) {
  if (index < FORM_COUNT)
    *row = (struct tool_row){forms[index].name, forms[index].summary};
  return index < FORM_COUNT;
}

/* ---- command line ---- */

struct describe {
  struct tool_input input;
  const struct form *form;
  const char *output;
  const struct kymo_schema **schemas; /* each retained */
  size_t count, capacity;
  int damage; /* exit status for what was read of traces */
};

static const struct argp_option options[] = {
    {"as", 'a', "FORM", 0, "Print as FORM (see below); registry, if not given", 0},
    {"format", 'f', "FORM", OPTION_ALIAS, NULL, 0},
    {"output", 'o', "FILE", 0, "Write to FILE instead of the standard output", 0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct describe *describe = state->input;
  switch (key) {
  case 'a':
  case 'f':
    tool_filter_refuse_letter(argument, state);
    describe->form = find_form(argument);
    if (!describe->form)
      argp_error(state, "there is no form \"%s\"%s", argument, tool_row_hint(argument, list_form).text);
    return 0;
  case 'o': describe->output = argument; return 0;
  case ARGP_KEY_ARGS:
    describe->input.paths = (const char **)state->argv + state->next;
    describe->input.count = (size_t)(state->argc - state->next);
    return 0;
  case ARGP_KEY_NO_ARGS: argp_error(state, "which trace or registry?"); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static char *help_filter(int key, const char *text, void *input) {
  (void)input;
  return tool_help_table(key, text, "Forms:", list_form);
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "TRACE|REGISTRY...",
    .doc = "Print the description of traces, registries and texts that describe traces; several are "
           "merged into one.\v",
    .help_filter = help_filter,
};

/* ---- work ---- */

/* Takes over a reference to the schema. False after reporting that there is no memory. */
static bool add(struct describe *describe, struct kymo_schema *schema) {
  if (!KYMO_LIST_ROOM(describe->schemas, describe->capacity, describe->count)) {
    kymo_schema_release(schema);
    tool_say("out of memory");
    return false;
  }
  describe->schemas[describe->count++] = schema;
  return true;
}

static int load_file(struct describe *describe, const char *path) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_schema *schema = kymo_language_load(path, NULL, NULL, &error);
  if (schema)
    return add(describe, schema) ? TOOL_OK : TOOL_FAILED;
  tool_say_error(&error);
  return tool_status_of(error.code);
}

static int load_trace(struct describe *describe, const char *path) {
  struct tool_input input = {.paths = &path, .count = 1, .force_correlate = true};
  struct kymo_trace *trace;
  int status = tool_open(&trace, &input);
  if (status != TOOL_OK)
    return status;
  for (size_t i = 0; i < kymo_trace_part_count(trace) && status == TOOL_OK; i++) {
    struct kymo_schema *schema = (struct kymo_schema *)(uintptr_t)kymo_trace_part(trace, i)->schema;
    status = add(describe, kymo_schema_retain(schema)) ? TOOL_OK : TOOL_FAILED;
  }
  if (tool_print_damage(trace, false) != TOOL_OK)
    describe->damage = TOOL_DAMAGED;
  kymo_trace_close(trace);
  return status;
}

static int load_all(struct describe *describe) {
  int status = TOOL_OK;
  for (size_t i = 0; i < describe->input.count && status == TOOL_OK; i++) {
    const char *path = describe->input.paths[i];
    status = kymo_language_is_known(path) ? load_file(describe, path) : load_trace(describe, path);
  }
  return status;
}

static int print(const struct describe *describe, const struct kymo_schema *schema) {
  struct kymo_strbuf out = {0};
  int status = TOOL_FAILED;
  describe->form->write(&out, schema);
  if (out.failed)
    tool_say("out of memory");
  else
    status = tool_write(describe->output, out.text, out.length);
  kymo_strbuf_free(&out);
  return status;
}

static int print_merged(const struct describe *describe) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_schema *schema;
  if (kymo_schema_merge(&schema, describe->schemas, describe->count, &error) < 0) {
    tool_say_error(&error);
    return TOOL_FAILED;
  }
  int status = print(describe, schema);
  kymo_schema_release(schema);
  return status;
}

static int run(int argc, char **argv) {
  struct describe describe = {.form = &forms[0], .output = "-"};
  tool_parse(&parser, argc, argv, 0, NULL, &describe);
  int status = load_all(&describe);
  if (status == TOOL_OK)
    status = describe.count == 1 ? print(&describe, describe.schemas[0]) : print_merged(&describe);
  for (size_t i = 0; i < describe.count; i++)
    kymo_schema_release((struct kymo_schema *)(uintptr_t)describe.schemas[i]);
  free(describe.schemas);
  return status == TOOL_OK ? describe.damage : status;
}

const struct tool_command tool_describe = {
    .name = "describe",
    .summary = "print what describes the events of traces",
    .run = run,
};
