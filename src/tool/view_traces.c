/* SPDX-License-Identifier: MIT */
#include "tool/view_traces.h"
#include "base/fail.h"
#include "live/client.h"
#include "live/find.h"
#include "tool/rings.h"
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

/* All that decides what is read of the files. */
static char *identity_of(const struct tool_input *input) {
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
  size_t count = 0;
  traces->identity = identity_of(input);
  traces->title = title_of(input);
  int status = resolve(traces);
  if (status != TOOL_OK)
    return status;
  traces->paths = calloc(input->count + 2, sizeof *traces->paths);
  if (!traces->paths)
    tool_end_without_memory();
  for (size_t i = 0; i < input->count; i++)
    traces->paths[count++] = input->paths[i];
  if (input->key)
    traces->paths[count++] = input->key;
  if (input->gist_header)
    traces->paths[count++] = input->gist_header;
  traces->options = (struct view_options){.open = open_traces,
                                          .user = traces,
                                          .paths = traces->paths,
                                          .path_count = count,
                                          .identity = traces->identity,
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
  free(traces->paths);
  free(traces->identity);
  free(traces->title);
  free(traces->own);
}
