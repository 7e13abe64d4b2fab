/* SPDX-License-Identifier: MIT */
/*
 * Installed descriptions, by name and by the bytes of a file. A description does not name the magic number of
 * its format: it is found by trying. Each byte at the begin of a file is changed in turn; the result is the
 * number of bytes whose change the description detects.
 */
#include "format/described/installed.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/path.h"
#include "base/self.h"
#include "format/formats.h"
#include "format/language.h"
#include "format/places.h"
#include "plan/machine.h"
#include <dirent.h>
#include <errno.h>
#include <kymo/read.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOKED_AT ((size_t)1 << 20) /* limit of the decoded bytes of a file … */
#define RECORDS 8                   /* … and records of any class */
#define CHANGED 512                 /* bytes that are changed */
#define ENOUGH 4                    /* bytes that must be detected: fewer may match by chance */

/* ---- directories ---- */

/* Copies the next part of a list with colons to `out`; returns the rest of the list, or NULL at the end. */
static const char *next_directory(char out[PATH_MAX], const char *list) {
  if (!*list)
    return NULL;
  size_t length = strcspn(list, ":");
  snprintf(out, PATH_MAX, "%.*s", length < PATH_MAX ? (int)length : 0, list);
  return list + length + (list[length] == ':');
}

static bool is_description(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot && dot != name && (strcmp(dot, ".tdl") == 0 || strcmp(dot, ".key") == 0);
}

static int is_wanted(const struct dirent *entry) { return is_description(entry->d_name); }

/* Directories with colons between them. */
struct directories {
  const char *list;
  char found[PATH_MAX];
};

/* The length of the path without its last directories if they are `tail` ("bin"), or 0. */
static size_t length_without(const char *path, const char *tail) {
  size_t length = strlen(path), tail_length = strlen(tail);
  bool fits = length > tail_length + 1 && path[length - tail_length - 1] == '/' &&
              strcmp(path + length - tail_length, tail) == 0;
  return fits ? length - tail_length - 1 : 0;
}

static bool holds_descriptions(const char *directory) {
  struct dirent **entries = NULL;
  int count = scandir(directory, &entries, is_wanted, NULL);
  for (int i = 0; i < count; i++)
    free(entries[i]);
  free(entries);
  return count > 0;
}

static bool holds_descriptions_at(struct directories *directories, size_t length, const char *beginning,
                                  const char *rest) {
  return (size_t)snprintf(directories->found, PATH_MAX, "%.*s/%s", (int)length, beginning, rest) < PATH_MAX &&
         holds_descriptions(directories->found);
}

/* In a build folder they are beside the command and the libraries. If these are installed, also if they were
 * moved, the descriptions are below the same prefix. */
static bool find_beside(struct directories *directories) {
  char self[PATH_MAX];
  if (!kymo_self_directory(self))
    return false;
  if (holds_descriptions_at(directories, strlen(self), self, "descriptions"))
    return true;
  size_t prefix = length_without(self, KYMO_BINDIR);
  if (!prefix)
    prefix = length_without(self, KYMO_LIBDIR);
  return prefix && holds_descriptions_at(directories, prefix, self, KYMO_DESCRIPTIONS_IN_PREFIX);
}

static void find_directories(struct directories *directories) {
  const char *wanted = getenv("KYMO_DESCRIPTIONS");
  if (wanted && *wanted)
    directories->list = wanted;
  else
    directories->list = find_beside(directories) ? directories->found : KYMO_DESCRIPTIONS_DIR;
}

/* ---- by name ---- */

/* Hints for a name without a description: a similar name, and entries that are not directories. */
struct missing {
  unsigned distance;
  struct kymo_hint hint;
  char failure[PATH_MAX + 80];
};

static void look_in(struct missing *missing, const char *directory, const char *name) {
  struct kymo_nearest nearest = kymo_nearest_to(name);
  struct dirent **entries = NULL;
  int count = scandir(directory, &entries, is_wanted, alphasort);
  if (count < 0 && !missing->failure[0])
    snprintf(missing->failure, sizeof missing->failure, "; %s: %m", directory);
  for (int i = 0; i < count; i++) {
    *strrchr(entries[i]->d_name, '.') = '\0';
    kymo_nearest_consider(&nearest, entries[i]->d_name);
  }
  if (nearest.best && (!missing->hint.text[0] || nearest.best_distance < missing->distance)) {
    missing->hint = kymo_nearest_hint(&nearest);
    missing->distance = nearest.best_distance;
  }
  for (int i = 0; i < count; i++)
    free(entries[i]);
  free(entries);
}

static int fail_missing(struct kymo_error *error, const char *searched, const char *name) {
  struct missing missing = {0};
  char directory[PATH_MAX];
  for (const char *list = next_directory(directory, searched); list; list = next_directory(directory, list))
    look_in(&missing, directory, name);
  return kymo_fail(error, KYMO_E_UNKNOWN, "no description is called '%s' in %s%s%s", name, searched,
                   missing.hint.text, missing.failure);
}

int kymo_description_find(struct kymo_schema **description, const char *name, struct kymo_error *error) {
  char directory[PATH_MAX], path[PATH_MAX + 300];
  struct directories directories;
  *description = NULL;
  if (strchr(name, '/') || strlen(name) > 255)
    return kymo_fail(error, KYMO_E_USAGE, "'%.255s' is no name of a description", name);
  find_directories(&directories);
  for (const char *list = next_directory(directory, directories.list); list;
       list = next_directory(directory, list))
    for (int i = 0; i < 2; i++) {
      snprintf(path, sizeof path, "%s/%s.%s", directory, name, i == 0 ? "key" : "tdl");
      if (access(path, R_OK) == 0)
        return kymo_description_load(description, path, error);
      if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
        return kymo_fail_errno(error, path, "cannot look at");
    }
  return fail_missing(error, directories.list, name);
}

