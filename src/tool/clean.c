/* SPDX-License-Identifier: MIT */
/*
 * kymo clean: removes the rings that dead processes left, after listing them and asking the user.
 *
 *       PID  PROGRAM      AGE       SIZE  RINGS
 *      1234  server     3 min      1.2 M  /dev/shm/kymo-0/server-1234
 */
#include "base/list.h"
#include "live/client.h"
#include "live/rings.h"
#include "base/pattern.h"
#include "ring/pools.h"
#include "ring/ring.h"
#include "tool/grid.h"
#include "tool/rings.h"
#include "tool/tool.h"
#include <argp.h>
#include <errno.h>
#include <kymo/time.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPTION_OLDER = 256, WORDS_MAX = 64 };

/* A process or a program that was named. */
struct wanted {
  const char *word;
  int pid;                        /* or */
  struct kymo_patterns *programs; /* one of these */
  bool is_met;
};

struct clean {
  const char *directory[WORDS_MAX];
  struct wanted wanted[WORDS_MAX];
  size_t directories, wanted_count;
  int64_t older_ns;
  bool yes, dry_run;
  /* what was found */
  struct found {
    uint64_t device, inode;
  } * found;
  size_t count, room, removed, spared, failed;
  struct tool_grid grid; /* the list of it */
};

static const struct argp_option options[] = {
    {"dry-run", 'n', NULL, 0, "Only list what would be removed", 0},
    {"older", OPTION_OLDER, "TIME", 0, "Only rings whose files have not changed for TIME, as 10min or 2d", 0},
    {"yes", 'y', NULL, 0, "Do not ask", 0},
    {0},
};

static bool is_directory(const char *word) {
  struct stat st;
  return strchr(word, '/') || (!stat(word, &st) && S_ISDIR(st.st_mode));
}

