/* SPDX-License-Identifier: MIT */
#include "tool/words.h"
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

int tool_word(const char *word, const char *const *words) {
  for (int i = 0; words[i]; i++)
    if (strcmp(words[i], word) == 0)
      return i;
  return -1;
}

struct kymo_hint tool_word_hint(const char *word, const char *const *words) {
  struct kymo_nearest nearest = kymo_nearest_to(word);
  for (; *words; words++)
    kymo_nearest_consider(&nearest, *words);
  return kymo_nearest_hint(&nearest);
}

struct kymo_hint tool_row_hint(const char *word, tool_row_reader *read) {
  struct kymo_nearest nearest = kymo_nearest_to(word);
  struct tool_row row = {0};
  for (size_t i = 0; read(i, &row); i++, row = (struct tool_row){0})
    if (row.name)
      kymo_nearest_consider(&nearest, row.name);
  return kymo_nearest_hint(&nearest);
}

/* ---- options ---- */

enum { OPTIONS_MAX = 128, UNKNOWN_LENGTH_MAX = 64 };

/* The options of argp in the form of getopt. */
struct known {
  struct option list[OPTIONS_MAX];
  size_t count;
  char letters[3 * OPTIONS_MAX];
  size_t length;
};

static void add_letter(struct known *known, int key, int has_argument) {
  if (key <= ' ' || key > '~' || known->length + 4 > sizeof known->letters)
    return;
  known->letters[known->length++] = (char)key;
  for (int i = 0; i < has_argument; i++)
    known->letters[known->length++] = ':';
}

static void add_option(struct known *known, const char *name, int key, int has_argument) {
  if (name && known->count + 1 < OPTIONS_MAX)
    known->list[known->count++] = (struct option){.name = name, .has_arg = has_argument, .val = 1};
  add_letter(known, key, has_argument);
}

static void add_parser(struct known *known, const struct argp *parser) {
  int has_argument = no_argument;
  for (const struct argp_option *option = parser->options;
       option && (option->name || option->key || option->doc); option++) {
    if (!(option->flags & OPTION_ALIAS))
      has_argument = !option->arg                          ? no_argument
                     : option->flags & OPTION_ARG_OPTIONAL ? optional_argument
                                                           : required_argument;
    if (option->name || option->key)
      add_option(known, option->name, option->key, has_argument);
  }
  for (const struct argp_child *child = parser->children; child && child->argp; child++)
    add_parser(known, child->argp);
}

/* Whether getopt treats it as an abbreviation of several options, which it then lists. */
static bool is_begin(const struct known *known, const char *name, size_t length) {
  for (size_t i = 0; i < known->count; i++)
    if (strncmp(known->list[i].name, name, length) == 0)
      return true;
  return false;
}

/* `option` is "--NAME" or "--NAME=VALUE". */
static void check_option(const struct known *known, const char *option, const char *program) {
  char name[UNKNOWN_LENGTH_MAX], with_dashes[UNKNOWN_LENGTH_MAX];
  size_t length = strcspn(option + 2, "=");
  if (is_begin(known, option + 2, length))
    return;
  snprintf(name, sizeof name, "%.*s", (int)length, option + 2);
  struct kymo_nearest nearest = kymo_nearest_to(name);
  for (size_t i = 0; i < known->count; i++)
    kymo_nearest_consider(&nearest, known->list[i].name);
  if (nearest.best) {
    snprintf(with_dashes, sizeof with_dashes, "--%s", nearest.best);
    nearest.best = with_dashes;
  }
  tool_say("unknown option \"%.*s\"%s", (int)length + 2, option, kymo_nearest_hint(&nearest).text);
  fprintf(stderr, "Try `%s --help' or `%s --usage' for more information.\n", program, program);
  exit(TOOL_USAGE);
}

void tool_check_options(const struct argp *parser, int argc, char **argv, bool in_order) {
  struct known known = {.length = 1};
  known.letters[0] = in_order ? '+' : '-'; /* "-": the order of the arguments is kept */
  add_parser(&known, parser);
  add_option(&known, "help", '?', no_argument);
  add_option(&known, "usage", 0, no_argument);
  add_option(&known, "version", 'V', no_argument);
  opterr = 0;
  optind = 0; /* from the begin, whatever was parsed before */
  for (int at = 1, found; (found = getopt_long(argc, argv, known.letters, known.list, NULL)) != -1;
       at = optind)
    if (found == '?' && !optopt && at < argc && strncmp(argv[optind - 1], "--", 2) == 0)
      check_option(&known, argv[optind - 1], argv[0]);
}
