/* SPDX-License-Identifier: MIT */
/* One of each that a format can print, for kinds.txt. "long": a text of 200 KB. */
#include <inttypes.h>
#include <kymo/trace.h>
#include <stdlib.h>
#include <wchar.h>

static void longer_than_a_packet(void) {
  char *text = malloc(200000);
  if (!text)
    exit(1);
  memset(text, 'x', 199999);
  text[199999] = 0;
  KYMO_PRINTF(kinds, too_long, "%s", text);
  KYMO_PRINTF(kinds, behind, "%s", "it");
  free(text);
}

int main(int argc, char **argv) {
  (void)argv;
  unsigned n = 5;
  const char *host = "x", *nobody = NULL;
  const char unended[3] = {'a', 'b', 'c'};
  char room[8] = "abc";
  const wchar_t *wide = L"a\u00e9\u20ac\U0001f600z", *no_wide = NULL,
                odd[] = {0xd800, (wchar_t)0xffffffff, 0x110000, 'x', 0};
  wchar_t wide_room[3] = {0xe9, 0x20ac, 'c'};
  int three = 3, none = -1;
  if (argc > 1) {
    longer_than_a_packet();
    return 0;
  }
  KYMO_PRINTF(kinds, note, "got %u bytes from %s", n, host);
  KYMO_PRINTF(kinds, note, "%u bytes, from %s", n, host);
  KYMO_PRINTF(kinds, nothing, "-");
  KYMO_PRINTF(kinds, percent, "100%% of %d%%", 5);
  KYMO_PRINTF(kinds, texts, "%.3s|%.*s|%.*s|%-6s|%6s|%.0s|", unended, three, unended, none, room, room, room,
              room);
  KYMO_PRINTF(kinds, nobody, "%s|%.3s|%.6s|%9s|", nobody, nobody, nobody, nobody);
  KYMO_PRINTF(kinds, lengths, "%hhd %hhu %hd %ld %lld %jd %zu %td", 300, -1, 70000, -1L, -1LL, (intmax_t)-1,
              sizeof n, (ptrdiff_t)-5);
  KYMO_PRINTF(kinds, fixed, "%" PRIx64 " %#" PRIo8 " %+d", UINT64_MAX, (uint8_t)8, 0);
  KYMO_PRINTF(kinds, stars, "%*d|%-*d|%*d|%0*d|%.*f|", 5, 1, 5, 1, -5, 1, 5, 1, 2, 1.0);
  KYMO_PRINTF(kinds, pointers, "%p %p %p", (void *)0x1234, (void *)0, (const void *)0xff);
  KYMO_PRINTF(kinds, text_as_pointer, "%p", (char *)0x1234);
  KYMO_PRINTF(kinds, controls, "%c%c\n\"%s\"", 'a', 7, "\x01\\");
  KYMO_PRINTF(kinds, wide_texts, "%ls|%12ls|%-12ls|%.5ls|%.*ls|%.0ls|", wide, wide, wide, wide, 6, wide,
              wide);
  KYMO_PRINTF(kinds, wide_nobody, "%ls|%.5ls|%.6ls|%9ls|", no_wide, no_wide, no_wide, no_wide);
  KYMO_PRINTF(kinds, wide_unended, "%.6ls|%.5ls|%ls|%.*ls|", wide_room, wide_room, wide_room, none,
              wide_room);
  KYMO_PRINTF(kinds, no_characters, "%ls|%.5ls", odd, odd);
  KYMO_PRINTF(kinds, wide_as_pointer, "%p", (const wchar_t *)0x1234);
  KYMO_PRINTF(kinds, wide, "%lc%lc|%4lc|%-3lc|%lc%lc", (wint_t)L'a', (wint_t)0xe9, (wint_t)0x20ac,
              (wint_t)0x1f600, (wint_t)-1, (wint_t)0xdfff);
  errno = ENOENT;
  KYMO_PRINTF(kinds, fails, "open %s: %m", "file", KYMO_LEVEL(error), KYMO_ABOUT("what could not be opened"));
  KYMO_PRINTF(kinds, named, "%d %d", KYMO_AS(answer, 42), KYMO_HEX(mask, 255));
  return 0;
}