/* ---- by the bytes ---- */

/* The begin of a file; `is_whole`: it is the whole file. */
struct sample {
  uint8_t *bytes;
  size_t size;
  bool is_whole;
};

static int read_sample(struct sample *sample, const char *path, struct kymo_error *error) {
  struct stat info;
  sample->bytes = calloc(1, LOOKED_AT + KYMO_PLAN_SLACK);
  if (!sample->bytes)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = kymo_file_peek(path, sample->bytes, LOOKED_AT, &sample->size, &info, error);
  sample->is_whole = status == KYMO_OK && (uint64_t)info.st_size <= LOOKED_AT;
  return status;
}

/* Zeros are the content of holes: descriptions whose format is recognised by filler would match them. */
static bool is_blank(const struct sample *sample) {
  for (size_t i = 0; i < sample->size && i < CHANGED; i++)
    if (sample->bytes[i])
      return false;
  return true;
}

/* A gap in numbers does not mean that a file has another format: the missing numbers may be in another
 * file. */
static bool is_strange(const struct kymo_plan_note *note) {
  return note->kind == KYMO_NOTE_DAMAGE && note->r != 6;
}

/* Whether the first records can be decoded. A record that is cut by the sample's end is no fault. */
static bool is_sound(struct kymo_plan_machine *machine, const struct sample *sample) {
  unsigned records = 0;
  kymo_plan_machine_rewind(machine);
  kymo_plan_machine_bytes(machine, sample->bytes, sample->size);
  while (records < RECORDS) {
    int status = kymo_plan_machine_next(machine);
    for (uint32_t i = 0; i < machine->note_count; i++)
      if (is_strange(&machine->notes[i]))
        return machine->notes[i].r == 1 && !sample->is_whole && records > 0;
    if (status != KYMO_OK)
      return status == KYMO_END && records > 0;
    records++;
  }
  return true;
}

/* How many of the first bytes cannot have other values; 0: the description does not match at all. */
static unsigned count_noticed(const struct kymo_schema *schema, const struct sample *sample) {
  struct kymo_error error;
  struct kymo_plan *plan = schema->plan ? kymo_plan_open(schema, "", &error) : NULL;
  struct kymo_plan_found *found = plan ? kymo_plan_found_new(plan) : NULL;
  struct kymo_plan_machine *machine = found ? kymo_plan_machine_new(plan, found, 0) : NULL;
  unsigned noticed = 0;
  if (machine)
    machine->may_find = true; /* records that the file defines are among the first ones */
  if (machine && is_sound(machine, sample))
    for (size_t i = 0; i < sample->size && i < CHANGED; i++) {
      sample->bytes[i] ^= 0xff;
      noticed += !is_sound(machine, sample);
      sample->bytes[i] ^= 0xff;
    }
  kymo_plan_machine_free(machine);
  kymo_plan_found_free(found);
  kymo_plan_close(plan);
  return noticed;
}

struct best {
  struct kymo_schema *description;
  unsigned noticed;
};

/* Invalid descriptions match nothing. KYMO_E_SYSTEM, KYMO_E_MEMORY: it is unknown whether one matches. */
static int try_directory(struct best *best, const char *directory, const struct sample *sample,
                         struct kymo_error *error) {
  struct dirent **entries = NULL;
  int status = KYMO_OK, count = scandir(directory, &entries, is_wanted, alphasort);
  if (count < 0 && errno != ENOENT && errno != ENOTDIR)
    return kymo_fail_errno(error, directory, "cannot list");
  for (int i = 0; i < count; i++) {
    char path[PATH_MAX + 300];
    struct kymo_error why;
    struct kymo_schema *description = NULL;
    kymo_path_join(path, sizeof path, directory, entries[i]->d_name);
    int loaded = status == KYMO_OK ? kymo_description_load(&description, path, &why) : KYMO_E_UNKNOWN;
    unsigned noticed = loaded == KYMO_OK ? count_noticed(description, sample) : 0;
    if (loaded == KYMO_E_SYSTEM || loaded == KYMO_E_MEMORY) {
      status = loaded;
      if (error)
        *error = why;
    }
    if (noticed >= ENOUGH && noticed > best->noticed) {
      kymo_schema_release(best->description);
      *best = (struct best){description, noticed};
    } else {
      kymo_schema_release(description);
    }
    free(entries[i]);
  }
  free(entries);
  return status;
}

int kymo_installed_fitting(struct kymo_schema **description, const char *path, struct kymo_error *error) {
  struct sample sample = {0};
  struct best best = {0};
  char directory[PATH_MAX];
  struct directories directories;
  int status = read_sample(&sample, path, error);
  if (status == KYMO_OK && !is_blank(&sample)) {
    find_directories(&directories);
    for (const char *list = next_directory(directory, directories.list); list && status == KYMO_OK;
         list = next_directory(directory, list))
      status = try_directory(&best, directory, &sample, error);
  }
  free(sample.bytes);
  if (status != KYMO_OK) {
    kymo_schema_release(best.description);
    best.description = NULL;
  }
  *description = best.description;
  return status == KYMO_OK && !best.description ? KYMO_E_UNKNOWN : status;
}
