/* SPDX-License-Identifier: MIT */
/* From the start of the program to its end: environment, command line, fork, exit. */
#include "record/crash.h"
#include "record/registry.h"
#include "record/rules.h"
#include "record/session.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct kymo_session kymo_session_;

/* The program's name, as part of file names. */
static void take_program_name(void) {
  const char *name = program_invocation_short_name;
  size_t n = 0;
  for (; name && *name && n < sizeof kymo_session_.program - 1; name++)
    kymo_session_.program[n++] = *name == '/' || (unsigned char)*name < ' ' ? '_' : *name;
  if (!n)
    memcpy(kymo_session_.program, "program", sizeof "program");
}

/* Tracepoints that are enabled from the beginning. */
static void take_patterns(const char *patterns) {
  const char *wrong = "";
  if (!kymo_rules_start(patterns, &wrong))
    kymo_warn("cannot enable tracepoints: ", wrong, NULL);
}

static void init(void) {
  kymo_self_.own_work++;
  kymo_options_read(&kymo_session_.options);
  kymo_session_.grow_bytes = kymo_session_.options.grow_bytes;
  take_patterns(kymo_session_.options.enable);
  take_program_name();
  if (gethostname(kymo_session_.host, sizeof kymo_session_.host - 1))
    memcpy(kymo_session_.host, "localhost", sizeof "localhost");
  kymo_writer_start();
  kymo_service_watch_fork();
  if (kymo_session_.options.marks_crash)
    kymo_crash_watch();
  kymo_self_.own_work--;
}

void kymo_session_init(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, init);
}

__attribute__((destructor)) static void at_exit(void) { kymo_save_at_exit(); }

/* The value of "--trace-mode=VALUE" or of bare "--trace", else NULL. */
static const char *value_of(const char *argument, const char *option) {
  size_t length = strlen(option);
  if (strncmp(argument, option, length))
    return NULL;
  if (argument[length] == '=')
    return argument + length + 1;
  return NULL;
}

enum option { OPTION_TRACE, OPTION_DIR, OPTION_MODE, OPTION_BUFFER };

/* Whether the argument is an option of the recorder. In a privileged program it has no effect: its caller
 * must not choose where that program writes. */
static bool take_argument(const char *argument) {
  static const char *const names[] = {"--trace", "--trace-dir", "--trace-mode", "--trace-bufsz"};
  struct kymo_options *options = &kymo_session_.options;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = value_of(argument, names[i]);
    if (!value)
      continue;
    if (options->is_privileged)
      return true;
    switch ((enum option)i) {
    case OPTION_TRACE: kymo_options_enable(options, value); break;
    case OPTION_DIR: options->out = kymo_options_absolute(value); break;
    case OPTION_MODE: kymo_options_mode(options, value); break;
    case OPTION_BUFFER: kymo_options_buffer(options, value); break;
    }
    return true;
  }
  return false;
}

void kymo_args_apply(int *argc, char **argv) {
  int kept = 1;
  kymo_session_init();
  for (int i = 1; i < *argc; i++) {
    if (!strcmp(argv[i], "--")) {
      while (i < *argc)
        argv[kept++] = argv[i++];
      break;
    }
    if (!take_argument(argv[i]))
      argv[kept++] = argv[i];
  }
  bool changed = kept != *argc;
  *argc = kept;
  argv[kept] = NULL;
  if (!changed || kymo_session_.options.is_privileged)
    return;
  kymo_lock();
  take_patterns(kymo_session_.options.enable);
  kymo_registry_apply(); /* failures are reported there */
  kymo_unlock();
}
