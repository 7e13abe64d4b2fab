/* SPDX-License-Identifier: MIT */
/* Any bytes as TSDL: they are compiled or refused with a place; a compiled schema can be written, and the
 * output compiles again. */
#include "lang/tsdl/tsdl.h"
#include "lang/tsdl/write.h"
#include <stdio.h>
#include <stdlib.h>

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
  struct kymo_schema *schema = kymo_tsdl_compile((const char *)data, size, "input", &error);
  if (!schema) {
    must(error.code < 0 && error.message[0], &error, NULL);
    return 0;
  }
  struct kymo_strbuf text = {0};
  kymo_tsdl_write(&text, schema);
  kymo_schema_release(schema);
  schema = kymo_tsdl_compile(text.text, text.length, "written", &error);
  must(schema != NULL, &error, &text);
  kymo_schema_release(schema);
  kymo_strbuf_free(&text);
  return 0;
}
