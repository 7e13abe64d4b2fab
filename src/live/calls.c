/* SPDX-License-Identifier: MIT */
#include "live/calls.h"
#include "base/fail.h"
#include "base/nearest.h"
#include "base/self.h"
#include "calls/list.h"
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct call {
  const char *function, *family, *event;
} calls_of_libc[] = {
#define CALL_ROW(function, family, event) {#function, #family, #event},
    KYMO_LIBC_CALLS(CALL_ROW)
#undef CALL_ROW
};
enum { CALLS = sizeof calls_of_libc / sizeof *calls_of_libc };

/* ---- what is asked for ---- */

/* The functions of a family, or one event's. */
static int choose(struct kymo_calls *calls, const char *word, struct kymo_error *error) {
  struct kymo_nearest nearest = kymo_nearest_to(word);
  bool found = false, is_family = false;
  for (size_t i = 0; i < CALLS; i++)
    is_family |= !strcmp(calls_of_libc[i].family, word);
  for (size_t i = 0; i < CALLS; i++) {
    const struct call *call = &calls_of_libc[i];
    bool chosen = !strcmp(is_family ? call->family : call->event, word);
    kymo_nearest_consider(&nearest, call->family);
    kymo_nearest_consider(&nearest, call->event);
    calls->chosen[i] |= chosen;
    found |= chosen;
  }
  struct kymo_hint hint = kymo_nearest_hint(&nearest);
  return found ? KYMO_OK
               : kymo_fail(error, KYMO_E_USAGE, "libc has no family or function \"%s\"%s", word, hint.text);
}

static int choose_all(struct kymo_calls *calls, const char *list, struct kymo_error *error) {
  char *copy = strdup(list), *rest = copy, *word;
  if (!calls->chosen)
    calls->chosen = calloc(CALLS, sizeof *calls->chosen);
  int status = copy && calls->chosen ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  while (!status && (word = strsep(&rest, ",")))
    status = choose(calls, word, error);
  free(copy);
  return status;
}

int kymo_calls_add(struct kymo_calls *calls, const char *argument, struct kymo_error *error) {
  bool whole = !strcmp(argument, "libc");
  if (!strcmp(argument, "functions")) {
    calls->functions = true;
    return KYMO_OK;
  }
  if (!whole && strncmp(argument, "libc:", 5))
    return kymo_fail(error, KYMO_E_USAGE, "--calls is libc, libc:FAMILY,… or functions, not \"%s\"",
                     argument);
  calls->libc = true;
  return choose_all(calls, whole ? "malloc,io,lock" : argument + 5, error);
}

void kymo_calls_free(struct kymo_calls *calls) {
  free(calls->chosen);
  calls->chosen = NULL;
}

/* ---- patterns ---- */

/* Several functions share an event. */
static bool is_repeated(size_t index) {
  for (size_t i = 0; i < index; i++)
    if (!strcmp(calls_of_libc[i].event, calls_of_libc[index].event))
      return true;
  return false;
}

static void put_pattern(struct kymo_strbuf *patterns, const char *group, const char *event) {
  kymo_strbuf_printf(patterns, "%s%s%s", patterns->length ? "," : "", group, event);
}

void kymo_calls_patterns(const struct kymo_calls *calls, struct kymo_strbuf *patterns) {
  bool others = !patterns->length;
  if (others)
    kymo_strbuf_puts(patterns, "*");
  for (size_t i = 0; calls->libc && i < CALLS; i++)
    if (!is_repeated(i) && calls->chosen[i] != others)
      put_pattern(patterns, others ? "!libc:" : "libc:", calls_of_libc[i].event);
  bool waits = false;
  for (size_t i = 0; calls->libc && i < CALLS; i++)
    waits |= calls->chosen[i] && !strcmp(calls_of_libc[i].family, "lock");
  if (calls->libc && waits != others)
    put_pattern(patterns, others ? "!libc:" : "libc:", "wait_*");
  if (calls->functions && !others)
    put_pattern(patterns, "functions:", "*");
}

/* ---- libraries ---- */

enum { FOUND_MAX = 2 * PATH_MAX };

/* In the build folder, libraries are beside the command. */
static bool find(const char *name, const char *folder, char path[FOUND_MAX]) {
  char self[PATH_MAX];
  if (!kymo_self_directory(self))
    return false;
  const char *const places[] = {"", folder};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    const char *place = places[i];
    snprintf(path, FOUND_MAX, "%s/%s/%s", *place == '/' ? "" : self, place, name);
    if (!access(path, R_OK))
      return true;
  }
  return false;
}

static int add_library(struct kymo_strbuf *preload, const char *name, const char *folder,
                       struct kymo_error *error) {
  char found[FOUND_MAX];
  if (!find(name, folder, found))
    return kymo_fail(error, KYMO_E_SYSTEM, "%s is neither beside the command nor where it is installed (%s)",
                     name, folder);
  char *path = realpath(found, NULL);
  int status = path ? KYMO_OK : kymo_fail_errno(error, found, "cannot find");
  if (path && strpbrk(path, " :"))
    status =
        kymo_fail(error, KYMO_E_SYSTEM, "%s: expected a path without blank and colon for LD_PRELOAD", path);
  else if (path)
    kymo_strbuf_printf(preload, "%s%s", preload->length ? ":" : "", path);
  free(path);
  return status;
}

int kymo_calls_libraries(const struct kymo_calls *calls, const char *folder, struct kymo_strbuf *preload,
                         struct kymo_error *error) {
  int status = calls->libc ? add_library(preload, "libkymo-calls.so", folder, error) : KYMO_OK;
  return !status && calls->functions ? add_library(preload, "libkymo-functions.so", folder, error) : status;
}

/* ---- programs that no library can be loaded into ---- */

static int open_command(const char *command) {
  if (strchr(command, '/'))
    return open(command, O_RDONLY | O_CLOEXEC);
  const char *path = getenv("PATH");
  int fd = -1;
  while (path && fd < 0) {
    char name[4096];
    int length = (int)strcspn(path, ":");
    if ((size_t)snprintf(name, sizeof name, "%.*s/%s", length ? length : 1, length ? path : ".", command) <
            sizeof name &&
        !access(name, X_OK))
      fd = open(name, O_RDONLY | O_CLOEXEC);
    path = path[length] ? path + length + 1 : NULL;
  }
  return fd;
}

/* Programs of this machine without a loader. Anything else, scripts too, may have an effect. */
static bool is_static(int fd) {
  ElfW(Ehdr) head;
  if (pread(fd, &head, sizeof head, 0) != sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
      head.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
      head.e_phentsize != sizeof(ElfW(Phdr)))
    return false;
  for (uint16_t i = 0; i < head.e_phnum; i++) {
    ElfW(Phdr) part;
    if (pread(fd, &part, sizeof part, (off_t)(head.e_phoff + i * sizeof part)) != sizeof part ||
        part.p_type == PT_INTERP)
      return false;
  }
  return head.e_phnum;
}

bool kymo_calls_have_no_effect(const char *command) {
  int fd = open_command(command);
  bool none = fd >= 0 && is_static(fd);
  if (fd >= 0)
    close(fd);
  return none;
}
