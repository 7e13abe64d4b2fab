/* SPDX-License-Identifier: MIT */
/* Replaces the sender where libcurl is not available. */
#include "tool/fleet.h"

int tool_fleet_send(const struct tool_fleet *fleet) {
  (void)fleet;
  tool_say("built without libcurl: install libcurl4-openssl-dev and libsqlite3-dev, and build again");
  return TOOL_FAILED;
}
