/* SPDX-License-Identifier: MIT */
/* Shared by the commands: printing errors, writing and ending output. */
#include "print/terminal.h"
#include "tool/tool.h"
#include "tool/words.h"
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *program_name = "kymo";

static void print_version(FILE *out, struct argp_state *state) {
  (void)state;
  fputs("kymo " KYMO_VERSION "\n", out);
}

void tool_set_up(const char *program) {
  program_name = program;
  argp_err_exit_status = TOOL_USAGE;
  argp_program_version_hook = print_version;
  /* The reader of our output may end at any time: end quietly, also if our parent ignores SIGPIPE. */
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_UNBLOCK, &pipe, NULL);
}

/* ---- terminals ---- */

static bool has_colors;

bool tool_guard_terminals(void) {
  static struct kymo_terminal terminals[2]; /* until the program ends */
  FILE *out = isatty(STDOUT_FILENO) ? kymo_terminal_open(&terminals[0], STDOUT_FILENO, &has_colors) : stdout;
  FILE *words = isatty(STDERR_FILENO) ? kymo_terminal_open(&terminals[1], STDERR_FILENO, NULL) : stderr;
  if (words && words != stderr)
    setvbuf(words, NULL, _IONBF, 0);
  stdout = out ? out : stdout;
  stderr = words ? words : stderr;
  return out && words;
}

void tool_allow_colors(void) { has_colors = true; }

int tool_columns(void) {
  enum { LEAST = 20, MOST = 10000 };
  const char *asked = getenv("COLUMNS");
  struct winsize size;
  long columns = asked ? strtol(asked, NULL, 10) : 0;
  if (columns >= LEAST && columns <= MOST)
    return (int)columns;
  return isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? size.ws_col : 0;
}

void tool_clear_screen(void) {
  static const char clear[] = "\033[H\033[J";
  fflush(stdout);
  if (write(STDOUT_FILENO, clear, sizeof clear - 1) < 0)
    return; /* later lines would fail, too */
}

/* ---- words ---- */

void tool_parse(const struct argp *parser, int argc, char **argv, unsigned flags, int *next, void *input) {
  tool_check_options(parser, argc, argv, flags & ARGP_IN_ORDER);
  int status = argp_parse(parser, argc, argv, flags, next, input);
  if (status == 0)
    return;
  tool_say("%s", status == ENOMEM ? "out of memory" : strerror(status));
  exit(TOOL_FAILED);
}

void tool_say(const char *format, ...) {
  va_list args;
  va_start(args, format);
  flockfile(stderr);
  fprintf(stderr, "%s: ", program_name);
  vfprintf(stderr, format, args);
  putc('\n', stderr);
  funlockfile(stderr);
  va_end(args);
}

void tool_end_without_memory(void) {
  tool_say("out of memory");
  exit(TOOL_FAILED);
}

void tool_say_error(const struct kymo_error *error) {
  char text[2048];
  tool_say("%s", kymo_error_text(error, text, sizeof(text)));
}

int tool_status_of(int status) {
  if (status >= 0)
    return TOOL_OK;
  return status == KYMO_E_FORMAT || status == KYMO_E_SYNTAX || status == KYMO_E_LIMIT ? TOOL_DAMAGED
                                                                                      : TOOL_FAILED;
}

int tool_print_damage(const struct kymo_trace *trace, bool quiet) {
  size_t count = kymo_trace_damage_count(trace);
  for (size_t i = 0; i < count && !quiet; i++) {
    const struct kymo_damage *damage = kymo_trace_damage(trace, i);
    char offset[40] = "", lost[48] = "";
    if (damage->offset != KYMO_ERROR_NO_OFFSET)
      snprintf(offset, sizeof(offset), " byte %" PRIu64 ":", damage->offset);
    if (damage->bytes_lost)
      snprintf(lost, sizeof(lost), " (%" PRIu64 " bytes skipped)", damage->bytes_lost);
    tool_say("%s:%s %s%s", damage->path ? damage->path : "", offset, damage->message, lost);
  }
  return count ? TOOL_DAMAGED : TOOL_OK;
}

