/* SPDX-License-Identifier: MIT */
/*
 * Plug-ins: shared objects that export one descriptor of a known name. Loading a file runs its constructors,
 * so it is loaded only if its table of dynamic symbols has that name.
 */
#ifndef KYMO_TRACE_PLUGIN_H
#define KYMO_TRACE_PLUGIN_H

#include <kymo/error.h>

/* The begin of every descriptor. */
struct kymo_plugin_head {
  uint32_t abi_version;
  uint32_t size_bytes; /* of the whole descriptor in the plug-in's header: members may be added at the end */
};

/* What a plug-in has to export. */
struct kymo_plugin_kind {
  const char *symbol; /* the descriptor's name */
  uint32_t abi_version;
  uint32_t size_bytes;  /* of today's descriptors … */
  uint32_t least_bytes; /* … and of the oldest supported ones; 0: the current size */
};

struct kymo_plugin {
  void *handle;           /* of the loaded file */
  const void *descriptor; /* valid until kymo_plugin_close */
  uint32_t size_bytes;    /* how much there is of it */
};

/*
 * Loads the shared object at `path` (without a slash: in the working directory). On success the caller passes
 * *plugin to kymo_plugin_close; else it is empty. KYMO_E_SYSTEM: it cannot be read or loaded; KYMO_E_FORMAT:
 * it is not a shared object, or does not export the symbol; KYMO_E_UNKNOWN: the descriptor is of another
 * version, or a newer one; KYMO_E_LIMIT, KYMO_E_MEMORY.
 */
int kymo_plugin_open(struct kymo_plugin *plugin, const char *path, const struct kymo_plugin_kind *kind,
                     struct kymo_error *error);
void kymo_plugin_close(struct kymo_plugin *plugin);

/* Separates the file from its options in FILE[:OPTIONS], at a ':' that follows the name of an existing file,
 * else at the first one. Returns the options, or NULL; `text` ends with the file then. */
char *kymo_plugin_split(char *text);

#endif
