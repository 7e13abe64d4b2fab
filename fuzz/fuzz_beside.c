/* SPDX-License-Identifier: MIT */
/*
 * The files that a recorder writes beside a trace, with any content: the first byte of an input says which
 * file the rest is.
 *
 *   0   .kymo/modules    the load map
 *   1   .kymo/clocks     clock snapshots
 *   2   .kymo/index      the streams of an index; the fuzzer adds its header, and the state of the
 *                    stream's file
 *   3   .kymo/files      what the recorder wrote
 *
 * The trace itself is valid and always the same. Whatever is beside it, all its events are read, in their
 * order.
 */
#include "base/bytes.h"
#include "reader.h"
#include "source/modules.h"
#include "symbols/symbols.h"
#include "trace/trace.h"
#include <string.h>
#include <sys/stat.h>

enum { PACKETS = 64, EVENTS = 4, PACKET_BYTES = 36 + EVENTS * 16, NAMES = 4 };

static const char metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };\n"
    "clock { name = c; freq = 1000000000; offset_s = 1700000000; };\n"
    "typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; } := t64;\n"
    "stream { packet.context := struct { t64 timestamp_begin; t64 timestamp_end; u64 content_size; u64 "
    "packet_size; };\n"
    "  event.header := struct { t64 timestamp; }; };\n"
    "event { name = a; fields := struct { u64 address; }; };\n";
static const char *const names[NAMES] = {"modules", "clocks", "index", "files"};
static char directory[64];

/* ---- the trace ---- */

static void write_file(const char *name, const void *bytes, size_t size) {
  char path[128];
  if ((size_t)snprintf(path, sizeof path, "%s/%s", directory, name) >= sizeof path)
    abort();
  FILE *file = fopen(path, "w");
  if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
    abort();
}

static uint8_t *put64(uint8_t *at, uint64_t value) {
  for (int i = 0; i < 8; i++)
    *at++ = (uint8_t)(value >> 8 * i);
  return at;
}

static void remove_trace(void) {
  char path[128];
  for (size_t i = 0; i < NAMES; i++) {
    snprintf(path, sizeof path, "%s/.kymo/%s", directory, names[i]);
    unlink(path);
  }
  snprintf(path, sizeof path, "%s/.kymo", directory);
  rmdir(path);
  snprintf(path, sizeof path, "%s/stream", directory);
  unlink(path);
  snprintf(path, sizeof path, "%s/metadata", directory);
  unlink(path);
  rmdir(directory);
}

static void make_trace(void) {
  static uint8_t stream[PACKETS * PACKET_BYTES];
  const char *folder = getenv("TMPDIR");
  char hidden[128];
  snprintf(directory, sizeof directory, "%.40s/kymo-beside-XXXXXX", folder ? folder : "/tmp");
  if (!mkdtemp(directory))
    abort();
  atexit(remove_trace);
  uint8_t *at = stream;
  for (uint64_t i = 0, time = 1000; i < PACKETS; i++) {
    memcpy(at, "\xc1\x1f\xfc\xc1", 4);
    at = put64(put64(put64(put64(at + 4, time), time + 1000), PACKET_BYTES * 8), PACKET_BYTES * 8);
    for (uint64_t k = 0; k < EVENTS; k++, time += 250)
      at = put64(put64(at, time), 0x1000 * (i + k));
  }
  snprintf(hidden, sizeof hidden, "%s/.kymo", directory);
  mkdir(hidden, 0700);
  write_file("metadata", metadata, sizeof metadata - 1);
  write_file("stream", stream, sizeof stream);
}

/* ---- the file beside it ---- */

enum { INDEX_STREAM_BYTES = 40, INDEX_FILE_BYTES = 32 };

/* The first stream's first file becomes the one that is there. */
static void write_index(const uint8_t *data, size_t size) {
  struct kymo_strbuf out = {0};
  char path[128];
  struct stat info;
  uint8_t *copy = malloc(size ? size : 1);
  snprintf(path, sizeof path, "%s/stream", directory);
  if (!copy || stat(path, &info))
    abort();
  memcpy(copy, data, size);
  if (size >= INDEX_STREAM_BYTES + INDEX_FILE_BYTES)
    put64(put64(put64(put64(copy + INDEX_STREAM_BYTES, (uint64_t)info.st_ino), (uint64_t)info.st_size),
                (uint64_t)info.st_mtim.tv_sec),
          (uint64_t)info.st_mtim.tv_nsec);
  kymo_index_write_begin(&out);
  kymo_strbuf_add(&out, (const char *)copy, size);
  kymo_index_write_end(&out);
  write_file(".kymo/index", out.text, out.length);
  kymo_strbuf_free(&out);
  free(copy);
}

static void use_modules(struct kymo_trace *trace) {
  struct kymo_symbols *symbols = kymo_symbols_new(trace);
  struct kymo_symbol symbol;
  const struct kymo_part *part = kymo_trace_part(trace, 0);
  for (uint64_t address = 0; symbols && address < 0x50000; address += 0x800) {
    const struct kymo_module *module = kymo_part_module(part, address, address);
    if (module && (address < module->start || address >= module->end))
      abort();
    fuzz_reached += module != NULL;
    kymo_symbols_find(symbols, part, address, &(struct kymo_event){.cycles = address}, &symbol);
  }
  kymo_symbols_free(symbols);
}

/* All events, from the start and from some times on. */
static void use_trace(unsigned which) {
  const char *path = directory;
  const struct kymo_event *event = NULL;
  struct kymo_trace *trace;
  struct kymo_error error;
  uint64_t count = 0;
  int64_t last_ns = INT64_MIN;
  if (kymo_trace_open(&trace, &path, 1, NULL, &error) != KYMO_OK)
    abort();
  while (kymo_trace_next(trace, &event, &error) == KYMO_OK && event->time_ns >= last_ns) {
    last_ns = event->time_ns;
    count++;
  }
  if (count != PACKETS * EVENTS)
    abort();
  const struct kymo_part *part = kymo_trace_part(trace, 0);
  if (which == 0)
    use_modules(trace);
  fuzz_reached += which == 1 ? kymo_part_clock_snapshot_count(part) : 0;
  fuzz_reached += which == 3 ? kymo_trace_damage_count(trace) : 0;
  for (int64_t k = 0; which == 2 && k < 6; k++) {
    int64_t wanted_ns = INT64_C(1700000000000001000) + k * 12333;
    if (kymo_trace_goto_time(trace, wanted_ns, &error) == KYMO_OK &&
        kymo_trace_next(trace, &event, &error) == KYMO_OK) {
      if (event->time_ns < wanted_ns || event->time_ns >= wanted_ns + 1000)
        abort(); /* a hint was taken for a fact */
      fuzz_reached += kymo_stream_of(event)->index.kept > 0;
    }
  }
  kymo_trace_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[128];
  if (!size)
    return 0;
  if (!directory[0])
    make_trace();
  unsigned which = data[0] % NAMES;
  snprintf(path, sizeof path, ".kymo/%s", names[which]);
  if (which == 2)
    write_index(data + 1, size - 1);
  else
    write_file(path, data + 1, size - 1);
  use_trace(which);
  snprintf(path, sizeof path, "%s/.kymo/%s", directory, names[which]);
  unlink(path);
  return 0;
}
