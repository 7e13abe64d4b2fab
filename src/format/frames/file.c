/* SPDX-License-Identifier: MIT */
/*
 * The begin of files of frames. SystemTap's have no header: their byte order is the one in which the first
 * frames form a chain.
 *
 * Its releases up to 4.8 at least write no magic either, so such a file is known by a long chain of frames,
 * whose numbers rise; or a short one that reaches its end, if its name ends with the number of a CPU. An
 * empty file belongs to the stream whose other files are beside it.
 */
#include "base/fail.h"
#include "base/file.h"
#include "format/frames/frames.h"
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { LOOKED_AT = 1 << 16, CHAIN = 4, LONG_CHAIN = 16 };
/* A chain of fewer than CHAIN frames without magic begins below this number: a file that begins with four
 * letters is something else. */
#define SHORT_CHAIN_BELOW (UINT32_C(1) << 24)
#define MAGIC "KYMOSTR\n"
#define ORDER UINT32_C(0x01020304)

struct beginning {
  uint8_t *bytes;
  size_t size;
  bool is_whole;
  uint64_t device, inode;
};

static int read_beginning(struct beginning *beginning, const char *path, struct kymo_error *error) {
  struct stat info;
  beginning->bytes = malloc(LOOKED_AT);
  if (!beginning->bytes)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = kymo_file_peek(path, beginning->bytes, LOOKED_AT, &beginning->size, &info, error);
  beginning->is_whole = beginning->size < LOOKED_AT;
  beginning->device = status == KYMO_OK ? (uint64_t)info.st_dev : 0;
  beginning->inode = status == KYMO_OK ? (uint64_t)info.st_ino : 0;
  return status;
}

/* ---- SystemTap ---- */

static size_t cut_digits(const char *text, size_t length) {
  while (length > 0 && isdigit((unsigned char)text[length - 1]))
    length--;
  return length;
}

/* Length of the text without these characters before digits at the end; the whole length, if there are
 * none. */
static size_t cut(const char *text, size_t length, const char *what) {
  size_t shorter = cut_digits(text, length), size = strlen(what);
  if (shorter == length || shorter <= size || memcmp(text + shorter - size, what, size) != 0)
    return length;
  return shorter - size;
}

/* How many of the first frames are adjacent, if numbers are in this byte order. */
static unsigned count_chain(const struct beginning *beginning, bool is_big) {
  struct kymo_bytes bytes = {.data = beginning->bytes, .size = beginning->size, .is_big = is_big};
  unsigned count = 0;
  while (count < CHAIN) {
    while (bytes.at < bytes.size && bytes.data[bytes.at] == 0)
      bytes.at++;
    const uint8_t *magic = kymo_bytes_take(&bytes, 4);
    if (!magic || memcmp(magic, KYMO_FRAME_MAGIC_, 4) != 0)
      break;
    kymo_bytes_u32(&bytes);
    uint32_t size = kymo_bytes_u32(&bytes);
    if (bytes.failed || size > bytes.size - bytes.at)
      return count + (!bytes.failed && !beginning->is_whole && size < LOOKED_AT);
    bytes.at += size;
    count++;
  }
  return count;
}

static uint32_t length_of(const struct beginning *beginning, bool is_big) {
  if (beginning->size < KYMO_FRAME_BYTES_)
    return 0;
  return is_big ? kymo_load_be32(beginning->bytes + 8) : kymo_load_le32(beginning->bytes + 8);
}

/* "NAME_cpu3", "NAME_3", "NAME_3.1": the CPU. */
static uint32_t number_in(const char *path, const struct frames_head *head) {
  struct frames_name name = kymo_frames_name(path, head);
  const char *rest = name.text + name.length;
  rest += strcspn(rest, "0123456789");
  return (uint32_t)strtoul(rest, NULL, 10);
}

static bool is_magic(const struct beginning *beginning) {
  return beginning->size >= 4 && memcmp(beginning->bytes, KYMO_FRAME_MAGIC_, 4) == 0;
}

static int read_stap(struct frames_head *head, const struct beginning *beginning, const char *path) {
  unsigned little = count_chain(beginning, false), big = count_chain(beginning, true);
  head->is_stap = head->is_cpu = true;
  head->is_big = big > little || (big == little && length_of(beginning, true) < length_of(beginning, false));
  head->number = number_in(path, head);
  return KYMO_OK;
}

