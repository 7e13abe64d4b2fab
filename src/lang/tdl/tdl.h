/* SPDX-License-Identifier: MIT */
/* TDL: text → tree → checked tree. generate.h declares the code generation. */
#ifndef KYMO_LANG_TDL_TDL_H
#define KYMO_LANG_TDL_TDL_H

#include "lang/tdl/lexer.h"

/*
 * Parses `length` bytes of `text`, a whole TRACE. `file` names it in errors. Text and file name are borrowed
 * until the tree is freed, `error` for the call. NULL with `error` (KYMO_E_SYNTAX with line and column,
 * KYMO_E_MEMORY) if it is invalid.
 */
struct tdl_tree *kymo_tdl_parse(const char *text, size_t length, const char *file, struct kymo_error *error);

/*
 * Binds all names, types and folds all expressions, numbers fields, checks everything that can be checked
 * without data. Warnings go to `warnings` (may be NULL). Once a tree. KYMO_OK, or KYMO_E_SYNTAX,
 * KYMO_E_MEMORY with `error`; the tree is to be freed either way.
 */
int kymo_tdl_check(struct tdl_tree *tree, const struct kymo_warnings *warnings, struct kymo_error *error);

/* Frees a tree; NULL is nothing. */
void kymo_tdl_free(struct tdl_tree *tree);

#endif
