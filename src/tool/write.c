/* SPDX-License-Identifier: MIT */
#include "tool/write.h"
#include "format/formats.h"
#include "tool/database.h"
#include "tool/filter.h"
#include "tool/fleet.h"
#include "tool/jobs_write.h"
#include "tool/raw.h"
#include "tool/words.h"
#include <stdlib.h>
#include <string.h>

/* What the parser fills. */
struct writing {
  struct tool_pipe pipe;
  bool is_merge;
  char *options;           /* for the sink, or NULL */
  const char *cpel_option; /* one that was given */
  const char *arrow;       /* options of that format, or NULL */
  bool has_format;         /* --to was given */
  bool is_database;        /* … and it is sqlite */
  struct tool_raw bytes;   /* of kymo merge */
  bool is_fleet;           /* --to clickhouse */
  struct tool_fleet fleet;
};

#define JOBS_REFUSED "--jobs is for the formats \"ctf1\", \"ctf2\" and \"clickhouse\""

enum {
  OPTION_ENDIAN = 768,
  OPTION_VPP,
  OPTION_TRACK,
  OPTION_SINK,
  OPTION_BY,
  OPTION_RECORDS,
  OPTION_CLUSTER,
  OPTION_JOBS
};

static const struct argp_option options[] = {
    {"output", 'o', "OUT", 0,
     "Write to the directory OUT, which must be missing or empty, or to the file OUT, which must be missing",
     0},
    {"to", 't', "FORMAT", 0,
     "Write as FORMAT (see below); default: cpel for a file called *.cpel, stream for kymo merge of framed "
     "streams, else ctf1",
     0},
    {"format", 'f', "FORMAT", OPTION_ALIAS, NULL, 0},
    {"sink", OPTION_SINK, "FILE", 0,
     "Write with the sink of this shared object (docs/sinks.md); FILE:OPTIONS", 0},
    {"endian", OPTION_ENDIAN, "ORDER", 0, "CPEL: big or little; default: as the trace", 0},
    {"for-vpp", OPTION_VPP, NULL, 0, "CPEL: only what VPP's tools can read", 0},
    {"track", OPTION_TRACK, "BY", 0,
     "CPEL: an event is in the track of its thread, cpu, or of the value of the field BY", 0},
    {0},
};

static const struct argp_option fleet_options[] = {
    {0, 0, NULL, 0, "Tables of ClickHouse (--to clickhouse -o http://HOST:PORT/DATABASE):", 1},
    {"cluster", OPTION_CLUSTER, "NAME", 0, "Share the traces among the servers of this cluster", 1},
    {"jobs", OPTION_JOBS, "N", 0,
     "Send N batches at a time (default: 2). CTF to CTF: write the streams by N processes (default: one for "
     "each processor if the traces have 64 MiB or more)",
     1},
    {0},
};

static const struct argp_option merge_options[] = {
    {0, 0, NULL, 0, "Files of records, whose bytes are written unchanged:", 1},
    {"by", OPTION_BY, "FIELD,...", 0,
     "Order the records of --description or --as by these fields; time and sequence are the record's "
     "time and its SEQUENCE",
     1},
    {"records", OPTION_RECORDS, "FILE.so[:OPTIONS]", 0,
     "A plug-in defines the records and their order; see <kymo/records.h>", 1},
    {0},
};

static bool ends_with(const char *path, const char *ending) {
  size_t length = strlen(path), size = strlen(ending);
  return length > size && strcmp(path + length - size, ending) == 0;
}

/* ---- options of one format ---- */

/* "KEY=VALUE" or "KEY" for the sink. */
static void add_option(struct writing *writing, struct argp_state *state, const char *key,
                       const char *value) {
  char *old = writing->options;
  if (asprintf(&writing->options, "%s%s%s%s%s", old ? old : "", old ? "," : "", key, value ? "=" : "",
               value ? value : "") < 0)
    argp_failure(state, TOOL_FAILED, 0, "out of memory");
  free(old);
  writing->cpel_option = key;
}

/* The sinks that write files, and the database. */
static bool list_format(size_t index, struct tool_row *row) {
  const struct kymo_sink *const *sinks = kymo_sink_list();
  size_t count = 0;
  while (sinks[count])
    count++;
  if (index < count && sinks[index]->makes_files)
    *row = (struct tool_row){sinks[index]->name, sinks[index]->summary};
  else if (index == count)
    *row = tool_database_row;
  return index <= count;
}

/* … and what kymo convert does without a sink, first. */
static bool list_convert_format(size_t index, struct tool_row *row) {
  if (index > 0)
    return list_format(index - 1, row);
  *row = (struct tool_row){"clickhouse", "tables of a ClickHouse server; OUT is http://HOST:PORT/DATABASE"};
  return true;
}

