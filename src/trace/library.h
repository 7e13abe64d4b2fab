/* SPDX-License-Identifier: MIT */
/*
 * Libraries that few commands need, and that bring many others: loading those of libcurl and libmicrohttpd
 * takes longer than most commands run. They are loaded when their first function is needed.
 */
#ifndef KYMO_TRACE_LIBRARY_H
#define KYMO_TRACE_LIBRARY_H

#include <kymo/error.h>
#include <stddef.h>

struct kymo_library_function {
  const char *name;
  void *place; /* of the pointer to it */
};

/* Loads a library, by the name that the system finds it with, and its functions; it stays loaded. KYMO_OK or
 * KYMO_E_SYSTEM. */
int kymo_library_load(const char *name, const struct kymo_library_function *functions, size_t count,
                      struct kymo_error *error);

#endif
