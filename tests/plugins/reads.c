/* SPDX-License-Identifier: MIT */
/*
 * The events of SystemTap's thread: two threads log reads and opens, which describe themselves, into a framed
 * stream of a file a thread.
 *
 *   reads NAME COUNT
 */
#include <kymo/define.h>
#include <kymo/log.h>
#include <pthread.h>
#include <stdlib.h>

static struct kymo_log *stream;
static struct kymo_definition *read_event, *open_event;
static pthread_barrier_t both;
static uint32_t count;

static int define(void) {
  read_event = kymo_definition_new(stream, "read", NULL);
  open_event = kymo_definition_new(stream, "open", NULL);
  return !read_event || !open_event || kymo_definition_add_field(read_event, "id", KYMO_FIELD_ID) ||
         kymo_definition_add_field(read_event, "timeval", KYMO_FIELD_TIMEVAL) ||
         kymo_definition_add_field(read_event, "name", KYMO_FIELD_TEXT) ||
         kymo_definition_add_field(read_event, "fd", KYMO_FIELD_INT32) ||
         kymo_definition_add_field(read_event, "count", KYMO_FIELD_UINT64) ||
         kymo_definition_add_field(open_event, "id", KYMO_FIELD_ID) ||
         kymo_definition_add_field(open_event, "filename", KYMO_FIELD_TEXT);
}

static void *work(void *unused) {
  pthread_barrier_wait(&both);
  for (uint32_t i = 0; i < count; i++)
    if (kymo_definition_printf(read_event, "%8b%4b%0s%4b%8b", (uint64_t)1142896381 + i / 100, i % 100 * 10000,
                               "read", i % 7, (uint64_t)8192 * i) < 0 ||
        (i % 10 == 0 && kymo_definition_printf(open_event, "%0s", "/dev/hdc") < 0))
      exit(3);
  pthread_barrier_wait(&both); /* a later sink would take the file of one that ended */
  return unused;
}

int main(int argc, char **argv) {
  struct kymo_log_options options = {.is_framed = true};
  pthread_t thread;
  if (argc != 3)
    return 2;
  count = (uint32_t)strtoul(argv[2], NULL, 10);
  stream = kymo_log_open(argv[1], &options);
  if (!stream || define())
    return 3;
  pthread_barrier_init(&both, NULL, 2);
  pthread_create(&thread, NULL, work, NULL);
  work(NULL);
  pthread_join(thread, NULL);
  return kymo_log_close(stream) ? 3 : 0;
}
