/* SPDX-License-Identifier: MIT */
#include "tool/jobs_count.h"
#include "stat/spill.h"
#include <fcntl.h>
#include <kymo/filter.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a job. */
struct counter {
  struct kymo_trace *trace;
  struct kymo_tally *tally;
  struct kymo_strbuf text; /* of the slice */
  int file;                /* temporary; of all jobs, which write in their turn */
};

static bool read_slice(void *user, size_t slice) {
  struct counter *counter = user;
  const struct kymo_event *event;
  struct kymo_error error;
  int status, taken = KYMO_OK;
  (void)slice;
  kymo_tally_clear(counter->tally);
  while (taken == KYMO_OK && (status = kymo_trace_next_filtered(counter->trace, &event, &error)) == KYMO_OK) {
    if (kymo_groups_are_full(&counter->tally->groups))
      return false;
    taken = kymo_tally_count(counter->tally, event);
  }
  counter->text.length = 0;
  kymo_tally_save(counter->tally, &counter->text);
  return taken == KYMO_OK && status == KYMO_END && !counter->text.failed;
}

static bool join_slice(void *user, size_t slice) {
  const struct counter *counter = user;
  size_t done = 0;
  (void)slice;
  while (done < counter->text.length) {
    ssize_t size = write(counter->file, counter->text.text + done, counter->text.length - done);
    if (size <= 0)
      return false;
    done += (size_t)size;
  }
  return true;
}

static int open_file(void) {
  const char *folder = getenv("TMPDIR");
  struct kymo_strbuf name = {0};
  kymo_strbuf_printf(&name, "%s/kymo.XXXXXX", folder && *folder ? folder : "/var/tmp");
  int file = name.failed ? -1 : mkostemp(name.text, O_CLOEXEC);
  if (file >= 0)
    unlink(name.text);
  kymo_strbuf_free(&name);
  return file;
}

/* Adds what the jobs have written. */
static bool take(struct kymo_tally *tally, int file) {
  struct stat info;
  if (fstat(file, &info) != 0)
    return false;
  size_t size = (size_t)info.st_size, done = 0;
  uint8_t *bytes = malloc(size + 1);
  while (bytes && done < size) {
    ssize_t got = pread(file, bytes + done, size - done, (off_t)done);
    if (got <= 0)
      break;
    done += (size_t)got;
  }
  bool is_taken = bytes && done == size && kymo_tally_add(tally, bytes, size) == KYMO_OK;
  free(bytes);
  return is_taken;
}

enum tool_jobs_result tool_jobs_count(struct kymo_trace *trace, struct kymo_tally *tally, unsigned jobs) {
  unsigned count = jobs ? jobs : tool_jobs_usual();
  struct counter counter = {.trace = trace, .tally = tally, .file = -1};
  struct kymo_slices slices;
  const struct tool_job_work work = {.read = read_slice, .join = join_slice, .user = &counter};
  enum tool_jobs_result result = TOOL_JOBS_NONE;
  if (tool_jobs_plan(&slices, trace, count, jobs != 0, false) && (counter.file = open_file()) >= 0)
    result = tool_jobs_run(trace, &slices, count, &work);
  if (result == TOOL_JOBS_DONE && !take(tally, counter.file)) {
    kymo_tally_clear(tally);
    result = TOOL_JOBS_UNDONE;
  }
  if (counter.file >= 0)
    close(counter.file);
  kymo_slices_free(&slices);
  return result;
}
