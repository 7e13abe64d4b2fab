/* SPDX-License-Identifier: MIT */
/* Going to events by number, and back: moves SEED FILE… Each event that is come to must be the one that was
 * there on the way ahead. */
#include <kymo/read.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__ /* some of them: each is slow */
enum { MOVES = 60 };
#else
enum { MOVES = 300 };
#endif

static uint64_t state;
static uint64_t chance(uint64_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % below;
}

/* What the event's header begins with: time or number. */
static uint64_t number_of(const struct kymo_event *event) {
  uint64_t number;
  memcpy(&number, event->packet->data + event->offset_bits / 8, sizeof number);
  return number;
}

int main(int argc, char **argv) {
  struct kymo_trace *trace;
  struct kymo_error error;
  const struct kymo_event *event;
  uint64_t *numbers = NULL;
  size_t count = 0, capacity = 0;
  if (argc < 3 ||
      kymo_trace_open(&trace, (const char *const *)argv + 2, (size_t)argc - 2, NULL, &error) != KYMO_OK)
    return 2;
  state = strtoull(argv[1], NULL, 10);
  while (kymo_trace_next(trace, &event, &error) == KYMO_OK) {
    if (count == capacity)
      numbers = realloc(numbers, (capacity = capacity ? capacity * 2 : 1024) * sizeof *numbers);
    numbers[count++] = number_of(event);
  }
  for (int i = 0; i < MOVES; i++) {
    uint64_t at = chance(count);
    if (kymo_trace_goto_event(trace, at + 1, &event, &error) != KYMO_OK || number_of(event) != numbers[at])
      return printf("event %llu: not the one with number %llx\n", (unsigned long long)at,
                    (unsigned long long)numbers[at]),
             1;
    for (uint64_t steps = chance(50); steps > 0 && at > 0; steps--)
      if (kymo_trace_previous(trace, &event, &error) != KYMO_OK || number_of(event) != numbers[--at])
        return printf("back to %llu: not the one with number %llx\n", (unsigned long long)at,
                      (unsigned long long)numbers[at]),
               1;
  }
  kymo_trace_close(trace);
  free(numbers);
  return 0;
}
