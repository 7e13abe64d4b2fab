/* SPDX-License-Identifier: MIT */
/*
 * An independent check of recorded traces: reads the CTF that kymo writes by the specification of the
 * format, without any of kymo's code, and reports faults.
 *
 *   check_trace [-c COUNTERS] [-k] [-g] [-b] [-p] [-q] TRACE…    the binary trace; several are of several
 *                                                                processes
 *   check_trace [-c COUNTERS] [-k] [-g] [-q] -t             its text as babeltrace2 prints it, on standard
 *                                                           input
 *
 *   -c FILE  compare the sequences with the worker's counts: recorded = written + lost + overwritten
 *   -k       the worker was killed: each thread may have recorded one more than it counted
 *   -g       no gaps: the events of each thread, except those of handlers, are the end of its sequence
 *            (overwrite mode)
 *   -b       packets may begin before their first event (the event for which they were opened was given up)
 *   -p       the traces are parts of one in their order (rotation), of which the first may be gone: those
 *            events are "overwritten"
 *   -r       some parts were removed: the sum of recorded events is printed, not compared
 *   -q       print no sums
 *
 * Prints sums ("events N", "lost N", …) and exits with 1 if anything is wrong.
 *
 * Packets: magic, UUID and instance the same all over a file, sizes exact, begin = the first event's time,
 * end = the last one's, no time goes back, sequence numbers and event counts without an unexplained gap, an
 * empty packet first. Events: sizes by the metadata's field types. Events of work.h: everything.
 */
#include "check_metadata.h"
#include "work.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER = 120, COMPLAINTS_MAX = 20 };

static struct { uint64_t events, lost, large, nested, overwritten, packets, streams, threads; } sum;
static struct sequence {
  uint64_t seen, next, first; /* next: one more than the highest so far */
  uint64_t *bits, room;       /* which are there */
} sequences[WORK_THREADS_MAX];
static struct {
  bool killed, no_gaps, early, parts, removed, quiet, text;
  const char *counters;
} asked;
static int complaints;
static const char *where = "";
static struct { /* the packet of this file that ends after its last event, if number is not 0 */
  uint64_t number, end;
} late;

static void complain(const char *format, ...) {
  va_list args;
  if (complaints++ >= COMPLAINTS_MAX)
    return;
  fprintf(stderr, "%s: ", where);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
}

/* ---- sequences ---- */

static void take_sequence(uint32_t thread, uint64_t seq) {
  struct sequence *s = thread < WORK_THREADS_MAX ? &sequences[thread] : NULL;
  if (!s || seq >= UINT64_C(1) << 32) {
    complain("no worker has thread %u, seq %llu", thread, (unsigned long long)seq);
    return;
  }
  if (seq / 64 >= s->room) {
    uint64_t room = (seq / 64 + 1) * 2;
    s->bits = realloc(s->bits, room * 8);
    if (!s->bits)
      exit(2);
    memset(s->bits + s->room, 0, (room - s->room) * 8);
    s->room = room;
  }
  if (s->bits[seq / 64] >> seq % 64 & 1)
    complain("thread %u: seq %llu is there twice", thread, (unsigned long long)seq);
  s->bits[seq / 64] |= UINT64_C(1) << seq % 64;
  if (!s->seen++)
    s->first = seq, sum.threads++;
  if (seq < s->first)
    s->first = seq;
  if (seq >= s->next)
    s->next = seq + 1;
}

static void check_sequences(void) {
  where = "sequences";
  for (uint32_t t = 0; t < WORK_THREADS_MAX; t++) {
    const struct sequence *s = &sequences[t];
    if (asked.no_gaps && t < WORK_HANDLER && s->seen && s->next - s->first != s->seen)
      complain("thread %u: %llu of %llu to %llu are there", t, (unsigned long long)s->seen,
               (unsigned long long)s->first, (unsigned long long)s->next - 1);
  }
}

static const struct work_counters *open_counters(const char *path) {
  int fd = open(path, O_RDONLY);
  void *map = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(struct work_counters), PROT_READ, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED)
    perror(path), exit(2);
  close(fd);
  return map;
}

/* Handlers record where their thread does: of a thread that signals leave no time, their events may have
 * overwritten all. */
static bool may_be_overwritten(uint32_t thread) {
  return !sequences[thread].seen && sequences[WORK_HANDLER + thread].seen &&
         sequences[WORK_HANDLER + thread].first > 0;
}

