/* SPDX-License-Identifier: MIT */
/* Statements that answer what is asked most. */
#ifndef KYMO_QUERY_PRESETS_H
#define KYMO_QUERY_PRESETS_H

struct query_preset {
  const char *name;    /* NULL: the end of the list */
  const char *summary; /* one line for --help */
  const char *sql;
};

extern const struct query_preset query_presets[];

#endif
