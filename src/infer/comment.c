/* SPDX-License-Identifier: MIT */
/* Separate from the command, so that the reader of debug information can be linked without it
 * (fuzz/fuzz_elf.c). */
#include "infer/types.h"

void kymo_types_comment(struct kymo_strbuf *out, const char *text) {
  for (; *text; text++) {
    bool ends = (*text == '*' && text[1] == '/') || (*text == '/' && text[1] == '*');
    kymo_strbuf_add(out, *text < ' ' || *text > '~' || ends ? "?" : text, 1);
  }
}
