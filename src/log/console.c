/* SPDX-License-Identifier: MIT */
/* Lines for people. */
#include <errno.h>
#include <kymo/log.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 4096 };

static int console = STDERR_FILENO;

void kymo_console_redirect(int descriptor) { __atomic_store_n(&console, descriptor, __ATOMIC_RELAXED); }

/* One write, so that lines of several threads stay whole. */
static void say(const char *what, const char *format, va_list args) {
  char line[LINE_MAX_BYTES];
  int before = errno,
      length = snprintf(line, sizeof line, "%s%s%s", what ? program_invocation_short_name : "",
                        what ? ": " : "", what ? what : "");
  size_t used = length < 0 ? 0 : (size_t)length < sizeof line - 1 ? (size_t)length : sizeof line - 1;
  length = vsnprintf(line + used, sizeof line - 1 - used, format, args);
  if (length > 0)
    used += (size_t)length < sizeof line - 1 - used ? (size_t)length : sizeof line - 2 - used;
  if (!used || line[used - 1] != '\n')
    line[used++] = '\n';
  for (size_t at = 0; at < used;) {
    ssize_t count = write(__atomic_load_n(&console, __ATOMIC_RELAXED), line + at, used - at);
    if (count <= 0 && errno != EINTR)
      break;
    at += count > 0 ? (size_t)count : 0;
  }
  errno = before;
}

#define SAY(what)          \
  va_list args;            \
  va_start(args, format);  \
  say(what, format, args); \
  va_end(args)

void kymo_console_print(const char *format, ...) { SAY(NULL); }

void kymo_console_warning(const char *format, ...) { SAY("warning: "); }

void kymo_console_error(const char *format, ...) { SAY("error: "); }
