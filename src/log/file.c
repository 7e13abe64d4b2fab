/* SPDX-License-Identifier: MIT */
/* Files of logs: their names, the header of framed ones, rotation. Only system calls, since it may run in
 * a handler. */
#include "log/log.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HEADER_BYTES = KYMO_LOG_HEADER_BYTES_, DEFINED_TO_AT = 56 };

struct name {
  char text[KYMO_LOG_PATH_MAX + 64];
  size_t length;
};

static void add(struct name *name, const char *text) {
  for (; *text && name->length < sizeof name->text - 1; text++)
    name->text[name->length++] = *text;
  name->text[name->length] = 0;
}

static void add_number(struct name *name, uint32_t number) {
  char digits[12], *at = digits + sizeof digits - 1;
  *at = 0;
  do
    *--at = (char)('0' + number % 10);
  while (number /= 10);
  add(name, at);
}

/* PATH[.PID]_thread0[.PART] */
static void make_name(struct name *name, const struct kymo_thread_buffer *buffer, const char *path,
                      uint32_t part) {
  name->length = 0;
  add(name, path);
  if (buffer->of->child) {
    add(name, ".");
    add_number(name, (uint32_t)buffer->of->child);
  }
  add(name, buffer->of->options.files == KYMO_FILES_PER_CPU ? "_cpu" : "_thread");
  add_number(name, buffer->number);
  if (part) {
    add(name, ".");
    add_number(name, part);
  }
}

/* `defined`: bytes of definitions after it. */
static void put_header(unsigned char *header, const struct kymo_thread_buffer *buffer, size_t defined) {
  const struct kymo_log_state *log = buffer->of;
  const uint32_t order = 0x01020304, pid = (uint32_t)getpid();
  const uint16_t version = 1, size = HEADER_BYTES;
  const uint32_t how =
      (log->options.files == KYMO_FILES_PER_CPU) | (log->options.is_memory ? KYMO_LOG_NEWEST_ : 0);
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const uint64_t time = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
                 defined_to = defined ? HEADER_BYTES + defined : 0;
  memset(header, 0, HEADER_BYTES);
  memcpy(header, "KYMOSTR\n", 8);
  memcpy(header + 8, &order, 4);
  memcpy(header + 12, &version, 2);
  memcpy(header + 14, &size, 2);
  memcpy(header + 16, log->uuid, 16);
  memcpy(header + 32, &buffer->number, 4);
  memcpy(header + 36, &buffer->part, 4);
  memcpy(header + 40, &how, 4);
  memcpy(header + 44, &pid, 4);
  memcpy(header + 48, &time, 8);
  memcpy(header + DEFINED_TO_AT, &defined_to, 8);
}

static int write_all(int file, const unsigned char *bytes, size_t size) {
  while (size) {
    ssize_t count = write(file, bytes, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      errno = count ? errno : EIO;
      return -1;
    }
    bytes += count;
    size -= (size_t)count;
  }
  return 0;
}

/* An open file with its header and the first `defined` bytes of the log's definitions, or -1. */
static int create(const struct kymo_thread_buffer *buffer, const char *path, size_t defined) {
  unsigned char header[HEADER_BYTES];
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
  if (file < 0 || !buffer->of->options.is_framed)
    return file;
  put_header(header, buffer, defined);
  if (!write_all(file, header, sizeof header) && (!defined || !write_all(file, buffer->of->defined, defined)))
    return file;
  int reason = errno;
  close(file);
  unlink(path); /* it could not be read */
  errno = reason;
  return -1;
}

/* Bytes of definitions so far. Acquire: they are stored, and a thread that has seen an event of one sees it;
 * partner: kymo_definition_end. */
static size_t defined_of(const struct kymo_thread_buffer *buffer) {
  return __atomic_load_n(&buffer->of->defined_bytes, __ATOMIC_ACQUIRE);
}

static bool begin_file(struct kymo_thread_buffer *buffer) {
  struct name name;
  make_name(&name, buffer, buffer->of->path, buffer->part);
  buffer->defined = defined_of(buffer);
  buffer->file = create(buffer, name.text, buffer->defined);
  buffer->file_bytes = buffer->of->options.is_framed ? HEADER_BYTES + buffer->defined : 0;
  return buffer->file >= 0;
}

