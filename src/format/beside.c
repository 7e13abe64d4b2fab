/* SPDX-License-Identifier: MIT */
#include "format/beside.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/path.h"
#include "ring/clock.h"
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 4096

/* A file of one line; *text NULL: there is none. */
static int read_line(const char *directory, const char *name, uint8_t **text, struct kymo_error *error) {
  enum { LINE_LIMIT = 256 };
  char path[PATH_BYTES];
  size_t size = 0;
  *text = NULL;
  return kymo_path_join(path, sizeof path, directory, name)
             ? kymo_file_read_if_there(path, LINE_LIMIT, text, &size, error)
             : KYMO_OK;
}

static int read_lost(struct kymo_beside *beside, const char *directory, struct kymo_error *error) {
  uint8_t *text;
  int status = read_line(directory, "lost", &text, error);
  beside->lost = text ? strtoull((const char *)text, NULL, 10) : 0;
  free(text);
  return status;
}

static int read_origin(struct kymo_beside *beside, const char *directory, struct kymo_arena *arena,
                       struct kymo_error *error) {
  uint8_t *text;
  int status = read_line(directory, "clock", &text, error);
  if (text && !(beside->origin = kymo_arena_copy(arena, (const char *)text, strcspn((char *)text, "\n"))))
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  free(text);
  return status;
}

int kymo_beside_read(struct kymo_beside *beside, const char *directory, struct kymo_arena *arena,
                     struct kymo_error *error) {
  *beside = (struct kymo_beside){0};
  int status = read_origin(beside, directory, arena, error);
  return status == KYMO_OK ? read_lost(beside, directory, error) : status;
}

int kymo_beside_clock(struct kymo_clock *clock, const char *origin, const char *path,
                      struct kymo_error *error) {
  struct kymo_session_clock from = {.is_counter = strncmp(origin, "counter", 7) == 0};
  if (!kymo_session_clock_take_origin(&from, origin, true))
    return kymo_fail_at(error, KYMO_E_FORMAT, path, KYMO_ERROR_NO_OFFSET,
                        "expected the origin of a clock beside it, found \"%.60s\"", origin);
  *clock = (struct kymo_clock){.name = from.is_counter ? "counter" : "monotonic",
                               .description = from.is_counter ? "The processor's counter" : "CLOCK_MONOTONIC",
                               .frequency = from.frequency,
                               .offset_seconds = from.offset_seconds,
                               .offset_cycles = from.offset_cycles,
                               .origin_is_epoch = true};
  return KYMO_OK;
}
