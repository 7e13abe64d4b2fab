// SPDX-License-Identifier: MIT
// Defined events from C++.
#include <kymo/define.h>

int main(int argc, char **argv) {
  kymo_log_options options = {};
  options.is_framed = true;
  kymo_log *log = argc == 2 ? kymo_log_open(argv[1], &options) : nullptr;
  kymo_definition *tick = log ? kymo_definition_new(log, "tick", nullptr) : nullptr;
  if (!tick || kymo_definition_add_field(tick, "number", KYMO_FIELD_INT32) ||
      kymo_definition_add_field(tick, "text", KYMO_FIELD_TEXT))
    return 1;
  if (kymo_definition_printf(tick, "%4b%0s", 1, "one") != 8 ||
      kymo_definition_printf(tick, "%4b%0s", 2L, "two") != 8)
    return 1;
  return kymo_log_close(log) != 0;
}
