/* SPDX-License-Identifier: MIT */
#include "fleet/part.h"
#include "base/fail.h"
#include "base/hash.h"
#include "print/who.h"
#include "query/value.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The begin of a stream's file distinguishes the parts of one trace: their first packets have other
 * numbers. */
#define BEGIN_BYTES 4096
#define READ_BYTES (1u << 20)

/* Hashes up to `most` bytes of a file. */
static int hash_file(struct kymo_hash128 *hash, const char *path, uint64_t most, struct kymo_error *error) {
  struct stat info;
  FILE *file = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fopen(path, "rb") : NULL;
  uint8_t *bytes = malloc(READ_BYTES);
  size_t count = 0;
  int status = !bytes ? kymo_fail(error, KYMO_E_MEMORY, "out of memory") : KYMO_OK;
  if (status == KYMO_OK && !file)
    status = kymo_fail_at(error, KYMO_E_SYSTEM, path, KYMO_ERROR_NO_OFFSET,
                          "expected a file: the rows of a trace are known by the bytes of its files");
  while (status == KYMO_OK && most &&
         (count = fread(bytes, 1, most < READ_BYTES ? most : READ_BYTES, file))) {
    struct kymo_hash128 next = kymo_hash128(bytes, count, hash->low);
    *hash = (struct kymo_hash128){hash->high * 31 + next.high, next.low};
    most -= count;
  }
  if (status == KYMO_OK && ferror(file))
    status = kymo_fail_errno(error, path, "read");
  if (file)
    fclose(file);
  free(bytes);
  return status;
}

/* Hashes the files of all streams; several streams may be in one file. */
static int hash_streams(struct kymo_hash128 *hash, const struct kymo_trace *trace, const struct kymo_part *of,
                        uint64_t most, struct kymo_error *error) {
  const char *last = "";
  int status = KYMO_OK;
  for (uint32_t i = 0; status == KYMO_OK && i < of->stream_count; i++) {
    const struct kymo_stream *stream = kymo_part_stream(trace, of, i);
    hash->low += stream->instance;
    if (strcmp(stream->path, last) != 0)
      status = hash_file(hash, stream->path, most, error);
    last = stream->path;
  }
  return status;
}

static void write_uuid(char text[37], const uint8_t uuid[16]) {
  static const char digits[] = "0123456789abcdef";
  for (int i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10)
      *text++ = '-';
    *text++ = digits[uuid[i] >> 4];
    *text++ = digits[uuid[i] & 15];
  }
  *text = '\0';
}

/* A UUID of version 8, whose bits are free. */
static void make_uuid(uint8_t uuid[16], struct kymo_hash128 hash) {
  for (int i = 0; i < 8; i++) {
    uuid[i] = (uint8_t)(hash.high >> (56 - 8 * i));
    uuid[8 + i] = (uint8_t)(hash.low >> (56 - 8 * i));
  }
  uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x80);
  uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

int fleet_part_describe(struct fleet_part *part, const struct kymo_trace *trace, const struct kymo_part *of,
                        const struct fleet_database *database, struct kymo_error *error) {
  struct kymo_hash128 begin = {0}, all = {0};
  uint8_t uuid[16];
  const char *host = of->schema ? kymo_host_of(of) : NULL;
  host = host ? host : kymo_part_host(of);
  *part = (struct fleet_part){.host = host ? host : "", .process = query_process_of(of)};
  part->has_pid = query_part_pid(of, &part->pid);
  int status = hash_streams(&begin, trace, of, BEGIN_BYTES, error);
  part->piece = begin.low;
  if (status == KYMO_OK && of->schema && of->schema->has_uuid) {
    memcpy(uuid, of->schema->uuid, sizeof uuid);
  } else if (status == KYMO_OK) {
    status = hash_streams(&all, trace, of, UINT64_MAX, error);
    make_uuid(uuid, all);
  }
  if (status != KYMO_OK)
    return status;
  write_uuid(part->uuid, uuid);
  part->server = database->servers[kymo_hash64(uuid, sizeof uuid, 0) % database->server_count];
  return KYMO_OK;
}
