/* SPDX-License-Identifier: MIT */
#include "ring/clocks.h"
#include "base/fail.h"
#include <errno.h>
#include <fcntl.h>
#include <kymo/counter.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

enum { NS = 1000000000, US = 1000 };

/* ---- looking ---- */

static int64_t nanoseconds(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (int64_t)t.tv_sec * NS + t.tv_nsec;
}

int kymo_boot_id(char out[KYMO_BOOT_ID_SIZE]) {
  memset(out, 0, KYMO_BOOT_ID_SIZE);
  int fd = open(KYMO_BOOT_ID_FILE, O_RDONLY | O_CLOEXEC), reason = 0;
  if (fd < 0)
    return errno;
  ssize_t size = read(fd, out, 36);
  if (size != 36) {
    reason = size < 0 ? errno : EIO;
    out[0] = 0;
  }
  close(fd);
  return reason;
}

static void look_once(bool is_counter, struct kymo_clock_snapshot *out) {
  uint64_t before = is_counter ? kymo_clock_() : (uint64_t)nanoseconds(CLOCK_MONOTONIC);
  out->monotonic_ns = nanoseconds(CLOCK_MONOTONIC);
  out->realtime_ns = nanoseconds(CLOCK_REALTIME);
  uint64_t after = is_counter ? kymo_clock_() : (uint64_t)nanoseconds(CLOCK_MONOTONIC);
  out->span = after - before;
  out->cycles = before + out->span / 2;
}

void kymo_clocks_look(bool is_counter, struct kymo_clock_snapshot *out) {
  struct timex kernel = {.modes = 0};
  memset(out, 0, sizeof *out);
  out->span = UINT64_MAX;
  for (int i = 0; i < 10; i++) {
    struct kymo_clock_snapshot look;
    look_once(is_counter, &look);
    if (look.span < out->span)
      *out = look;
  }
  int state = adjtimex(&kernel);
  out->error_ns = state < 0 || kernel.maxerror < 0 ? UINT64_MAX : (uint64_t)kernel.maxerror * US;
  out->is_synchronised = state >= 0 && state != TIME_ERROR && !(kernel.status & STA_UNSYNC);
}

/* ---- writing ---- */

static char *put_text(char *at, const char *text) {
  size_t length = strlen(text);
  memcpy(at, text, length);
  return at + length;
}

static char *put_number(char *at, uint64_t n) {
  char digits[24], *d = digits + sizeof digits - 1;
  *d = 0;
  do
    *--d = (char)('0' + n % 10);
  while (n /= 10);
  return put_text(at, d);
}

