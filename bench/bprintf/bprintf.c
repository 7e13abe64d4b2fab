/* SPDX-License-Identifier: MIT */
/*
 * The benchmark of SystemTap's bug 2307: 100 characters (as literal and as %s), 5 and 10 integers, an event
 * of nothing, none at all. Prints "CASE RECORDER ns" for each batch; recorders take turns, so that other
 * load of the machine affects all of them.
 *
 *   memory   kymo_bprintf into a raw log that stays in memory
 *   kymo     KYMO into rings, which stay in memory
 *   file     kymo_bprintf into a raw log, written to files
 *   framed   the same with sequence and length
 *   text     snprintf and write
 */
#include <fcntl.h>
#include <kymo/bprintf.h>
#include <kymo/trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LITERAL \
  "1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"
enum { BATCH = 20000, TEXT_BATCH = 2000 };

static struct kymo_log *memory, *raw, *framed;
static int file;
static volatile long long value = 0x1122334455667788;
static const char *volatile text = LITERAL;

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* The same five or ten numbers everywhere; loaded anew for each event. */
#define TAKE long long v = value
#define INTEGERS_5 (unsigned char)v, (short)v, (int)v, (int)v, v
#define BINARY_5 "%1b%2b%4b%4b%8b"
#define TEXT_5 "%d%d%d%d%lld"

#define PRINT(...)                                         \
  do {                                                     \
    char room[256];                                        \
    int length = snprintf(room, sizeof room, __VA_ARGS__); \
    if (write(file, room, (size_t)length) != length)       \
      exit(1);                                             \
  } while (0)

#define MEASURE(name, recorder, batch, ...)                                 \
  do {                                                                      \
    double begin = now_ns();                                                \
    for (int i = 0; i < (batch); i++) {                                     \
      __asm__ volatile("" ::: "memory");                                    \
      __VA_ARGS__;                                                          \
    }                                                                       \
    printf("%s\t%s\t%.2f\n", name, recorder, (now_ns() - begin) / (batch)); \
  } while (0)

static void measure_all(void) {
  MEASURE("none", "loop", BATCH, (void)0);
  MEASURE("100 characters, literal", "memory", BATCH, kymo_bprintf(memory, LITERAL));
  MEASURE("100 characters, literal", "file", BATCH, kymo_bprintf(raw, LITERAL));
  MEASURE("100 characters, literal", "framed", BATCH, kymo_bprintf(framed, LITERAL));
  MEASURE("100 characters, literal", "kymo", BATCH, KYMO(bench, literal));
  MEASURE("100 characters, literal", "text", TEXT_BATCH, PRINT(LITERAL));
  MEASURE("100 characters, %s", "memory", BATCH, kymo_bprintf(memory, "%s", text));
  MEASURE("100 characters, %s", "file", BATCH, kymo_bprintf(raw, "%s", text));
  MEASURE("100 characters, %s", "framed", BATCH, kymo_bprintf(framed, "%s", text));
  MEASURE("100 characters, %s", "kymo", BATCH, KYMO(bench, string, text));
  MEASURE("100 characters, %s", "text", TEXT_BATCH, PRINT("%s", text));
  MEASURE("5 integers", "memory", BATCH, TAKE; kymo_bprintf(memory, BINARY_5, INTEGERS_5));
  MEASURE("5 integers", "file", BATCH, TAKE; kymo_bprintf(raw, BINARY_5, INTEGERS_5));
  MEASURE("5 integers", "framed", BATCH, TAKE; kymo_bprintf(framed, BINARY_5, INTEGERS_5));
  MEASURE("5 integers", "kymo", BATCH, TAKE;
          KYMO(bench, five, (unsigned char)v, (short)v, (int)v, KYMO_AS(d, (int)v), KYMO_AS(e, v)));
  MEASURE("5 integers", "text", TEXT_BATCH, TAKE; PRINT(TEXT_5, INTEGERS_5));
  MEASURE("10 integers", "memory", BATCH, TAKE;
          kymo_bprintf(memory, BINARY_5 BINARY_5, INTEGERS_5, INTEGERS_5));
  MEASURE("10 integers", "file", BATCH, TAKE; kymo_bprintf(raw, BINARY_5 BINARY_5, INTEGERS_5, INTEGERS_5));
  MEASURE("10 integers", "framed", BATCH, TAKE;
          kymo_bprintf(framed, BINARY_5 BINARY_5, INTEGERS_5, INTEGERS_5));
  MEASURE("10 integers", "kymo", BATCH, TAKE;
          KYMO(bench, ten, (unsigned char)v, (short)v, (int)v, KYMO_AS(d, (int)v), KYMO_AS(e, v),
               KYMO_AS(f, (unsigned char)v), KYMO_AS(g, (short)v), KYMO_AS(h, (int)v), KYMO_AS(i, (int)v),
               KYMO_AS(j, v)));
  MEASURE("10 integers", "text", TEXT_BATCH, TAKE; PRINT(TEXT_5 TEXT_5, INTEGERS_5, INTEGERS_5));
  MEASURE("empty", "memory", BATCH, kymo_bprintf(memory, "%1b", 0));
  MEASURE("empty", "file", BATCH, kymo_bprintf(raw, "%1b", 0));
  MEASURE("empty", "framed", BATCH, kymo_bprintf(framed, "%1b", 0));
  MEASURE("empty", "kymo", BATCH, KYMO(bench, empty));
  MEASURE("empty", "text", TEXT_BATCH, PRINT("\n"));
}

int main(int argc, char **argv) {
  struct kymo_log_options options = {.rotate_bytes = 8 << 20, .rotate_count = 2};
  if (argc != 3)
    return 2;
  char path[4][512];
  for (int i = 0; i < 4; i++)
    snprintf(path[i], sizeof path[i], "%s/%d", argv[1], i);
  raw = kymo_log_open(path[0], &options);
  options.is_framed = true;
  framed = kymo_log_open(path[1], &options);
  file = open(path[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  memory = kymo_log_open(path[3], &(struct kymo_log_options){.is_memory = true, .packets = 4});
  if (!memory || !raw || !framed || file < 0 || kymo_thread_init())
    return 1;
  for (long rounds = strtol(argv[2], NULL, 10); rounds > 0; rounds--) {
    measure_all();
    if (ftruncate(file, 0) || lseek(file, 0, SEEK_SET))
      return 1;
  }
  return kymo_log_close(memory) || kymo_log_close(raw) || kymo_log_close(framed);
}
