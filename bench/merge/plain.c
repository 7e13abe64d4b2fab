/* SPDX-License-Identifier: MIT */
/*
 * What one writes by hand for files of records "%2n%4b%4b…" (length, seconds, microseconds), in this
 * machine's order of bytes:
 *
 *   plain generate NAME FILES RECORDS   makes NAME0, NAME1, …, which alternate at random
 *   plain frame NAME FILES RECORDS      the same records as a framed log (docs/bprintf.md)
 *   plain merge OUT FILE…               merges files of records: the smallest of all heads, again and again
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 64, HEAD = 10 };

struct file {
  const uint8_t *at, *end;
  uint32_t sec, usec;
};

static int put_header(FILE *out, uint32_t number) {
  const struct {
    char magic[8];
    uint32_t order;
    uint16_t version, size;
    uint8_t id[16];
    uint32_t number, part, is_cpu, pid;
    uint64_t rest[2];
  } header = {.magic = "KYMOSTR\n",
              .order = 0x01020304,
              .version = 1,
              .size = 64,
              .id = "bench",
              .number = number,
              .is_cpu = 1};
  return fwrite(&header, sizeof header, 1, out) == 1 ? 0 : 1;
}

static int generate(const char *name, unsigned files, unsigned records, int is_framed) {
  FILE *out[FILES_MAX];
  uint64_t now = UINT64_C(1000000000) * 1000000, random = 1;
  char path[4096];
  for (unsigned i = 0; i < files; i++) {
    snprintf(path, sizeof path, "%s%u", name, i);
    if (!(out[i] = fopen(path, "wb")) || (is_framed && put_header(out[i], i)))
      return 1;
  }
  for (unsigned i = 0; i < records * files; i++) {
    static const char text[32] = "what an event has to tell to all";
    random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    uint16_t length = (uint16_t)(HEAD + 8 + (random >> 60));
    now += 1 + (random >> 62);
    uint32_t sec = (uint32_t)(now / 1000000), usec = (uint32_t)(now % 1000000);
    FILE *to = out[(random >> 33) % files];
    const uint32_t frame[] = {i, length};
    if (is_framed && fwrite("\xf0\x9f\xa9\xba", 4, 1, to) + fwrite(frame, sizeof frame, 1, to) < 2)
      return 1;
    if (fwrite(&length, 2, 1, to) + fwrite(&sec, 4, 1, to) + fwrite(&usec, 4, 1, to) +
            fwrite(text, 1, length - HEAD, to) <
        4)
      return 1;
  }
  for (unsigned i = 0; i < files; i++)
    if (fclose(out[i]))
      return 1;
  return 0;
}

static void look(struct file *file) {
  memcpy(&file->sec, file->at + 2, 4);
  memcpy(&file->usec, file->at + 6, 4);
}

static int open_file(struct file *file, const char *path) {
  struct stat info;
  int fd = open(path, O_RDONLY);
  if (fd < 0 || fstat(fd, &info) || info.st_size < HEAD)
    return 1;
  void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED)
    return 1;
  file->at = data;
  file->end = file->at + info.st_size;
  look(file);
  return 0;
}

static int merge(const char *path, char **paths, unsigned count) {
  static char buffer[128 << 10];
  struct file files[FILES_MAX];
  FILE *out = fopen(path, "wb");
  if (!out || setvbuf(out, buffer, _IOFBF, sizeof buffer))
    return 1;
  for (unsigned i = 0; i < count; i++)
    if (open_file(&files[i], paths[i]))
      return 1;
  while (count) {
    unsigned best = 0;
    for (unsigned i = 1; i < count; i++)
      if (files[i].sec < files[best].sec ||
          (files[i].sec == files[best].sec && files[i].usec < files[best].usec))
        best = i;
    struct file *file = &files[best];
    uint16_t length;
    memcpy(&length, file->at, 2);
    if (length < HEAD || length > file->end - file->at)
      return 1;
    fwrite_unlocked(file->at, 1, length, out);
    file->at += length;
    if (file->end - file->at >= HEAD) {
      look(file);
      continue;
    }
    count--;
    memmove(file, file + 1, (count - best) * sizeof *file);
  }
  return fclose(out);
}

int main(int argc, char **argv) {
  int is_framed = argc == 5 && strcmp(argv[1], "frame") == 0;
  if (is_framed || (argc == 5 && strcmp(argv[1], "generate") == 0))
    return generate(argv[2], (unsigned)strtoul(argv[3], NULL, 10), (unsigned)strtoul(argv[4], NULL, 10),
                    is_framed);
  if (argc > 3 && argc - 3 <= FILES_MAX && strcmp(argv[1], "merge") == 0)
    return merge(argv[2], argv + 3, (unsigned)argc - 3);
  return 2;
}