static char *put_signed(char *at, int64_t n) {
  if (n < 0)
    *at++ = '-';
  return put_number(at, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

size_t kymo_clocks_put_head(char out[KYMO_CLOCKS_HEAD_MAX], const struct kymo_clocks_head *head) {
  char *at = put_text(out, "kymo-clocks 1\nclock ");
  at = put_text(at, head->is_counter ? "counter " : "monotonic ");
  at = put_number(at, head->frequency);
  at = put_text(at, "\nboot ");
  at = put_text(at, head->boot[0] ? head->boot : "-");
  at = put_text(at, "\nhost ");
  for (const char *c = head->host; *c; c++) /* always one line, whatever the name of the host */
    *at++ = (unsigned char)*c < ' ' ? '_' : *c;
  *at++ = '\n';
  return (size_t)(at - out);
}

size_t kymo_clocks_put(char out[KYMO_CLOCKS_LINE_MAX], const struct kymo_clock_snapshot *snapshot) {
  char *at = put_number(put_text(out, "at "), snapshot->cycles);
  at = put_number(put_text(at, " "), snapshot->span);
  at = put_signed(put_text(at, " "), snapshot->monotonic_ns);
  at = put_signed(put_text(at, " "), snapshot->realtime_ns);
  at = put_text(at, " ");
  at = snapshot->error_ns == UINT64_MAX ? put_text(at, "-") : put_number(at, snapshot->error_ns);
  at = put_text(at, snapshot->is_synchronised ? " synchronised\n" : " free\n");
  return (size_t)(at - out);
}

/* ---- reading ---- */

struct reading {
  const char *text, *at, *end; /* whole text; current position; end of its last whole line */
  const char *file;
  struct kymo_error *error;
};

static int expected(const struct reading *r, const char *what) {
  return kymo_fail_text(r->error, r->file, r->text, (uint64_t)(r->end - r->text), (uint64_t)(r->at - r->text),
                        "expected %s", what);
}

/* Steps over the text if it is next. */
static bool eat(struct reading *r, const char *text) {
  size_t length = strlen(text);
  if ((size_t)(r->end - r->at) < length || memcmp(r->at, text, length))
    return false;
  r->at += length;
  return true;
}

static bool eat_number(struct reading *r, uint64_t *out) {
  const char *from = r->at;
  for (*out = 0; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
    if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, (uint64_t)(*r->at - '0'), out))
      return false;
  return r->at > from;
}

static bool eat_signed(struct reading *r, int64_t *out) {
  bool negative = eat(r, "-");
  uint64_t n;
  if (!eat_number(r, &n) || n > INT64_MAX)
    return false;
  *out = negative ? -(int64_t)n : (int64_t)n;
  return true;
}

/* The rest of the line. */
static bool eat_line(struct reading *r, char *out, size_t size) {
  const char *end = r->at < r->end ? memchr(r->at, '\n', (size_t)(r->end - r->at)) : NULL;
  if (!end || (size_t)(end - r->at) >= size)
    return false;
  memcpy(out, r->at, (size_t)(end - r->at));
  out[end - r->at] = 0;
  r->at = end + 1;
  return true;
}

static int read_head(struct reading *r, struct kymo_clocks_head *head) {
  if (!eat(r, "kymo-clocks 1\n"))
    return expected(r, "kymo-clocks 1");
  if (!eat(r, "clock ") || (!(head->is_counter = eat(r, "counter ")) && !eat(r, "monotonic ")))
    return expected(r, "clock counter or clock monotonic");
  if (!eat_number(r, &head->frequency) || !head->frequency || !eat(r, "\n"))
    return expected(r, "a frequency");
  if (!eat(r, "boot ") || !eat_line(r, head->boot, sizeof head->boot))
    return expected(r, "boot and an id");
  if (!eat(r, "host ") || !eat_line(r, head->host, sizeof head->host))
    return expected(r, "host and a name");
  return KYMO_OK;
}

static int read_snapshot(struct reading *r, struct kymo_clock_snapshot *out) {
  if (!eat(r, "at ") || !eat_number(r, &out->cycles) || !eat(r, " "))
    return expected(r, "at and cycles");
  if (!eat_number(r, &out->span) || !eat(r, " "))
    return expected(r, "a span in cycles");
  if (!eat_signed(r, &out->monotonic_ns) || !eat(r, " ") || !eat_signed(r, &out->realtime_ns) || !eat(r, " "))
    return expected(r, "nanoseconds");
  if (eat(r, "-"))
    out->error_ns = UINT64_MAX;
  else if (!eat_number(r, &out->error_ns))
    return expected(r, "nanoseconds or -");
  if (!(out->is_synchronised = eat(r, " synchronised\n")) && !eat(r, " free\n"))
    return expected(r, "synchronised or free");
  return KYMO_OK;
}

static size_t count_lines(const struct reading *r) {
  size_t lines = 0;
  for (const char *c = r->at; c < r->end; c++)
    lines += *c == '\n';
  return lines;
}

int kymo_clocks_parse(struct kymo_clocks *clocks, const char *text, size_t size, const char *file,
                      struct kymo_error *error) {
  memset(clocks, 0, sizeof *clocks);
  while (size && text[size - 1] != '\n')
    size--;
  struct reading r = {text, text, text + size, file, error};
  int status = read_head(&r, &clocks->head);
  if (status)
    return status;
  clocks->head_size = (size_t)(r.at - text);
  clocks->snapshots = calloc(count_lines(&r) + 1, sizeof *clocks->snapshots);
  if (!clocks->snapshots)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  while (r.at < r.end && !(status = read_snapshot(&r, &clocks->snapshots[clocks->count])))
    clocks->count++;
  return status;
}

void kymo_clocks_free(struct kymo_clocks *clocks) {
  free(clocks->snapshots);
  memset(clocks, 0, sizeof *clocks);
}
