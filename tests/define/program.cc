// SPDX-License-Identifier: MIT
// Defined events from C++.
#include <kymo/define.h>

int main(int argc, char **argv) {
  kymo_stream_options options = {};
  options.is_framed = true;
  kymo_bstream *stream = argc == 2 ? kymo_stream_open(argv[1], &options) : nullptr;
  kymo_bdefinition *tick = stream ? kymo_define_event(stream, "tick", nullptr) : nullptr;
  if (!tick || kymo_add_field(tick, "number", KYMO_FIELD_INT32) ||
      kymo_add_field(tick, "text", KYMO_FIELD_TEXT))
    return 1;
  if (kymo_defined_printf(tick, "%4b%0s", 1, "one") != 8 ||
      kymo_defined_printf(tick, "%4b%0s", 2L, "two") != 8)
    return 1;
  return kymo_stream_close(stream) != 0;
}
