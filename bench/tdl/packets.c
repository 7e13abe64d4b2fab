/* SPDX-License-Identifier: MIT */
/*
 * Reading 100 MB of pcap records: packets make FILE, or packets MODE FILE [KEY]. Each mode prints seconds of
 * CPU time for opening and for reading, the number of packets, a sum over what it read, and KiB of memory
 * beside the mapped file.
 *
 *   loop   a loop in C that knows the format, all fields
 *   count  kymo, moving only        lazy   kymo, one field of each tenth event        all   kymo, all fields
 *   filter kymo, moving only, by a filter on one field that a third of the packets pass
 */
#include <fcntl.h>
#include <kymo/filter.h>
#include <kymo/get.h>
#include <kymo/move.h>
#include <kymo/read.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#define BYTES (UINT64_C(100) << 20)

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Private memory: the mapped file does not count. */
static unsigned long own_memory(void) {
  char line[128];
  unsigned long kib = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status) && sscanf(line, "RssAnon: %lu", &kib) != 1)
    ;
  if (status)
    fclose(status);
  return kib;
}

/* Seconds of opening and of reading. */
static void tell(double begin, double opened, uint64_t count, uint64_t sum) {
  double end = now();
  printf("%.6f %.6f %llu %llu %lu\n", opened - begin, end - opened, (unsigned long long)count,
         (unsigned long long)sum, own_memory());
}

static void store(FILE *out, const uint32_t *words, size_t count) {
  if (fwrite(words, sizeof *words, count, out) != count)
    exit(1);
}

static int make(const char *path) {
  static const uint32_t head[6] = {0xa1b2c3d4, 2 | 4 << 16, 0, 0, 65535, 1};
  uint32_t data[32];
  FILE *out = fopen(path, "wb");
  if (!out)
    return 1;
  memset(data, 0x5a, sizeof data);
  store(out, head, 6);
  for (uint64_t at = 24, i = 0; at < BYTES; i++) {
    uint32_t words = 15 + (uint32_t)(i * 7 % 10),
             packet[4] = {1000 + (uint32_t)(i / 100000), (uint32_t)(i % 100000 * 10), words * 4, words * 4};
    store(out, packet, 4);
    store(out, data, words);
    at += 16 + words * 4;
  }
  return fclose(out) != 0;
}

static int loop(const char *path) {
  struct stat info;
  double begin = now();
  int fd = open(path, O_RDONLY);
  if (fd < 0 || fstat(fd, &info) != 0)
    return 1;
  const uint8_t *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED)
    return 1;
  uint64_t count = 0, sum = 0;
  double opened = now();
  for (uint64_t at = 24, size = (uint64_t)info.st_size; size - at >= 16; count++) {
    uint32_t head[4];
    memcpy(head, data + at, sizeof head);
    if (head[2] > size - at - 16)
      break;
    sum += head[0] * UINT64_C(1000000000) + head[1] * UINT64_C(1000) + head[2] + head[3] + data[at + 16];
    at += 16 + head[2];
  }
  tell(begin, opened, count, sum);
  return 0;
}

static uint64_t look(const struct kymo_event *event, const uint32_t *fields) {
  uint64_t caplen = 0, wire = 0, size = 0;
  const uint8_t *data = NULL;
  kymo_event_get_uint(event, fields[0], &caplen);
  kymo_event_get_uint(event, fields[1], &wire);
  kymo_event_get_bytes(event, fields[2], &data, &size);
  return (uint64_t)event->time_ns + caplen + wire + (size ? data[0] : 0);
}

static int attach(struct kymo_trace *trace, const char *text, struct kymo_error *error) {
  const struct kymo_schema *schema = kymo_trace_part(trace, 0)->schema;
  struct kymo_filter_options options = {.schemas = &schema, .schema_count = 1};
  struct kymo_filter *filter;
  int status = kymo_filter_compile(&filter, text, strlen(text), &options, error);
  if (status == KYMO_OK)
    status = kymo_filter_attach(trace, filter, error);
  kymo_filter_release(filter);
  return status;
}

static int read_trace(const char *mode, const char *path, const char *key) {
  static const char *const names[3] = {"caplen", "wire", "data"};
  struct kymo_trace_options options = {0};
  struct kymo_error error;
  struct kymo_trace *trace;
  const struct kymo_event *event;
  uint32_t fields[3] = {0};
  uint64_t count = 0, sum = 0, one;
  double begin = now();
  if (kymo_description_load(&options.description, key, &error) < 0 ||
      kymo_trace_open(&trace, &path, 1, &options, &error) < 0 ||
      (*mode == 'f' && attach(trace, "caplen > 84", &error) < 0)) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  double opened = now();
  while (*mode == 'f' && kymo_trace_next_filtered(trace, &event, &error) == KYMO_OK)
    count++;
  for (; kymo_trace_next(trace, &event, &error) == KYMO_OK; count++) {
    if (count == 0)
      for (unsigned i = 0; i < 3; i++)
        fields[i] = kymo_field_id(trace, event->class_, names[i]);
    if (*mode == 'a')
      sum += look(event, fields);
    else if (*mode == 'l' && count % 10 == 0 && kymo_event_get_uint(event, fields[0], &one) == KYMO_OK)
      sum += one;
  }
  tell(begin, opened, count, sum);
  kymo_trace_close(trace);
  kymo_description_release(options.description);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "make") == 0)
    return make(argv[2]);
  if (argc == 3 && strcmp(argv[1], "loop") == 0)
    return loop(argv[2]);
  return argc == 4 ? read_trace(argv[1], argv[2], argv[3]) : 2;
}
