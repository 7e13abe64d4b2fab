/* SPDX-License-Identifier: MIT */
/* Any bytes as CTF 2 metadata: they are compiled or refused with a place; a compiled schema can be written,
 * and the output compiles again and is written the same. */
#include "lang/ctf2/ctf2.h"
#include "lang/ctf2/write.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds, const struct kymo_error *error, const struct kymo_strbuf *text) {
  char message[2048];
  if (holds)
    return;
  fprintf(stderr, "%s\n%s\n", kymo_error_text(error, message, sizeof message), text ? text->text : "");
  abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct kymo_error error = {0};
  struct kymo_strbuf first = {0}, second = {0};
  struct kymo_schema *schema = kymo_ctf2_compile((const char *)data, size, "input", &error);
  if (!schema) {
    must(error.code < 0 && error.message[0], &error, NULL);
    return 0;
  }
  kymo_ctf2_write(&first, schema);
  kymo_schema_release(schema);
  schema = kymo_ctf2_compile(first.text, first.length, "written", &error);
  must(schema != NULL, &error, &first);
  kymo_ctf2_write(&second, schema);
  must(first.length == second.length && memcmp(first.text, second.text, first.length) == 0, &error, &second);
  kymo_schema_release(schema);
  kymo_strbuf_free(&first);
  kymo_strbuf_free(&second);
  return 0;
}
