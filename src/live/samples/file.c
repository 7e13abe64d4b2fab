/* SPDX-License-Identifier: MIT */
#include "live/samples/file.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x32454c4946524550) /* "PERFILE2" in little-endian order */
#define KERNEL_NAME "[kernel.kallsyms]"

enum { ATTR_BYTES = sizeof(struct perf_event_attr), TAIL_BYTES = 24, ROUND = 68, LONGEST = 4096 };

enum {
  FEATURE_HOST = 3,
  FEATURE_RELEASE = 4,
  FEATURE_MACHINE = 6,
  FEATURE_CPUS = 7,
  FEATURE_EVENTS = 12,
  FEATURE_CLOCK = 23,
  FEATURE_CLOCK_DATA = 29,
};

static const uint8_t kinds[] = {FEATURE_HOST,   FEATURE_RELEASE, FEATURE_MACHINE,   FEATURE_CPUS,
                                FEATURE_EVENTS, FEATURE_CLOCK,   FEATURE_CLOCK_DATA};

/* The file is in the order of this machine. */
static void put(struct kymo_strbuf *out, const void *bytes, size_t size) {
  kymo_strbuf_add(out, bytes, size);
}
static void put32(struct kymo_strbuf *out, uint32_t number) { put(out, &number, sizeof number); }
static void put64(struct kymo_strbuf *out, uint64_t number) { put(out, &number, sizeof number); }

static void pad(struct kymo_strbuf *out, size_t size) {
  static const uint8_t zeros[64];
  put(out, zeros, size);
}

/* The event as the file has it: ids are removed from its records (once.h). */
static void put_attr(struct kymo_strbuf *out, const struct kymo_sampling_events *events) {
  struct perf_event_attr attr = events->attr;
  attr.sample_type &= ~(uint64_t)PERF_SAMPLE_IDENTIFIER;
  put(out, &attr, sizeof attr);
}

/* ---- head ---- */

void kymo_sampling_put_head(struct kymo_strbuf *out, const struct kymo_sampling_events *events,
                            uint64_t data_bytes, bool features) {
  const uint64_t head = KYMO_SAMPLING_DATA_AT - ATTR_BYTES - 16;
  uint64_t bits = 0;
  for (size_t i = 0; features && i < sizeof kinds; i++)
    bits |= UINT64_C(1) << kinds[i];
  put64(out, MAGIC);
  put64(out, head);
  put64(out, ATTR_BYTES + 16);
  put64(out, head);
  put64(out, ATTR_BYTES + 16);
  put64(out, KYMO_SAMPLING_DATA_AT);
  put64(out, data_bytes);
  pad(out, 16); /* no types of events */
  put64(out, bits);
  pad(out, 24);
  put_attr(out, events);
  put64(out, KYMO_SAMPLING_DATA_AT); /* it has no ids: there is one event */
  put64(out, 0);
}

/* ---- features ---- */

static void put_text(struct kymo_strbuf *out, const char *text) {
  size_t length = strlen(text), room = (length + 64) / 64 * 64;
  put32(out, (uint32_t)room);
  put(out, text, length);
  pad(out, room - length);
}

