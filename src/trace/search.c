/* SPDX-License-Identifier: MIT */
/* Asks the formats about each path, from the top down. */
#include "trace/search.h"
#include "base/fail.h"
#include "base/list.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEARCH_DEPTH 32

struct search {
  const struct kymo_format *const *formats;
  const char *only;    /* name of a format, or NULL: any */
  struct found *found; /* by index in formats */
  size_t argument;     /* that is being looked at */
  struct kymo_error *error;
};

static size_t count_formats(const struct kymo_format *const *formats) {
  size_t count = 0;
  while (formats[count])
    count++;
  return count;
}

const struct found *kymo_found_unread(const struct found *found, const struct kymo_format *const *formats) {
  return &found[count_formats(formats)];
}

static int take(struct search *search, size_t format, const char *path) {
  struct found *found = &search->found[format];
  for (size_t i = 0; i < found->count; i++)
    if (strcmp(found->paths[i], path) == 0)
      return KYMO_OK; /* named twice */
  char *copy = strdup(path);
  if (!copy || !KYMO_LIST_ROOM(found->paths, found->path_capacity, found->count) ||
      !KYMO_LIST_ROOM(found->arguments, found->argument_capacity, found->count)) {
    free(copy);
    return kymo_fail(search->error, KYMO_E_MEMORY, "out of memory");
  }
  found->arguments[found->count] = search->argument;
  found->paths[found->count++] = copy;
  return KYMO_OK;
}

/* Lists a path below the argument that cannot be examined, so that the rest can be read. */
static int take_unread(struct search *search, const char *path, const struct kymo_error *why) {
  size_t last = count_formats(search->formats);
  struct found *found = &search->found[last];
  size_t count = found->count;
  int status = take(search, last, path);
  if (status != KYMO_OK || found->count == count)
    return status;
  if (!KYMO_LIST_ROOM(found->unread, found->unread_capacity, count)) {
    free(found->paths[--found->count]);
    return kymo_fail(search->error, KYMO_E_MEMORY, "out of memory");
  }
  found->unread[count] = *why;
  return KYMO_OK;
}

/* The same for a system call that failed. */
static int take_hidden(struct search *search, const char *path, const char *what) {
  struct kymo_error why;
  kymo_fail_errno(&why, path, what);
  return take_unread(search, path, &why);
}

