/* SPDX-License-Identifier: MIT */
#include "tool/plugin.h"
#include "tool/tool.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_there(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

char *tool_plugin_split(char *text) {
  char *first = strchr(text, ':');
  if (!first || is_there(text))
    return NULL;
  for (char *colon = first; colon; colon = strchr(colon + 1, ':')) {
    *colon = '\0';
    if (is_there(text))
      return colon + 1;
    *colon = ':';
  }
  *first = '\0';
  return first + 1;
}

int tool_plugin_load(struct tool_plugin *plugin, const char *text, const struct kymo_plugin_kind *kind) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  *plugin = (struct tool_plugin){.path = strdup(text)};
  if (!plugin->path) {
    tool_say("out of memory");
    return TOOL_FAILED;
  }
  plugin->options = tool_plugin_split(plugin->path);
  if (kymo_plugin_open(&plugin->loaded, plugin->path, kind, &error) != KYMO_OK) {
    tool_say_error(&error);
    return TOOL_FAILED;
  }
  plugin->descriptor = plugin->loaded.descriptor;
  return TOOL_OK;
}

void tool_plugin_close(struct tool_plugin *plugin) {
  kymo_plugin_close(&plugin->loaded);
  free(plugin->path);
  *plugin = (struct tool_plugin){0};
}
