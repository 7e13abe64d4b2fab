/* SPDX-License-Identifier: MIT */
/*
 * A record reader for `kymo merge`: logs whose events begin with their length, seconds and microseconds, as
 * kymo_bprintf(log, "%2n%4b%4b…", sec, usec, …) writes them, in the byte order of this machine.
 *
 *   cc -shared -fPIC -o records.so records.c $(pkg-config --cflags kymo)
 *   kymo merge --records ./records.so log_cpu* -o log
 */
#include <kymo/records.h>
#include <stdio.h>
#include <string.h>

struct __attribute__((packed)) head {
  uint16_t length;
  uint32_t sec, usec;
};

static int next_length(void *state, const uint8_t *bytes, size_t available, uint64_t *length,
                       struct kymo_error *error) {
  struct head head;
  (void)state;
  *length = 0;
  if (available < sizeof head)
    return KYMO_OK; /* more of it, please */
  memcpy(&head, bytes, sizeof head);
  *length = head.length;
  if (head.length >= sizeof head)
    return KYMO_OK;
  snprintf(error->message, sizeof error->message, "expected a length of at least %zu, found %u", sizeof head,
           head.length);
  return KYMO_E_FORMAT;
}

static int compare(void *state, const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size) {
  struct head x, y;
  (void)state, (void)a_size, (void)b_size;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  if (x.sec != y.sec)
    return x.sec < y.sec ? -1 : 1;
  return (x.usec > y.usec) - (x.usec < y.usec);
}

const struct kymo_records kymo_records_plugin = {
    KYMO_RECORDS_ABI,
    .name = "log with lengths",
    .next_length = next_length,
    .compare = compare,
};
