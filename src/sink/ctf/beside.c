/* SPDX-License-Identifier: MIT */
#include "sink/ctf/beside.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "sink/ctf/names.h"
#include "source/notes.h"
#include "trace/part.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Maximum size of such a file for readers. */
#define BESIDE_LIMIT (UINT64_C(1) << 30)

/* A text file: a head, whose first line contains its name, and lines that begin with one of these words. */
struct beside {
  const char *name, *first, *const *words;
};

static const char *const clock_words[] = {"at ", NULL};
static const char *const module_words[] = {"load ", "unload ", NULL};
static const struct beside all[] = {{"clocks", "kymo-clocks 1\n", clock_words},
                                    {"modules", "kymo-modules 1\n", module_words}};

static bool begins_line(const char *line, const char *const *words) {
  for (; *words; words++)
    if (strncmp(line, *words, strlen(*words)) == 0)
      return true;
  return false;
}

/* Adds the whole lines of a text; a second text without its head. */
static void add_lines(struct kymo_strbuf *out, const char *text, const char *const *words) {
  bool has_head = out->length > 0;
  for (const char *end; (end = strchr(text, '\n')); text = end + 1)
    if (!has_head || begins_line(text, words))
      kymo_strbuf_add(out, text, (size_t)(end + 1 - text));
}

/* An unreadable file was reported as damage when the trace was opened. */
static int read_beside(struct kymo_strbuf *out, const char *directory, const struct beside *beside,
                       struct kymo_error *error) {
  uint8_t *text = NULL;
  size_t size;
  char *hidden = kymo_ctf_join(directory, ".kymo"),
       *path = hidden ? kymo_ctf_join(hidden, beside->name) : NULL;
  int status = path ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int failed = path ? kymo_file_read_if_there(path, BESIDE_LIMIT, &text, &size, error) : KYMO_OK;
  if (failed == KYMO_E_MEMORY || (failed == KYMO_E_SYSTEM && errno != EACCES))
    status = failed;
  if (text && strncmp((const char *)text, beside->first, strlen(beside->first)) == 0)
    add_lines(out, (const char *)text, beside->words);
  free(text);
  free(path);
  free(hidden);
  return status;
}

int kymo_ctf_carry_notes(const struct kymo_part *const *parts, size_t count, const char *directory,
                         struct kymo_error *error) {
  struct kymo_recorder_notes sum = {0};
  struct kymo_strbuf not_kept = {0}, cause = {0};
  char *hidden = kymo_ctf_join(directory, ".kymo");
  for (size_t i = 0; i < count; i++) {
    const struct kymo_recorder_notes *notes = kymo_part_notes(parts[i]);
    sum.has_not_kept |= notes->has_not_kept;
    sum.overwritten += notes->overwritten;
    sum.discarded_before += notes->discarded_before;
    if (notes->cause && (!cause.text || strcmp(cause.text, notes->cause) != 0)) {
      kymo_strbuf_puts(&cause, cause.length ? ", " : "");
      kymo_strbuf_puts(&cause, notes->cause);
    }
  }
  if (sum.has_not_kept)
    kymo_strbuf_printf(&not_kept, "overwritten %" PRIu64 "\ndiscarded %" PRIu64 "\n", sum.overwritten,
                       sum.discarded_before);
  if (cause.length)
    kymo_strbuf_puts(&cause, "\n");
  int status = hidden && !not_kept.failed && !cause.failed ? KYMO_OK
                                                           : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status == KYMO_OK && not_kept.length)
    status = kymo_ctf_write_file(hidden, "not-kept", &not_kept, error);
  if (status == KYMO_OK && cause.length)
    status = kymo_ctf_write_file(hidden, "cause", &cause, error);
  kymo_strbuf_free(&not_kept);
  kymo_strbuf_free(&cause);
  free(hidden);
  return status;
}

int kymo_ctf_carry(const struct kymo_part *part, const char *directory, struct kymo_error *error) {
  const char *place;
  char *hidden = kymo_ctf_join(directory, ".kymo");
  int status = hidden ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (size_t i = 0; i < sizeof all / sizeof *all && status == KYMO_OK; i++) {
    struct kymo_strbuf text = {0};
    for (size_t j = 0; (place = kymo_part_place(part, j)) && status == KYMO_OK; j++)
      status = read_beside(&text, place, &all[i], error);
    if (status == KYMO_OK && text.length)
      status = kymo_ctf_write_file(hidden, all[i].name, &text, error);
    kymo_strbuf_free(&text);
  }
  free(hidden);
  return status;
}