/* "NAME" or "NAME:OPTION,…" */
static void set_format(struct writing *writing, struct argp_state *state, char *text) {
  tool_filter_refuse_letter(text, state);
  char *own = strchr(text, ':');
  if (own)
    *own++ = '\0';
  writing->has_format = true;
  writing->is_fleet = !writing->is_merge && strcmp(text, "clickhouse") == 0;
  if (writing->is_fleet && own)
    argp_error(state, "the format \"%s\" has no options", text);
  if (writing->is_fleet)
    return;
  writing->pipe.sink = kymo_sink_find_files(text);
  writing->is_database = strcmp(text, tool_database_row.name) == 0;
  if (writing->is_database) {
    if (own)
      argp_error(state, "the format \"%s\" has no options", text);
    return;
  }
  if (!writing->pipe.sink && kymo_sink_find(text))
    argp_error(state, "the format \"%s\" is printed: kymo cat --format %s", text, text);
  else if (!writing->pipe.sink)
    argp_error(state, "there is no format \"%s\"%s", text,
               tool_row_hint(text, writing->is_merge ? list_format : list_convert_format).text);
  else if (own && strcmp(text, "arrow") == 0)
    writing->arrow = own;
  else if (own && strcmp(text, "cpel") != 0)
    argp_error(state, "the format \"%s\" has no options", text);
  else if (own && *own)
    add_option(writing, state, own, NULL);
}

static bool is_framed_file(const char *path) {
  struct kymo_error error;
  int status = kymo_format_frames.probe(path, &error);
  if (status == KYMO_OK || status == KYMO_E_UNKNOWN)
    return status == KYMO_OK;
  tool_say_error(&error);
  exit(tool_status_of(status));
}

/* Files of framed logs become one of their kind. A file that cannot be examined ends the command. */
static const char *format_for(const struct writing *writing) {
  const struct tool_input *input = &writing->pipe.input;
  bool is_framed = writing->is_merge && !input->key && !input->as;
  for (size_t i = 0; i < input->count && is_framed; i++)
    is_framed = is_framed_file(input->paths[i]);
  return ends_with(writing->pipe.path, ".cpel") ? "cpel" : is_framed ? "stream" : "ctf1";
}

/* The options of tables, which other formats do not have, and the other way round. */
static void choose_fleet(struct writing *writing, struct argp_state *state) {
  if (!writing->is_fleet && writing->fleet.cluster)
    argp_error(state, "--cluster is for the format \"clickhouse\" (--to clickhouse)");
  if (writing->is_fleet && writing->cpel_option)
    argp_error(state, "--%s is for the format \"cpel\" (--to cpel)", writing->cpel_option);
  if (writing->is_fleet && writing->pipe.plugin)
    argp_error(state, "--to and --sink both choose where the events go; use one");
  writing->fleet.input = &writing->pipe.input;
  writing->fleet.url = writing->pipe.path;
}

/* Chooses the format and its options: the name of the output decides, unless a format is given. */
static void choose(struct writing *writing, struct argp_state *state) {
  struct tool_pipe *pipe = &writing->pipe;
  if (pipe->plugin && writing->has_format)
    argp_error(state, "--to and --sink both choose where the events go; use one");
  if (pipe->plugin || writing->is_database) {
    if (writing->fleet.jobs)
      argp_error(state, JOBS_REFUSED);
    if (writing->cpel_option)
      argp_error(state, "--%s is for the format \"cpel\" (--to cpel)", writing->cpel_option);
    return;
  }
  if (!pipe->sink)
    pipe->sink = kymo_sink_find_files(format_for(writing));
  bool is_cpel = strcmp(pipe->sink->name, "cpel") == 0;
  if (writing->cpel_option && !is_cpel)
    argp_error(state, "--%s is for the format \"cpel\" (--to cpel)", writing->cpel_option);
  if (is_cpel && pipe->input.cpel_clock)
    add_option(writing, state, "clock", pipe->input.cpel_clock);
  pipe->jobs = writing->fleet.jobs;
  if (pipe->jobs && !tool_jobs_can_write(pipe->sink))
    argp_error(state, JOBS_REFUSED);
  const char *merges = writing->is_merge ? "merge" : NULL;
  bool is_arrow = strcmp(pipe->sink->name, "arrow") == 0;
  pipe->sink_options = is_cpel ? writing->options : is_arrow ? writing->arrow : merges;
}

/* ---- records as bytes ---- */

/* A given option that is only for events, or NULL. */
static const char *find_event_option(const struct writing *writing) {
  if (writing->has_format)
    return "to";
  if (writing->pipe.plugin)
    return "sink";
  return writing->cpel_option ? writing->cpel_option : tool_raw_event_option(&writing->pipe.input);
}

