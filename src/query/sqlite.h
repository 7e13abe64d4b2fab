/* SPDX-License-Identifier: MIT */
/*
 * SQLite's functions. The same files are compiled twice: for the command, which is linked with SQLite, and
 * for the loadable extension, which calls the SQLite of the program that loads it through a table of
 * functions.
 */
#ifndef KYMO_QUERY_SQLITE_H
#define KYMO_QUERY_SQLITE_H

#ifdef KYMO_QUERY_EXTENSION
#include <sqlite3ext.h>
extern const sqlite3_api_routines *sqlite3_api;
#else
#include <sqlite3.h>
#endif

#endif
