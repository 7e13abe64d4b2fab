/* SPDX-License-Identifier: MIT */
#include "format/ftrace/names.h"
#include "base/list.h"
#include "base/search.h"
#include "lang/text/cursor.h"
#include <stdlib.h>
#include <string.h>

/* ---- lines ---- */

/* The next line without its end; false: there is none. */
static bool next_line(struct kymo_cursor *text, struct kymo_cursor *line) {
  if (text->at >= text->length)
    return false;
  size_t begin = text->at;
  kymo_pass_line(text);
  *line = (struct kymo_cursor){.text = text->text + begin, .length = text->at - begin};
  text->at++;
  return true;
}

static void pass_blanks(struct kymo_cursor *line) {
  while (kymo_peek(line, 0) == ' ' || kymo_peek(line, 0) == '\t')
    line->at++;
}

static struct kymo_cursor text_of(const struct ftrace_text *text) {
  return (struct kymo_cursor){.text = text->text, .length = text->length};
}

/* ---- tables of addresses ---- */

struct list {
  struct ftrace_named *items;
  size_t count, capacity;
};

static bool add(struct ftrace_names *names, struct list *list, uint64_t address, const char *name,
                size_t length) {
  if (!KYMO_LIST_ROOM(list->items, list->capacity, list->count))
    return false;
  char *copy = kymo_arena_copy(&names->arena, name, length);
  if (copy) {
    list->items[list->count] = (struct ftrace_named){address, copy, (uint32_t)(SIZE_MAX - list->count)};
    list->count++;
  }
  return copy != NULL;
}

static int by_address(const void *one, const void *other) {
  const struct ftrace_named *a = one, *b = other;
  if (a->address != b->address)
    return a->address < b->address ? -1 : 1;
  return a->order < b->order ? -1 : a->order > b->order;
}

/* Equal addresses in the reverse order of the file, as trace-cmd has them: so the name of a function that has
 * several is the same in both. */
static void sort(struct list *list) {
  if (list->count)
    qsort(list->items, list->count, sizeof *list->items, by_address);
}

/* ---- functions ---- */

/* "ffffffff81000000 T name [module]". Symbols that begin with $, and absolute ones, are no functions. */
static bool read_function(struct ftrace_names *names, struct list *list, struct kymo_cursor line) {
  uint64_t address = 0;
  pass_blanks(&line);
  size_t begin = line.at;
  if (!kymo_pass_digits(&line, 16, false, &address) || line.at == begin)
    return true;
  pass_blanks(&line);
  int kind = kymo_peek(&line, 0);
  line.at += kind >= 0;
  pass_blanks(&line);
  begin = line.at;
  while (line.at < line.length && !strchr(" \t\r", line.text[line.at]))
    line.at++;
  if (kind < 0 || kind == 'A' || kind == 'a' || line.at == begin || line.text[begin] == '$')
    return true;
  return add(names, list, address, line.text + begin, line.at - begin);
}

static void find_functions(struct ftrace_names *names) {
  struct kymo_cursor text = text_of(&names->file->functions), line;
  struct list list = {0};
  names->has_functions = true;
  while (next_line(&text, &line))
    if (!read_function(names, &list, line))
      break;
  sort(&list);
  names->functions = list.items;
  names->function_count = list.count;
}

