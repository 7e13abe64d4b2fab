/* SPDX-License-Identifier: MIT */
/*
 * kymo list: processes that can be traced, and the tracepoints of one.
 *
 *       PID  TRACEPOINTS      ON  PROGRAM
 *      1234           12       3  server  overwrite, recorded by 1240
 *
 *   on   info     net:rx  src/net.c:120
 *   off  -        net:tx  src/net.c:150
 */
#include "tool/processes.h"
#include "stat/table.h"
#include "tool/client.h"
#include "tool/rings.h"
#include "tool/tool.h"
#include <stdlib.h>
#include <string.h>

/* ---- processes ---- */

struct listing {
  bool brief;
  size_t count;
};

static void print_head(struct listing *listing) {
  if (!listing->count++ && !listing->brief)
    printf("%9s  %11s  %6s  %s\n", "PID", "TRACEPOINTS", "ON", "PROGRAM");
}

static void list_silent(struct listing *listing, int pid, const struct kymo_error *error) {
  char who[128];
  if (error->code != KYMO_E_SYSTEM) /* it has ended meanwhile */
    return;
  print_head(listing);
  if (listing->brief)
    printf("%d\n", pid);
  else {
    printf("%9d  %11s  %6s  ", pid, "-", "-");
    tool_print_safe(tool_process_name(pid, who, sizeof who));
    puts(" does not answer");
  }
}

static void list_one(void *user, int pid) {
  struct listing *listing = user;
  struct tool_client client;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  if (tool_client_once(&client, pid, "info", &error))
    list_silent(listing, pid, &error);
  else if (listing->brief) {
    listing->count++;
    printf("%d\n", pid);
  } else {
    char *program = tool_client_value(&client, "program"), *mode = tool_client_value(&client, "mode");
    long long recorder = tool_client_number(&client, "recorder", 0);
    print_head(listing);
    printf("%9d  %11lld  %6lld  ", pid, tool_client_number(&client, "tracepoints", 0),
           tool_client_number(&client, "on", 0));
    tool_print_safe(program ? program : "");
    printf("  %s", mode ? mode : "");
    if (recorder > 0)
      printf(", recorded by %lld", recorder);
    else if (recorder < 0)
      printf(", recorded");
    if (client.inner != pid)
      printf(", %d in its PID namespace", client.inner);
    putchar('\n');
    free(program);
    free(mode);
  }
  tool_client_close(&client);
}

/* ---- dead ones ---- */

static size_t count_dead(const struct tool_rings_list *all) {
  size_t count = 0;
  for (size_t i = 0; i < all->count; i++)
    count += all->list[i].is_dead;
  return count;
}

static const struct kymo_column columns[] = {
    {"PID", 9, 0, KYMO_CELL_NUMBER}, {"AGE", 7, 0, KYMO_CELL_NUMBER}, {"SIZE", 9, 0, KYMO_CELL_NUMBER}, {.title = "PROGRAM", .kind = KYMO_CELL_NAME},
    {.title = "END", .kind = KYMO_CELL_TEXT}, {.title = "RINGS", .rank = 1, .kind = KYMO_CELL_TEXT},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void print_dead(const struct kymo_table *table, const struct tool_rings *rings) {
  char pid[16], age[TOOL_AGE_MAX], size[TOOL_SIZE_MAX];
  struct kymo_strbuf line = {0};
  snprintf(pid, sizeof pid, "%d", rings->pid);
  const char *cells[COLUMNS] = {pid, tool_age_text(rings->age_ns, age), tool_size_text(rings->bytes, size), rings->program, rings->end, rings->path};
  kymo_table_row(table, cells, &line);
  if (line.failed)
    tool_end_without_memory();
  tool_print_safe(line.text);
  kymo_strbuf_free(&line);
}

/* The program's names and the paths decide how wide the table is. */
static void list_dead(const struct tool_rings_list *all, bool brief) {
  struct kymo_column own[COLUMNS];
  struct kymo_table table;
  struct kymo_strbuf line = {0};
  int width = 0;
  memcpy(own, columns, sizeof own);
  for (size_t i = 0; i < all->count; i++) {
    int program = kymo_text_width(all->list[i].program), end = kymo_text_width(all->list[i].end), path = kymo_text_width(all->list[i].path);
    width = all->list[i].is_dead && program > width ? program : width;
    own[COLUMNS - 2].width = all->list[i].is_dead && end > own[COLUMNS - 2].width ? end : own[COLUMNS - 2].width;
    own[COLUMNS - 1].width = all->list[i].is_dead && path > own[COLUMNS - 1].width ? path : own[COLUMNS - 1].width;
  }
  kymo_table_begin(&table, own, COLUMNS, width, tool_columns());
  kymo_table_head(&table, &line);
  if (!brief && line.text)
    fputs(line.text, stdout);
  kymo_strbuf_free(&line);
  for (size_t i = 0; i < all->count; i++)
    if (all->list[i].is_dead && brief)
      printf("%d\n", all->list[i].pid);
    else if (all->list[i].is_dead)
      print_dead(&table, &all->list[i]);
}

int tool_list_processes(bool brief, bool with_dead) {
  struct listing listing = {.brief = brief};
  struct tool_rings_list all;
  tool_client_each(list_one, &listing);
  if (!tool_rings_find(&all))
    tool_end_without_memory();
  size_t dead = count_dead(&all);
  if (!listing.count && !(with_dead && dead))
    tool_say("no process can be traced: none of yours has tracepoints");
  if (with_dead && dead) {
    if (listing.count && !brief)
      putchar('\n');
    list_dead(&all, brief);
  } else if (dead && !brief)
    tool_say("%zu dead process%s left rings: kymo list --dead", dead, dead == 1 ? " has" : "es have");
  tool_rings_free(&all);
  return TOOL_OK;
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

static int number_of(const struct point *point, int part) {
  return (int)strtol(point->part[part], NULL, 10);
}

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

static int print_points(struct tool_client *client, bool brief) {
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
  struct tool_client client;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  int status = TOOL_FAILED;
  if (tool_client_once(&client, pid, "list", &error))
    tool_say_error(&error);
  else
    status = print_points(&client, brief);
  tool_client_close(&client);
  return status;
}