/* How many frames without magic are adjacent from the first byte on. *is_whole: up to the end of the file or
 * of the examined part; the last one may be truncated, unless it is the first. */
static uint32_t count_bare(const struct beginning *beginning, bool is_big, bool *is_whole, uint32_t *first) {
  struct kymo_bytes bytes = {.data = beginning->bytes, .size = beginning->size, .is_big = is_big};
  uint32_t last = 0, count = 0;
  for (; bytes.at < bytes.size; count++) {
    uint32_t number = kymo_bytes_u32(&bytes), size = kymo_bytes_u32(&bytes);
    *is_whole = bytes.failed && count > 0;
    if (bytes.failed || size == 0 || size > FRAMES_BARE_MOST ||
        (count && (number == last || !kymo_frames_are_near(last, number))))
      return count;
    *is_whole = count > 0 || !beginning->is_whole;
    if (size > bytes.size - bytes.at)
      return count;
    bytes.at += size;
    *first = count ? *first : number;
    last = number;
  }
  *is_whole = true;
  return count;
}

/* Whether the name ends with the number of a CPU, before that of a part: "NAME_cpu3", "NAME_3",
 * "NAME_3.1". */
static bool names_cpu(const char *path) {
  static const struct frames_head of_cpu = {.is_cpu = true};
  struct frames_name name = kymo_frames_name(path, &of_cpu);
  return name.length > 0 && name.length < cut(name.text, strlen(name.text), ".");
}

static bool is_bare_file(const struct beginning *beginning, const char *path, bool is_big) {
  uint32_t first = 0;
  bool is_whole = false;
  uint32_t count = count_bare(beginning, is_big, &is_whole, &first);
  if (count >= LONG_CHAIN)
    return true;
  return names_cpu(path) && (count >= 2 * CHAIN ||
                             (is_whole && (count >= CHAIN || (count && first && first < SHORT_CHAIN_BELOW))));
}

/* KYMO_E_UNKNOWN: these are not frames. */
static int read_bare(struct frames_head *head, const struct beginning *beginning, const char *path) {
  if (beginning->size == 0 || (!is_bare_file(beginning, path, false) && !is_bare_file(beginning, path, true)))
    return KYMO_E_UNKNOWN;
  head->is_stap = head->is_cpu = head->is_bare = true;
  head->is_big = !is_bare_file(beginning, path, false);
  head->number = number_in(path, head);
  return KYMO_OK;
}

/* For an empty file, looks for a file beside it of the same stream, whose header it then uses. */
static int read_empty(struct frames_head *head, const char *path) {
  static const struct frames_head of_cpu = {.is_cpu = true};
  struct frames_name name = kymo_frames_name(path, &of_cpu);
  size_t before = (size_t)(name.text - path), room = before + NAME_MAX + 2;
  char *other = names_cpu(path) ? malloc(room) : NULL;
  int status = KYMO_E_UNKNOWN;
  if (!other)
    return status;
  snprintf(other, room, "%.*s", before ? (int)before : 1, before ? path : ".");
  DIR *directory = opendir(other);
  for (const struct dirent *entry; status != KYMO_OK && directory && (entry = readdir(directory));) {
    struct frames_head found = {0};
    struct beginning beginning = {0};
    struct kymo_error error;
    if (strncmp(entry->d_name, name.text, name.length) != 0 || strcmp(entry->d_name, name.text) == 0 ||
        !names_cpu(entry->d_name))
      continue;
    snprintf(other, room, "%.*s%s", (int)before, path, entry->d_name);
    if (kymo_frames_name(other, &of_cpu).length != name.length ||
        read_beginning(&beginning, other, &error) != KYMO_OK || beginning.size == 0)
      ;
    else if (is_magic(&beginning))
      status = read_stap(&found, &beginning, other);
    else
      status = read_bare(&found, &beginning, other);
    free(beginning.bytes);
    if (status == KYMO_OK)
      *head = (struct frames_head){.is_stap = true,
                                   .is_cpu = true,
                                   .is_bare = found.is_bare,
                                   .is_big = found.is_big,
                                   .number = number_in(path, &of_cpu)};
  }
  if (directory)
    closedir(directory);
  free(other);
  return status;
}

/* ---- kymo ---- */

