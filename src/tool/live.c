/* SPDX-License-Identifier: MIT */
/*
 * Statistics of a running process, only from its rings. Each ring counts its stored and lost events since it
 * was created; the difference of two readings is the interval between them.
 *
 *   process 1234 (server), overwrite
 *       TID  THREAD                 EVENTS    EVENTS/S        LOST    LOST/S  BUFFER
 *      1240  worker               12345678      250000           0         0     75%
 */
#include "base/fail.h"
#include "live/client.h"
#include "ring/ring.h"
#include "ring/places.h"
#include "stat/table.h"
#include "tool/stat.h"
#include "tool/tool.h"
#include <inttypes.h>
#include <kymo/live.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* The counters of one thread, or of all. */
struct slot {
  uint64_t events, lost, lost_large, lost_nested, overwritten, used_bytes, room_bytes;
  int32_t tid;
  char name[KYMO_PROGRAM_MAX];
};

struct look {
  struct slot *slot;
  uint32_t count;
  struct slot sum;
  uint64_t refused_threads;
  struct timespec at;
  bool is_over; /* the process has ended */
};

/* ---- looking ---- */

static struct slot slot_of(const struct kymo_counts *counts, size_t thread) {
  struct slot slot = {.events = (uint64_t)kymo_counts_number(counts, thread, KYMO_COUNT_EVENTS),
                      .lost = (uint64_t)kymo_counts_number(counts, thread, KYMO_COUNT_LOST),
                      .lost_large = (uint64_t)kymo_counts_number(counts, thread, KYMO_COUNT_LOST_LARGE),
                      .lost_nested = (uint64_t)kymo_counts_number(counts, thread, KYMO_COUNT_LOST_NESTED),
                      .overwritten = (uint64_t)kymo_counts_number(counts, thread, KYMO_COUNT_OVERWRITTEN),
                      .used_bytes = (uint64_t)kymo_counts_number(counts, thread, KYMO_COUNT_USED_BYTES),
                      .room_bytes = (uint64_t)kymo_counts_number(counts, thread, KYMO_COUNT_ROOM_BYTES),
                      .tid = (int32_t)kymo_counts_number(counts, thread, KYMO_COUNT_TID)};
  snprintf(slot.name, sizeof slot.name, "%s", kymo_counts_name(counts, thread));
  return slot;
}

static bool look_at(struct look *look, struct kymo_counts *counts) {
  struct kymo_error error;
  *look = (struct look){0};
  int status = kymo_counts_read(counts, &error);
  if (status < 0)
    return false;
  look->is_over = status == KYMO_END;
  look->count = (uint32_t)kymo_counts_threads(counts);
  look->slot = calloc((size_t)look->count + 1, sizeof *look->slot);
  if (!look->slot)
    return false;
  clock_gettime(CLOCK_MONOTONIC, &look->at);
  for (uint32_t i = 0; i < look->count; i++)
    look->slot[i] = slot_of(counts, i);
  look->sum = slot_of(counts, KYMO_COUNTS_SUM);
  look->refused_threads = (uint64_t)kymo_counts_number(counts, KYMO_COUNTS_SUM, KYMO_COUNT_REFUSED);
  return true;
}

/* ---- printing ---- */

static double seconds_between(const struct look *before, const struct look *now) {
  double s =
      (double)(now->at.tv_sec - before->at.tv_sec) + (double)(now->at.tv_nsec - before->at.tv_nsec) / 1e9;
  return s > 0 ? s : 1e-9;
}

struct rates {
  double events, lost;
};

static struct rates rates_of(const struct slot *before, const struct slot *now, double seconds) {
  return (struct rates){(double)(now->events - before->events) / seconds,
                        (double)(now->lost - before->lost) / seconds};
}

static const struct kymo_column columns[] = {
    {"TID", 7, 0, KYMO_CELL_NUMBER},     {.title = "THREAD", .kind = KYMO_CELL_NAME},
    {"EVENTS", 12, 0, KYMO_CELL_NUMBER}, {"EVENTS/S", 10, 0, KYMO_CELL_NUMBER},
    {"LOST", 10, 0, KYMO_CELL_NUMBER},   {"LOST/S", 8, 1, KYMO_CELL_NUMBER},
    {"BUFFER", 6, 0, KYMO_CELL_NUMBER},
};
enum { COLUMNS = sizeof columns / sizeof *columns, THREAD_WIDTH = 15, CELL_MAX = 4 * 17 + 1 };

