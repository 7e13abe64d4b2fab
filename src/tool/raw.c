/* SPDX-License-Identifier: MIT */
#include "tool/raw.h"
#include "records/records.h"

const char *tool_raw_event_option(const struct tool_input *input) {
  const struct {
    bool is_given;
    const char *name;
  } all[] = {
      {input->begin != NULL, "begin"},
      {input->end != NULL, "end"},
      {input->intersect, "stream-intersection"},
      {input->events.count != 0, "event"},
      {input->filter != NULL, "filter"},
      {input->filter_file != NULL, "filter-file"},
      {input->clock_offsets.count != 0, "clock-offset"},
      {input->clock_offsets_ns.count != 0, "clock-offset-ns"},
      {input->force_correlate, "force-correlate"},
      {input->cpel_clock != NULL, "cpel-clock"},
      {input->gist_header != NULL, "gist-header"},
      {input->gist_clock != 0, "gist-clock"},
      {input->follow, "follow"},
      {input->hold != NULL, "hold"},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].is_given)
      return all[i].name;
  return NULL;
}

static void warn(void *user, const char *text) {
  (void)user;
  tool_say("%s", text);
}

static int merge(const struct records_job *job) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  bool is_damaged = false;
  int status = kymo_records_merge(job, &is_damaged, &error);
  char text[2048];
  if (status >= 0)
    return is_damaged ? TOOL_DAMAGED : TOOL_OK;
  bool is_by = status == KYMO_E_USAGE && !job->plugin;
  tool_say("%s%s", is_by ? "--by: " : "", kymo_error_text(&error, text, sizeof text));
  return status == KYMO_E_USAGE ? TOOL_USAGE : TOOL_FAILED;
}

static struct records_job job_of(const struct tool_input *input, const char *path) {
  return (struct records_job){.paths = input->paths,
                              .count = input->count,
                              .description = input->key,
                              .as = input->as,
                              .out = path,
                              .warn = input->quiet ? NULL : warn};
}

int tool_raw_show(const char *plugin, const struct tool_input *input) {
  struct records_job job = job_of(input, "-");
  job.plugin = plugin;
  job.is_shown = true;
  return merge(&job);
}

int tool_raw_merge(const struct tool_raw *raw, const struct tool_input *input, const char *path) {
  struct records_job job = job_of(input, path);
  job.plugin = raw->records;
  job.by = raw->by;
  return merge(&job);
}
