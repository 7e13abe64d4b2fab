/* SPDX-License-Identifier: MIT */
/* Fast text output: the buffer and the less frequent numbers. */
#include "print/out.h"
#include "base/fail.h"
#include <errno.h>
#include <stdlib.h>

int kymo_out_begin(struct kymo_out *out, FILE *file, struct kymo_error *error) {
  *out = (struct kymo_out){.file = file};
  out->data = malloc(KYMO_OUT_SIZE);
  if (!out->data)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  out->at = out->data;
  out->end = out->data + KYMO_OUT_SIZE;
  return KYMO_OK;
}

void kymo_out_flush(struct kymo_out *out) {
  size_t size = (size_t)(out->at - out->data);
  out->at = out->data;
  out->flushes++;
  if (out->error_number || size == 0)
    return;
  errno = 0;
  if (fwrite(out->data, 1, size, out->file) != size)
    out->error_number = errno ? errno : EIO;
}

void kymo_out_long(struct kymo_out *out, const void *bytes, size_t size) {
  const char *from = bytes;
  while (size > 0) {
    size_t part = size < KYMO_OUT_ROOM ? size : KYMO_OUT_ROOM;
    memcpy(kymo_out_room(out, part), from, part);
    out->at += part;
    from += part;
    size -= part;
  }
}

int kymo_out_check(const struct kymo_out *out, struct kymo_error *error) {
  if (!out->error_number)
    return KYMO_OK;
  if (out->error_number == ENOMEM)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  return kymo_fail(error, KYMO_E_SYSTEM, "cannot write: %s", strerror(out->error_number));
}

int kymo_out_finish(struct kymo_out *out, struct kymo_error *error) {
  if (!out->data)
    return KYMO_OK;
  kymo_out_flush(out);
  errno = 0;
  if (!out->error_number && fflush(out->file) != 0)
    out->error_number = errno ? errno : EIO;
  free(out->data);
  out->data = NULL;
  return kymo_out_check(out, error);
}

/* ---- numbers ---- */

char *kymo_put_uuid(char *at, const uint8_t uuid[16]) {
  for (int i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10)
      *at++ = '-';
    at = kymo_put_hex_byte(at, uuid[i]);
  }
  return at;
}

/* The C library's %g prints and strtod reads back: the first precision whose result is equal is used. */
static char *put_shortest(char *at, double value, bool single) {
  int length = 0;
  for (int digits = single ? 6 : 15; digits <= (single ? 9 : 17); digits++) {
    length = snprintf(at, 32, "%.*g", digits, value);
    if (single ? strtof(at, NULL) == (float)value : strtod(at, NULL) == value)
      break;
  }
  char *comma = memchr(at, ',', (size_t)length); /* of a locale */
  if (comma)
    *comma = '.';
  return at + length;
}

char *kymo_put_double(char *at, double value, bool single, bool point) {
  if (!(value > -1e15 && value < 1e15) || value != (double)(int64_t)value) {
    char *end = put_shortest(at, value, single);
    if (!point || memchr(at, '.', (size_t)(end - at)) || memchr(at, 'e', (size_t)(end - at)))
      return end;
    memcpy(end, ".0", 2);
    return end + 2;
  }
  if (__builtin_signbit(value)) {
    *at++ = '-';
    value = -value;
  }
  at = kymo_put_u64(at, (uint64_t)value);
  if (!point)
    return at;
  memcpy(at, ".0", 2);
  return at + 2;
}
