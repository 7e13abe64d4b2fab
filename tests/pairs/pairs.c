/* SPDX-License-Identifier: MIT */
/*
 * Reads the paths of traces, one a line, and prints pairs of them in every format: all formats must show as
 * many events, losses and packets. Traces before the first empty line make pairs with themselves and with
 * each other; each trace after it makes pairs with every STRIDE-th of them. Traces that cannot be opened, or
 * have more than MOST events, take no part.
 *
 *   pairs DIRECTORY WRITTEN THIRDS    DIRECTORY is empty; every WRITTEN-th pair is written as traces too,
 *                                     which are read again. THIRDS: how many thirds of the pairs of
 *                                     different traces before the empty line are made
 *
 * Prints what differs, then how many pairs there were; 1 if something differed.
 */
#include <ftw.h>
#include <kymo/sink.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 3000
#define TRACES 2000
#define STRIDE 53

struct counts {
  uint64_t events, losses, packets;
};

/* The results of one reading: what the library delivers, and what the sink prints. */
struct reading {
  const struct kymo_sink *sink;
  struct kymo_sink_state *state;
  struct kymo_error error;
  struct counts delivered;
  int status;
};

static char *traces[TRACES];
static size_t trace_count, whole_count; /* the first `whole_count` make all pairs */
static uint64_t pair_count, written_count;
static FILE *words; /* means the standard error stream */

/* ---- counting what was printed ---- */

static bool begins(const char *line, const char *with) { return strncmp(line, with, strlen(with)) == 0; }

/* Lines of text, and the counts that the function finds in them. */
static void count_lines(const char *text, void (*look)(const char *line, struct counts *counts),
                        struct counts *counts) {
  for (const char *line = text; *line;) {
    const char *end = strchr(line, '\n');
    look(line, counts);
    line = end ? end + 1 : line + strlen(line);
  }
}

static void look_text(const char *line, struct counts *counts) {
  if (*line != '#')
    counts->events++;
  else
    counts->losses += begins(line, "# lost ") || begins(line, "# perhaps lost ");
}

static void look_json(const char *line, struct counts *counts) {
  *(begins(line, "{\"lost\"") ? &counts->losses : &counts->events) += 1;
}

static void look_generic(const char *line, struct counts *counts) {
  if (begins(line, "events_processed: "))
    return;
  bool is_loss = begins(line, "events_lost: ") || begins(line, "packets_lost: ");
  *(is_loss ? &counts->losses : &counts->events) += 1;
}

static void look_line(const char *line, struct counts *counts) {
  (void)line;
  counts->events++;
}

static void look_details(const char *line, struct counts *counts) {
  counts->events += begins(line, "Event ");
  counts->losses += begins(line, "Discarded ");
  counts->packets += begins(line, "Packet beginning");
}

static void look_words(const char *line, struct counts *counts) {
  counts->losses += begins(line, "lost ") || begins(line, "WARNING: Tracer ");
}

/* Rows after the first one; quoted cells may contain line breaks. */
static uint64_t count_rows(const char *text) {
  bool is_quoted = false;
  uint64_t rows = 0;
  for (; *text; text++) {
    is_quoted ^= *text == '"';
    rows += *text == '\n' && !is_quoted;
  }
  return rows > 0 ? rows - 1 : 0;
}

static struct counts count_printed(const char *format, const char *text) {
  struct counts counts = {0};
  if (strcmp(format, "csv") == 0)
    counts.events = count_rows(text);
  else
    count_lines(text,
                begins(format, "details")        ? look_details
                : strcmp(format, "text") == 0    ? look_text
                : strcmp(format, "json") == 0    ? look_json
                : strcmp(format, "generic") == 0 ? look_generic
                                                 : look_line,
                &counts);
  return counts;
}

static uint64_t count_words(void) {
  static char line[65536];
  struct counts counts = {0};
  rewind(words);
  while (fgets(line, sizeof line, words))
    look_words(line, &counts);
  rewind(words);
  if (ftruncate(fileno(words), 0) != 0)
    exit(2);
  return counts.losses;
}

/* ---- reading ---- */