/* Whether there are events in the file. */
static bool has_events(const struct kymo_thread_buffer *buffer) {
  return buffer->file_bytes > (buffer->of->options.is_framed ? HEADER_BYTES + buffer->defined : 0);
}

/* The header is written first, so that a reader that finds an event of a definition knows the definition. */
static int append_definitions(const struct kymo_thread_buffer *buffer, size_t size) {
  const uint64_t to = buffer->file_bytes + size;
  if (pwrite(buffer->file, &to, sizeof to, DEFINED_TO_AT) != sizeof to)
    return -1;
  return write_all(buffer->file, buffer->of->defined + buffer->defined, size);
}

/* The definitions since the last write, and the bytes. */
static int append(struct kymo_thread_buffer *buffer, const unsigned char *bytes, size_t size) {
  size_t defined = defined_of(buffer), more = defined - buffer->defined;
  if ((more && append_definitions(buffer, more)) || write_all(buffer->file, bytes, size))
    return -1;
  buffer->defined = defined;
  buffer->file_bytes += more + size;
  return 0;
}

/* Begins the next file, and removes old ones beyond the number to keep. */
static void rotate(struct kymo_thread_buffer *buffer) {
  uint32_t kept = buffer->of->options.rotate_count;
  struct name name;
  close(buffer->file);
  buffer->file = -1;
  buffer->part++;
  if (!kept || buffer->part < kept)
    return;
  make_name(&name, buffer, buffer->of->path, buffer->part - kept);
  unlink(name.text);
}

/* -1, with the errno of the failure. */
static int fail(struct kymo_thread_buffer *buffer, int reason) {
  int none = 0;
  buffer->write_errors++;
  __atomic_compare_exchange_n(&buffer->of->write_reason, &none, reason, false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
  errno = reason;
  return -1;
}

int kymo_thread_buffer_write(struct kymo_thread_buffer *buffer, const unsigned char *bytes, size_t size) {
  uint64_t most = buffer->of->options.rotate_bytes;
  if (buffer->file >= 0 && most && has_events(buffer) &&
      buffer->file_bytes + defined_of(buffer) - buffer->defined + size > most)
    rotate(buffer);
  if (buffer->file < 0 && !begin_file(buffer))
    return fail(buffer, errno);
  if (!append(buffer, bytes, size))
    return 0;
  /* no part of an event stays */
  int reason = errno;
  if (!ftruncate(buffer->file, (off_t)buffer->file_bytes))
    lseek(buffer->file, (off_t)buffer->file_bytes, SEEK_SET);
  return fail(buffer, reason);
}

/* Packets in the order in which they were filled; the open one up to `end`. */
static int write_packets(const struct kymo_thread_buffer *buffer, int file, const unsigned char *end) {
  uint32_t packets = buffer->of->options.packets, kept = buffer->opened < packets ? buffer->opened : packets;
  for (uint32_t i = 0; i < kept; i++) {
    uint32_t packet = (buffer->packet + packets + 1 - kept + i) % packets;
    bool is_open = packet == buffer->packet;
    const unsigned char *begin =
        is_open ? buffer->flushed : buffer->packets + packet * buffer->of->options.packet_bytes;
    if (write_all(file, begin, is_open ? (size_t)(end - begin) : buffer->filled[packet]))
      return -1;
  }
  return 0;
}

int kymo_thread_buffer_write_to(const struct kymo_thread_buffer *buffer, const char *path) {
  struct name name;
  /* read before the definitions: the definitions of all events up to here exist */
  const unsigned char *end = __atomic_load_n(&buffer->hot.at, __ATOMIC_ACQUIRE);
  make_name(&name, buffer, path, 0);
  int file = create(buffer, name.text, defined_of(buffer));
  if (file < 0)
    return -1;
  int status = write_packets(buffer, file, end), reason = errno;
  if (close(file) && !status)
    return -1;
  errno = reason;
  return status;
}
