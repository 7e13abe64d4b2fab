/* SPDX-License-Identifier: MIT */
/*
 * Reading mapped files that other processes truncate.
 *
 * A page of a mapping after the end of its file, or one that cannot be read from the disk, raises SIGBUS when
 * it is touched. A mapping that is guarded gets a page of zeros there instead, and remembers it: the reader
 * of the mapping asks afterwards whether the bytes that it read are the file's. Reading itself costs nothing.
 *
 * The handler is installed with the first guard and stays. It passes faults outside of guarded mappings on to
 * the handler that was there before it, or lets the signal do what it does by default. A program that
 * installs its own handler later replaces ours, until the next guard installs ours again, which then passes
 * faults on to the program's handler. Two handlers that pass faults on to each other would never end: a
 * handler that replaced ours must not pass on what ours has passed to it.
 */
#ifndef KYMO_BASE_GUARD_H
#define KYMO_BASE_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kymo_guard; /* an entry of a table that is never freed */

/* Guards `size` bytes at `begin`, mapped as `protection` says (of mmap), until kymo_guard_end, which must be
 * called before they are unmapped. NULL: out of memory, they are not guarded. Thread-safe. */
struct kymo_guard *kymo_guard_begin(const void *begin, size_t size, int protection);
void kymo_guard_end(struct kymo_guard *guard);
/* The offset of the first byte that was missing when it was read; SIZE_MAX if none was. NULL-safe. */
size_t kymo_guard_missing(const struct kymo_guard *guard);
/* The number of pages that have been missing in all mappings of the process so far. */
uint64_t kymo_guard_faults(void);
/* The same as kymo_guard_missing, for any bytes of a guarded mapping: SIZE_MAX if all `size` of them are the
 * file's. */
size_t kymo_guard_missing_in(const void *bytes, size_t size);

#endif
