/* SPDX-License-Identifier: MIT */
#include "tool/jobs_print.h"
#include "base/fail.h"
#include "print/out.h"
#include "trace/lookahead.h"
#include <errno.h>
#include <kymo/filter.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Written at once, as one job does. Some file systems take ten times as long for pieces of many megabytes. */
#define WRITE_BYTES KYMO_OUT_SIZE

struct text {
  char *bytes;
  size_t length, capacity;
};

/* What all jobs share; it belongs to the job that joins. */
struct shared {
  uint64_t out_bytes, err_bytes;
  bool has_last;   /* an event was printed … */
  bool ends_lossy; /* … and a loss after it */
  struct kymo_slice_place last;
};

/* Of a job. */
struct printer {
  struct kymo_trace *trace;
  const struct kymo_sink *sink;
  struct kymo_sink_options options;
  struct shared *shared;
  FILE *words_to;   /* the error stream */
  FILE *words_from; /* of a job, in which it is the error stream: sinks may print there */
  struct text *target;
  struct text text, scratch, words; /* of the slice; of single events; of the error stream */
  struct kymo_sink_state *state;
  int status;
  struct kymo_error error;
  /* of the slice */
  size_t omitted; /* bytes of `text` before the second event */
  size_t looked;  /* at whether it is its turn: the bytes of `text` then */
  bool is_joined; /* until now; its text is written at once */
  bool has_events, begins_lossy, ends_lossy;
  struct kymo_slice_place first, last;
};

/* ---- streams ---- */

static ssize_t add_text(struct text *text, const char *bytes, size_t size) {
  if (text->capacity - text->length < size) {
    size_t capacity = text->length + size > 2 * text->capacity ? text->length + size : 2 * text->capacity;
    char *more = realloc(text->bytes, capacity);
    if (!more) {
      errno = ENOMEM;
      return 0;
    }
    text->bytes = more;
    text->capacity = capacity;
  }
  memcpy(text->bytes + text->length, bytes, size);
  text->length += size;
  return (ssize_t)size;
}

/* Counts what is written, also if not everything can be. */
static bool write_all(int file, const char *bytes, size_t size, uint64_t *written) {
  while (size > 0) {
    ssize_t done = write(file, bytes, size < WRITE_BYTES ? size : WRITE_BYTES);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return false;
    bytes += done;
    size -= (size_t)done;
    *written += (uint64_t)done;
  }
  return true;
}

/* What is no longer right is not written. */
static ssize_t write_out(void *user, const char *bytes, size_t size) {
  struct printer *printer = user;
  if (!printer->is_joined || printer->target != &printer->text)
    return add_text(printer->target, bytes, size);
  bool is_written =
      tool_jobs_have_turn() && write_all(STDOUT_FILENO, bytes, size, &printer->shared->out_bytes);
  return is_written ? (ssize_t)size : 0;
}

static ssize_t write_words(void *user, const char *bytes, size_t size) {
  return add_text(&((struct printer *)user)->words, bytes, size);
}

static FILE *open_stream(void *user, cookie_write_function_t *write, cookie_close_function_t *close) {
  FILE *stream = fopencookie(user, "w", (cookie_io_functions_t){.write = write, .close = close});
  if (stream)
    setvbuf(stream, NULL, _IONBF, 0);
  return stream;
}

struct rest {
  FILE *to;
  uint64_t skipped; /* bytes that are still to be left out */
};

static ssize_t write_rest(void *user, const char *bytes, size_t size) {
  struct rest *rest = user;
  size_t first = rest->skipped < size ? (size_t)rest->skipped : size;
  rest->skipped -= first;
  if (first < size && fwrite(bytes + first, 1, size - first, rest->to) != size - first)
    return 0;
  return (ssize_t)size;
}

static int close_rest(void *user) { return fclose(((struct rest *)user)->to); }

