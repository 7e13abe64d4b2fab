/* SPDX-License-Identifier: MIT */
/*
 * Functions of a program or library, as places for probes:
 *
 *   BINARY:FUNCTION[+OFFSET|%return][(ARGUMENT[=TYPE],…)]
 *
 * becomes a line of the kernel's uprobe_events, but for the group:
 *
 *   p add /home/me/app:0x1149 n=%di:s32 text=+0(%si):string
 *
 * At its begin, a parameter of a function is where debug information says, or else, since code without
 * optimisation stores it first, in the register of the calling convention. At an offset only debug
 * information says it.
 */
#ifndef KYMO_INFER_PROBE_H
#define KYMO_INFER_PROBE_H

#include "base/strbuf.h"
#include <kymo/error.h>

/* Appends the line of a probe. KYMO_E_USAGE: the text is wrong, or there is no such function or argument
 * there, with what there is; KYMO_E_FORMAT: the file is damaged; KYMO_E_UNKNOWN: kymo was built without
 * libdw. */
int kymo_probe_line(struct kymo_strbuf *out, const char *text, struct kymo_error *error);

/* Called for each function that can be probed, by name: "add(n=s32, text=string)", or "add" without debug
 * information. Borrowed for the call. */
typedef void kymo_function_each(void *user, const char *function);
int kymo_functions_list(const char *path, kymo_function_each *each, void *user, struct kymo_error *error);

#endif
