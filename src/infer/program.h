/* SPDX-License-Identifier: MIT */
/* The tracepoints of a program or library, read from its file without running it. */
#ifndef KYMO_INFER_PROGRAM_H
#define KYMO_INFER_PROGRAM_H

#include "base/nearest.h"
#include "record/describe.h"
#include <kymo/error.h>

/* Called for each call site; copies of one inlined function come once. */
typedef void kymo_program_point(void *user, const struct kymo_point_text *point);

/* Whether `path` is an ELF executable, shared library or object. */
bool kymo_is_program(const char *path);
/* Walks the call sites of an ELF file of any machine. KYMO_OK also if it has none; KYMO_E_FORMAT if it is
 * damaged. */
int kymo_program_points(const char *path, kymo_program_point *each, void *user, struct kymo_error *error);

/* Called for each call site with the macro's arguments as the source has them; not ended by a zero. */
typedef void kymo_program_text(void *user, const char *text, size_t size);
/* The same for these texts alone, which are there also if another kymo's macros made the call sites. */
int kymo_program_texts(const char *path, kymo_program_text *each, void *user, struct kymo_error *error);

/* " (did you mean "net:rx"?)" of the tracepoint of a program, which is searched for as a shell does, whose
 * name is nearest to a pattern. */
struct kymo_hint kymo_point_hint(const char *program, const char *pattern);

#endif