static void put_feature(struct kymo_strbuf *out, unsigned kind, const struct kymo_sampling_events *events,
                        const struct kymo_session_clock *clock) {
  struct utsname names = {0};
  uname(&names);
  switch (kind) {
  case FEATURE_HOST: put_text(out, names.nodename); return;
  case FEATURE_RELEASE: put_text(out, names.release); return;
  case FEATURE_MACHINE: put_text(out, names.machine); return;
  case FEATURE_CPUS:
    put32(out, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
    put32(out, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
    return;
  case FEATURE_EVENTS:
    put32(out, 1);
    put32(out, ATTR_BYTES);
    put_attr(out, events);
    put32(out, 0);
    put_text(out, events->name);
    return;
  case FEATURE_CLOCK: put64(out, 1); return; /* nanosecond */
  default:                                   /* the real time of 0 */
    put32(out, 1);
    put32(out, CLOCK_MONOTONIC);
    put64(out, (uint64_t)clock->offset_seconds * 1000000000 + clock->offset_cycles);
    put64(out, 0);
    return;
  }
}

void kymo_sampling_put_features(struct kymo_strbuf *out, const struct kymo_sampling_events *events,
                                const struct kymo_session_clock *clock, uint64_t at) {
  struct kymo_strbuf bodies = {0};
  at += sizeof kinds * 16;
  for (size_t i = 0; i < sizeof kinds; i++) {
    size_t from = bodies.length;
    put_feature(&bodies, kinds[i], events, clock);
    put64(out, at + from);
    put64(out, bodies.length - from);
  }
  put(out, bodies.text, bodies.length);
  out->failed |= bodies.failed;
  kymo_strbuf_free(&bodies);
}

/* ---- records ---- */

static void put_record_head(struct kymo_strbuf *out, uint32_t type, uint16_t misc, size_t body_bytes) {
  const struct perf_event_header head = {type, misc, (uint16_t)(sizeof head + body_bytes)};
  put(out, &head, sizeof head);
}

/* A name, and thread, time and CPU, which are 0. */
static void put_name(struct kymo_strbuf *out, const char *name, size_t room) {
  size_t length = strlen(name);
  put(out, name, length);
  pad(out, room - length + TAIL_BYTES);
}

static size_t name_room(const char *name) { return strlen(name) / 8 * 8 + 8; }

void kymo_sampling_put_round(struct kymo_strbuf *out) { put_record_head(out, ROUND, 0, 0); }

void kymo_sampling_put_lost(struct kymo_strbuf *out, uint64_t count, uint64_t time) {
  put_record_head(out, PERF_RECORD_LOST, 0, 16 + TAIL_BYTES);
  put64(out, 0); /* it has no id */
  put64(out, count);
  put64(out, 0); /* thread */
  put64(out, time);
  put64(out, 0); /* CPU */
}

/* From the symbol _text to _etext. */
void kymo_sampling_put_kernel(struct kymo_strbuf *out) {
  static const char name[] = KERNEL_NAME "_text";
  char line[512], symbol[256];
  uint64_t address, begin = 0, end = 0;
  FILE *file = fopen("/proc/kallsyms", "re");
  while (file && (!begin || !end) && fgets(line, sizeof line, file)) {
    if (sscanf(line, "%" SCNx64 " %*c %255s", &address, symbol) != 2)
      continue;
    if (strcmp(symbol, "_text") == 0)
      begin = address;
    else if (strcmp(symbol, "_etext") == 0)
      end = address;
  }
  if (file)
    fclose(file);
  if (!begin || end <= begin)
    return;
  size_t room = name_room(name);
  put_record_head(out, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, 32 + room + TAIL_BYTES);
  put32(out, UINT32_MAX);
  put32(out, 0);
  put64(out, begin);
  put64(out, end - begin);
  put64(out, begin);
  put_name(out, name, room);
}

void kymo_sampling_put_thread(struct kymo_strbuf *out, int pid, int tid) {
  char path[64], name[32] = "";
  snprintf(path, sizeof path, "/proc/%d/task/%d/comm", pid, tid);
  FILE *file = fopen(path, "re");
  bool is_read = file && fgets(name, sizeof name, file);
  if (file)
    fclose(file);
  if (!is_read)
    return;
  name[strcspn(name, "\n")] = '\0';
  put_record_head(out, PERF_RECORD_COMM, 0, 8 + name_room(name) + TAIL_BYTES);
  put32(out, (uint32_t)pid);
  put32(out, (uint32_t)tid);
  put_name(out, name, name_room(name));
}

/* "55d0c000-55d0d000 r-xp 00001000 fe:00 1234    /usr/bin/x": a file's code. */
static void put_module(struct kymo_strbuf *out, int pid, const char *line) {
  uint64_t begin, end, offset, inode;
  unsigned major, minor;
  char rights[8];
  int at = 0;
  if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n", &begin, &end, rights,
             &offset, &major, &minor, &inode, &at) != 7 ||
      !at || rights[2] != 'x' || line[at] != '/' || strlen(line + at) >= LONGEST)
    return;
  size_t room = name_room(line + at);
  put_record_head(out, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, 64 + room + TAIL_BYTES);
  put32(out, (uint32_t)pid);
  put32(out, (uint32_t)pid);
  put64(out, begin);
  put64(out, end - begin);
  put64(out, offset);
  put32(out, major);
  put32(out, minor);
  put64(out, inode);
  put64(out, 0);
  put32(out, PROT_READ | PROT_EXEC);
  put32(out, rights[3] == 's' ? MAP_SHARED : MAP_PRIVATE);
  put_name(out, line + at, room);
}

void kymo_sampling_put_modules(struct kymo_strbuf *out, int pid) {
  char path[64], line[LONGEST + 256];
  snprintf(path, sizeof path, "/proc/%d/maps", pid);
  FILE *file = fopen(path, "re");
  while (file && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    put_module(out, pid, line);
  }
  if (file)
    fclose(file);
}
