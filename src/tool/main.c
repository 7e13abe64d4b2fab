/* SPDX-License-Identifier: MIT */
/*
 * kymo: one program, a table of commands.
 *
 *   kymo COMMAND …       runs it
 *   kymo help COMMAND …  = kymo COMMAND … --help
 */
#include "tool/tool.h"
#include "tool/words.h"
#include <stdlib.h>
#include <string.h>

extern const struct tool_command tool_cat;
extern const struct tool_command tool_check;
extern const struct tool_command tool_clean;
extern const struct tool_command tool_compile;
extern const struct tool_command tool_convert;
extern const struct tool_command tool_describe;
extern const struct tool_command tool_disable;
extern const struct tool_command tool_enable;
extern const struct tool_command tool_explain;
extern const struct tool_command tool_hang;
extern const struct tool_command tool_infer;
extern const struct tool_command tool_info;
extern const struct tool_command tool_list;
extern const struct tool_command tool_merge;
extern const struct tool_command tool_mode;
extern const struct tool_command tool_query;
extern const struct tool_command tool_record;
extern const struct tool_command tool_snapshot;
extern const struct tool_command tool_stat;
extern const struct tool_command tool_types;
extern const struct tool_command tool_view;

const struct tool_command *const tool_commands[] = {
    &tool_record,   &tool_list,    &tool_enable,  &tool_disable, &tool_mode,  &tool_stat,
    &tool_snapshot, &tool_hang,    &tool_cat,     &tool_query,   &tool_view,  &tool_info,
    &tool_describe, &tool_compile, &tool_convert, &tool_merge,   &tool_types, &tool_infer,
    &tool_explain,  &tool_check,   &tool_clean,   NULL,
};

static void print_help(FILE *out) {
  fputs("Usage: kymo COMMAND [ARGUMENT...]\n"
        "Records and reads event traces.\n\n",
        out);
  for (size_t i = 0; tool_commands[i]; i++)
    tool_help_row(out, 10, &(struct tool_row){tool_commands[i]->name, tool_commands[i]->summary});
  fputs("\n"
        "  kymo help COMMAND   prints the help of one command, as kymo COMMAND --help\n"
        "  kymo --version      prints the version\n\n"
        "docs/tutorial.md and docs/cookbook.md show how the commands work together. The\n"
        "folder docs is in the source, and in share/doc/kymo where kymo is installed.\n\n"
        "Exit status: 0 success, 1 damaged or partial data, 2 invalid command line,\n"
        "3 cannot run.\n",
        out);
}

static const struct tool_command *find(const char *name) {
  for (size_t i = 0; tool_commands[i]; i++)
    if (strcmp(tool_commands[i]->name, name) == 0)
      return tool_commands[i];
  return NULL;
}

static bool list_command(size_t index, struct tool_row *row) {
  if (tool_commands[index])
    *row = (struct tool_row){tool_commands[index]->name, tool_commands[index]->summary};
  return tool_commands[index];
}

static int unknown(const char *name) {
  tool_say("there is no command \"%s\"%s; kymo --help lists them", name,
           tool_row_hint(name, list_command).text);
  return TOOL_USAGE;
}

/* Runs a command under the name "kymo COMMAND", with which its messages begin. */
static int run(const struct tool_command *command, int argc, char **argv) {
  char name[64];
  snprintf(name, sizeof(name), "kymo %s", command->name);
  argv[0] = name;
  tool_set_up(name);
  return command->run(argc, argv);
}

static int help(int argc, char **argv) {
  if (argc < 3) {
    print_help(stdout);
    return tool_close_output();
  }
  const struct tool_command *command = find(argv[2]);
  if (!command)
    return unknown(argv[2]);
  /* the rest belongs to the command: kymo help stat latency */
  char option[] = "--help";
  for (int i = 1; i + 1 < argc; i++)
    argv[i] = argv[i + 1];
  argv[argc - 1] = option;
  return run(command, argc - 1, argv + 1);
}

int main(int argc, char **argv) {
  tool_set_up("kymo");
  if (!tool_guard_terminals()) {
    tool_say("out of memory");
    return TOOL_FAILED;
  }
  if (argc < 2) {
    print_help(stderr);
    return TOOL_USAGE;
  }
  const char *first = argv[1];
  if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
    puts("kymo " KYMO_VERSION);
    return tool_close_output();
  }
  if (strcmp(first, "help") == 0 || strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 ||
      strcmp(first, "-?") == 0)
    return help(argc, argv);
  if (first[0] == '-') {
    static const char *const options[] = {"--help", "--version", NULL};
    tool_say("unknown option \"%s\"%s; kymo --help lists all", first, tool_word_hint(first, options).text);
    return TOOL_USAGE;
  }
  const struct tool_command *command = find(first);
  return command ? run(command, argc - 1, argv + 1) : unknown(first);
}
