/* SPDX-License-Identifier: MIT */
/* The languages of descriptions of events and files. */
#include "format/language.h"
#include "base/bytes.h"
#include "base/file.h"
#include "format/metadata.h"
#include "lang/registry/text.h"
#include "lang/tdl/generate.h"
#include "lang/tsdl/tsdl.h"
#include "schema/registry.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limit of a text or registry, which is read into memory. */
#define SIZE_LIMIT (UINT64_C(1) << 27)

/* ---- languages ---- */

static bool is_key(const uint8_t *bytes, size_t length) { return kymo_registry_is(bytes, length); }

static struct kymo_schema *compile_key(const char *text, size_t length, const char *file,
                                       const struct kymo_warnings *warnings, struct kymo_error *error) {
  (void)warnings;
  struct kymo_schema *schema;
  return kymo_registry_read(&schema, text, length, file, error) == KYMO_OK ? schema : NULL;
}

static bool is_registry(const uint8_t *bytes, size_t length) {
  return kymo_registry_is_text((const char *)bytes, length);
}

static struct kymo_schema *compile_registry(const char *text, size_t length, const char *file,
                                            const struct kymo_warnings *warnings, struct kymo_error *error) {
  (void)warnings;
  return kymo_registry_compile(text, length, file, error);
}

/* The first byte after blanks and comments. */
static size_t skip_blanks(const uint8_t *bytes, size_t length) {
  for (size_t at = 0;;) {
    while (at < length && (bytes[at] == ' ' || (bytes[at] >= '\t' && bytes[at] <= '\r')))
      at++;
    bool is_comment = length - at > 3 && bytes[at] == '/' && (bytes[at + 1] == '*' || bytes[at + 1] == '/');
    const char *last = is_comment && bytes[at + 1] == '/' ? "\n" : "*/";
    const uint8_t *end = is_comment ? memmem(bytes + at + 2, length - at - 2, last, strlen(last)) : NULL;
    if (!end)
      return at;
    at = (size_t)(end - bytes) + strlen(last);
  }
}

/* Metadata in packets, or a text that begins with a word of TSDL. */
static bool is_tsdl(const uint8_t *bytes, size_t length) {
  static const char *const words[] = {"trace",   "env",    "clock",   "stream", "event",   "typealias",
                                      "typedef", "struct", "variant", "enum",   "integer", "callsite"};
  if (kymo_metadata_is_packets(bytes, length))
    return true;
  size_t at = skip_blanks(bytes, length);
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    size_t size = strlen(words[i]);
    if (length - at > size && memcmp(bytes + at, words[i], size) == 0 &&
        memchr(" \t\r\n{", bytes[at + size], 5))
      return true;
  }
  return false;
}

static struct kymo_schema *compile_tsdl(const char *text, size_t length, const char *file,
                                        const struct kymo_warnings *warnings, struct kymo_error *error) {
  (void)warnings;
  return kymo_tsdl_compile(text, length, file, error);
}

/* TRACE after blanks and comments. */
static bool is_tdl(const uint8_t *bytes, size_t length) {
  size_t at = 0;
  while (at < length) {
    if (bytes[at] == ' ' || (bytes[at] >= '\t' && bytes[at] <= '\r')) {
      at++;
    } else if (length - at > 2 && bytes[at] == '-' && bytes[at + 1] == '-') {
      const uint8_t *end = memchr(bytes + at, '\n', length - at);
      at = end ? (size_t)(end - bytes) : length;
    } else {
      break;
    }
  }
  return length - at > 6 && memcmp(bytes + at, "TRACE", 5) == 0 && memchr(" \t\r\n`", bytes[at + 5], 5);
}

/* Fragments of JSON, each after a record separator. */
static bool is_json(const uint8_t *bytes, size_t length) { return length > 0 && bytes[0] == 0x1e; }

static struct kymo_schema *compile_json(const char *text, size_t length, const char *file,
                                        const struct kymo_warnings *warnings, struct kymo_error *error) {
  (void)warnings;
  return kymo_metadata_compile((const uint8_t *)text, length, file, error);
}

static const struct kymo_language key = {"key", "registry, as kymo compile writes it", is_key, compile_key};
static const struct kymo_language registry = {"registry", "text of a registry", is_registry,
                                              compile_registry};
static const struct kymo_language tsdl = {"tsdl", "TSDL, the metadata of CTF 1.8", is_tsdl, compile_tsdl};
static const struct kymo_language tdl = {"tdl", "TDL, which describes files of any format", is_tdl,
                                         kymo_tdl_compile};
static const struct kymo_language json = {"json", "the metadata of CTF 2", is_json, compile_json};

const struct kymo_language *const kymo_languages[] = {&key, &registry, &tdl, &tsdl, &json, NULL};

const struct kymo_language *kymo_language_find(const char *name) {
  for (const struct kymo_language *const *language = kymo_languages; *language; language++)
    if (strcmp((*language)->name, name) == 0)
      return *language;
  return NULL;
}

static const struct kymo_language *guess(const uint8_t *bytes, size_t length) {
  for (const struct kymo_language *const *language = kymo_languages; *language; language++)
    if ((*language)->is(bytes, length))
      return *language;
  return NULL;
}

const struct kymo_language *kymo_language_guess(const char *text, size_t length) {
  return guess((const uint8_t *)text, length);
}

/* ---- files ---- */

bool kymo_language_is_known(const char *path) {
  uint8_t begin[4096];
  struct stat info;
  if (strcmp(path, "-") == 0)
    return true;
  if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
    return false;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  ssize_t got = fd < 0 ? -1 : read(fd, begin, sizeof begin);
  if (fd >= 0)
    close(fd);
  return got > 0 && guess(begin, (size_t)got);
}

/* Not a text: it contains control characters that texts do not have, or is empty. */
static bool is_binary(const uint8_t *bytes, size_t length) {
  for (size_t i = 0; i < length && i < 4096; i++)
    if (bytes[i] < ' ' && (bytes[i] < '\t' || bytes[i] > '\r') && bytes[i] != 0x1b)
      return true;
  return length == 0;
}

static int fail_binary(const uint8_t *bytes, size_t length, const char *name, struct kymo_error *error) {
  char found[8 * 3 + 1] = "";
  for (size_t i = 0; i < length && i < 8; i++)
    snprintf(found + 3 * i, 4, " %02x", bytes[i]);
  return kymo_fail_at(error, KYMO_E_UNKNOWN, name, 0,
                      "expected a compiled description or a text that describes events, found %s%s",
                      length ? "other bytes:" : "an empty file", found);
}

struct kymo_schema *kymo_language_load(const char *path, const struct kymo_language *language,
                                       const struct kymo_warnings *warnings, struct kymo_error *error) {
  const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
  struct kymo_schema *schema = NULL;
  uint8_t *bytes;
  size_t length;
  if (kymo_input_read(path, SIZE_LIMIT, &bytes, &length, error) < 0)
    return NULL;
  if (kymo_metadata_unpack(bytes, &length, name, error) == KYMO_OK) {
    if (!language)
      language = guess(bytes, length);
    if (!language && is_binary(bytes, length))
      fail_binary(bytes, length, name, error);
    else
      schema = (language ? language : &tsdl)->compile((const char *)bytes, length, name, warnings, error);
  }
  free(bytes);
  return schema;
}
