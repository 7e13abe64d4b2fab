/* SPDX-License-Identifier: MIT */
/*
 * The extension: what its files know of each other.
 *
 *   Trace ── owns ──► opening (immutable: paths, filter, window)
 *     │                  └── each pass opens ──► reader ── kymo_trace
 *     ├── list ──► Events, one pass each ── list ──► Event objects that are not decoded yet
 *     └── arrow ──► a stream of its own, which nothing here refers to
 *
 * An Event refers to the bytes of its trace until the pass moves on, ends or is closed. If the program
 * still has the object then, it is decoded now: so an Event is valid for ever, and one that is not used
 * costs little. The lists are intrusive and hold no references; objects leave them when they are freed.
 *
 * All of this is guarded by the interpreter's lock. Whenever code in Python may run, and when events_next
 * releases the lock to read, other threads may do anything: so a pass is busy in events_next, and a close
 * waits for its end. While the lock is released, the pass has no undecoded events. Decoding is one step
 * (values.c).
 */
#ifndef KYMO_PYTHON_H
#define KYMO_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
/* Python.h comes first */
#include "reader.h"

/* An intrusive list; a node that is in none points to itself. */
struct node {
  struct node *next, *previous;
};
static inline void node_begin(struct node *node) { node->next = node->previous = node; }
static inline void node_remove(struct node *node) {
  node->next->previous = node->previous;
  node->previous->next = node->next;
  node_begin(node);
}
static inline void node_add(struct node *list, struct node *node) {
  *node = (struct node){list, list->previous};
  list->previous->next = node;
  list->previous = node;
}

/* What the package defines in Python (kymo/_types.py), and types of ours. One interpreter has them. */
struct known {
  PyObject *error_type, *error_of, *place_of, *damage_of, *damage_warning, *loss_of, *loss_text,
      *loss_warning;
  PyObject *enum_type, *flags_type, *class_of, *stream_of, *part_of, *datetime_of;
  PyObject *trace_type, *events_type, *event_type, *arrow_type;
};
extern struct known known;

/* ---- Trace (trace.c) ---- */

struct trace {
  PyObject_HEAD struct opening opening;
  struct reader *first; /* opened to check the paths, for the first pass; or NULL */
  struct node passes;   /* Events */
  PyObject *paths, *classes, *parts, *losses, *damage, *warnings;
  bool warns_damage; /* else damage is raised */
  bool is_closed;
};
/* The object for an event class: that of the trace, or a new one. */
PyObject *trace_class_of(struct trace *trace, const struct kymo_trace *reading, uint32_t number,
                         const struct kymo_event_class *class_);
int trace_add_type(PyObject *module);

/* ---- Events (events.c) ---- */

/* What is known of an event class during a pass. */
struct pass_class {
  PyObject *object; /* an EventClass */
  bool has_no_message, is_epoch;
};

struct events {
  PyObject_HEAD struct node node; /* first: in trace->passes */
  struct trace *trace;
  struct reader *reader; /* NULL: ended or closed */
  struct kymo_walk *walk;
  struct kymo_batch batch;
  const struct kymo_event *filtered; /* the only event of a batch with a filter */
  size_t batch_next;
  struct node undecoded;     /* Event objects */
  struct map classes, types; /* struct pass_class by event class; struct value_type by type (values.c) */
  PyObject **streams;        /* Stream objects by number */
  size_t stream_count;
  PyObject *losses, *damage; /* lists, which the trace shows too */
  PyObject *losses_before;   /* a tuple: for the next event; or NULL */
  Py_ssize_t losses_warned;
  uint64_t number;                                /* of the last event */
  bool is_busy, is_sparse, is_at_end, must_close; /* busy: in events_next */
};
int events_add_type(PyObject *module);
PyObject *events_new(struct trace *trace);
/* Ends the pass; its Event objects stay valid. */
void events_close(struct events *events);

/* ---- Event (event.c) ---- */

enum event_part { PART_FIELDS, PART_CONTEXT, PART_EVENT_CONTEXT, PART_MESSAGE, PART_COUNT };

struct event {
  PyObject_HEAD struct node node; /* in events->undecoded */
  struct events *events;          /* borrowed; NULL: everything is decoded */
  const struct kymo_event *event;
  PyObject *class_, *stream, *losses;
  int64_t time_ns;
  uint64_t number, cycles;
  bool has_time, is_epoch, after_damage, has_who;
  PyObject *parts[PART_COUNT];        /* NULL: not decoded yet, or failed */
  PyObject *tid, *thread, *cpu, *pid; /* once has_who */
};
int event_add_type(PyObject *module);
PyObject *event_new(struct events *events, const struct kymo_event *event);
/* Decodes all that the object needs from its pass, and parts it from there. */
void event_part_from_pass(struct event *event);

/* ---- values (values.c) ---- */

void value_type_free(void *value_type);
/* The fields of one scope as a dict; empty if there is none. */
PyObject *value_of_scope(struct events *events, const struct kymo_event *event, enum kymo_scope scope);
/* Text of a trace: bytes that are no character become U+FFFD. */
PyObject *value_text(const void *bytes, uint64_t count, enum kymo_encoding encoding);
PyObject *value_name(const char *name); /* NULL is None */
/* The names of the members of a struct as keys of a dict: a tuple, with None for hidden members. */
PyObject *value_keys(const struct kymo_type *type);

/* ---- errors (module.c) ---- */

/* Raises what happened. Returns NULL. */
PyObject *raise_error(const struct kymo_error *error);
/* Adds a type to the module, and keeps it. */
int add_type(PyObject *module, const char *name, PyType_Spec *spec, PyObject **kept);

/* ---- Arrow (arrow_stream.c) ---- */

/* arrow(name or None): an object with __arrow_c_stream__. */
PyObject *arrow_new(struct trace *trace, PyObject *name);
int arrow_add_type(PyObject *module);

#endif