/* The standard streams are open until the process ends, so what they need is never freed. */
FILE *tool_jobs_rest(FILE *to, uint64_t bytes) {
  static struct rest rests[2];
  static size_t count;
  if (count == sizeof rests / sizeof *rests)
    return NULL;
  rests[count] = (struct rest){to, bytes};
  return open_stream(&rests[count++], write_rest, close_rest);
}

/* ---- reading a slice ---- */

/* Prints up to two events by a sink of their own, and nothing else: the text is in `scratch`. */
static bool print_apart(struct printer *printer, const struct kymo_event *one,
                        const struct kymo_event *other) {
  struct kymo_sink_state *state = NULL;
  struct text *target = printer->target;
  printer->target = &printer->scratch;
  printer->scratch.length = 0;
  int status = printer->sink->begin(&state, printer->trace, &printer->options, &printer->error);
  if (status >= 0 && one)
    status = printer->sink->event(state, one, &printer->error);
  if (status >= 0 && other)
    status = printer->sink->event(state, other, &printer->error);
  int ended = printer->sink->end(state, &printer->error);
  printer->target = target;
  return status >= 0 && ended >= 0;
}

static void on_loss(void *user, const struct kymo_loss *loss) {
  struct printer *printer = user;
  printer->begins_lossy |= !printer->has_events;
  printer->ends_lossy = true;
  if (printer->status >= 0 && printer->sink->loss)
    printer->status = printer->sink->loss(printer->state, loss, &printer->error);
}

/* The text of slice 0 is whole. */
static bool note_first(struct printer *printer, const struct kymo_event *event, size_t slice) {
  printer->has_events = true;
  printer->first = kymo_slice_place_of(event);
  if (slice == 0)
    return true;
  bool is_printed = print_apart(printer, event, NULL);
  printer->omitted = printer->scratch.length;
  return is_printed;
}

/* Prints the first event after the last one before the slice. */
static bool write_first(struct printer *printer) {
  struct shared *shared = printer->shared;
  struct kymo_trace *readers[2] = {NULL, NULL};
  const struct kymo_event *before = NULL, *first = NULL;
  bool is_good = !shared->has_last || kymo_slice_read(printer->trace, &shared->last, &readers[0], &before,
                                                      &printer->error) == KYMO_OK;
  is_good =
      is_good &&
      kymo_slice_read(printer->trace, &printer->first, &readers[1], &first, &printer->error) == KYMO_OK &&
      print_apart(printer, before, NULL);
  size_t omitted = printer->scratch.length;
  is_good = is_good && print_apart(printer, before, first) &&
            write_all(STDOUT_FILENO, printer->scratch.bytes + omitted, printer->scratch.length - omitted,
                      &shared->out_bytes);
  kymo_lookahead_free(readers[0]);
  kymo_lookahead_free(readers[1]);
  return is_good;
}

/* At its turn, writes what it has printed until now. A sink may remember more of a loss than of an event:
 * none may be where two slices meet. */
static bool join_text(struct printer *printer, size_t slice) {
  struct shared *shared = printer->shared;
  if (slice > 0 && (printer->begins_lossy || (shared->ends_lossy && printer->has_events)))
    return false;
  if (slice > 0 && !printer->has_events)
    return true;
  if (slice > 0 && !write_first(printer))
    return false;
  printer->is_joined = true;
  return write_all(STDOUT_FILENO, printer->text.bytes + printer->omitted,
                   printer->text.length - printer->omitted, &shared->out_bytes);
}

/* The text that comes after its turn has come need not be kept in memory, and the next slice, which another
 * job reads meanwhile, waits for less. */
static bool join_early(struct printer *printer, size_t slice) {
  if (printer->is_joined || printer->text.length <= printer->omitted ||
      printer->text.length == printer->looked)
    return true;
  printer->looked = printer->text.length;
  return !tool_jobs_have_turn() || join_text(printer, slice);
}

static bool print_events(struct printer *printer, size_t slice) {
  const struct kymo_event *event;
  int status;
  while ((status = kymo_trace_next_filtered(printer->trace, &event, &printer->error)) == KYMO_OK) {
    if (printer->status < 0 || (!printer->has_events && !note_first(printer, event, slice)) ||
        !join_early(printer, slice))
      return false;
    printer->last = kymo_slice_place_of(event);
    printer->ends_lossy = false;
    printer->status = printer->sink->event(printer->state, event, &printer->error);
  }
  return status == KYMO_END && printer->status >= 0;
}