static void on_loss(void *user, const struct kymo_loss *loss) {
  struct reading *reading = user;
  reading->delivered.losses++;
  if (reading->sink->loss && reading->status >= 0)
    reading->status = reading->sink->loss(reading->state, loss, &reading->error);
}

static void on_boundary(void *user, const struct kymo_boundary *boundary) {
  struct reading *reading = user;
  reading->delivered.packets += boundary->kind == KYMO_BOUNDARY_PACKET_BEGIN;
  if (reading->status >= 0)
    reading->status = reading->sink->boundary(reading->state, boundary, &reading->error);
}

/* Opens and reads it all. NULL: it could not be opened. */
static bool read_all(struct reading *reading, const char *const *paths, size_t count, const char *options,
                     FILE *out, const char *path) {
  struct kymo_trace *trace;
  const struct kymo_event *event;
  const struct kymo_sink *sink = reading->sink;
  struct kymo_trace_options open = {.force_correlate = true,
                                    .as_babeltrace2 = sink && sink->as_babeltrace2,
                                    .unmerged = sink && sink->unmerged};
  struct kymo_sink_options with = {
      .size = sizeof with, .out = out, .path = path, .text = options, .paths = paths, .path_count = count};
  if (kymo_trace_open(&trace, paths, count, &open, &reading->error) != KYMO_OK)
    return false;
  if (sink)
    reading->status = sink->begin(&reading->state, trace, &with, &reading->error);
  kymo_trace_set_loss_handler(trace, sink ? on_loss : NULL, reading);
  kymo_trace_set_boundary_handler(trace, sink && sink->boundary ? on_boundary : NULL, reading);
  while (reading->status >= 0 && kymo_trace_next(trace, &event, &reading->error) == KYMO_OK) {
    reading->delivered.events++;
    if (sink && reading->status >= 0)
      reading->status = sink->event(reading->state, event, &reading->error);
  }
  if (sink) {
    int ended = sink->end(reading->state, &reading->error);
    reading->status = reading->status < 0 ? reading->status : ended;
  }
  kymo_trace_close(trace);
  return true;
}

static uint64_t count_alone(const char *path) {
  struct reading reading = {0};
  return read_all(&reading, &path, 1, NULL, NULL, NULL) ? reading.delivered.events : UINT64_MAX;
}

/* What the headers of packets say. */
static uint64_t count_packets(const char *const *paths, size_t count) {
  struct kymo_trace_options open = {.force_correlate = true};
  struct kymo_trace *trace;
  uint64_t packets = 0;
  if (kymo_trace_open(&trace, paths, count, &open, NULL) != KYMO_OK)
    return 0;
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++) {
    const struct kymo_part *part = kymo_trace_part(trace, i);
    for (size_t k = 0; k < part->stream_count; k++) {
      struct kymo_stream_info info = {0};
      kymo_stream_describe(trace, kymo_part_stream(trace, part, k), &info, NULL);
      packets += info.packets;
    }
  }
  kymo_trace_close(trace);
  return packets;
}

/* ---- comparing ---- */

static const char *const formats[] = {"text",        "json",    "generic",    "csv",
                                      "babeltrace2", "details", "details:2.0"};

/* One format: what was delivered to it and what it printed must be equal. */
static bool print(struct counts *counts, const char *format, const char *const *paths) {
  char name[32], *text = NULL;
  size_t size;
  snprintf(name, sizeof name, "%s", format);
  char *options = strchr(name, ':');
  if (options)
    *options++ = '\0';
  struct reading reading = {.sink = kymo_sink_find(name)};
  FILE *out = open_memstream(&text, &size);
  if (!read_all(&reading, paths, 2, options, out, NULL) || fclose(out) != 0)
    reading.status = -1;
  struct counts printed = count_printed(format, text);
  printed.losses += count_words();
  bool has_packets = begins(format, "details");
  bool is_same = reading.status >= 0 && printed.events == reading.delivered.events &&
                 printed.losses == reading.delivered.losses && printed.packets == reading.delivered.packets;
  if (!is_same)
    printf("%s %s in %s: status %d, %lu events %lu losses %lu packets printed, %lu %lu %lu delivered\n",
           paths[0], paths[1], format, reading.status, (unsigned long)printed.events,
           (unsigned long)printed.losses, (unsigned long)printed.packets,
           (unsigned long)reading.delivered.events, (unsigned long)reading.delivered.losses,
           (unsigned long)reading.delivered.packets);
  *counts = printed;
  counts->packets = has_packets ? printed.packets : UINT64_MAX;
  free(text);
  return is_same;
}