bool tool_losses_text(struct kymo_losses losses, char text[TOOL_LOSSES_MAX]) {
  char *at = text, *const end = text + TOOL_LOSSES_MAX;
  *text = 0;
  if (losses.events)
    at += snprintf(at, (size_t)(end - at), "%" PRIu64 " event%s lost", losses.events,
                   losses.events == 1 ? " is" : "s are");
  if (losses.packets)
    at += snprintf(at, (size_t)(end - at), "%s%" PRIu64 " packet%s lost", *text ? ", " : "", losses.packets,
                   losses.packets == 1 ? " is" : "s are");
  if (losses.unknown)
    snprintf(at, (size_t)(end - at), "%sevents are lost in %" PRIu64 " place%s, their number is unknown",
             *text ? ", " : "", losses.unknown, losses.unknown == 1 ? "" : "s");
  return *text;
}

int tool_print_losses(struct kymo_losses losses, bool quiet) {
  char text[TOOL_LOSSES_MAX];
  if (!tool_losses_text(losses, text))
    return TOOL_OK;
  if (!quiet)
    tool_say("the trace is incomplete: %s", text);
  return TOOL_DAMAGED;
}

int tool_end_trace(const struct kymo_trace *trace, bool quiet, enum tool_losses losses) {
  int damage = tool_print_damage(trace, quiet), output = tool_close_output();
  if (output != TOOL_OK)
    return output;
  if (losses == TOOL_LOSSES_AS_BABELTRACE2)
    return damage;
  struct kymo_losses met;
  kymo_trace_losses(trace, &met);
  int lost = tool_print_losses(met, quiet || losses == TOOL_LOSSES_SAID);
  return lost != TOOL_OK ? lost : damage;
}

void tool_print_safe(const char *text) {
  for (; *text; text++)
    if (((unsigned char)*text < ' ' && *text != '\n') || *text == 127)
      printf("\\x%02x", (unsigned char)*text);
    else
      putchar(*text);
}

void tool_help_row(FILE *stream, int name_width, const struct tool_row *row) {
  enum { WIDTH = 78 }; /* where argp would break the line */
  int indent = fprintf(stream, "  %-*s ", name_width, row->name), column = indent;
  for (const char *word = row->summary; *word;) {
    int length = (int)strcspn(word, " ");
    if (column > indent && column + 1 + length > WIDTH)
      column = fprintf(stream, "\n%*s", indent, "") - 1;
    column += fprintf(stream, "%s%.*s", column > indent ? " " : "", length, word);
    word += length;
    word += strspn(word, " ");
  }
  fputc('\n', stream);
}

char *tool_help_table(int key, const char *text, const char *head, tool_row_reader *read) {
  struct tool_row row = {0};
  char *out = NULL;
  size_t size;
  FILE *stream = key == ARGP_KEY_HELP_POST_DOC ? open_memstream(&out, &size) : NULL;
  if (!stream)
    return (char *)(uintptr_t)text;
  fprintf(stream, "%s\n", head);
  for (size_t i = 0; read(i, &row); i++, row = (struct tool_row){0})
    if (row.name)
      tool_help_row(stream, 12, &row);
  if (text && *text)
    fprintf(stream, "\n%s\n", text);
  return fclose(stream) == 0 ? out : (char *)(uintptr_t)text;
}

/* Removes an incomplete output: a file, but never a device that a user named. */
static void remove_file(const char *path) {
  struct stat info;
  if (lstat(path, &info) == 0 && S_ISREG(info.st_mode))
    unlink(path);
}

int tool_write(const char *path, const void *bytes, size_t size) {
  if (strcmp(path, "-") == 0) {
    fwrite(bytes, 1, size, stdout);
    return tool_close_output();
  }
  errno = 0;
  FILE *file = fopen(path, "wbe");
  bool is_opened = file != NULL;
  bool is_written = file && fwrite(bytes, 1, size, file) == size;
  int cause = errno;
  if (file && fclose(file) != 0 && is_written) {
    cause = errno;
    is_written = false;
  }
  if (is_written)
    return TOOL_OK;
  if (is_opened)
    remove_file(path);
  tool_say("%s: %s", path, strerror(cause));
  return TOOL_FAILED;
}

int tool_close_output(void) {
  bool failed = ferror(stdout);
  errno = 0;
  if (fclose(stdout) == 0 && !failed)
    return TOOL_OK;
  if (errno != EPIPE)
    tool_say("standard output: %s", errno ? strerror(errno) : "cannot write");
  return TOOL_FAILED;
}
