/* SPDX-License-Identifier: MIT */
#include "tool/view_offers.h"
#include "base/dir.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void clear(struct tool_offers *offers) {
  for (size_t i = 0; i < offers->count; i++)
    free((char *)(uintptr_t)offers->list[i].name);
  offers->count = 0;
}

/* Adds what can be a trace; devices and pipes cannot. */
static void add(struct tool_offers *offers, const char *path) {
  struct stat info;
  char *copy;
  if (offers->count == TOOL_OFFERS_MAX || stat(path, &info) != 0 ||
      !(S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) || !(copy = strdup(path)))
    return;
  offers->list[offers->count++] =
      (struct serve_offer){.name = copy,
                           .is_folder = S_ISDIR(info.st_mode),
                           .bytes = S_ISDIR(info.st_mode) ? 0 : (uint64_t)info.st_size,
                           .changed_ns = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec};
}

/* Adds what is in a folder, without hidden names. */
static void add_folder(struct tool_offers *offers, const char *path, DIR *folder) {
  const struct dirent *entry;
  bool is_failed = false;
  bool is_here = strcmp(path, ".") == 0, has_slash = *path && path[strlen(path) - 1] == '/';
  while ((entry = kymo_dir_next(folder, &is_failed)) != NULL) {
    struct kymo_strbuf whole = {0};
    if (is_here && *entry->d_name != '-') /* "-" is standard input */
      kymo_strbuf_puts(&whole, entry->d_name);
    else
      kymo_strbuf_printf(&whole, "%s%s%s", path, has_slash ? "" : "/", entry->d_name);
    if (*entry->d_name != '.' && !whole.failed)
      add(offers, whole.text);
    kymo_strbuf_free(&whole);
  }
}

static bool is_trace(const char *path) {
  struct kymo_strbuf whole = {0};
  kymo_strbuf_printf(&whole, "%s/metadata", path);
  struct stat info;
  bool is_there = !whole.failed && stat(whole.text, &info) == 0;
  kymo_strbuf_free(&whole);
  return is_there;
}

static int compare(const void *a, const void *b) {
  const struct serve_offer *x = a, *y = b;
  if (x->changed_ns != y->changed_ns)
    return x->changed_ns < y->changed_ns ? 1 : -1;
  return strcmp(x->name, y->name);
}

const struct serve_offer *tool_offers_list(struct tool_offers *offers, size_t *count) {
  *count = 0;
  if (!offers->list)
    offers->list = calloc(TOOL_OFFERS_MAX, sizeof *offers->list);
  if (!offers->list)
    return NULL;
  clear(offers);
  for (size_t i = 0; i < offers->roots.count; i++) {
    const char *path = offers->roots.list[i];
    DIR *folder = is_trace(path) ? NULL : opendir(path);
    if (folder) {
      add_folder(offers, path, folder);
      closedir(folder);
    } else {
      add(offers, path);
    }
  }
  qsort(offers->list, offers->count, sizeof *offers->list, compare);
  *count = offers->count;
  return offers->list;
}

const char *tool_offers_path(const struct tool_offers *offers, size_t number) {
  return number < offers->count ? offers->list[number].name : NULL;
}

void tool_offers_free(struct tool_offers *offers) {
  clear(offers);
  free(offers->list);
  free(offers->roots.list);
}