static error_t take_word(struct clean *clean, char *word, struct argp_state *state) {
  const char *wrong;
  if (clean->directories == WORDS_MAX || clean->wanted_count == WORDS_MAX)
    argp_error(state, "more than %d arguments", WORDS_MAX);
  else if (kymo_pid_of(word) > 0)
    clean->wanted[clean->wanted_count++] = (struct wanted){.word = word, .pid = kymo_pid_of(word)};
  else if (is_directory(word))
    clean->directory[clean->directories++] = word;
  else {
    struct wanted wanted = {.word = word, .programs = kymo_pattern_new(word, &wrong)};
    if (!wanted.programs)
      argp_error(state, "%s: %s", word, wrong);
    clean->wanted[clean->wanted_count++] = wanted;
  }
  return 0;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct clean *clean = state->input;
  struct kymo_time_mistake mistake;
  switch (key) {
  case 'n': clean->dry_run = true; return 0;
  case 'y': clean->yes = true; return 0;
  case OPTION_OLDER:
    if (!kymo_duration_parse(&clean->older_ns, argument, &mistake) || clean->older_ns < 0)
      argp_error(state, "--older is a time like 10min, not \"%s\"", argument);
    return 0;
  case ARGP_KEY_ARG: return take_word(clean, argument, state);
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "[PID|PROGRAM|DIRECTORY...]",
    .doc = "List the rings that dead processes left, ask, and remove them: those of the named processes and "
           "programs "
           "(a name, or a glob), else all; in the named directories, else in $KYMO_RINGS, else where "
           "programs put "
           "them.\v"
           "If their events matter, save them first: kymo snapshot PID, or kymo cat DIRECTORY. The rings of "
           "running processes stay, in containers too, and so do rings that kymo record is emptying.",
};

/* ---- what is meant ---- */

static const char *program_of(const struct kymo_pool_seen *seen, char out[KYMO_PROGRAM_MAX]) {
  snprintf(out, KYMO_PROGRAM_MAX, "%.*s", (int)sizeof seen->header.name, seen->header.name);
  return out;
}

static bool is_wanted(struct clean *clean, const struct kymo_pool_seen *seen) {
  char program[KYMO_PROGRAM_MAX];
  bool is = !clean->wanted_count;
  for (size_t i = 0; i < clean->wanted_count; i++) {
    struct wanted *wanted = &clean->wanted[i];
    bool matches = wanted->programs ? kymo_patterns_match(wanted->programs, program_of(seen, program))
                                    : wanted->pid == seen->header.pid;
    wanted->is_met = wanted->is_met || matches;
    is = is || matches;
  }
  return is && (!clean->older_ns || kymo_pool_age_ns(seen) > clean->older_ns);
}

/* Why it stays, or NULL. */
static const char *why_spared(const struct kymo_pool_seen *seen) {
  if (seen->is_recorded)
    return "it is being recorded";
  if (seen->life == KYMO_LIFE_ALIVE)
    return "it runs";
  if (seen->life == KYMO_LIFE_UNKNOWN)
    return "it may run, in another PID namespace";
  return seen->odd;
}

/* ---- listing ---- */

static const struct kymo_column columns[] = {
    {"PID", 9, 0, KYMO_CELL_NUMBER},
    {.title = "PROGRAM", .kind = KYMO_CELL_NAME},
    {"AGE", 7, 0, KYMO_CELL_NUMBER},
    {"SIZE", 9, 0, KYMO_CELL_NUMBER},
    {.title = "RINGS", .rank = 1, .kind = KYMO_CELL_TEXT},
};

static void add_found(struct clean *clean, const struct kymo_pool_seen *seen) {
  char pid[16], program[KYMO_PROGRAM_MAX], age[TOOL_AGE_MAX], size[TOOL_SIZE_MAX], rings[KYMO_PATH_MAX + 32];
  snprintf(pid, sizeof pid, "%d", seen->header.pid);
  int length = snprintf(rings, sizeof rings, "%s", seen->path);
  if (seen->owner != geteuid())
    snprintf(rings + length, sizeof rings - (size_t)length, "  of user %u", (unsigned)seen->owner);
  tool_grid_add(&clean->grid, (const char *const[]){pid, program_of(seen, program),
                                                    tool_age_text(kymo_pool_age_ns(seen), age),
                                                    tool_size_text(seen->bytes, size), rings});
}

static bool list_one(void *user, const struct kymo_pool_seen *seen) {
  struct clean *clean = user;
  if (!is_wanted(clean, seen))
    return true;
  const char *why = why_spared(seen);
  if (why) {
    clean->spared++;
    if (clean->wanted_count || seen->odd)
      tool_say("%s is kept: %s", seen->path, why);
    return true;
  }
  if (!KYMO_LIST_ROOM(clean->found, clean->room, clean->count)) {
    clean->failed++;
    return false;
  }
  clean->found[clean->count++] = (struct found){seen->device, seen->inode};
  add_found(clean, seen);
  return true;
}

/* ---- removing ---- */

static bool remove_one(void *user, const struct kymo_pool_seen *seen) {
  struct clean *clean = user;
  for (size_t i = 0; i < clean->count; i++)
    if (clean->found[i].inode == seen->inode && clean->found[i].device == seen->device && !why_spared(seen)) {
      if (kymo_pool_remove(seen))
        clean->removed++;
      else {
        tool_say("%s: %s", seen->path, strerror(errno));
        clean->failed++;
      }
    }
  return true;
}

static bool is_confirmed(const struct clean *clean) {
  char answer[8] = "";
  if (clean->yes)
    return true;
  if (!isatty(STDIN_FILENO)) {
    tool_say("nothing is removed: there is no terminal to ask the user; use --yes");
    return false;
  }
  fprintf(stderr, "Remove %s? [y/N] ", clean->count == 1 ? "it" : "them");
  return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

/* ---- where ---- */

struct places {
  struct clean *clean;
  kymo_pool_visitor *visitor;
  size_t count;
};

static bool visit_place(void *user, const char *directory) {
  struct places *places = user;
  places->count += kymo_pools_visit(directory, true, places->visitor, places->clean);
  return false;
}

static int visit(struct clean *clean, kymo_pool_visitor *visitor) {
  struct places places = {.clean = clean, .visitor = visitor};
  for (size_t i = 0; i < clean->directories; i++)
    if (!kymo_pools_visit(clean->directory[i], true, visitor, clean)) {
      tool_say("%s: %s", clean->directory[i], strerror(errno));
      return TOOL_FAILED;
    }
  if (!clean->directories)
    kymo_places_visit(visit_place, &places);
  return TOOL_OK;
}

static int remove_found(struct clean *clean) {
  fflush(stdout); /* the list comes before the question */
  if (!is_confirmed(clean))
    return isatty(STDIN_FILENO) ? TOOL_OK : TOOL_USAGE;
  int status = visit(clean, remove_one);
  printf("removed the rings of %zu dead process%s\n", clean->removed, clean->removed == 1 ? "" : "es");
  return status == TOOL_OK && clean->failed ? TOOL_DAMAGED : status;
}

static int work(struct clean *clean) {
  int status = visit(clean, list_one);
  tool_grid_print(&clean->grid);
  if (status == TOOL_OK && clean->failed) {
    tool_say("out of memory");
    status = TOOL_FAILED;
  }
  if (status != TOOL_OK)
    return status;
  for (size_t i = 0; i < clean->wanted_count; i++)
    if (!clean->wanted[i].is_met) {
      tool_say("there are no rings of %s %s", clean->wanted[i].programs ? "a program" : "a process",
               clean->wanted[i].word);
      status = TOOL_DAMAGED;
    }
  if (clean->count && !clean->dry_run) {
    int removed = remove_found(clean);
    return removed == TOOL_OK ? status : removed;
  }
  if (!clean->count)
    puts(clean->spared ? "there are no rings of dead processes; those of running processes are kept"
                       : "there are no rings of dead processes");
  return status;
}

static int run(int argc, char **argv) {
  struct clean clean = {.grid = {.columns = columns, .count = sizeof columns / sizeof *columns}};
  const char *rings = getenv("KYMO_RINGS");
  tool_parse(&parser, argc, argv, 0, NULL, &clean);
  if (!clean.directories && rings && *rings)
    clean.directory[clean.directories++] = rings;
  int status = work(&clean);
  for (size_t i = 0; i < clean.wanted_count; i++)
    kymo_patterns_free(clean.wanted[i].programs);
  free(clean.found);
  tool_grid_free(&clean.grid);
  int closed = tool_close_output();
  return status == TOOL_OK ? closed : status;
}

const struct tool_command tool_clean = {
    .name = "clean",
    .summary = "remove the rings of dead processes",
    .run = run,
};
