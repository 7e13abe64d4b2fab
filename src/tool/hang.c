/* SPDX-License-Identifier: MIT */
/*
 * kymo hang: one page about a process that hangs (process/page.h): who waits for what, and why. Its threads
 * are stopped for microseconds each, and go on; it needs no help of the process.
 */
#include "base/list.h"
#include "base/nearest.h"
#include "live/client.h"
#include "live/inner.h"
#include "process/gather.h"
#include "process/page.h"
#include "tool/tool.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hang {
  const char *word; /* the process */
  const char *core, *exe;
  bool as_json;
  struct process_options options;
};

/* ---- command line ---- */

enum { OPTION_JSON = 256, OPTION_INTERRUPT };

static const struct argp_option options[] = {
    {"core", 'c', "CORE", 0, "Look at a core file instead; EXE is its program, if that is not where it was",
     0},
    {"interrupt", OPTION_INTERRUPT, NULL, 0,
     "Stop threads for their stacks even if their system calls then fail with EINTR (epoll_wait, semop, "
     "io_getevents, sigtimedwait, calls of sockets with a timeout)",
     0},
    {"json", OPTION_JSON, NULL, 0, "Print one JSON object", 0},
    {0},
};

static void check(struct hang *hang, struct argp_state *state) {
  if (hang->core) {
    hang->exe = hang->word;
    hang->word = NULL;
  } else if (!hang->word) {
    argp_error(state, "which process?");
  }
}

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct hang *hang = state->input;
  switch (key) {
  case 'c': hang->core = argument; return 0;
  case OPTION_INTERRUPT: hang->options.may_interrupt = true; return 0;
  case OPTION_JSON: hang->as_json = true; return 0;
  case ARGP_KEY_ARG:
    if (hang->word)
      argp_error(state, "expected one process, found \"%s\" after it", argument);
    hang->word = argument;
    return 0;
  case ARGP_KEY_END: check(hang, state); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "PID|NAME\n-c CORE [EXE]",
    .doc = "Print one page about a process that hangs: what keeps it from going on; the state, system call, "
           "stack, last events and open spans of each thread; and which thread holds the lock that another "
           "one waits for.\vThe process needs no tracepoints. It goes on as before, and a stopped one stays "
           "stopped. What could not be seen, and why, is at the end of the page.",
};

/* ---- the process ---- */

struct named {
  const char *word;
  int *list;
  size_t count, room;
  struct kymo_nearest nearest;
  char near[64];
};

/* The name of the program's file, "" if it cannot be seen. */
static void file_of(int pid, char *out, size_t size) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/%d/exe", pid);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  const char *slash = strrchr(path, '/');
  snprintf(out, size, "%.*s", (int)size - 1, slash ? slash + 1 : path);
}

static bool add_named(void *user, int pid, int inner) {
  struct named *named = user;
  char name[64], file[256];
  (void)inner;
  kymo_process_program(pid, name, sizeof name);
  file_of(pid, file, sizeof file);
  const char *best = named->nearest.best;
  kymo_nearest_consider(&named->nearest, name);
  if (named->nearest.best != best) { /* which has to live on */
    memcpy(named->near, name, sizeof name);
    named->nearest.best = named->near;
  }
  if (pid == getpid() || (strcmp(name, named->word) != 0 && strcmp(file, named->word) != 0))
    return false;
  if (!KYMO_LIST_ROOM(named->list, named->room, named->count))
    tool_end_without_memory();
  named->list[named->count++] = pid;
  return false;
}

static int by_number(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* The process that the word means. Returns an exit status; reports the reason on failure. */
static int find_process(int *pid, const char *word) {
  struct named named = {.word = word, .nearest = kymo_nearest_to(word)};
  *pid = kymo_pid_of(word);
  if (*pid > 0)
    return TOOL_OK;
  kymo_inner_visit(add_named, &named);
  if (named.count > 1) {
    qsort(named.list, named.count, sizeof *named.list, by_number);
    tool_say("%zu processes are called \"%s\"; use the number of one:", named.count, word);
    for (size_t i = 0; i < named.count; i++)
      fprintf(stderr, "%9d\n", named.list[i]);
  } else if (!named.count) {
    tool_say("no running process is called \"%s\"%s", word, kymo_nearest_hint(&named.nearest).text);
  }
  *pid = named.count == 1 ? named.list[0] : -1;
  free(named.list);
  return *pid > 0 ? TOOL_OK : named.count ? TOOL_USAGE : TOOL_FAILED;
}

/* ---- printing ---- */

static int print_text(struct process *process, const struct process_findings *findings) {
  struct kymo_strbuf page = {0};
  process_page(&page, process, findings);
  if (page.failed || !page.text)
    tool_end_without_memory();
  fputs(page.text, stdout);
  kymo_strbuf_free(&page);
  return tool_close_output();
}

static int print_json(struct process *process, const struct process_findings *findings) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct kymo_out out;
  struct kymo_json json;
  int status = kymo_out_begin(&out, stdout, &error);
  if (status == KYMO_OK) {
    kymo_json_start(&json, &out);
    process_page_json(&json, process, findings);
    status = kymo_out_finish(&out, &error);
  }
  if (status == KYMO_OK)
    return tool_close_output();
  tool_say_error(&error);
  return TOOL_FAILED;
}

static int print(const struct hang *hang, struct process *process) {
  struct process_findings findings;
  process_find(process, &findings);
  if (findings.failed)
    tool_end_without_memory();
  int status = hang->as_json ? print_json(process, &findings) : print_text(process, &findings);
  process_findings_free(&findings);
  return status == TOOL_OK && process->is_incomplete ? TOOL_DAMAGED : status;
}

static int run(int argc, char **argv) {
  struct hang hang = {0};
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  int pid = 0, found = TOOL_OK;
  tool_parse(&parser, argc, argv, 0, NULL, &hang);
  if (!hang.core)
    found = find_process(&pid, hang.word);
  if (found != TOOL_OK)
    return found;
  struct process *process = process_new();
  if (!process)
    tool_end_without_memory();
  int status = hang.core ? process_gather_core(process, hang.core, hang.exe, &error)
                         : process_gather(process, pid, &hang.options, &error);
  if (status != KYMO_OK)
    tool_say_error(&error);
  int exit_status = status == KYMO_OK ? print(&hang, process) : TOOL_FAILED;
  process_free(process);
  return exit_status;
}

const struct tool_command tool_hang = {
    .name = "hang",
    .summary = "why a process hangs: its threads, stacks, locks and last events",
    .run = run,
};
