/* SPDX-License-Identifier: MIT */
/* What the commands share: telling errors, opening traces, ending output. */
#include "format/language.h"
#include "tool/tool.h"
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
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
  /* Whoever reads from us may stop when he likes: end quietly, also if our parent ignores SIGPIPE. */
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_UNBLOCK, &pipe, NULL);
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

/* The first path that is a registry or a text in a language of descriptions, or NULL. */
static const char *find_description(const struct tool_input *input) {
  for (size_t i = 0; i < input->count; i++)
    if (strcmp(input->paths[i], "-") != 0 && kymo_language_is_known(input->paths[i]))
      return input->paths[i];
  return NULL;
}

struct kymo_trace *tool_open(const struct tool_input *input) {
  struct kymo_open_options options = {.size = sizeof(options), .force_correlate = input->force_correlate,
                                      .as_babeltrace2 = input->as_babeltrace2};
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_trace *trace;
  if (kymo_open(&trace, input->paths, input->count, &options, &error) >= 0)
    return trace;
  const char *description = error.code == KYMO_E_UNKNOWN ? find_description(input) : NULL;
  if (description)
    tool_say("%s: describes events, but holds none; \"kymo describe\" prints it", description);
  else
    tool_say_error(&error);
  return NULL;
}

int tool_tell_damage(const struct kymo_trace *trace, bool quiet) {
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

/* Takes away what was not written whole: a file, but never a device that a user named. */
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
