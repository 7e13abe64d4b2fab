/* SPDX-License-Identifier: MIT */
#include "tool/view_traces.h"
#include "base/fail.h"
#include "live/client.h"
#include "live/find.h"
#include "tool/offsets.h"
#include "tool/rings.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int open_traces(void *user, bool is_live, struct kymo_trace **out, struct kymo_error *error) {
  struct tool_traces *traces = user;
  struct tool_input input = traces->input;
  struct kymo_error why = {.offset = KYMO_ERROR_NO_OFFSET};
  char text[2048];
  input.follow = is_live;
  input.why = &why;
  traces->status = tool_open(out, &input);
  traces->input.quiet = true; /* what there is to say of them is said */
  if (traces->status == TOOL_OK)
    return KYMO_OK;
  traces->is_said = true;
  if (!*why.message)
    return kymo_fail(error, KYMO_E_SYSTEM, "the traces cannot be opened; the terminal of kymo view says why");
  return kymo_fail(error, KYMO_E_SYSTEM, "%s", kymo_error_text(&why, text, sizeof text));
}

/* A word that is a process, and no file: what it records is followed. */
static bool is_live(const struct tool_input *input) {
  for (size_t i = 0; i < input->count; i++)
    if (tool_rings_may_name(input->paths[i]))
      return true;
  return input->follow;
}

static char *text_of(struct kymo_strbuf *text) {
  kymo_strbuf_add(text, "", 0); /* a text of nothing is one too */
  if (text->failed || !text->text)
    tool_end_without_memory();
  for (char *at = text->text; *at; at++)
    if (*at == '\f')
      *at = ' ';
  return text->text;
}

/* The command that prints the events that are shown. */
static char *command_of(const struct tool_input *input) {
  struct kymo_strbuf text = {0};
  tool_input_command(&text, input);
  for (size_t i = 0; i < input->events.count; i++)
    tool_input_option(&text, "--event", input->events.list[i]);
  tool_input_option(&text, "--begin", input->begin);
  tool_input_option(&text, "--end", input->end);
  tool_input_option(&text, "--filter", input->filter);
  tool_input_option(&text, "--filter-file", input->filter_file);
  return text_of(&text);
}

/* The options that decide what is read of the files, and when it was. The traces say by which descriptions
 * they are read. Returns an exit status; reports the reason on failure. */
static int take_options(struct tool_traces *traces) {
  const struct tool_input *input = &traces->input;
  struct kymo_strbuf text = {0};
  int64_t *offsets_ns = NULL;
  int status = tool_offsets_make(&offsets_ns, input);
  for (size_t i = 0; i < input->count && offsets_ns; i++)
    kymo_strbuf_printf(&text, "%" PRId64 " ", offsets_ns[i]);
  free(offsets_ns);
  if (status != TOOL_OK)
    return status;
  kymo_strbuf_printf(&text, "\n%d %" PRIu64, input->force_correlate, input->gist_clock);
  tool_input_option(&text, "--cpel-clock", input->cpel_clock);
  for (size_t i = 0; i < input->events.count; i++)
    tool_input_option(&text, "--event", input->events.list[i]);
  traces->read_options = text_of(&text);
  return TOOL_OK;
}

static char *title_of(const struct tool_input *input) {
  struct kymo_strbuf text = {0};
  for (size_t i = 0; i < input->count; i++) {
    const char *path = input->paths[i], *slash = strrchr(path, '/');
    kymo_strbuf_printf(&text, "%s%s", i ? ", " : "", slash && slash[1] ? slash + 1 : path);
  }
  return text_of(&text);
}

/* Names and numbers of processes become the directories of their rings: another process of the name may begin
 * while this one is looked at, and its rings are still there when it has ended. Words that name no process
 * stay; opening them reports the reason. TOOL_USAGE if a name has several. */
static int resolve(struct tool_traces *traces) {
  struct tool_input *input = &traces->input;
  struct kymo_hint hint;
  struct kymo_error error;
  char path[KYMO_PATH_MAX];
  traces->resolved = calloc(input->count + 1, sizeof *traces->resolved);
  if (!traces->resolved)
    tool_end_without_memory();
  for (size_t i = 0; i < input->count; i++) {
    const char *word = input->paths[i];
    int pid = tool_rings_may_name(word) ? kymo_pid_of(word) : 0, status = TOOL_FAILED;
    if (pid > 0)
      status = kymo_find_pool(path, pid, &error) == KYMO_OK ? TOOL_OK : TOOL_FAILED;
    else if (pid < 0)
      status = tool_rings_named(path, word, true, &hint);
    if (status == TOOL_USAGE)
      return TOOL_USAGE;
    traces->resolved[i] = strdup(status == TOOL_OK ? path : word);
    if (!traces->resolved[i])
      tool_end_without_memory();
  }
  traces->words = input->paths;
  input->paths = (const char **)traces->resolved;
  return TOOL_OK;
}

int tool_traces_prepare(struct tool_traces *traces, const struct tool_traces_options *options) {
  struct tool_input *input = &traces->input;
  bool follows = is_live(input);
  traces->command = command_of(input);
  traces->title = title_of(input);
  int status = resolve(traces);
  if (status == TOOL_OK)
    status = take_options(traces);
  if (status != TOOL_OK)
    return status;
  traces->options = (struct view_options){.open = open_traces,
                                          .user = traces,
                                          .paths = input->paths,
                                          .path_count = input->count,
                                          .identity = traces->read_options,
                                          .by = options->by,
                                          .field = options->field,
                                          .is_live = follows,
                                          .is_kept = !follows && options->is_kept};
  return TOOL_OK;
}

void tool_traces_free(struct tool_traces *traces) {
  for (size_t i = 0; traces->resolved && traces->resolved[i]; i++)
    free(traces->resolved[i]);
  free(traces->resolved);
  free(traces->read_options);
  free(traces->command);
  free(traces->title);
  free(traces->own);
}
