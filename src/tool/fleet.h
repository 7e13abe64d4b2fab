/* SPDX-License-Identifier: MIT */
/* kymo convert --to clickhouse. */
#ifndef KYMO_TOOL_FLEET_H
#define KYMO_TOOL_FLEET_H

#include "tool/input.h"

struct tool_fleet {
  struct tool_input *input;
  const char *url;
  const char *cluster; /* or NULL */
  unsigned jobs;       /* 0: it is not given */
};

/* Sends whole traces. Returns an exit status; reports the reason on failure. */
int tool_fleet_send(const struct tool_fleet *fleet);

#endif
