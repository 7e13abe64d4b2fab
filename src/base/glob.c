/* SPDX-License-Identifier: MIT */
#include "base/glob.h"
#include <stdlib.h>
#include <string.h>

bool kymo_glob_is(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (text[i] && strchr("*?[\\", text[i]))
      return true;
  return false;
}

const char *kymo_glob_make(struct kymo_glob *glob, const char *text, size_t length, size_t *at) {
  const char *wrong = NULL;
  *glob = (struct kymo_glob){0};
  *at = 0;
  if (!kymo_glob_is(text, length)) {
    glob->name = strndup(text, length);
    return glob->name ? NULL : "out of memory";
  }
  glob->regex = kymo_regex_new_glob(text, length, &wrong, at);
  if (glob->regex)
    glob->memory = kymo_regex_memory_new(glob->regex);
  return wrong ? wrong : glob->memory ? NULL : "out of memory";
}

bool kymo_glob_matches(const struct kymo_glob *glob, const char *text) {
  if (glob->name)
    return !strcmp(glob->name, text);
  return glob->memory && kymo_regex_matches(glob->memory, (const uint8_t *)text, strlen(text));
}

void kymo_glob_free(struct kymo_glob *glob) {
  kymo_regex_memory_free(glob->memory);
  kymo_regex_free(glob->regex);
  free(glob->name);
  *glob = (struct kymo_glob){0};
}
