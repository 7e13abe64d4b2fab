/* SPDX-License-Identifier: MIT */
/*
 * Reads traces whose files are cut meanwhile: cut TRACE FILE TURN [KEY]. After some events FILE becomes
 * shorter; the rest must be read without a crash, and end with damage or an error. With BETWEEN_FRAMES in the
 * environment it is cut between two frames of binary printf, where no byte looks odd. Before, between and
 * after, faults in a mapping of our own reach the handler of our own.
 */
#include <fcntl.h>
#include <kymo/read.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile int own_faults;

static void on_bus_error(int number) {
  (void)number;
  own_faults++;
  siglongjmp(back, 1);
}

static void fault_of_our_own(void) {
  char name[] = "own.XXXXXX";
  int fd = mkstemp(name), before = own_faults;
  unlink(name);
  if (ftruncate(fd, 4096) != 0)
    exit(2);
  volatile char *bytes = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
  if (ftruncate(fd, 0) != 0)
    exit(2);
  if (sigsetjmp(back, 1) == 0)
    (void)*bytes;
  munmap((void *)(uintptr_t)bytes, 4096);
  close(fd);
  if (own_faults != before + 1) {
    puts("a fault of our own did not reach our handler");
    exit(1);
  }
}

/* Touches all bytes of an event, as sinks do. */
static struct kymo_walk *walk;
static uint64_t touch(const struct kymo_event *event) {
  struct kymo_value value;
  uint64_t sum = 0;
  kymo_walk_begin(walk, event, KYMO_SCOPE_PAYLOAD);
  for (enum kymo_token token;
       (token = kymo_walk_next(walk, &value)) != KYMO_TOKEN_DONE && token != KYMO_TOKEN_ERROR;)
    sum += value.u;
  return sum;
}

/* The first byte of a frame at or after `at`. */
static off_t between_frames(const char *file, off_t at) {
  char bytes[4096] = "", *found;
  FILE *in = fopen(file, "r");
  if (!in || fseek(in, at, SEEK_SET) != 0 || fread(bytes, 1, sizeof bytes, in) != sizeof bytes ||
      !(found = memmem(bytes, sizeof bytes, "\xf0\x9f\xa9\xba", 4)))
    exit(2);
  fclose(in);
  return at + (found - bytes);
}

static int read_cut(const char *path, const char *file, const char *key, unsigned turn) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_trace_options options = {0};
  struct kymo_trace *trace;
  const struct kymo_event *event;
  uint64_t events = 0, sum = 0;
  int status = key ? kymo_description_load(&options.description, key, &error) : KYMO_OK;
  if (status >= 0)
    status = kymo_trace_open(&trace, &path, 1, &options, &error);
  if (status < 0) {
    puts(error.message);
    return 1;
  }
  while ((status = kymo_trace_next(trace, &event, &error)) == KYMO_OK) {
    sum += touch(event);
    if (++events == 10 + 7 * turn) {
      /* within the first packet, some pages after the event */
      off_t at = 5000 * (turn + 1) + 13;
      if (truncate(file, getenv("BETWEEN_FRAMES") ? between_frames(file, at) : at) != 0)
        return 2;
    }
    if (events == 11 + 7 * turn)
      fault_of_our_own();
  }
  size_t damage = kymo_trace_damage_count(trace);
  printf("turn %u: %llu events, %zu damaged places, status %d%s\n", turn, (unsigned long long)events, damage,
         status, sum ? "" : ".");
  kymo_trace_close(trace);
  kymo_schema_release(options.description);
  if (damage == 0 && status == KYMO_END) {
    puts("nothing is said of what is missing");
    return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 4)
    return 2;
  struct sigaction action = {.sa_handler = on_bus_error};
  sigaction(SIGBUS, &action, NULL);
  walk = kymo_walk_new();
  fault_of_our_own();
  int status = read_cut(argv[1], argv[2], argc > 4 ? argv[4] : NULL, (unsigned)strtoul(argv[3], NULL, 10));
  fault_of_our_own();
  return status;
}
