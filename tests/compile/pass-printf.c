/* SPDX-License-Identifier: MIT */
/* Formats where formats are expected, with their arguments. */
#include <inttypes.h>
#include <kymo/trace.h>
#include <wchar.h>

enum state { OPEN };
struct where {
  unsigned char bits;
  short line;
  const char *file;
};

void note(const struct where *where, enum state state, char *room, uint64_t big, void (*done)(void)) {
  const char text[4] = "abc";
  unsigned linux_ = 1;
  if (big)
    KYMO_PRINTF(log, note, "nothing but text, 100%%");
  else
    KYMO_PRINTF(log, note, "%s:%hd %hhx", where->file, where->line, where->bits);
  KYMO_PRINTF(log, note, "%" PRIu64 " %u, (%s) %.*s", big, linux_, text, (int)sizeof text, room);
  KYMO_PRINTF(log, note, "%d %p %p %c", (int)state, (const void *)where, (void *)(uintptr_t)done, 'c');
  const wchar_t *wide = L"text";
  wchar_t letters[4] = L"abc";
  KYMO_PRINTF(log, note, "%ls %.*ls %-8.3ls %lc%%n", wide, 3, letters, letters, (wint_t)*letters);
  KYMO_PRINTF(log, note, "%ls", L"abc");
  KYMO_PRINTF(log, note, "%p", (const void *)letters);
  KYMO_PRINTF(log, note, "%f %Lf", 1.0f, 1.0L, KYMO_LEVEL(info), KYMO_ABOUT("two floats"));
  KYMO_PRINTF(log, note, "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
              12, 13, 14, 15, 16);
}
