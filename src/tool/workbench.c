/* SPDX-License-Identifier: MIT */
/* The page around the records: what it is of, what does not fit, and the description. */
#include "tool/workbench.h"
#include "base/list.h"
#include "tool/tool.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the description ---- */

/* Where its lines are. */
static void find_lines(struct workbench *bench, uint32_t size) {
  uint32_t capacity = 0;
  for (uint32_t at = 0; at < size;) {
    const char *end = memchr(bench->source + at, '\n', size - at);
    uint32_t to = end ? (uint32_t)(end - bench->source) : size;
    if (!KYMO_LIST_ROOM(bench->lines, capacity, bench->line_count))
      tool_end_without_memory();
    bench->lines[bench->line_count++] = (struct workbench_line){.begin = at, .end = to};
    at = to + 1;
  }
}

void workbench_begin(struct workbench *bench, struct kymo_look *look) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  const struct kymo_plan *plan = look->plan;
  bench->look = look;
  if (plan->root->source != KYMO_PLAN_NONE) {
    const struct kymo_plan_text *text = &plan->texts[plan->root->source];
    bench->source = (const char *)plan->bytes + text->offset;
    find_lines(bench, text->size);
  }
  int status = kymo_tdl_origins_find(&bench->origins, plan, &error);
  if (status == KYMO_E_MEMORY)
    tool_end_without_memory();
  if (status != KYMO_OK)
    snprintf(bench->why, sizeof bench->why, "%.*s", (int)sizeof bench->why - 1, error.message);
}

void workbench_end(struct workbench *bench) {
  kymo_tdl_origins_free(&bench->origins);
  free(bench->lines);
  kymo_strbuf_free(&bench->hex);
  kymo_strbuf_free(&bench->tree);
  kymo_strbuf_free(&bench->problems);
}

static void put_text(FILE *file, const char *text, size_t size) {
  struct kymo_strbuf out = {0};
  workbench_add_text(&out, text, size);
  if (out.failed)
    tool_end_without_memory();
  if (out.text)
    fputs(out.text, file);
  kymo_strbuf_free(&out);
}

static void put_line(FILE *file, const struct workbench *bench, uint32_t number) {
  const struct workbench_line *line = &bench->lines[number - 1];
  fprintf(file,
          "<div class=\"line%s\" role=\"option\" aria-selected=\"false\" tabindex=\"-1\" data-line=\"%" PRIu32
          "\">"
          "<span class=\"number\">%" PRIu32 "</span> ",
          line->is_faulty ? " fault" : "", number, number);
  if (line->is_faulty)
    fputs("<span class=\"uses\">\xE2\x9C\x97</span> ", file);
  else if (line->fields)
    fprintf(file, "<span class=\"uses\">%" PRIu32 "\xC3\x97</span> ", line->fields);
  else
    fputs("<span class=\"uses\"></span> ", file);
  fputs("<code>", file);
  put_text(file, bench->source + line->begin, line->end - line->begin);
  fputs("</code></div>\n", file);
}

static void put_description(FILE *file, const struct workbench *bench) {
  uint32_t count = bench->line_count < WORKBENCH_LINES_MAX ? bench->line_count : WORKBENCH_LINES_MAX;
  fputs("<section class=\"pane\" aria-labelledby=\"h3\">\n<h2 id=\"h3\">Description</h2>\n", file);
  if (*bench->why) {
    fputs("<p class=\"note\">The lines of fields are not known: ", file);
    put_text(file, bench->why, strlen(bench->why));
    fputs(".</p>\n", file);
  }
  if (count == 0) {
    fputs("</section>\n", file);
    return;
  }
  fputs("<div class=\"source scroll\" id=\"source\" role=\"listbox\" aria-multiselectable=\"true\" "
        "aria-label=\"Lines of the description\">\n",
        file);
  for (uint32_t i = 1; i <= count; i++)
    put_line(file, bench, i);
  fputs("</div>\n", file);
  if (count < bench->line_count)
    fprintf(file, "<p class=\"note\">%" PRIu32 " more lines are not shown.</p>\n", bench->line_count - count);
  fputs("</section>\n", file);
}

/* ---- the head ---- */

static void put_head(FILE *file, const struct workbench_page *page) {
  fprintf(file,
          "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src '%s'; "
          "style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>",
          workbench_script_hash, workbench_style_hash);
  put_text(file, page->path, strlen(page->path));
  fprintf(file, "</title>\n<style>%s</style>\n</head>\n<body>\n<header>\n<h1>", workbench_style);
  put_text(file, page->path, strlen(page->path));
  fputs("</h1>\n<p>Read by the description <b>", file);
  put_text(file, page->trace, strlen(page->trace));
  fprintf(
      file,
      "</b>. A click on bytes, on a field or on a line of the description marks the others; so do the arrow "
      "keys. Enter goes to the line, and from a line to its field.</p>\n");
  if (page->is_late || page->is_cut)
    fprintf(
        file,
        "<p class=\"note\" id=\"cut\">Not the whole file: records%s%s%s one here are not shown. --limit says "
        "how many records are shown, --record, --offset and --begin where they begin.</p>\n",
        page->is_late ? " before the first" : "", page->is_late && page->is_cut ? " and" : "",
        page->is_cut ? " after the last" : "");
  fputs("<p id=\"state\" role=\"status\">Nothing is marked.</p>\n</header>\n", file);
}

static void put_problems(FILE *file, const struct workbench *bench) {
  fputs("<section class=\"problems\" aria-labelledby=\"h0\">\n<h2 id=\"h0\">What does not fit</h2>\n", file);
  if (bench->problem_count == 0)
    fputs("<p>Nothing: each record that is shown is as described.</p>\n", file);
  else
    fprintf(file, "<ol>\n%s</ol>\n", bench->problems.text);
  if (bench->problem_count > WORKBENCH_PROBLEMS_MAX)
    fprintf(file, "<p class=\"note\">%" PRIu64 " more are not listed.</p>\n",
            bench->problem_count - WORKBENCH_PROBLEMS_MAX);
  fputs("</section>\n", file);
}

static void check_memory(const struct workbench *bench) {
  if (bench->hex.failed || bench->tree.failed || bench->problems.failed)
    tool_end_without_memory();
}

int workbench_put(FILE *file, const void *user) {
  const struct workbench_page *page = user;
  const struct workbench *bench = page->bench;
  check_memory(bench);
  put_head(file, page);
  put_problems(file, bench);
  fprintf(file,
          "<main>\n<section class=\"pane\" aria-labelledby=\"h1\">\n<h2 id=\"h1\">Bytes</h2>\n"
          "<div class=\"hex scroll\" id=\"hex\" role=\"listbox\" aria-multiselectable=\"true\" "
          "aria-label=\"Bytes\">\n%s</div>\n</section>\n",
          bench->hex.text ? bench->hex.text : "");
  fprintf(file,
          "<section class=\"pane\" aria-labelledby=\"h2\">\n<h2 id=\"h2\">Fields</h2>\n"
          "<ul class=\"tree scroll\" id=\"tree\" role=\"tree\" aria-multiselectable=\"true\" "
          "aria-label=\"Records and their fields\">\n%s</ul>\n</section>\n",
          bench->tree.text ? bench->tree.text : "");
  put_description(file, bench);
  fprintf(file, "</main>\n<script>%s</script>\n</body>\n</html>\n", workbench_script);
  return KYMO_OK;
}

void workbench_print(const struct workbench *bench) {
  check_memory(bench);
  printf("<div class=\"kymo-record\">\n%s%s</div>\n", bench->hex.text ? bench->hex.text : "",
         bench->tree.text ? bench->tree.text : "");
}
