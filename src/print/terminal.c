/* SPDX-License-Identifier: MIT */
#include "print/terminal.h"
#include "print/unicode.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { ESCAPED_BYTES = 4 };

/* ---- writing ---- */

static bool flush(struct kymo_terminal *terminal) {
  for (size_t at = 0; at < terminal->out_count;) {
    ssize_t done = write(terminal->fd, terminal->out + at, terminal->out_count - at);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0) {
      terminal->out_count = 0;
      return false;
    }
    at += (size_t)done;
  }
  terminal->out_count = 0;
  return true;
}

/* `count` bytes, at most those that may wait. */
static bool put(struct kymo_terminal *terminal, const uint8_t *bytes, size_t count, bool is_escaped) {
  static const char digits[] = "0123456789abcdef";
  if (terminal->out_count + count * ESCAPED_BYTES > KYMO_TERMINAL_OUT && !flush(terminal))
    return false;
  char *to = terminal->out + terminal->out_count;
  for (size_t i = 0; i < count; i++) {
    if (!is_escaped) {
      *to++ = (char)bytes[i];
      continue;
    }
    memcpy(to, "\\x", 2);
    to[2] = digits[bytes[i] >> 4];
    to[3] = digits[bytes[i] & 15];
    to += ESCAPED_BYTES;
  }
  terminal->out_count = (size_t)(to - terminal->out);
  return true;
}

/* ---- what may pass ---- */

/* The first waiting bytes: this many form a unit; 0: more are needed. */
struct piece {
  size_t count;
  bool is_escaped;
};

static struct piece color_of(const uint8_t *bytes, size_t count) {
  static const char *const colors[] = {KYMO_COLOR_NAME, KYMO_COLOR_EVENT, KYMO_COLOR_LOSS, KYMO_COLOR_TIME,
                                       KYMO_COLOR_OFF};
  bool may_come = false;
  for (size_t i = 0; i < sizeof colors / sizeof *colors; i++) {
    size_t length = strlen(colors[i]);
    if (count >= length && memcmp(bytes, colors[i], length) == 0)
      return (struct piece){length, false};
    may_come |= count < length && memcmp(bytes, colors[i], count) == 0;
  }
  return (struct piece){!may_come, true};
}

static struct piece character_of(const uint8_t *bytes, size_t count) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t length = bytes[0] >= 0xF0 ? 4 : bytes[0] >= 0xE0 ? 3 : 2;
  uint32_t character = bytes[0] & (0x7F >> length);
  if (bytes[0] < 0xC2 || bytes[0] > 0xF4)
    return (struct piece){1, true};
  for (size_t i = 1; i < length; i++) {
    if (i == count)
      return (struct piece){0, false};
    if ((bytes[i] & 0xC0) != 0x80)
      return (struct piece){1, true};
    character = character << 6 | (bytes[i] & 0x3F);
  }
  if (character < least[length] || character > 0x10FFFF || (character >= 0xD800 && character <= 0xDFFF))
    return (struct piece){1, true};
  return (struct piece){length, kymo_is_obeyed(character)};
}

static struct piece piece_of(const struct kymo_terminal *terminal) {
  const uint8_t *bytes = terminal->waiting;
  if (bytes[0] == '\033' && terminal->has_colors && *terminal->has_colors)
    return color_of(bytes, terminal->waiting_count);
  if (bytes[0] < 0x80)
    return (struct piece){1, (bytes[0] < ' ' && bytes[0] != '\n' && bytes[0] != '\t') || bytes[0] == 0x7F};
  return character_of(bytes, terminal->waiting_count);
}

/* Writes the units that are complete; all if no more bytes follow. */
static bool pass(struct kymo_terminal *terminal, bool is_end) {
  while (terminal->waiting_count) {
    struct piece piece = piece_of(terminal);
    if (!piece.count && !is_end)
      return true;
    if (!piece.count)
      piece = (struct piece){1, true};
    if (!put(terminal, terminal->waiting, piece.count, piece.is_escaped))
      return false;
    terminal->waiting_count -= piece.count;
    memmove(terminal->waiting, terminal->waiting + piece.count, terminal->waiting_count);
  }
  return true;
}

/* ---- the stream ---- */

static ssize_t terminal_write(void *cookie, const char *bytes, size_t size) {
  struct kymo_terminal *terminal = cookie;
  for (size_t i = 0; i < size; i++) {
    terminal->waiting[terminal->waiting_count++] = (uint8_t)bytes[i];
    if (!pass(terminal, false))
      return 0;
  }
  return flush(terminal) ? (ssize_t)size : 0;
}

static int terminal_close(void *cookie) {
  struct kymo_terminal *terminal = cookie;
  return pass(terminal, true) && flush(terminal) ? 0 : -1;
}

FILE *kymo_terminal_open(struct kymo_terminal *terminal, int fd, const bool *has_colors) {
  *terminal = (struct kymo_terminal){.fd = fd, .has_colors = has_colors};
  FILE *file =
      fopencookie(terminal, "w", (cookie_io_functions_t){.write = terminal_write, .close = terminal_close});
  if (file)
    setvbuf(file, NULL, _IOLBF, BUFSIZ);
  return file;
}
