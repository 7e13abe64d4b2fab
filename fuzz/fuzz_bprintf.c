/* SPDX-License-Identifier: MIT */
/*
 * Formats of kymo_bprintf: three bytes that choose the largest event and the kinds of arguments, then any
 * format. A refused format is refused with a place in it; a stored event has the reported length, and is
 * never longer than the log allows.
 */
#include <kymo/bprintf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARGUMENTS = 12 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct kymo_log *stream_of(size_t most) {
  static struct kymo_log *logs[3];
  static const size_t sizes[] = {20, 1000, 20000};
  char path[64];
  snprintf(path, sizeof path, "/tmp/fuzz-bprintf-%d-%zu", (int)getpid(), most);
  struct kymo_log_options options = {
      .is_memory = true, .packet_bytes = 32768, .packets = 2, .event_bytes_max = sizes[most]};
  if (!logs[most])
    logs[most] = kymo_log_open(path, &options);
  return logs[most];
}

static struct kymo_barg argument(uint32_t kind) {
  static const char text[4096] = "some text\0\xff";
  switch (kind % 5) {
  case 0: return KYMO_BARG(5);
  case 1: return KYMO_BARG(text);
  case 2: return KYMO_BARG(1.5e300);
  case 3: return KYMO_BARG((const void *)text);
  default: return KYMO_BARG((uint64_t)2);
  }
}

/* Lengths of memory are the program's word, so none is as long as a format could say. */
static int reads_memory(const char *format) {
  for (; *format; format++)
    if (*format == 'm' || *format == 'M' || *format == 'o')
      return 1;
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct kymo_barg args[ARGUMENTS];
  size_t at = 0;
  if (size < 3)
    return 0;
  char *format = calloc(1, size - 2);
  struct kymo_log *log = stream_of(data[0] % 3);
  if (!format || !log)
    abort();
  memcpy(format, data + 3, size - 3);
  uint32_t kinds = (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16;
  for (int i = 0; i < ARGUMENTS; i++, kinds /= 5)
    args[i] = argument(kinds);
  const char *fault = kymo_bformat_fault(format, &at);
  if (at > strlen(format) || (!fault && at != strlen(format)))
    abort();
  if (!reads_memory(format)) {
    int stored = kymo_bvprintf(log, format, args, ARGUMENTS);
    if ((fault && stored >= 0) || stored > (int)log->event_max)
      abort();
  }
  free(format);
  return 0;
}
