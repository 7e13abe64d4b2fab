/* SPDX-License-Identifier: MIT */
/*
 * The link from a registry to its text. A trace has its description twice: as `metadata`, for all readers of
 * CTF, and as the registry, for kymo. A user may edit the one, or copy the other beside a foreign trace, so
 * the registry has text records: each contains length and hash of the next piece of the metadata, and follows
 * the event classes of that piece. A registry can be trusted if its pieces make up the whole metadata.
 *
 *   registry   header … trace … │ text │ type event event │ text │ event │ text
 *   metadata   preamble ─────────────┘ event { } event { } ───┘ event { } ───┘
 *
 * A recorder writes the piece of the metadata first, then the piece of the registry: bytes after the last
 * text record, and after the metadata that it covers, were being written when the process died, and nothing
 * depends on them.
 */
#ifndef KYMO_SCHEMA_REGISTRY_METADATA_H
#define KYMO_SCHEMA_REGISTRY_METADATA_H

#include "base/strbuf.h"

/* Adds a text record for the next `size` bytes of the metadata. */
void kymo_registry_append_text(struct kymo_strbuf *out, const char *text, size_t size);

/* The number of bytes at the begin of `text` that the valid part of a registry of either byte order
 * describes: if it is `text_size`, the registry may be used instead of the text. 0: it describes another
 * text, or none. */
size_t kymo_registry_covers(const void *registry, size_t size, const char *text, size_t text_size);

/* The length of a registry and its metadata that belong together; both 0 at first. */
struct kymo_registry_extent {
  size_t registry, text;
};
/* Moves the extent after the last text record in `size` bytes of a growing registry of this machine's byte
 * order; `bytes` are those from extent->registry on. Bytes that are not a registry do not move it. */
void kymo_registry_extend(struct kymo_registry_extent *extent, const void *bytes, size_t size);

#endif
