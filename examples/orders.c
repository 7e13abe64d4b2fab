/* SPDX-License-Identifier: MIT */
/*
 * A log in a custom format, written by kymo_bprintf: a byte of kind, the record's length, and the fields of
 * the kind. Nothing else is in the file orders_thread0, and readers skip records of unknown kinds by the
 * length:
 *
 *   'o'  length:2  id:4  price:8  text…0        an order
 *   'b'  length:2  count of addresses:1  8 each  where it came from, known only when it is complete
 *
 * orders DIRECTORY
 */
#include <kymo/bprintf.h>
#include <stdio.h>

static void put_order(struct kymo_log *log, uint32_t id, uint64_t price, const char *text) {
  kymo_bprintf(log, "o%<2n%<4b%<8b%0s", id, price, text);
}

/* Several calls make one record, and its length is that of all of them. */
static void put_way(struct kymo_log *log, const uint64_t *address, unsigned count) {
  struct kymo_bevent event;
  char room[512];
  kymo_bevent_begin(&event, log, room, sizeof room);
  kymo_bevent_printf(&event, "b%<2n%1b", count);
  for (unsigned i = 0; i < count; i++)
    kymo_bevent_printf(&event, "%<8b", address[i]);
  kymo_bevent_commit(&event);
}

int main(int argc, char **argv) {
  static const uint64_t way[] = {0x401000, 0x402000, 0x403000};
  char path[1024];
  if (argc != 2) {
    fprintf(stderr, "usage: orders DIRECTORY\n");
    return 2;
  }
  snprintf(path, sizeof path, "%s/orders", argv[1]);
  struct kymo_log *log = kymo_log_open(path, NULL);
  if (!log) {
    perror(path);
    return 1;
  }
  put_order(log, 1, 995, "book");
  put_way(log, way, 3);
  if (kymo_log_close(log)) {
    perror(path);
    return 1;
  }
  return 0;
}