static bool is_equal(const char *format, const char *const *paths, const struct counts *wanted,
                     struct counts found) {
  found.packets = found.packets == UINT64_MAX ? wanted->packets : found.packets;
  if (memcmp(wanted, &found, sizeof found) == 0)
    return true;
  printf("%s %s: %s has %lu events %lu losses %lu packets, not %lu %lu %lu\n", paths[0], paths[1], format,
         (unsigned long)found.events, (unsigned long)found.losses, (unsigned long)found.packets,
         (unsigned long)wanted->events, (unsigned long)wanted->losses, (unsigned long)wanted->packets);
  return false;
}

static bool check_printed(const char *const *paths, struct counts *wanted) {
  bool is_same = true;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    struct counts counts;
    is_same &= print(&counts, formats[i], paths);
    if (i == 0)
      *wanted = (struct counts){counts.events, counts.losses, count_packets(paths, 2)};
    else
      is_same &= is_equal(formats[i], paths, wanted, counts);
  }
  return is_same;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)info, (void)type, (void)walk;
  return remove(path);
}

/* Written traces have the same number of events; events that a format cannot store are refused. */
static bool check_written(const char *const *paths, const char *directory, const struct counts *wanted) {
  static const char *const kinds[] = {"ctf1", "ctf2", "cpel"};
  bool is_same = true;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    char path[4096];
    const char *out = path;
    snprintf(path, sizeof path, "%s/%s", directory, kinds[i]);
    struct reading writing = {.sink = kymo_sink_find_files(kinds[i])};
    if (read_all(&writing, paths, 2, NULL, NULL, path) && writing.status >= 0) {
      uint64_t events = count_alone(out);
      if (events == UINT64_MAX && wanted->events == 0)
        events = 0;
      is_same &= is_equal(kinds[i], paths, wanted, (struct counts){events, wanted->losses, UINT64_MAX});
    }
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    count_words();
  }
  return is_same;
}

static void read_list(void) {
  static char line[4096];
  bool is_whole = true;
  while (fgets(line, sizeof line, stdin) && trace_count < TRACES) {
    line[strcspn(line, "\n")] = '\0';
    is_whole &= *line != '\0';
    if (*line && count_alone(line) <= MOST)
      traces[trace_count++] = strdup(line);
    whole_count = is_whole ? trace_count : whole_count;
  }
}

static bool check_pair(size_t first, size_t second, const char *directory, uint64_t every) {
  const char *paths[] = {traces[first], traces[second]};
  struct counts wanted;
  bool is_same = check_printed(paths, &wanted);
  if (pair_count++ % every != 0 || first == second)
    return is_same;
  written_count++;
  return check_written(paths, directory, &wanted) && is_same;
}

static bool is_made(size_t first, size_t second, uint64_t thirds) {
  if (second >= whole_count)
    return (first + second) % STRIDE == 0;
  return first == second || (first + second) % 3 < thirds;
}

int main(int argc, char **argv) {
  bool is_same = true;
  words = tmpfile();
  if (argc < 4 || !words || dup2(fileno(words), STDERR_FILENO) < 0)
    return 2;
  uint64_t every = strtoull(argv[2], NULL, 10), thirds = strtoull(argv[3], NULL, 10);
  read_list();
  for (size_t second = 0; second < trace_count; second++)
    for (size_t first = 0; first <= second && first < whole_count; first++)
      if (is_made(first, second, thirds))
        is_same &= check_pair(first, second, argv[1], every);
  for (size_t i = 0; i < trace_count; i++)
    free(traces[i]);
  printf("%lu pairs of %lu traces, %lu of them written\n", (unsigned long)pair_count,
         (unsigned long)trace_count, (unsigned long)written_count);
  return !is_same;
}