/* With losses only their sum is known, without them every thread's last event. */
static void check_counters(void) {
  const struct work_counters *counters = open_counters(asked.counters);
  uint64_t recorded = 0, threads = 0, accounted = sum.events + sum.lost + sum.overwritten;
  where = "counters";
  for (uint32_t t = 0; t < WORK_THREADS_MAX; t++) {
    uint64_t n = counters->recorded[t], slack = asked.killed;
    recorded += n;
    threads += n || sequences[t].seen;
    if (sequences[t].next > n + slack)
      complain("thread %u counted %llu, but %llu is there", t, (unsigned long long)n,
               (unsigned long long)sequences[t].next - 1);
    if (asked.no_gaps && t < WORK_HANDLER && sequences[t].next < n && !may_be_overwritten(t))
      complain("thread %u counted %llu, but the last one there is %lld", t, (unsigned long long)n,
               (long long)sequences[t].next - 1);
  }
  if (asked.text)
    return;
  if (asked.removed)
    printf("recorded %llu\n", (unsigned long long)recorded);
  else if (accounted < recorded || accounted > recorded + (asked.killed ? threads : 0))
    complain("recorded %llu, but %llu written + %llu lost + %llu overwritten = %llu",
             (unsigned long long)recorded, (unsigned long long)sum.events, (unsigned long long)sum.lost,
             (unsigned long long)sum.overwritten, (unsigned long long)accounted);
}

/* ---- events ---- */

struct fields {
  uint32_t thread;
  uint64_t seq, sum;
  const char *text;
  const uint8_t *data;
  size_t length;
};

static void check_work(const char *name, const struct fields *f) {
  char text[WORK_TEXT_MAX];
  unsigned char data[WORK_DATA_MAX];
  take_sequence(f->thread, f->seq);
  unsigned kind = (unsigned)(f->seq % 3);
  bool is_large = !strcmp(name, "work:large");
  if (!is_large && strcmp(name, kind == 0 ? "work:text" : kind == 1 ? "work:pair" : "work:data"))
    complain("%s with seq %llu", name, (unsigned long long)f->seq);
  if (!is_large && kind < 2 && f->sum != work_sum(f->thread, f->seq))
    complain("%s %u %llu: wrong sum", name, f->thread, (unsigned long long)f->seq);
  work_text(text, f->thread, f->seq);
  if (!is_large && kind == 0 && (!f->text || strcmp(text, f->text)))
    complain("%s %u %llu: expected \"%s\", found \"%s\"", name, f->thread, (unsigned long long)f->seq, text,
             f->text ? f->text : "");
  size_t length = work_data(data, f->thread, f->seq);
  if (!is_large && kind == 2 && !asked.text && (length != f->length || memcmp(data, f->data, length)))
    complain("%s %u %llu: other data", name, f->thread, (unsigned long long)f->seq);
}

/* One event's payload at data[*at]: walks its fields. False if it does not fit. */
static bool walk_fields(const struct event_class *class_, const uint8_t *data, uint64_t size, uint64_t *at) {
  struct fields f = {0};
  uint64_t length = 0;
  for (uint32_t i = 0; i < class_->fields; i++) {
    const struct field *field = &class_->field[i];
    const uint8_t *here = data + *at;
    uint64_t bytes = field->bytes, value = 0;
    if (field->kind == FIELD_TEXT) {
      const uint8_t *end = memchr(here, 0, size - *at);
      if (!end)
        return false;
      bytes = (uint64_t)(end - here) + 1;
      f.text = (const char *)here;
    } else if (field->kind == FIELD_SEQUENCE) {
      bytes *= length;
      f.data = here, f.length = bytes;
    } else if (field->kind == FIELD_ARRAY)
      bytes *= field->count;
    if (bytes > size - *at)
      return false;
    if (field->kind == FIELD_NUMBER && bytes <= 8)
      value = number(here, bytes);
    if (!strncmp(field->name, "__", 2))
      length = value;
    if (!strcmp(field->name, "_thread"))
      f.thread = (uint32_t)value;
    if (!strcmp(field->name, "_seq"))
      f.seq = value;
    if (!strcmp(field->name, "_sum"))
      f.sum = value;
    *at += bytes;
  }
  if (!strncmp(class_->name, "work:", 5))
    check_work(class_->name, &f);
  return true;
}

/* ---- packets ---- */

struct packet {
  uint64_t instance, begin, end, content, size, sequence, discarded, first_event;
  uint32_t count, large, nested;
};

struct stream {
  struct packet before;
  uint64_t written, overwritten;
  bool started;
};

