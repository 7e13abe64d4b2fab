/* SPDX-License-Identifier: MIT */
/* A schema as a document of Markdown, for people: clocks, event classes, fields with types, units, and what
 * values mean. */
#ifndef KYMO_LANG_DOC_DOCUMENT_H
#define KYMO_LANG_DOC_DOCUMENT_H

#include "base/strbuf.h"
#include <kymo/schema.h>

/* Adds the document to `out`; out->failed is set if memory ran out. */
void kymo_doc_print(struct kymo_strbuf *out, const struct kymo_schema *schema);

#endif
