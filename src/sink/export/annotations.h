/* SPDX-License-Identifier: MIT */
/* The fields of an event as Perfetto's DebugAnnotations, and names that are written once. */
#ifndef KYMO_SINK_EXPORT_ANNOTATIONS_H
#define KYMO_SINK_EXPORT_ANNOTATIONS_H

#include "base/table.h"
#include "sink/export/arguments.h"
#include "sink/export/proto.h"

/* Names with numbers from 1 on. Zeros: none. */
struct kymo_interned {
  struct kymo_arena arena;
  struct kymo_hash_table table; /* items are struct interned_name */
  uint64_t count;
};

/* The number of a name. A new one is added to `names`, as a message {1: number, 2: name} in its `field`. */
uint64_t kymo_interned(struct kymo_interned *interned, const char *name, struct kymo_strbuf *names,
                       uint32_t field);
void kymo_interned_free(struct kymo_interned *interned);

struct kymo_annotations {
  struct kymo_arguments arguments; /* for their walk and message */
  struct kymo_interned interned;
};

bool kymo_annotations_begin(struct kymo_annotations *annotations);
void kymo_annotations_end(struct kymo_annotations *annotations);
/* Adds the message and the fields of an event to `out`, each as a message in `field`, and names that are new
 * to `names`, in `name_field`. */
void kymo_annotations_add(struct kymo_annotations *annotations, const struct kymo_event *event,
                          struct kymo_strbuf *out, uint32_t field, struct kymo_strbuf *names,
                          uint32_t name_field);
/* Adds one that is true. */
void kymo_annotations_flag(struct kymo_annotations *annotations, const char *name, struct kymo_strbuf *out,
                           uint32_t field, struct kymo_strbuf *names, uint32_t name_field);

#endif
