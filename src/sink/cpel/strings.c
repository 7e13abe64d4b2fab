/* SPDX-License-Identifier: MIT */
#include "sink/cpel/strings.h"
#include "base/fail.h"
#include "base/hash.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATE (1u << 14)

int kymo_cpel_strings_begin(struct kymo_cpel_strings *strings, const char *path, const char *name,
                            uint64_t most, struct kymo_error *error) {
  *strings = (struct kymo_cpel_strings){.most = most};
  snprintf(strings->name, sizeof strings->name, "%s", name);
  kymo_spool_begin(&strings->spool, path);
  strings->late = calloc(LATE, sizeof *strings->late);
  if (!strings->late)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  return kymo_spool_add(&strings->spool, strings->name, strlen(strings->name) + 1, error);
}

void kymo_cpel_strings_end(struct kymo_cpel_strings *strings) {
  kymo_spool_end(&strings->spool);
  free(strings->late);
  strings->late = NULL;
}

int kymo_cpel_strings_add(struct kymo_cpel_strings *strings, const char *text, size_t length,
                          uint32_t *offset, struct kymo_error *error) {
  struct kymo_spool *spool = &strings->spool;
  uint64_t size = kymo_spool_size(spool);
  uint32_t *late = &strings->late[kymo_hash64(text, length, 0) & (LATE - 1)];
  const uint8_t *known = *late ? kymo_spool_recent(spool, *late) : NULL;
  if (known && length < size - *late && memcmp(known, text, length) == 0 && known[length] == 0) {
    *offset = *late;
    return KYMO_OK;
  }
  if (size > strings->most || length >= strings->most - size)
    return KYMO_E_LIMIT;
  int status = kymo_spool_add(spool, text, length, error);
  if (status == KYMO_OK)
    status = kymo_spool_add(spool, "", 1, error);
  *offset = *late = (uint32_t)size;
  return status;
}

int kymo_cpel_strings_close(struct kymo_cpel_strings *strings, struct kymo_error *error) {
  static const char zeros[4];
  free(strings->late);
  strings->late = NULL;
  int status = kymo_spool_add(&strings->spool, zeros, -kymo_spool_size(&strings->spool) & 3, error);
  return status == KYMO_OK ? kymo_spool_close(&strings->spool, error) : status;
}
