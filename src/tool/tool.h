/* SPDX-License-Identifier: MIT */
/*
 * The command `kymo`. A command is one file that ends in one constant descriptor, listed in main.c; shared
 * functions are declared here.
 *
 *   main ──► descriptor->run(argc, argv) ──► argp ──► work ──► exit status
 *
 * Data is printed on standard output, messages on standard error.
 */
#ifndef KYMO_TOOL_TOOL_H
#define KYMO_TOOL_TOOL_H

#include <argp.h>
#include <kymo/read.h>
#include <stdbool.h>
#include <stdio.h>

/* Exit statuses, the same for all commands. */
enum tool_status {
  TOOL_OK = 0,
  TOOL_DAMAGED = 1, /* the data is damaged, or only a part of it could be used */
  TOOL_USAGE = 2,   /* the command line is invalid */
  TOOL_FAILED = 3,  /* the command could not do its work at all */
};

struct tool_command {
  const char *name;
  const char *summary; /* one line for `kymo --help` */
  /* argv[0] is "kymo NAME", for messages. Returns an exit status. */
  int (*run)(int argc, char **argv);
};

/* All commands, NULL at the end. */
extern const struct tool_command *const tool_commands[];

/* Prints "kymo NAME: …" and a new line on stderr. */
void tool_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints an error of the library. */
void tool_say_error(const struct kymo_error *error);
/* The exit status for a negative enum kymo_status of reading. */
int tool_status_of(int status);

/* One line on stderr for each damaged place, unless `quiet`; TOOL_DAMAGED if there are any, else TOOL_OK. */
int tool_print_damage(const struct kymo_trace *trace, bool quiet);
/* The same for losses: one line. */
int tool_print_losses(struct kymo_losses losses, bool quiet);
/*
 * The end of every command that has read the events of a trace: damaged places, then the end of stdout, then
 * losses. TOOL_OK; TOOL_DAMAGED if something is damaged or lost; TOOL_FAILED if stdout could not be written,
 * which is reported.
 */
enum tool_losses {
  TOOL_LOSSES_SAY,            /* say what is lost */
  TOOL_LOSSES_SAID,           /* the output has said it */
  TOOL_LOSSES_AS_BABELTRACE2, /* the output contains the losses, and the exit status is babeltrace2's,
                               * which ignores them */
};
int tool_end_trace(const struct kymo_trace *trace, bool quiet, enum tool_losses losses);
/* "12 events are lost, 1 packet is lost". False: nothing is lost. */
enum { TOOL_LOSSES_MAX = 160 };
bool tool_losses_text(struct kymo_losses losses, char text[TOOL_LOSSES_MAX]);
/* Ends the program with a message and TOOL_FAILED. For output that is being printed: the printed part is
 * kept. */
_Noreturn void tool_end_without_memory(void);
/* argp_parse; ends the program if there is no memory, or if the command line is invalid. */
void tool_parse(const struct argp *parser, int argc, char **argv, unsigned flags, int *next, void *input);

/* Closes stdout. TOOL_FAILED after reporting that not everything could be written. */
int tool_close_output(void);

/* Writes bytes to the file at `path`, or to stdout if it is "-"; an incomplete file is removed. Returns an
 * exit status; reports the reason on failure. */
int tool_write(const char *path, const void *bytes, size_t size);

/* Prints an untrusted text without control characters that a terminal obeys. */
void tool_print_safe(const char *text);

/* A possible argument of a command, for its --help. */
struct tool_row {
  const char *name, *summary;
};
/* The row of an index, without a name if it is not shown; false after the last one. */
typedef bool tool_row_reader(size_t index, struct tool_row *row);
/* One row of a table in a help page: further lines of the summary go below its first one. */
void tool_help_row(FILE *stream, int name_width, const struct tool_row *row);
/* For the help_filter of a parser: inserts a table under `head` before the text after the options, the part
 * of the parser's `doc` from "\v" on. Other texts do not change. */
char *tool_help_table(int key, const char *text, const char *head, tool_row_reader *read);

/* From now on all output to a terminal is inert (print/terminal.h): standard output and error stream. False:
 * out of memory. */
bool tool_guard_terminals(void);
/* … except for the colours of lines of text, whose sink prints no others. */
void tool_allow_colors(void);
/* The maximum width of lines: COLUMNS if it is set, else the width of the terminal on standard output; 0:
 * there is none. */
int tool_columns(void);
/* Clears the terminal that is the standard output. */
void tool_clear_screen(void);

/* The options every command has: "--help", "--usage", "--version"; used by main.c. */
void tool_set_up(const char *program);

#endif
