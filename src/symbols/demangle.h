/* SPDX-License-Identifier: MIT */
/* Names of C++ functions as in source code: _ZN3net4sendEi is net::send(int). */
#ifndef KYMO_SYMBOLS_DEMANGLE_H
#define KYMO_SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the name, at most `size` bytes with the NUL. False: it is not a name of the Itanium C++ ABI, it does
 * not fit, or it contains an unsupported construct (expressions in template arguments, decltype). Names are
 * untrusted: time and memory are limited. */
bool kymo_demangle(const char *mangled, char *out, size_t size);

#endif