/* Whether the format accepts this path. */
static int probe(struct search *search, const char *path, bool *taken) {
  struct kymo_error why = {.offset = KYMO_ERROR_NO_OFFSET};
  *taken = false;
  for (size_t i = 0; search->formats[i]; i++) {
    if (search->only ? strcmp(search->only, search->formats[i]->name) != 0 : search->formats[i]->needs_key)
      continue;
    int status = search->formats[i]->probe(path, &why);
    if (status == KYMO_E_UNKNOWN)
      continue;
    if (status == KYMO_E_MEMORY)
      return kymo_fail(search->error, KYMO_E_MEMORY, "out of memory");
    *taken = true;
    if (status != KYMO_OK)
      return take_unread(search, path, &why);
    return take(search, i, path);
  }
  return KYMO_OK;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static int look(struct search *search, const char *path, int depth, bool *any);

static int look_inside(struct search *search, const char *path, int depth, bool *any) {
  struct dirent **entries = NULL;
  int count = scandir(path, &entries, is_visible, by_name);
  int status = KYMO_OK;
  if (count < 0)
    return take_hidden(search, path, "cannot list");
  for (int i = 0; i < count && status == KYMO_OK; i++) {
    size_t size = strlen(path) + strlen(entries[i]->d_name) + 2;
    char *inner = malloc(size);
    struct stat info;
    if (!inner) {
      status = kymo_fail(search->error, KYMO_E_MEMORY, "out of memory");
    } else {
      bool has_slash = path[0] != 0 && path[strlen(path) - 1] == '/';
      snprintf(inner, size, "%s%s%s", path, has_slash ? "" : "/", entries[i]->d_name);
      if (stat(inner, &info) == 0)
        status = look(search, inner, depth + 1, any);
      else if (errno != ENOENT && errno != ELOOP) /* links that lead nowhere */
        status = take_hidden(search, inner, "cannot look at");
    }
    free(inner);
  }
  for (int i = 0; i < count; i++)
    free(entries[i]);
  free(entries);
  return status;
}

/* Accepts the path, or searches below it. Loops of symbolic links end with the depth. */
static int look(struct search *search, const char *path, int depth, bool *any) {
  size_t unread = kymo_found_unread(search->found, search->formats)->count;
  bool taken;
  int status = probe(search, path, &taken);
  *any |= taken && kymo_found_unread(search->found, search->formats)->count == unread;
  struct stat info;
  if (status != KYMO_OK || taken || depth >= SEARCH_DEPTH)
    return status;
  if (stat(path, &info) != 0)
    return errno == ENOENT || errno == ENOTDIR ? KYMO_OK : take_hidden(search, path, "cannot look at");
  return S_ISDIR(info.st_mode) ? look_inside(search, path, depth, any) : KYMO_OK;
}

/* Why a file is not a trace: it is one stream of a trace, or its format is not described. */
static int refuse_file(struct search *search, const char *path) {
  const char *slash = strrchr(path, '/');
  int length = slash ? (int)(slash - path) + (slash == path) : 1;
  size_t size = (size_t)length + sizeof "/metadata";
  char *metadata = malloc(size);
  if (!metadata)
    return kymo_fail(search->error, KYMO_E_MEMORY, "out of memory");
  snprintf(metadata, size, "%.*s/metadata", length, slash ? path : ".");
  bool is_part = access(metadata, F_OK) == 0;
  metadata[length] = '\0';
  int status =
      is_part ? kymo_fail_at(search->error, KYMO_E_UNKNOWN, path, KYMO_ERROR_NO_OFFSET,
                             "no trace found here: this is a file of the trace in %s", metadata)
              : kymo_fail_at(
                    search->error, KYMO_E_UNKNOWN, path, KYMO_ERROR_NO_OFFSET,
                    "no trace found here: a file of no known format (--key FILE reads it by a description)");
  free(metadata);
  return status;
}

/* One argument, at or below which there must be a trace. */
static int search_one(struct search *search, const char *path) {
  bool any = false;
  struct stat info;
  const struct found *unread = kymo_found_unread(search->found, search->formats);
  size_t before = unread->count;
  int status = look(search, path, 0, &any);
  if (status != KYMO_OK || any)
    return status;
  if (unread->count > before) {
    if (search->error)
      *search->error = unread->unread[before];
    return unread->unread[before].code;
  }
  if (stat(path, &info) != 0)
    return kymo_fail_errno(search->error, path, "cannot open");
  if (S_ISREG(info.st_mode))
    return refuse_file(search, path);
  return kymo_fail_at(search->error, KYMO_E_UNKNOWN, path, KYMO_ERROR_NO_OFFSET, "no trace found here");
}

static bool is_format(const struct kymo_format *const *formats, const char *name) {
  for (size_t i = 0; formats[i]; i++)
    if (strcmp(formats[i]->name, name) == 0)
      return true;
  return false;
}

int kymo_search(struct found **found, const struct kymo_format *const *formats, const char *const *paths,
                size_t count, const char *format, struct kymo_error *error) {
  *found = NULL;
  if (format && !is_format(formats, format))
    return kymo_fail(error, KYMO_E_UNKNOWN, "no format is called '%s'", format);
  struct search search = {.formats = formats,
                          .only = format,
                          .found = calloc(count_formats(formats) + 1, sizeof *search.found),
                          .error = error};
  if (!search.found)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  *found = search.found;
  int status = KYMO_OK;
  for (size_t i = 0; i < count; i++) {
    search.argument = i;
    int one = search_one(&search, paths[i]);
    if (status == KYMO_OK && one != KYMO_OK) {
      status = one;
      search.error = NULL; /* the first is reported */
    }
  }
  return status;
}

void kymo_found_free(struct found *found, const struct kymo_format *const *formats) {
  for (size_t i = 0; found && i <= count_formats(formats); i++) {
    for (size_t k = 0; k < found[i].count; k++)
      free(found[i].paths[k]);
    free(found[i].paths);
    free(found[i].arguments);
    free(found[i].unread);
  }
  free(found);
}
