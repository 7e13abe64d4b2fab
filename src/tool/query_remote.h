/* SPDX-License-Identifier: MIT */
/* kymo query --clickhouse: a statement that a ClickHouse server runs. */
#ifndef KYMO_TOOL_QUERY_REMOTE_H
#define KYMO_TOOL_QUERY_REMOTE_H

#include "tool/query_rows.h"
#include <stddef.h>

/* Prints the rows of a statement of the server's dialect. Returns an exit status; reports the reason on
 * failure. */
int tool_query_remote(const char *url, const char *sql, size_t length, enum tool_query_format format);

#endif
