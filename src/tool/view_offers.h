/* SPDX-License-Identifier: MIT */
/* The traces that a page of kymo view may ask for: those of --offer. */
#ifndef KYMO_TOOL_VIEW_OFFERS_H
#define KYMO_TOOL_VIEW_OFFERS_H

#include "serve/serve.h"
#include "tool/input.h"

enum { TOOL_OFFERS_MAX = 2000 };

struct tool_offers {
  struct tool_texts roots;  /* files, traces, and folders of which all files and folders are offered */
  struct serve_offer *list; /* their names are paths */
  size_t count;
};

/* Looks at what is there now, the newest first; the list holds until the next call. */
const struct serve_offer *tool_offers_list(struct tool_offers *offers, size_t *count);
/* The path of an offer of the last list; NULL: there is no such one. */
const char *tool_offers_path(const struct tool_offers *offers, size_t number);
void tool_offers_free(struct tool_offers *offers);

#endif
