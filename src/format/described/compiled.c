/* SPDX-License-Identifier: MIT */
/* Compiled descriptions ("keys"), by which other files are read. They are schemas; a key file is a
 * registry. */
#include "base/fail.h"
#include "base/sized.h"
#include "format/language.h"
#include <fcntl.h>
#include <kymo/read.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int kymo_description_load(struct kymo_schema **key, const char *path, struct kymo_error *error) {
  struct kymo_error local = {.code = KYMO_OK}, *told = error ? error : &local;
  *key = kymo_language_load(path, NULL, NULL, told);
  return *key ? KYMO_OK : told->code;
}

/* Writes to a file beside it, which then replaces the old one. */
static int replace(const char *path, const uint8_t *bytes, size_t size, struct kymo_error *error) {
  size_t room = strlen(path) + 32;
  char *beside = malloc(room);
  if (!beside)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  snprintf(beside, room, "%s.%ld.new", path, (long)getpid());
  int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666), status = KYMO_OK;
  FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
  if (!file)
    status = kymo_fail_errno(error, path, "cannot write");
  else if (fwrite(bytes, 1, size, file) != size)
    status = kymo_fail_errno(error, path, "cannot write");
  if (file && fclose(file) != 0 && status == KYMO_OK)
    status = kymo_fail_errno(error, path, "cannot write");
  if (status == KYMO_OK && rename(beside, path) != 0)
    status = kymo_fail_errno(error, path, "cannot write");
  if (status != KYMO_OK && fd >= 0)
    unlink(beside);
  free(beside);
  return status;
}

int kymo_description_save(const struct kymo_schema *key, const char *path, struct kymo_error *error) {
  uint8_t *bytes;
  size_t size;
  int status = kymo_registry_write(key, &bytes, &size, error);
  if (status != KYMO_OK)
    return status;
  status = replace(path, bytes, size, error);
  free(bytes);
  return status;
}

struct kymo_schema *kymo_description_retain(struct kymo_schema *key) {
  return kymo_schema_retain(key);
}

void kymo_description_release(struct kymo_schema *key) { kymo_schema_release(key); }

int kymo_description_compile(struct kymo_schema **key, const char *text, size_t length, const char *file,
                             const char *language, struct kymo_error *error) {
  struct kymo_error local = {.code = KYMO_OK}, *told = error ? error : &local;
  const struct kymo_language *by =
      language ? kymo_language_find(language) : kymo_language_guess(text, length);
  *key = NULL;
  if (!by && language)
    return kymo_fail(error, KYMO_E_UNKNOWN, "no language is called '%s'", language);
  if (!by)
    return kymo_fail_at(error, KYMO_E_UNKNOWN, file, KYMO_ERROR_NO_OFFSET, "the language is unknown");
  *key = by->compile(text, length, file, NULL, told);
  return *key ? KYMO_OK : told->code;
}

void kymo_description_info_(const struct kymo_schema *key, struct kymo_description_summary *out,
                            size_t size) {
  struct kymo_description_summary own = {.stream_classes = key->stream_count,
                                         .clocks = key->clock_count,
                                         .types = key->type_count,
                                         .plan_bytes = key->plan ? key->plan_size : 0};
  for (uint32_t i = 0; i < key->stream_count; i++)
    own.event_classes += key->streams[i]->event_count;
  kymo_sized_out(out, size, &own, sizeof own);
}
