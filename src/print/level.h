/* SPDX-License-Identifier: MIT */
/* Levels of event classes by name. */
#ifndef KYMO_PRINT_LEVEL_H
#define KYMO_PRINT_LEVEL_H

#include "base/nearest.h"
#include <stdint.h>

enum { KYMO_LEVEL_MAX = 16 };

/* The name of a level; `number` is space for one without a name. */
const char *kymo_level_text(int32_t level, char number[KYMO_LEVEL_MAX]);
/* The level of that name or number, or -1. */
int32_t kymo_level_of(const char *text);
/* The level with the name most similar to a misspelt one. */
struct kymo_hint kymo_level_hint(const char *text);

#endif