static void check_bytes(const struct writing *writing, struct argp_state *state) {
  const struct tool_input *input = &writing->pipe.input;
  const char *given = find_event_option(writing), *option = writing->bytes.records ? "--records" : "--by";
  bool is_described = input->key || input->as;
  if (writing->bytes.records && writing->bytes.by)
    argp_error(state, "--by and --records both choose the order of records; use one");
  else if (writing->bytes.records && is_described)
    argp_error(state, "--records and --description both define the records; use one");
  else if (writing->bytes.by && !is_described)
    argp_error(state, "--by needs a definition of the records (--description, --as)");
  else if (input->key && input->as)
    argp_error(state, "--description and --as both define the records; use one");
  else if (given)
    argp_error(state, "%s writes the bytes of records unchanged; --%s is for events", option, given);
}

static error_t parse_merge(int key, char *argument, struct argp_state *state) {
  struct writing *writing = state->input;
  switch (key) {
  case OPTION_BY: writing->bytes.by = argument; return 0;
  case OPTION_RECORDS: writing->bytes.records = argument; return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static error_t parse_fleet(int key, char *argument, struct argp_state *state) {
  struct writing *writing = state->input;
  switch (key) {
  case OPTION_CLUSTER: writing->fleet.cluster = argument; return 0;
  case OPTION_JOBS: writing->fleet.jobs = tool_jobs_parse(argument, state); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp fleet_parser = {.options = fleet_options, .parser = parse_fleet};
static const struct argp merge_parser = {.options = merge_options, .parser = parse_merge};

/* ---- command line ---- */

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct writing *writing = state->input;
  struct tool_pipe *pipe = &writing->pipe;
  switch (key) {
  case 'o': pipe->path = argument; return 0;
  case 'f':
  case 't': set_format(writing, state, argument); return 0;
  case OPTION_ENDIAN:
    if (tool_word(argument, (const char *const[]){"big", "little", NULL}) < 0)
      argp_error(state, "--endian is big or little, not \"%s\"", argument);
    add_option(writing, state, "endian", argument);
    return 0;
  case OPTION_SINK: tool_pipe_set_plugin(pipe, argument, state); return 0;
  case OPTION_VPP: add_option(writing, state, "for-vpp", NULL); return 0;
  case OPTION_TRACK:
    if (!*argument || strchr(argument, ','))
      argp_error(state, "--track is thread, cpu or a field, not \"%s\"", argument);
    add_option(writing, state, "track", argument);
    return 0;
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &pipe->input;
    state->child_inputs[1] = writing;
    return 0;
  case ARGP_KEY_END:
    if (!pipe->path || !*pipe->path)
      argp_error(state, "where to? (--output)");
    else if (writing->bytes.by || writing->bytes.records)
      check_bytes(writing, state);
    else {
      choose_fleet(writing, state);
      if (!writing->is_fleet)
        choose(writing, state);
    }
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static char *help_filter(int key, const char *text, void *input) {
  (void)input;
  return tool_help_table(key, text, "Formats:", list_convert_format);
}

static char *help_merge_filter(int key, const char *text, void *input) {
  (void)input;
  return tool_help_table(key, text, "Formats:", list_format);
}

static const struct argp_child children[] = {
    {&tool_input_options, 0, NULL, 0}, {&fleet_parser, 0, NULL, 0}, {0}};
static const struct argp_child merge_children[] = {
    {&tool_input_options, 0, NULL, 0}, {&merge_parser, 0, NULL, 0}, {0}};

int tool_write_run(int argc, char **argv, const char *doc, bool is_merge) {
  char *whole = NULL;
  struct writing writing = {.is_merge = is_merge};
  if (asprintf(&whole, "%s\v", doc) < 0) {
    tool_say("out of memory");
    return TOOL_FAILED;
  }
  const struct argp parser = {.children = is_merge ? merge_children : children,
                              .options = options,
                              .parser = parse,
                              .doc = whole,
                              .args_doc = "TRACE... --output OUT",
                              .help_filter = is_merge ? help_merge_filter : help_filter};
  tool_parse(&parser, argc, argv, 0, NULL, &writing);
  bool is_bytes = writing.bytes.by || writing.bytes.records;
  int status = is_bytes              ? tool_raw_merge(&writing.bytes, &writing.pipe.input, writing.pipe.path)
               : writing.is_fleet    ? tool_fleet_send(&writing.fleet)
               : writing.is_database ? tool_database_write(&writing.pipe.input, writing.pipe.path)
                                     : tool_pipe(&writing.pipe);
  tool_input_free(&writing.pipe.input);
  free(writing.options);
  free(whole);
  return status;
}
