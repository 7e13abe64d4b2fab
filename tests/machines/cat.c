/* SPDX-License-Identifier: MIT */
/* `kymo cat` alone, for machines whose libelf Debian does not bring. */
#include "tool/tool.h"

extern const struct tool_command tool_cat;

int main(int argc, char **argv) {
  tool_set_up("kymo cat");
  return tool_cat.run(argc, argv);
}
