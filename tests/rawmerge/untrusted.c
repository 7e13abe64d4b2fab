/* SPDX-License-Identifier: MIT */
/* A record reader that does what its options say: records of 4 bytes, after a header of 4 bytes, with the
 * chosen faults. */
#include <kymo/records.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 4 };

static int begin(void **state, const char *options, struct kymo_error *error) {
  *state = strdup(options ? options : "");
  if (strcmp(*state, "refuse") != 0)
    return *state ? KYMO_OK : KYMO_E_MEMORY;
  free(*state);
  snprintf(error->message, sizeof error->message, "refuse is no option");
  return KYMO_E_USAGE;
}
static void end(void *state) { free(state); }
static int is(const void *state, const char *option) { return strcmp(state, option) == 0; }

static int head_length(void *state, const uint8_t *bytes, size_t available, uint64_t *length,
                       struct kymo_error *error) {
  (void)bytes, (void)error;
  *length = is(state, "head") ? BYTES : 0;
  return is(state, "head") && available < BYTES ? KYMO_AGAIN : KYMO_OK;
}

static int next_length(void *state, const uint8_t *bytes, size_t available, uint64_t *length,
                       struct kymo_error *error) {
  *length = is(state, "zero") ? 0 : is(state, "huge") ? UINT64_MAX : is(state, "large") ? 1u << 20 : BYTES;
  if (is(state, "silent"))
    return KYMO_E_FORMAT;
  if (is(state, "cuts") && available && bytes[0] == 'c' && truncate("one", 2 * BYTES) != 0)
    abort(); /* the file ends before this record now */
  if (!is(state, "picky") || available < 1 || bytes[0] != 'x')
    return KYMO_OK;
  snprintf(error->message, sizeof error->message, "expected no x");
  return KYMO_E_FORMAT;
}

static int compare(void *state, const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size) {
  static unsigned turns;
  if (is(state, "mad"))
    return turns++ % 3 ? -1 : 1;
  if (a_size != BYTES || b_size != BYTES)
    abort();
  return memcmp(a, b, BYTES);
}

#ifndef VERSION
#define VERSION KYMO_RECORDS_ABI_VERSION
#endif
#ifndef SIZE
#define SIZE sizeof(struct kymo_records)
#endif
#ifndef NAME
#define NAME "untrusted"
#endif
const struct kymo_records kymo_records_plugin = {
    .abi_version = VERSION,
    .size_bytes = SIZE,
    .name = NAME,
    .next_length = next_length,
    .compare = compare,
    .head_length = head_length,
    .begin = begin,
    .end = end,
};
