/* SPDX-License-Identifier: MIT */
/* Records the events that client.c reads, and counts those of a binary log. record DIRECTORY */
#include <kymo/bprintf.h>
#include <kymo/trace.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  struct {
    struct kymo_log_counts it;
    unsigned char guard[512];
  } counts;
  char path[1024];
  if (argc != 2)
    return 2;
  for (int number = 0; number < 5; number++) {
    const char *name = number & 1 ? "odd" : "even";
    double half = number / 2.0;
    KYMO(abi, tick, number, name, half);
  }
  snprintf(path, sizeof path, "%s/log", argv[1]);
  struct kymo_log_options options = {.is_framed = true};
  struct kymo_log *stream = kymo_log_open(path, &options);
  if (!stream)
    return 1;
  for (unsigned i = 0; i < 5; i++)
    kymo_bprintf(stream, "%4b%0s", i, "text");
  memset(&counts, 0xaa, sizeof counts);
  kymo_log_count(stream, &counts.it);
  for (size_t i = 0; i < sizeof counts.guard; i++)
    if (counts.guard[i] != 0xaa) {
      puts("kymo_log_count wrote past its struct");
      return 1;
    }
  printf("%llu bytes, %llu truncated, %llu lost\n", (unsigned long long)counts.it.bytes,
         (unsigned long long)counts.it.truncated, (unsigned long long)counts.it.lost);
  return kymo_log_close(stream) ? 1 : 0;
}
