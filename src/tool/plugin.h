/* SPDX-License-Identifier: MIT */
/* What commands do with plug-ins (trace/plugin.h) that users name: FILE or FILE:OPTIONS. */
#ifndef KYMO_TOOL_PLUGIN_H
#define KYMO_TOOL_PLUGIN_H

#include "trace/plugin.h"

struct tool_plugin {
  char *path;
  const char *options;    /* behind the ':', or NULL */
  const void *descriptor; /* valid till the plug-in is closed */
  struct kymo_plugin loaded;
};

/* Loads what `text` names, a descriptor of this kind. An exit status, after telling why not; to be closed in
 * any case. */
int tool_plugin_load(struct tool_plugin *plugin, const char *text, const struct kymo_plugin_kind *kind);
void tool_plugin_close(struct tool_plugin *plugin);

/* Parts the file from its options, where a ':' follows the name of a file that is there, else at the first
 * one. Returns the options, or NULL; `text` ends with the file then. */
char *tool_plugin_split(char *text);

#endif
