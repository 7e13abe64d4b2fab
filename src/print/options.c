/* SPDX-License-Identifier: MIT */
/* Reading a sink's options. */
#include "print/options.h"
#include "base/fail.h"
#include "base/nearest.h"
#include <stdbool.h>
#include <string.h>

const struct kymo_option_word kymo_option_any[] = {{0}};

static bool is(const struct kymo_option_text *piece, const char *name) {
  return strlen(name) == piece->length && memcmp(name, piece->text, piece->length) == 0;
}

/* Removes the text before the separator. */
static struct kymo_option_text take(struct kymo_option_text *text, char separator) {
  const char *end = memchr(text->text, separator, text->length);
  size_t length = end ? (size_t)(end - text->text) : text->length, step = length + (end != NULL);
  struct kymo_option_text piece = {text->text, length};
  *text = (struct kymo_option_text){text->text + step, text->length - step};
  return piece;
}

struct reading {
  const char *sink;
  const struct kymo_option_kind *kinds;
  char *into;
  struct kymo_error *error;
};

#define WORD_SHOWN 64

/* A copy that can be shown and compared. */
static const char *shown(char out[WORD_SHOWN], const struct kymo_option_text *piece) {
  size_t length = piece->length < WORD_SHOWN - 1 ? piece->length : WORD_SHOWN - 1;
  memcpy(out, piece->text, length);
  out[length] = 0;
  return out;
}

static int fail_key(const struct reading *reading, const struct kymo_option_text *key) {
  char text[WORD_SHOWN];
  struct kymo_nearest nearest = kymo_nearest_to(shown(text, key));
  for (const struct kymo_option_kind *kind = reading->kinds; kind->key; kind++)
    kymo_nearest_consider(&nearest, kind->key);
  return kymo_fail(reading->error, KYMO_E_USAGE, "the format \"%s\" has no option \"%s\"%s", reading->sink,
                   text, kymo_nearest_hint(&nearest).text);
}

static int fail_word(const struct reading *reading, const struct kymo_option_kind *kind,
                     const struct kymo_option_text *word) {
  char text[WORD_SHOWN];
  struct kymo_nearest nearest = kymo_nearest_to(shown(text, word));
  for (const struct kymo_option_word *known = kind->words; known->name; known++)
    kymo_nearest_consider(&nearest, known->name);
  return kymo_fail(reading->error, KYMO_E_USAGE,
                   "the option \"%s\" of the format \"%s\" has no value \"%s\"%s", kind->key, reading->sink,
                   text, kymo_nearest_hint(&nearest).text);
}

static int read_words(const struct reading *reading, const struct kymo_option_kind *kind,
                      struct kymo_option_text value) {
  uint32_t *bits = (uint32_t *)(void *)(reading->into + kind->offset);
  do {
    struct kymo_option_text word = take(&value, '+');
    const struct kymo_option_word *known = kind->words;
    while (known->name && !is(&word, known->name))
      known++;
    if (!known->name)
      return fail_word(reading, kind, &word);
    *bits |= known->bits;
  } while (value.length > 0);
  return KYMO_OK;
}

static int read_option(const struct reading *reading, struct kymo_option_text option) {
  struct kymo_option_text key = take(&option, '=');
  bool has_value = option.text > key.text + key.length;
  const struct kymo_option_kind *kind = reading->kinds;
  while (kind->key && !is(&key, kind->key))
    kind++;
  if (!kind->key)
    return fail_key(reading, &key);
  if (has_value != (kind->words != NULL))
    return kymo_fail(reading->error, KYMO_E_USAGE, "the option \"%s\" of the format \"%s\" %s", kind->key,
                     reading->sink, has_value ? "has no value" : "needs a value");
  if (kind->words == kymo_option_any)
    *(struct kymo_option_text *)(void *)(reading->into + kind->offset) = option;
  else if (kind->words)
    return read_words(reading, kind, option);
  else
    *(bool *)(reading->into + kind->offset) = true;
  return KYMO_OK;
}

int kymo_sink_options_read(const char *sink, const char *text, const struct kymo_option_kind *kinds,
                           void *into, struct kymo_error *error) {
  struct reading reading = {sink, kinds, into, error};
  struct kymo_option_text rest = {text ? text : "", text ? strlen(text) : 0};
  int status = KYMO_OK;
  while (status == KYMO_OK && rest.length > 0)
    status = read_option(&reading, take(&rest, ','));
  return status;
}
