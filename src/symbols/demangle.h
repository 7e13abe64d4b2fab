/* SPDX-License-Identifier: MIT */
/* Names of C++ functions as people write them: _ZN3net4sendEi is net::send(int). */
#ifndef KYMO_SYMBOLS_DEMANGLE_H
#define KYMO_SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the name, at most `size` bytes with the NUL. False: it is no name of the Itanium C++ ABI, it does
 * not fit, or it contains what is not supported (expressions in template arguments, decltype). Names may be
 * anything: time and memory are bounded. */
bool kymo_demangle(const char *mangled, char *out, size_t size);

#endif
