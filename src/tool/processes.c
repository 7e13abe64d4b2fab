/* SPDX-License-Identifier: MIT */
/*
 * kymo list: processes that can be traced, and the tracepoints of one.
 *
 *       PID  TRACEPOINTS      ON  PROGRAM  MODE
 *      1234           12       3  server   overwrite, recorded by 1240
 *
 *   on   info     net:rx  src/net.c:120
 *   off  -        net:tx  src/net.c:150
 */
#include "tool/processes.h"
#include "live/client.h"
#include "base/pattern.h"
#include "tool/grid.h"
#include "tool/rings.h"
#include "tool/tool.h"
#include <stdlib.h>
#include <string.h>

/* ---- processes ---- */

static const struct kymo_column living_columns[] = {
    {"PID", 9, 0, KYMO_CELL_NUMBER},
    {"TRACEPOINTS", 11, 1, KYMO_CELL_NUMBER},
    {"ON", 6, 2, KYMO_CELL_NUMBER},
    {.title = "PROGRAM", .kind = KYMO_CELL_NAME},
    {.title = "MODE", .kind = KYMO_CELL_TEXT},
};
static const struct kymo_column dead_columns[] = {
    {"PID", 9, 0, KYMO_CELL_NUMBER},          {"AGE", 7, 0, KYMO_CELL_NUMBER},
    {"SIZE", 9, 1, KYMO_CELL_NUMBER},         {.title = "PROGRAM", .kind = KYMO_CELL_NAME},
    {.title = "END", .kind = KYMO_CELL_TEXT}, {.title = "RINGS", .rank = 2, .kind = KYMO_CELL_TEXT},
};

/* A process or program that was named. */
struct wanted {
  const char *word;
  int pid;
  struct kymo_patterns *programs;
  bool is_met;
};

struct listing {
  bool brief;
  struct wanted *wanted;
  size_t wanted_count;
  struct tool_grid grid;
};

/* The words of the command line, to be freed; false after saying what is wrong with one. */
static bool read_wanted(const struct tool_listed *listed, struct wanted **wanted) {
  const char *wrong = NULL;
  *wanted = calloc(listed->count + 1, sizeof **wanted);
  if (!*wanted)
    tool_end_without_memory();
  for (size_t i = 0; i < listed->count; i++) {
    struct wanted *one = &(*wanted)[i];
    *one = (struct wanted){.word = listed->words[i], .pid = kymo_pid_of(listed->words[i])};
    if (one->pid <= 0 && !(one->programs = kymo_pattern_new(one->word, &wrong))) {
      tool_say("%s: %s", one->word, wrong);
      return false;
    }
  }
  return true;
}

static void free_wanted(struct wanted *wanted, size_t count) {
  for (size_t i = 0; i < count; i++)
    kymo_patterns_free(wanted[i].programs);
  free(wanted);
}

static int say_not_met(const struct wanted *wanted, size_t count) {
  int status = TOOL_OK;
  for (size_t i = 0; i < count; i++)
    if (!wanted[i].is_met) {
      tool_say("no process that lives or left rings is called \"%s\"", wanted[i].word);
      status = TOOL_FAILED;
    }
  return status;
}

static bool is_wanted(const struct listing *listing, int pid, const char *program) {
  bool is = !listing->wanted_count;
  for (size_t i = 0; i < listing->wanted_count; i++) {
    struct wanted *wanted = &listing->wanted[i];
    bool matches = wanted->programs ? kymo_patterns_match(wanted->programs, program) : wanted->pid == pid;
    wanted->is_met = wanted->is_met || matches;
    is = is || matches;
  }
  return is;
}

static void add_number(struct listing *listing, int pid, long long tracepoints, long long on,
                       const char *program, const char *mode) {
  char numbers[3][24];
  if (!is_wanted(listing, pid, program))
    return;
  snprintf(numbers[0], sizeof numbers[0], "%d", pid);
  snprintf(numbers[1], sizeof numbers[1], "%lld", tracepoints);
  snprintf(numbers[2], sizeof numbers[2], "%lld", on);
  tool_grid_add(&listing->grid, (const char *const[]){numbers[0], tracepoints < 0 ? "-" : numbers[1],
                                                      on < 0 ? "-" : numbers[2], program, mode});
}

static void list_one(void *user, int pid) {
  struct listing *listing = user;
  struct kymo_client client;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  char who[128], state[160];
  if (kymo_client_once(&client, pid, "info", &error)) {
    if (error.code == KYMO_E_SYSTEM) /* else it has ended meanwhile */
      add_number(listing, pid, -1, -1, kymo_process_program(pid, who, sizeof who), "does not answer");
  } else {
    char *program = kymo_client_value(&client, "program"), *mode = kymo_client_value(&client, "mode");
    long long recorder = kymo_client_number(&client, "recorder", 0);
    int length = snprintf(state, sizeof state, "%s%s", mode ? mode : "", recorder ? ", recorded" : "");
    if (recorder > 0)
      length += snprintf(state + length, sizeof state - (size_t)length, " by %lld", recorder);
    if (client.inner != pid)
      snprintf(state + length, sizeof state - (size_t)length, ", %d in its PID namespace", client.inner);
    add_number(listing, pid, kymo_client_number(&client, "tracepoints", 0),
               kymo_client_number(&client, "on", 0), program ? program : "", state);
    free(program);
    free(mode);
  }
  kymo_client_close(&client);
}