static struct packet read_header(const uint8_t *at) {
  return (struct packet){.instance = number(at + 24, 8),
                         .begin = number(at + 32, 8),
                         .end = number(at + 40, 8),
                         .content = number(at + 48, 8) / 8,
                         .size = number(at + 56, 8) / 8,
                         .sequence = number(at + 64, 8),
                         .discarded = number(at + 72, 8),
                         .first_event = number(at + 80, 8),
                         .count = (uint32_t)number(at + 88, 4),
                         .large = (uint32_t)number(at + 92, 4),
                         .nested = (uint32_t)number(at + 96, 4)};
}

static void walk_events(const struct metadata *m, const struct packet *p, const uint8_t *data) {
  uint64_t at = HEADER, time = p->begin, count = 0;
  while (at < p->content) {
    at = (at + 7) & ~UINT64_C(7);
    if (at + 8 > p->content) {
      complain("packet %llu ends within an event", (unsigned long long)p->sequence);
      return;
    }
    uint64_t header = number(data + at, 8), low = m->is_big ? header : header >> 16,
             id = m->is_big ? header >> 48 : header & 0xffff;
    uint64_t delta = (low - time) & 0xffffffffffffu;
    if (delta >> 47)
      complain("packet %llu, event %llu: the time goes back", (unsigned long long)p->sequence,
               (unsigned long long)count);
    time += delta;
    if (!count && time != p->begin && !asked.early)
      complain("packet %llu does not begin with its first event", (unsigned long long)p->sequence);
    at += 8;
    if (id >= m->classes || !m->class_[id].name || !walk_fields(&m->class_[id], data, p->content, &at)) {
      complain("packet %llu, event %llu: does not fit its class %llu", (unsigned long long)p->sequence,
               (unsigned long long)count, (unsigned long long)id);
      return;
    }
    count++;
  }
  /* a packet that was copied while it was written to may end with a later event: a file's last one, or one
   * whose rest follows and begins with this event */
  if (time > p->end)
    complain("packet %llu ends before its last event", (unsigned long long)p->sequence);
  late.number = time < p->end ? p->sequence : 0;
  late.end = p->end;
  if (count != p->count)
    complain("packet %llu: %u events promised, %llu there", (unsigned long long)p->sequence, p->count,
             (unsigned long long)count);
  sum.events += count;
}

static void check_packet(struct stream *s, const struct packet *p) {
  const struct packet *b = &s->before;
  unsigned long long n = p->sequence;
  if (p->end < p->begin)
    complain("packet %llu ends before it begins", n);
  if (!s->started) {
    if (p->count)
      complain("the first packet is not empty");
  } else {
    if (p->instance != b->instance)
      complain("packet %llu: instance %llu, not %llu", n, (unsigned long long)p->instance,
               (unsigned long long)b->instance);
    if (p->begin < b->end)
      complain("packet %llu begins before the end of the one before", n);
    if (p->discarded < b->discarded)
      complain("packet %llu: the count of losses goes back", n);
    if (p->sequence <= b->sequence)
      complain("packet %llu follows %llu", n, (unsigned long long)b->sequence);
    if (p->first_event < s->written + s->overwritten)
      complain("packet %llu: the count of events goes back", n);
    bool gap = p->sequence != b->sequence + 1;
    if (p->first_event > s->written + s->overwritten && !gap && b->count)
      complain("packet %llu: events are missing before it", n);
  }
  s->started = true;
  if (p->first_event > s->written + s->overwritten && p->count)
    s->overwritten = p->first_event - s->written;
  s->written += p->count;
}

/* The state of a stream from earlier parts. */
static struct stream *find_stream(uint64_t instance) {
  static struct known {
    uint64_t instance;
    struct stream stream;
  } * known;
  static size_t count;
  for (size_t i = 0; i < count; i++)
    if (known[i].instance == instance)
      return &known[i].stream;
  known = realloc(known, (count + 1) * sizeof *known);
  if (!known)
    exit(2);
  known[count] = (struct known){.instance = instance};
  return &known[count++].stream;
}

