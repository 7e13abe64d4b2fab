/* SPDX-License-Identifier: MIT */
/* Names that were meant by misspelt ones (base/nearest.h). */
#ifndef KYMO_PRINT_HINT_H
#define KYMO_PRINT_HINT_H

#include "base/nearest.h"
#include <kymo/read.h>

/* " (did you mean "x"?)" of an event of the traces whose name is near. */
struct kymo_hint kymo_event_hint(const struct kymo_trace *trace, const char *name);

#endif
