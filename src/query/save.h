/* SPDX-License-Identifier: MIT */
/*
 * All tables of a source as a database file, for programs that do not have kymo: events, one for each event
 * class, spans and losses, with the names and columns of the virtual ones, so that statements work on it
 * unchanged. A reader needs SQLite 3.31, for columns that are computed from others.
 *
 * SQLite has no unsigned integers: those of 2^63 and more are texts of digits. Texts of 19 digits are not
 * before those of 20, so a column that has both gets the collation kymo_number, without which a program
 * refuses to compare them: that is an error, and no wrong order. Other columns of such numbers need nothing.
 */
#ifndef KYMO_QUERY_SAVE_H
#define KYMO_QUERY_SAVE_H

#include "query/source.h"

/* Writes the file, which must be missing. It has another name (PATH.part) until it is whole and on the disk;
 * after a failure there is neither. KYMO_OK or negative with the error. */
int query_save(struct query_source *source, const char *path, struct kymo_error *error);

#endif