/* The bisection of bsearch, which decides between several names of one address. */
const char *kymo_ftrace_function(void *user, uint64_t address, uint64_t *begin) {
  struct ftrace_names *names = user;
  if (!names->has_functions)
    find_functions(names);
  size_t low = 0, high = names->function_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    const struct ftrace_named *one = &names->functions[middle];
    bool is_last = middle + 1 == names->function_count;
    if (address == one->address || (address > one->address && !is_last && address < one[1].address)) {
      *begin = one->address;
      return one->name;
    }
    if (address < one->address)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

/* ---- formats of trace_printk ---- */

/* 0xADDRESS : "FORMAT\n": without the quotes, and without the line feed at its end. */
static bool read_printk(struct ftrace_names *names, struct list *list, struct kymo_cursor line) {
  uint64_t address = 0;
  pass_blanks(&line);
  line.at += kymo_peek(&line, 0) == '0' && kymo_peek(&line, 1) == 'x' ? 2 : 0;
  size_t begin = line.at;
  if (!kymo_pass_digits(&line, 16, false, &address) || line.at == begin)
    return true;
  pass_blanks(&line);
  if (kymo_peek(&line, 0) != ':')
    return true;
  line.at++;
  pass_blanks(&line);
  line.at += kymo_peek(&line, 0) == '"';
  size_t end = line.length;
  while (end > line.at && strchr(" \t\r", line.text[end - 1]))
    end--;
  end -= end > line.at && line.text[end - 1] == '"';
  if (end >= line.at + 2 && memcmp(line.text + end - 2, "\\n", 2) == 0)
    end -= 2;
  return add(names, list, address, line.text + line.at, end - line.at);
}

static void find_printks(struct ftrace_names *names) {
  struct kymo_cursor text = text_of(&names->file->printks), line;
  struct list list = {0};
  names->has_printks = true;
  while (next_line(&text, &line))
    if (!read_printk(names, &list, line))
      break;
  sort(&list);
  names->printks = list.items;
  names->printk_count = list.count;
}

const char *kymo_ftrace_printk(void *user, uint64_t address) {
  struct ftrace_names *names = user;
  if (!names->has_printks)
    find_printks(names);
  size_t at = KYMO_COUNT_BEFORE(names->printk_count, i, names->printks[i].address < address);
  return at < names->printk_count && names->printks[at].address == address ? names->printks[at].name : NULL;
}

/* ---- threads ---- */

static int by_tid(const void *one, const void *other) {
  const struct ftrace_thread *a = one, *b = other;
  if (a->tid != b->tid)
    return a->tid < b->tid ? -1 : 1;
  return a->order < b->order ? -1 : a->order > b->order;
}

/* "1234 name" */
static bool read_thread(struct ftrace_names *names, size_t *capacity, struct kymo_cursor line) {
  uint64_t tid = 0;
  pass_blanks(&line);
  size_t begin = line.at;
  if (!kymo_pass_digits(&line, 10, false, &tid) || line.at == begin || tid > INT32_MAX)
    return true;
  pass_blanks(&line);
  if (!KYMO_LIST_ROOM(names->threads, *capacity, names->thread_count))
    return false;
  struct ftrace_thread *thread = &names->threads[names->thread_count];
  size_t length = line.length - line.at;
  length = length < FTRACE_NAME_BYTES ? length : FTRACE_NAME_BYTES - 1;
  *thread = (struct ftrace_thread){.tid = (int32_t)tid, .order = (uint32_t)names->thread_count++};
  memcpy(thread->name, line.text + line.at, length);
  return true;
}

bool kymo_ftrace_names_begin(struct ftrace_names *names, const struct ftrace_file *file) {
  struct kymo_cursor text = text_of(&file->names), line;
  size_t capacity = 0;
  *names = (struct ftrace_names){.file = file};
  while (next_line(&text, &line))
    if (!read_thread(names, &capacity, line))
      return false;
  if (names->thread_count)
    qsort(names->threads, names->thread_count, sizeof *names->threads, by_tid);
  return true;
}

void kymo_ftrace_names_end(struct ftrace_names *names) {
  free(names->functions);
  free(names->printks);
  free(names->threads);
  kymo_arena_free(&names->arena);
}

const char *kymo_ftrace_thread_name(const struct ftrace_names *names, int32_t tid) {
  static const char idle[FTRACE_NAME_BYTES] = "<idle>", unknown[FTRACE_NAME_BYTES] = "<...>";
  size_t low = 0, high = names->thread_count;
  if (tid == 0)
    return idle;
  while (low < high) { /* for the first of several */
    size_t middle = (low + high) / 2;
    if (names->threads[middle].tid < tid)
      low = middle + 1;
    else
      high = middle;
  }
  return low < names->thread_count && names->threads[low].tid == tid ? names->threads[low].name : unknown;
}
