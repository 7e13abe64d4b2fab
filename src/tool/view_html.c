/* SPDX-License-Identifier: MIT */
/*
 * The page with the events in it: index.html of the bundle, in which style and script take the places of
 * their links, after the data as JSON. The data are what the server would say (serve/json.h), and each event
 * with its text and fields:
 *
 *   {"state":{…},"tracks":[…],"kinds":[…],"spanKinds":[…],"losses":[…],"problems":[…],
 *    "spans":[{"track":0,"lane":0,"begin":"…","duration":"…","kind":0},…],
 *    "events":[{"number":"1","time":"…","track":0,"kind":0,"text":"…","fields":[["path","text"],…]},…]}
 *
 * It is read by two passes: one builds the index, the other one takes the texts.
 */
#include "tool/view_html.h"
#include "print/json_writer.h"
#include "serve/serve.h"
#include "tool/html_data.h"
#include "tool/page_file.h"
#include "tool/tool.h"
#include <inttypes.h>
#include <string.h>

/* ---- the page ---- */

static const struct serve_asset *find_asset(const char *path) {
  const struct serve_asset *asset = serve_assets;
  while (asset->path && strcmp(asset->path, path) != 0)
    asset++;
  return asset;
}

static void put_asset(FILE *file, const char *before, const char *path, const char *after) {
  const struct serve_asset *asset = find_asset(path);
  fputs(before, file);
  fwrite(asset->bytes, 1, asset->size, file);
  fputs(after, file);
}

/* What a page without a server may do: nothing but run itself. */
static const char policy[] = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                             "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
                             "base-uri 'none'; form-action 'none'\">\n<link rel=\"icon\" href=\"data:,\">";

static int put_data(FILE *file, const struct html_data *data) {
  fputs("<script type=\"application/json\" id=\"data\">", file);
  int status = html_data_write(data, file);
  put_asset(file, "</script>\n<script>\n", "/kymo.js", "\n</script>\n</body>");
  return status;
}

/* Copies the page; each of these texts is in it once, in this order, and is replaced. */
static int put_page(FILE *file, const void *user) {
  const struct html_data *data = user;
  static const char *const places[] = {"<link rel=\"icon\" href=\"icon.svg\">",
                                       "<link rel=\"stylesheet\" href=\"kymo.css\">",
                                       "<script src=\"kymo.js\" defer></script>", "</body>"};
  const struct serve_asset *page = find_asset("/");
  const char *at = (const char *)page->bytes, *end = at + page->size;
  int status = KYMO_OK;
  for (size_t i = 0; i < sizeof places / sizeof *places && status == KYMO_OK; i++) {
    const char *place = memmem(at, (size_t)(end - at), places[i], strlen(places[i]));
    if (!place) {
      tool_say("the page has no %s", places[i]);
      return KYMO_E_FORMAT;
    }
    fwrite(at, 1, (size_t)(place - at), file);
    at = place + strlen(places[i]);
    if (i == 0)
      fputs(policy, file);
    else if (i == 1)
      put_asset(file, "<style>\n", "/kymo.css", "\n</style>");
    else if (i == 3)
      status = put_data(file, data);
  }
  fwrite(at, 1, (size_t)(end - at), file);
  return status;
}

/* ---- the file ---- */

/* What the traces lack, as other commands report it. The index and the texts are of two passes, in each of
 * which something may have been unreadable. */
static int report(const struct html_data *data) {
  bool is_quiet = data->is_quiet, is_damaged = false;
  struct view_problem problem;
  for (size_t i = 0; kymo_trace_damage_count(data->trace) == 0 && view_problem(data->view, i, &problem);
       i++) {
    is_damaged = true;
    if (!is_quiet)
      tool_say("%s: %s", problem.path, problem.message);
  }
  int result = tool_end_trace(data->trace, is_quiet, TOOL_LOSSES_SAY);
  return result == TOOL_OK && is_damaged ? TOOL_DAMAGED : result;
}

int tool_view_html(const char *path, const struct tool_traces *traces, bool is_quiet) {
  struct html_data data = {.options = &traces->options,
                           .file_count = traces->input.count,
                           .title = traces->title,
                           .command = traces->command,
                           .is_quiet = is_quiet};
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  int status = html_data_begin(&data, &error), result = TOOL_OK;
  if (status != KYMO_OK) {
    if (*error.message && !traces->is_said)
      tool_say_error(&error);
    result = traces->is_said ? traces->status : status == KYMO_E_USAGE ? TOOL_USAGE : TOOL_FAILED;
  } else if (data.events > HTML_EVENTS_MAX) {
    tool_say("%s: %" PRIu64 " events, expected at most %d; --begin, --end and --filter select fewer", path,
             data.events, HTML_EVENTS_MAX);
    result = TOOL_FAILED;
  } else if (data.spans > HTML_EVENTS_MAX) {
    tool_say("%s: %" PRIu64 " spans, expected at most %d; --begin and --end select fewer", path, data.spans,
             HTML_EVENTS_MAX);
    result = TOOL_FAILED;
  } else {
    result = tool_page_file(path, put_page, &data);
    result = result == TOOL_OK ? report(&data) : result;
  }
  html_data_end(&data);
  return result;
}