/* A thread's name without control characters that a terminal obeys. */
static void make_safe(const char *name, char out[CELL_MAX]) {
  size_t length = 0;
  for (out[0] = 0; *name && length + 4 < CELL_MAX; name++) {
    bool is_control = (unsigned char)*name < ' ' || *name == 127;
    length += (size_t)snprintf(out + length, CELL_MAX - length, is_control ? "\\x%02x" : "%c",
                               (unsigned char)*name);
  }
}

static void print_slot(const struct kymo_table *table, const struct slot *slot, struct rates rates) {
  char texts[COLUMNS][CELL_MAX] = {""};
  const char *cells[COLUMNS];
  struct kymo_strbuf line = {0};
  if (slot->tid)
    snprintf(texts[0], sizeof texts[0], "%d", slot->tid);
  make_safe(slot->name, texts[1]);
  snprintf(texts[2], sizeof texts[2], "%" PRIu64, slot->events);
  snprintf(texts[3], sizeof texts[3], "%.0f", rates.events);
  snprintf(texts[4], sizeof texts[4], "%" PRIu64, slot->lost);
  snprintf(texts[5], sizeof texts[5], "%.0f", rates.lost);
  snprintf(texts[6], sizeof texts[6], "%.0f%%",
           slot->room_bytes ? 100.0 * (double)slot->used_bytes / (double)slot->room_bytes : 0.0);
  for (size_t i = 0; i < COLUMNS; i++)
    cells[i] = texts[i];
  kymo_table_row(table, cells, &line);
  fputs(line.text ? line.text : "", stdout);
  kymo_strbuf_free(&line);
}

static void print_head(const struct kymo_table *table) {
  struct kymo_strbuf line = {0};
  kymo_table_head(table, &line);
  fputs(line.text ? line.text : "", stdout);
  kymo_strbuf_free(&line);
}

static unsigned rows_of_terminal(void) {
  struct winsize size;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row ? 24 : size.ws_row;
}

static const char *mode_of(const struct kymo_counts *counts) {
  return kymo_counts_number(counts, KYMO_COUNTS_SUM, KYMO_COUNT_OVERWRITES) ? "overwrite" : "discard";
}

static void print_table(const struct tool_stat *stat, const struct kymo_counts *counts,
                        const struct look *before, const struct look *now) {
  static const struct slot none;
  char who[128];
  struct kymo_table table;
  double seconds = seconds_between(before, now);
  unsigned rows = stat->is_live ? rows_of_terminal() : UINT32_MAX, shown = 0;
  if (stat->is_live)
    tool_clear_screen();
  tool_print_safe(kymo_process_name(stat->pid, who, sizeof who));
  if (!strchr(who, '(')) { /* it is dead */
    printf(" (");
    tool_print_safe(kymo_counts_name(counts, KYMO_COUNTS_SUM));
    putchar(')');
  }
  printf(", %s\n", mode_of(counts));
  kymo_table_begin(&table, columns, COLUMNS, THREAD_WIDTH, tool_columns());
  print_head(&table);
  for (uint32_t i = 0; i < now->count && shown + 5 < rows; i++)
    if (now->slot[i].events || now->slot[i].lost) {
      print_slot(&table, &now->slot[i],
                 rates_of(i < before->count ? &before->slot[i] : &none, &now->slot[i], seconds));
      shown++;
    }
  struct slot all = now->sum;
  memcpy(all.name, "all", sizeof "all");
  print_slot(&table, &all, rates_of(&before->sum, &now->sum, seconds));
  if (now->refused_threads)
    printf("%" PRIu64 " threads have no ring\n", now->refused_threads);
}

static void print_text(const char *text) {
  putchar('"');
  for (; *text; text++)
    if ((unsigned char)*text < ' ' || *text == '"' || *text == '\\' || (unsigned char)*text >= 127)
      printf("\\u%04x",
             (unsigned char)*text); /* names are bytes; each one beyond ASCII counts as a character */
    else
      putchar(*text);
  putchar('"');
}

