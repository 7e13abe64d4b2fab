/* SPDX-License-Identifier: MIT */
/* Replaces the client where libcurl is not available. */
#include "tool/query_remote.h"
#include "tool/tool.h"

int tool_query_remote(const char *url, const char *sql, size_t length, enum tool_query_format format) {
  (void)url;
  (void)sql;
  (void)length;
  (void)format;
  tool_say("built without libcurl: install libcurl4-openssl-dev, and build again");
  return TOOL_FAILED;
}
