/* SPDX-License-Identifier: MIT */
/* Formats where formats are expected, with all their arguments. */
#include <kymo/bprintf.h>

enum state { OPEN };
struct where {
  unsigned char bits;
  short line;
  const char *file;
};
void put(struct kymo_log *log, const struct where *where, enum state state, char *room, bool is, float real,
         void *pointer);

void put(struct kymo_log *log, const struct where *where, enum state state, char *room, bool is, float real,
         void *pointer) {
  const char text[4] = "abc";
  struct kymo_bevent event;
  if (is)
    kymo_bprintf(log, "nothing but text, 100%%");
  else
    kymo_bprintf(log, "%1b%<2b%0s", where->bits, where->line, where->file);
  int stored = kymo_bprintf(log, "%2n%1S%1S%S%c", text, room, "literal", 'c');
  (void)stored;
  kymo_bprintf(log, "%1b%4b%8b%b", is, state, 1ull, 1ul);
  kymo_bprintf(log, "%d %u %f %p %.*m %.8o", -1, 1u, real, pointer, 4, pointer, pointer, 3);
  kymo_bprintf(log, "%4b%8b%4b%2b", kymo_log_next_number(log), kymo_now(), kymo_thread_id(), kymo_cpu());
  kymo_bprintf(log, "%1b*9%1b%1b%1b%1b%1b%1b%1b%1b%1b", 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  kymo_bevent_begin(&event, log, room, 10);
  kymo_bevent_printf(&event, "%n%b", 1);
  kymo_bevent_commit(&event);
}