static void check_file(const struct metadata *m, const char *path) {
  struct stat st;
  struct stream s = {0}, *known = NULL, earlier = {0};
  int fd = open(path, O_RDONLY);
  if (fd < 0 || fstat(fd, &st))
    perror(path), exit(2);
  where = path;
  late.number = 0;
  const uint8_t *map = st.st_size ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
  if (map == MAP_FAILED)
    perror(path), exit(2);
  uint64_t size = (uint64_t)st.st_size;
  if (asked.parts && size >= HEADER) {
    s = earlier = *(known = find_stream(read_header(map).instance));
    if (read_header(map).count)
      complain("the first packet is not empty");
  }
  for (uint64_t at = 0; at < size;) {
    struct packet p = size - at >= HEADER ? read_header(map + at) : (struct packet){0};
    if (p.content < HEADER || p.size < p.content || p.size > size - at || p.size % 8) {
      complain("no packet at byte %llu", (unsigned long long)at);
      break;
    }
    if (number(map + at, 4) != 0xc1fc1fc1 || number(map + at + 20, 4) != 0)
      complain("packet %llu: no magic", (unsigned long long)p.sequence);
    if (memcmp(map + at + 4, m->uuid, 16))
      complain("packet %llu: the UUID of another trace", (unsigned long long)p.sequence);
    bool is_next = p.first_event == s.written + s.overwritten;
    check_packet(&s, &p);
    if (p.content > HEADER && late.number && is_next && p.begin != late.end)
      complain("packet %llu does not end with its last event", (unsigned long long)late.number);
    if (p.content > HEADER)
      walk_events(m, &p, map + at);
    else if (p.count)
      complain("packet %llu is empty but promises events", (unsigned long long)p.sequence);
    s.before = p;
    sum.packets++;
    at += p.size;
  }
  sum.streams++;
  sum.lost += s.before.discarded - earlier.before.discarded,
      sum.large += s.before.large - earlier.before.large;
  sum.nested += s.before.nested - earlier.before.nested,
      sum.overwritten += s.overwritten - earlier.overwritten;
  if (known)
    *known = s;
  if (map)
    munmap((void *)(uintptr_t)map, size);
  close(fd);
}

static void check_trace(const char *directory) {
  char path[4096];
  struct metadata m;
  snprintf(path, sizeof path, "%s/metadata", directory);
  const char *wrong = metadata_read(&m, path);
  where = path;
  if (wrong) {
    complain("%s", wrong);
    metadata_free(&m);
    return;
  }
  DIR *dir = opendir(directory);
  for (struct dirent *e; dir && (e = readdir(dir));) {
    if (e->d_name[0] == '.' || !strcmp(e->d_name, "metadata"))
      continue;
    snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
    check_file(&m, path);
  }
  if (dir)
    closedir(dir);
  metadata_free(&m);
}

/* ---- text ---- */

static uint64_t value_of(const char *line, const char *field) {
  const char *at = strstr(line, field);
  return at ? strtoull(at + strlen(field), NULL, 0) : UINT64_MAX;
}

static void check_text(FILE *in) {
  char *line = NULL;
  size_t room = 0;
  where = "text";
  while (getline(&line, &room, in) > 0) {
    char *name = strstr(line, "work:"), *payload = name ? strchr(name, '}') : NULL;
    if (!payload) {
      complain("no event: %s", line);
      continue;
    }
    struct fields f = {.thread = (uint32_t)value_of(payload, " thread = "),
                       .seq = value_of(payload, " seq = "),
                       .sum = value_of(payload, " sum = ")};
    char *text = strstr(payload, " text = \""), *end = text ? strchr(text + 9, '"') : NULL;
    if (end)
      *end = 0, f.text = text + 9;
    name[strcspn(name, ": ") + 1 + strcspn(name + 5, ": ")] = 0;
    check_work(name, &f);
    sum.events++;
  }
  free(line);
}

int main(int argc, char **argv) {
  for (int option; (option = getopt(argc, argv, "c:kgbprqt")) > 0;)
    switch (option) {
    case 'c': asked.counters = optarg; break;
    case 'k': asked.killed = true; break;
    case 'g': asked.no_gaps = true; break;
    case 'b': asked.early = true; break;
    case 'p': asked.parts = true; break;
    case 'r': asked.removed = true; break;
    case 'q': asked.quiet = true; break;
    case 't': asked.text = true; break;
    default: return 2;
    }
  if (asked.text)
    check_text(stdin);
  for (int i = optind; i < argc; i++)
    check_trace(argv[i]);
  check_sequences();
  if (asked.counters)
    check_counters();
  if (complaints > COMPLAINTS_MAX)
    fprintf(stderr, "… and %d more\n", complaints - COMPLAINTS_MAX);
  if (!asked.quiet)
    printf("events %llu\nlost %llu\nlarge %llu\nnested %llu\noverwritten %llu\npackets %llu\nstreams %llu\n"
           "threads %llu\n",
           (unsigned long long)sum.events, (unsigned long long)sum.lost, (unsigned long long)sum.large,
           (unsigned long long)sum.nested, (unsigned long long)sum.overwritten,
           (unsigned long long)sum.packets, (unsigned long long)sum.streams, (unsigned long long)sum.threads);
  for (uint32_t t = 0; t < WORK_THREADS_MAX; t++)
    free(sequences[t].bits);
  return complaints ? 1 : 0;
}