static int read_own(struct frames_head *head, const struct beginning *beginning, const char *path,
                    struct kymo_error *error) {
  struct kymo_bytes bytes = {.data = beginning->bytes, .size = beginning->size, .at = 8};
  if (beginning->size < FRAMES_HEADER_BYTES)
    return kymo_fail_at(error, KYMO_E_FORMAT, path, 0,
                        "expected a header of %d bytes, found %zu to the end of the file",
                        FRAMES_HEADER_BYTES, beginning->size);
  uint32_t order = kymo_bytes_u32(&bytes);
  head->is_big = bytes.is_big = order != ORDER;
  if (order != ORDER && order != __builtin_bswap32(ORDER))
    return kymo_fail_at(error, KYMO_E_FORMAT, path, 8,
                        "order of bytes: expected 0x01020304 in either order, found 0x%08" PRIx32, order);
  uint16_t version = kymo_bytes_u16(&bytes), size = kymo_bytes_u16(&bytes);
  if (version != 1)
    return kymo_fail_at(error, KYMO_E_UNKNOWN, path, 12, "version of a framed log: expected 1, found %u",
                        version);
  if (size < FRAMES_HEADER_BYTES)
    return kymo_fail_at(error, KYMO_E_FORMAT, path, 14,
                        "length of the header: expected at least %d, found %u", FRAMES_HEADER_BYTES, size);
  memcpy(head->id, kymo_bytes_take(&bytes, FRAMES_ID_BYTES), FRAMES_ID_BYTES);
  head->number = kymo_bytes_u32(&bytes);
  head->part = kymo_bytes_u32(&bytes);
  uint32_t how = kymo_bytes_u32(&bytes);
  head->is_cpu = how & 1;
  head->is_merged = how & KYMO_LOG_MERGED_;
  head->is_newest = how & KYMO_LOG_NEWEST_;
  head->pid = kymo_bytes_u32(&bytes);
  head->begun_ns = kymo_bytes_u64(&bytes);
  head->defined_to = kymo_bytes_u64(&bytes);
  head->begin = size;
  memcpy(head->bytes, beginning->bytes, FRAMES_HEADER_BYTES);
  return KYMO_OK;
}

int kymo_frames_head(struct frames_head *head, const char *path, struct kymo_error *error) {
  struct beginning beginning = {0};
  *head = (struct frames_head){0};
  int status = read_beginning(&beginning, path, error);
  if (status == KYMO_OK && beginning.size >= 8 && memcmp(beginning.bytes, MAGIC, 8) == 0)
    status = read_own(head, &beginning, path, error);
  else if (status == KYMO_OK && is_magic(&beginning))
    status = read_stap(head, &beginning, path);
  else if (status == KYMO_OK &&
           (beginning.size ? read_bare(head, &beginning, path) : read_empty(head, path)) != KYMO_OK)
    status = kymo_fail_at(error, KYMO_E_UNKNOWN, path, 0, "expected a file of frames");
  head->device = beginning.device;
  head->inode = beginning.inode;
  free(beginning.bytes);
  return status;
}

/* ---- names ---- */

struct frames_name kymo_frames_name(const char *path, const struct frames_head *head) {
  const char *slash = strrchr(path, '/'), *text = slash ? slash + 1 : path;
  size_t length = cut(text, strlen(text), "."), whole = length;
  static const char *const of_cpus[] = {"_cpu", "cpu", "_", NULL}, *const of_threads[] = {"_thread", NULL};
  for (const char *const *what = head->is_cpu ? of_cpus : of_threads; *what && length == whole; what++)
    length = cut(text, whole, *what);
  return (struct frames_name){text, length};
}

/* The directory and name identify SystemTap's files, since nothing in them does. */
bool kymo_frames_are_one(const struct frames_file *one, const struct frames_file *other) {
  const struct frames_head *a = &one->head, *b = &other->head;
  if (a->is_stap != b->is_stap || a->is_bare != b->is_bare || a->is_big != b->is_big ||
      memcmp(a->id, b->id, FRAMES_ID_BYTES) != 0)
    return false;
  if (!a->is_stap)
    return true;
  struct frames_name name = kymo_frames_name(one->path, a), other_name = kymo_frames_name(other->path, b);
  size_t length = (size_t)(name.text - one->path) + name.length;
  size_t other_length = (size_t)(other_name.text - other->path) + other_name.length;
  return length == other_length && memcmp(one->path, other->path, length) == 0;
}