static bool read_slice(void *user, size_t slice) {
  struct printer *printer = user;
  stderr = printer->words_from;
  printer->text.length = printer->words.length = printer->omitted = printer->looked = 0;
  printer->is_joined = false;
  printer->has_events = printer->begins_lossy = printer->ends_lossy = false;
  printer->target = &printer->text;
  printer->status = printer->sink->begin(&printer->state, printer->trace, &printer->options, &printer->error);
  bool is_read = printer->status >= 0 && print_events(printer, slice);
  int ended = printer->sink->end(printer->state, &printer->error);
  printer->state = NULL;
  return is_read && ended >= 0;
}

/* ---- joining ---- */

static bool join_slice(void *user, size_t slice) {
  struct printer *printer = user;
  struct shared *shared = printer->shared;
  if (!printer->is_joined && !join_text(printer, slice))
    return false;
  if (slice > 0 && !printer->has_events)
    return true;
  if (printer->words.length)
    fwrite(printer->words.bytes, 1, printer->words.length, printer->words_to);
  shared->err_bytes += printer->words.length;
  shared->has_last |= printer->has_events;
  shared->ends_lossy = printer->ends_lossy;
  if (printer->has_events)
    shared->last = printer->last;
  return true;
}

/* ---- the command ---- */

/* Sinks whose text of an event depends on nothing but the event and the one before, and which print nothing
 * at the end. */
static bool can_print(const struct kymo_sink *sink) {
  static const char *const names[] = {"text", "json", "csv", "babeltrace2"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (sink == kymo_sink_find(names[i]))
      return true;
  return false;
}

static bool is_file(int file) {
  struct stat info;
  return fstat(file, &info) == 0 && S_ISREG(info.st_mode);
}

static enum tool_jobs_result print(struct tool_printing *printing, unsigned jobs,
                                   const struct kymo_slices *slices) {
  struct printer printer = {.trace = printing->trace,
                            .sink = printing->sink,
                            .options = *printing->options,
                            .shared = tool_jobs_share(sizeof *printer.shared),
                            .words_to = stderr};
  enum tool_jobs_result result = TOOL_JOBS_UNDONE;
  FILE *out = open_stream(&printer, write_out, NULL), *words = open_stream(&printer, write_words, NULL);
  if (printer.shared && out && words) {
    printer.options.out = out;
    printer.words_from = words;
    kymo_trace_set_loss_handler(printing->trace, on_loss, &printer);
    result = tool_jobs_run(printing->trace, slices, jobs,
                           &(struct tool_job_work){.read = read_slice, .join = join_slice, .user = &printer});
    kymo_trace_set_loss_handler(printing->trace, NULL, NULL);
    printing->out_bytes = printer.shared->out_bytes;
    printing->err_bytes = printer.shared->err_bytes;
  }
  if (printer.shared)
    munmap(printer.shared, sizeof *printer.shared);
  if (out)
    fclose(out);
  if (words)
    fclose(words);
  return result;
}

enum tool_jobs_result tool_jobs_print(struct tool_printing *printing) {
  unsigned jobs = printing->jobs ? printing->jobs : tool_jobs_usual();
  struct kymo_slices slices = {.count = 0};
  printing->out_bytes = printing->err_bytes = 0;
  if (jobs < 2 || !can_print(printing->sink) || isatty(STDOUT_FILENO) ||
      (!printing->jobs && !is_file(STDOUT_FILENO)))
    return TOOL_JOBS_NONE;
  bool is_planned = tool_jobs_plan(&slices, printing->trace, jobs, printing->jobs != 0, true);
  enum tool_jobs_result result = is_planned ? print(printing, jobs, &slices) : TOOL_JOBS_NONE;
  kymo_slices_free(&slices);
  return result;
}