/* Of each row the number alone. */
static void print(const struct listing *listing) {
  if (!listing->brief)
    tool_grid_print(&listing->grid);
  for (size_t i = 0; listing->brief && i < listing->grid.rows; i++)
    puts(listing->grid.cells[i * listing->grid.count]);
}

/* ---- dead ones ---- */

static void add_dead(struct listing *listing, const struct tool_rings *rings) {
  char pid[16], age[TOOL_AGE_MAX], size[TOOL_SIZE_MAX];
  if (!is_wanted(listing, rings->pid, rings->program))
    return;
  snprintf(pid, sizeof pid, "%d", rings->pid);
  tool_grid_add(&listing->grid, (const char *const[]){pid, tool_age_text(rings->age_ns, age),
                                                      tool_size_text(rings->bytes, size), rings->program,
                                                      rings->end, rings->path});
}

static void print_all(const struct tool_listed *listed, const struct listing *living,
                      const struct listing *dead) {
  print(living);
  if (!living->grid.rows && !(listed->with_dead && dead->grid.rows) && !listed->count)
    tool_say("no process can be traced: none of yours has tracepoints");
  if (listed->with_dead && living->grid.rows && dead->grid.rows && !listed->brief)
    putchar('\n');
  if (listed->with_dead)
    print(dead);
  else if (dead->grid.rows && !listed->brief)
    tool_say("%zu dead process%s left rings: kymo list --dead", dead->grid.rows,
             dead->grid.rows == 1 ? " has" : "es have");
}

int tool_list_processes(const struct tool_listed *listed) {
  struct wanted *wanted;
  struct tool_rings_list all;
  if (!read_wanted(listed, &wanted)) {
    free_wanted(wanted, listed->count);
    return TOOL_USAGE;
  }
  struct listing living = {
      .brief = listed->brief,
      .wanted = wanted,
      .wanted_count = listed->count,
      .grid = {.columns = living_columns, .count = sizeof living_columns / sizeof *living_columns}};
  struct listing dead = {
      .brief = listed->brief,
      .wanted = wanted,
      .wanted_count = listed->count,
      .grid = {.columns = dead_columns, .count = sizeof dead_columns / sizeof *dead_columns}};
  kymo_client_each(list_one, &living);
  if (!tool_rings_find(&all))
    tool_end_without_memory();
  for (size_t i = 0; i < all.count; i++)
    if (all.list[i].is_dead)
      add_dead(&dead, &all.list[i]);
  print_all(listed, &living, &dead);
  tool_grid_free(&living.grid);
  tool_grid_free(&dead.grid);
  tool_rings_free(&all);
  int status = say_not_met(wanted, listed->count);
  free_wanted(wanted, listed->count);
  return status;
}

/* ---- tracepoints ---- */

/* "on TAB LEVEL TAB LINE TAB NAME TAB FILE" */
struct point {
  char *part[5];
};
enum { ON, LEVEL, LINE, NAME, FILE_ };

static bool split(char *line, struct point *point) {
  for (int i = 0; i < 5; i++) {
    point->part[i] = strsep(&line, "\t");
    if (!point->part[i])
      return false;
  }
  return true;
}

static int number_of(const struct point *point, int part) { return (int)strtol(point->part[part], NULL, 10); }

static int by_name(const void *a, const void *b) {
  const struct point *x = a, *y = b;
  int names = strcmp(x->part[NAME], y->part[NAME]), files = strcmp(x->part[FILE_], y->part[FILE_]);
  return names ? names : files ? files : number_of(x, LINE) - number_of(y, LINE);
}

static void print_point(const struct point *point, int width) {
  char number[TOOL_LEVEL_MAX];
  bool has_level = strcmp(point->part[LEVEL], "-") != 0;
  printf("%-3s  %-8s  ", strcmp(point->part[ON], "on") ? "off" : "on",
         has_level ? tool_level_text(number_of(point, LEVEL), number) : "-");
  tool_print_safe(point->part[NAME]);
  printf("%*s  ", width - (int)strlen(point->part[NAME]), "");
  tool_print_safe(point->part[FILE_]);
  printf(":%d\n", number_of(point, LINE));
}

static int print_points(struct kymo_client *client, bool brief) {
  size_t lines = 0, count = 0;
  int width = 0;
  for (const char *c = client->answer.text; c && *c; c++)
    lines += *c == '\n';
  struct point *points = calloc(lines + 1, sizeof *points);
  if (!points) {
    tool_say("out of memory");
    return TOOL_FAILED;
  }
  for (char *rest = client->answer.text, *line; count < lines && (line = strsep(&rest, "\n"));)
    if (split(line, &points[count])) {
      int length = (int)strlen(points[count++].part[NAME]);
      width = length > width && length <= 40 ? length : width;
    }
  qsort(points, count, sizeof *points, by_name);
  for (size_t i = 0; i < count; i++)
    if (!brief)
      print_point(&points[i], width);
    else if (!i || strcmp(points[i].part[NAME], points[i - 1].part[NAME]) != 0) {
      tool_print_safe(points[i].part[NAME]);
      putchar('\n');
    }
  free(points);
  return TOOL_OK;
}

int tool_list_process(int pid, bool brief) {
  struct kymo_client client;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  int status = TOOL_FAILED;
  if (kymo_client_once(&client, pid, "list", &error))
    tool_say_error(&error);
  else
    status = print_points(&client, brief);
  kymo_client_close(&client);
  return status;
}