static void print_json_numbers(const struct slot *slot, struct rates rates) {
  printf("\"events\":%" PRIu64 ",\"events_per_second\":%.1f,\"lost\":%" PRIu64
         ",\"lost_per_second\":%.1f,\"lost_large\":%" PRIu64 ",\"lost_nested\":%" PRIu64
         ",\"overwritten\":%" PRIu64 ",\"buffer_used_bytes\":%" PRIu64 ",\"buffer_bytes\":%" PRIu64,
         slot->events, rates.events, slot->lost, rates.lost, slot->lost_large, slot->lost_nested,
         slot->overwritten, slot->used_bytes, slot->room_bytes);
}

static void print_json(const struct tool_stat *stat, const struct kymo_counts *counts,
                       const struct look *before, const struct look *now) {
  static const struct slot none;
  double seconds = seconds_between(before, now);
  printf("{\"pid\":%d,\"program\":", stat->pid);
  print_text(kymo_counts_name(counts, KYMO_COUNTS_SUM));
  printf(",\"mode\":\"%s\",\"seconds\":%.6f,", mode_of(counts), seconds);
  print_json_numbers(&now->sum, rates_of(&before->sum, &now->sum, seconds));
  printf(",\"threads_without_ring\":%" PRIu64 ",\"threads\":[", now->refused_threads);
  bool first = true;
  for (uint32_t i = 0; i < now->count; i++) {
    const struct slot *slot = &now->slot[i];
    if (!slot->events && !slot->lost)
      continue;
    printf("%s{\"tid\":%d,\"name\":", first ? "" : ",", slot->tid);
    print_text(slot->name);
    putchar(',');
    print_json_numbers(slot, rates_of(i < before->count ? &before->slot[i] : &none, slot, seconds));
    putchar('}');
    first = false;
  }
  puts("]}");
}

/* ---- again and again ---- */

static void wait_ns(int64_t ns) {
  struct timespec pause = {ns / 1000000000, ns % 1000000000};
  while (nanosleep(&pause, &pause)) {
  }
}

static int watch(const struct tool_stat *stat, struct kymo_counts *counts) {
  struct look before, now;
  bool ok = look_at(&before, counts);
  if (ok && !stat->is_live && !stat->once && !stat->json &&
      !before.is_over) /* in a pipe nothing shows that it goes on */
    tool_say("until the process ends: Ctrl-C stops it earlier, --once prints one table");
  while (ok) {
    wait_ns(stat->interval_ns);
    ok = look_at(&now, counts);
    if (ok && stat->json)
      print_json(stat, counts, &before, &now);
    else if (ok)
      print_table(stat, counts, &before, &now);
    free(before.slot);
    before = now;
    if (fflush(stdout) || stat->once || now.is_over)
      break;
  }
  free(before.slot);
  if (!ok)
    tool_say("out of memory");
  return ok ? TOOL_OK : TOOL_FAILED;
}

/* A process that exists and has recorded nothing has no rings. */
static int no_rings(const struct tool_stat *stat, const struct kymo_error *error) {
  struct kymo_client client;
  struct kymo_error refused = {.offset = KYMO_ERROR_NO_OFFSET};
  char who[128];
  int status = kymo_client_once(&client, stat->pid, "info", &refused);
  kymo_client_close(&client);
  if (status)
    tool_say_error(refused.code == KYMO_E_UNKNOWN && error->code != KYMO_E_ABSENT ? &refused : error);
  else
    tool_say("%s has no rings: no tracepoint was ever enabled",
             kymo_process_name(stat->pid, who, sizeof who));
  return TOOL_FAILED;
}

int tool_stat_process(struct tool_stat *stat) {
  char rings[KYMO_PATH_MAX];
  struct kymo_counts *counts;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  int status = stat->rings ? KYMO_OK : kymo_process_rings(rings, sizeof rings, stat->pid, &error);
  if (status)
    return no_rings(stat, &error);
  status = kymo_counts_open(&counts, stat->rings ? stat->rings : rings, &error);
  if (status) {
    tool_say_error(&error);
    return TOOL_FAILED;
  }
  if (stat->rings)
    stat->pid = (int)kymo_counts_number(counts, KYMO_COUNTS_SUM, KYMO_COUNT_PID);
  int result = watch(stat, counts);
  kymo_counts_close(counts);
  return result;
}
