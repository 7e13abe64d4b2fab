/* SPDX-License-Identifier: MIT */
/* Compiled descriptions, by which other files are read. They are schemas; in a file (x.key) they are a
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

int kymo_description_load(struct kymo_schema **description, const char *path, struct kymo_error *error) {
  struct kymo_error local = {.code = KYMO_OK}, *why = error ? error : &local;
  *description = kymo_language_load(path, NULL, NULL, why);
  return *description ? KYMO_OK : why->code;
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

int kymo_description_save(const struct kymo_schema *description, const char *path, struct kymo_error *error) {
  uint8_t *bytes;
  size_t size;
  int status = kymo_registry_write(description, &bytes, &size, error);
  if (status != KYMO_OK)
    return status;
  status = replace(path, bytes, size, error);
  free(bytes);
  return status;
}

struct kymo_schema *kymo_description_retain(struct kymo_schema *description) {
  return kymo_schema_retain(description);
}

void kymo_description_release(struct kymo_schema *description) { kymo_schema_release(description); }

int kymo_description_compile(struct kymo_schema **description, const char *text, size_t length,
                             const char *file, const char *language, struct kymo_error *error) {
  struct kymo_error local = {.code = KYMO_OK}, *why = error ? error : &local;
  const struct kymo_language *by =
      language ? kymo_language_find(language) : kymo_language_guess(text, length);
  *description = NULL;
  if (!by && language)
    return kymo_fail(error, KYMO_E_UNKNOWN, "no language is called '%s'", language);
  if (!by)
    return kymo_fail_at(error, KYMO_E_UNKNOWN, file, KYMO_ERROR_NO_OFFSET, "the language is unknown");
  *description = by->compile(text, length, file, NULL, why);
  return *description ? KYMO_OK : why->code;
}

void kymo_description_info_(const struct kymo_schema *description, struct kymo_description_summary *out,
                            size_t size) {
  struct kymo_description_summary own = {.stream_classes = description->stream_count,
                                         .clocks = description->clock_count,
                                         .types = description->type_count,
                                         .plan_bytes = description->plan ? description->plan_size : 0};
  for (uint32_t i = 0; i < description->stream_count; i++)
    own.event_classes += description->streams[i]->event_count;
  kymo_sized_out(out, size, &own, sizeof own);
}
