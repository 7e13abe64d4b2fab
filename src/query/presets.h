/* SPDX-License-Identifier: MIT */
/* Statements that answer what is asked most. */
#ifndef KYMO_QUERY_PRESETS_H
#define KYMO_QUERY_PRESETS_H

struct query_preset {
  const char *name;    /* NULL: the end of the list */
  const char *summary; /* one line for --help */
  const char *sql;
  const char *clickhouse; /* the same for the tables of kymo convert --to clickhouse, from version 18.16 on */
};

extern const struct query_preset query_presets[];

#endif
