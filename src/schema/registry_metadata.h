/* SPDX-License-Identifier: MIT */
/*
 * Which text a registry describes as well. A trace has its description twice: as `metadata`, for everybody,
 * and as the registry, for whoever knows it. Someone may edit the one, or put the other beside a foreign
 * trace, so the registry has text records: each tells length and hash of the next piece of the metadata, and
 * stands behind the event classes of that piece. A registry is to be trusted if its pieces make up the whole
 * metadata.
 *
 *   registry   header … trace … │ text │ type event event │ text │ event │ text
 *   metadata   preamble ─────────────┘ event { } event { } ───┘ event { } ───┘
 *
 * Whoever records writes the metadata's piece first, then the registry's: what stands behind the last text
 * record, and behind what that covers of the metadata, was being written when the process died, and nothing
 * depends on it.
 */
#ifndef KYMO_SCHEMA_REGISTRY_METADATA_H
#define KYMO_SCHEMA_REGISTRY_METADATA_H

#include "base/strbuf.h"

/* Adds a text record for the next `size` bytes of the metadata. */
void kymo_registry_append_text(struct kymo_strbuf *out, const char *text, size_t size);

/* How many bytes at the beginning of `text` the sound part of a registry of either byte order describes:
 * `text_size` says that it may be used instead of the text. 0: it is that of another text, or tells of
 * none. */
size_t kymo_registry_covers(const void *registry, size_t size, const char *text, size_t text_size);

/* How far a registry and its metadata belong together; both 0 at first. */
struct kymo_registry_extent {
  size_t registry, text;
};
/* Moves the extent behind the last text record in `size` bytes of a growing registry of this machine's byte
 * order, of which `bytes` are those from extent->registry on. What is no registry moves nothing. */
void kymo_registry_extend(struct kymo_registry_extent *extent, const void *bytes, size_t size);

#endif
