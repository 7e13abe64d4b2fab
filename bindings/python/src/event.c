/* SPDX-License-Identifier: MIT */
/* One event. Its parts are decoded when they are asked for, or when its pass moves on. */
#include "kymo_python.h"
#include <kymo/time.h>
#include <stddef.h>
#include <string.h>

/* ---- decoding ---- */

static PyObject *decode_message(const struct event *self) {
  size_t length = 0;
  int status = kymo_event_format_message(self->event, NULL, 0, &length);
  if (status != KYMO_OK && status != KYMO_E_RANGE)
    Py_RETURN_NONE;
  char *text = malloc(length + 1);
  PyObject *made = NULL;
  if (text && kymo_event_format_message(self->event, text, length + 1, &length) == KYMO_OK)
    made = value_text(text, length, KYMO_ENCODING_UTF8);
  else
    PyErr_NoMemory();
  free(text);
  return made;
}

static PyObject *decode(struct event *self, enum event_part part) {
  struct events *events = self->events;
  switch (part) {
  case PART_FIELDS: return value_of_scope(events, self->event, KYMO_SCOPE_PAYLOAD);
  case PART_CONTEXT: return value_of_scope(events, self->event, KYMO_SCOPE_COMMON_CONTEXT);
  case PART_EVENT_CONTEXT: return value_of_scope(events, self->event, KYMO_SCOPE_SPECIFIC_CONTEXT);
  default: return decode_message(self);
  }
}

/* The part, which the object owns. NULL with an exception. */
static PyObject *part_of(struct event *self, enum event_part part) {
  if (!self->parts[part] && self->events)
    self->parts[part] = decode(self, part);
  else if (!self->parts[part])
    PyErr_SetString(known.error_type, "the event could not be decoded before its pass moved on");
  return self->parts[part];
}

/* Takes `value`; NULL stays NULL. */
static PyObject *or_none(bool is_there, PyObject *value) {
  if (!is_there)
    return Py_NewRef(Py_None);
  return value;
}

static bool decode_who(struct event *self) {
  struct who who;
  if (self->has_who)
    return true;
  if (!self->events) {
    PyErr_SetString(known.error_type, "the event could not be decoded before its pass moved on");
    return false;
  }
  if (!reader_who(self->events->reader, self->event, &who)) {
    PyErr_NoMemory();
    return false;
  }
  self->tid = or_none(who.has_tid, who.has_tid ? PyLong_FromLongLong(who.tid) : NULL);
  self->pid = or_none(who.has_pid, who.has_pid ? PyLong_FromLongLong(who.pid) : NULL);
  self->cpu = or_none(who.has_cpu, who.has_cpu ? PyLong_FromUnsignedLongLong(who.cpu) : NULL);
  bool is_named = who.thread && who.thread_length > 0;
  self->thread =
      or_none(is_named, is_named ? value_text(who.thread, who.thread_length, KYMO_ENCODING_UTF8) : NULL);
  self->has_who = self->tid && self->pid && self->cpu && self->thread;
  if (!self->has_who) {
    Py_CLEAR(self->tid);
    Py_CLEAR(self->pid);
    Py_CLEAR(self->cpu);
    Py_CLEAR(self->thread);
  }
  return self->has_who;
}

void event_part_from_pass(struct event *self) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace); /* also called where another error is on its way */
  for (int part = 0; part < PART_COUNT; part++)
    if (!part_of(self, (enum event_part)part))
      PyErr_Clear(); /* the program that asks for it receives an error then */
  if (!decode_who(self))
    PyErr_Clear();
  PyErr_Restore(type, value, trace);
  node_remove(&self->node);
  self->events = NULL;
  self->event = NULL;
}

/* ---- life ---- */

PyObject *event_new(struct events *events, const struct kymo_event *event) {
  struct pass_class *class_ = map_get(&events->classes, event->class_);
  struct event *self = PyObject_GC_New(struct event, (PyTypeObject *)known.event_type);
  if (!self)
    return NULL;
  memset((char *)self + offsetof(struct event, node), 0, sizeof *self - offsetof(struct event, node));
  self->events = events;
  self->event = event;
  self->class_ = Py_NewRef(class_->object);
  self->stream = Py_NewRef(events->streams[event->packet->stream->number]);
  self->losses = Py_XNewRef(events->losses_before);
  self->time_ns = event->time_ns;
  self->has_time = event->has_time;
  self->is_epoch = class_->is_epoch;
  self->number = event->number;
  self->cycles = event->cycles;
  self->after_damage = event->is_damaged;
  node_add(&events->undecoded, &self->node);
  PyObject_GC_Track(self);
  return (PyObject *)self;
}

static int event_traverse(PyObject *object, visitproc visit, void *arg) {
  const struct event *self = (const struct event *)object;
  Py_VISIT(Py_TYPE(object));
  for (int part = 0; part < PART_COUNT; part++)
    Py_VISIT(self->parts[part]);
  Py_VISIT(self->class_);
  Py_VISIT(self->stream);
  Py_VISIT(self->losses);
  return 0;
}

/* The fields can refer to the event again, since a program may change the dict. */
static int event_clear(PyObject *object) {
  struct event *self = (struct event *)object;
  for (int part = 0; part < PART_COUNT; part++)
    Py_CLEAR(self->parts[part]);
  return 0;
}

static void event_dealloc(PyObject *object) {
  struct event *self = (struct event *)object;
  PyTypeObject *type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  if (self->events)
    node_remove(&self->node);
  event_clear(object);
  Py_XDECREF(self->tid);
  Py_XDECREF(self->thread);
  Py_XDECREF(self->cpu);
  Py_XDECREF(self->pid);
  Py_XDECREF(self->class_);
  Py_XDECREF(self->stream);
  Py_XDECREF(self->losses);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

/* ---- attributes ---- */

static PyObject *get_time(PyObject *object, void *data) {
  const struct event *self = (const struct event *)object;
  (void)data;
  return or_none(self->has_time, self->has_time ? PyLong_FromLongLong(self->time_ns) : NULL);
}

static PyObject *get_time_text(PyObject *object, void *data) {
  const struct event *self = (const struct event *)object;
  char text[KYMO_TIME_TEXT];
  (void)data;
  if (!self->has_time)
    Py_RETURN_NONE;
  return PyUnicode_FromString(
      kymo_time_to_text(self->time_ns, self->is_epoch ? KYMO_TIME_UTC : KYMO_TIME_SECONDS, text));
}

static PyObject *get_datetime(PyObject *object, void *data) {
  const struct event *self = (const struct event *)object;
  (void)data;
  if (!self->has_time || !self->is_epoch)
    Py_RETURN_NONE;
  return PyObject_CallFunction(known.datetime_of, "L", (long long)self->time_ns);
}

static PyObject *get_number(PyObject *object, void *data) {
  (void)data;
  return PyLong_FromUnsignedLongLong(((const struct event *)object)->number);
}

static PyObject *get_cycles(PyObject *object, void *data) {
  (void)data;
  return PyLong_FromUnsignedLongLong(((const struct event *)object)->cycles);
}

static PyObject *get_after_damage(PyObject *object, void *data) {
  (void)data;
  return PyBool_FromLong(((const struct event *)object)->after_damage);
}

static PyObject *get_of_class(PyObject *object, void *name) {
  return PyObject_GetAttrString(((const struct event *)object)->class_, name);
}

static PyObject *get_of_stream(PyObject *object, void *name) {
  return PyObject_GetAttrString(((const struct event *)object)->stream, name);
}

static PyObject *get_class(PyObject *object, void *data) {
  (void)data;
  return Py_NewRef(((const struct event *)object)->class_);
}

static PyObject *get_stream(PyObject *object, void *data) {
  (void)data;
  return Py_NewRef(((const struct event *)object)->stream);
}

static PyObject *get_losses(PyObject *object, void *data) {
  const struct event *self = (const struct event *)object;
  (void)data;
  return self->losses ? Py_NewRef(self->losses) : PyTuple_New(0);
}

static PyObject *get_part(PyObject *object, void *part) {
  return Py_XNewRef(part_of((struct event *)object, (enum event_part)(uintptr_t)part));
}

static PyObject *get_who(PyObject *object, void *offset) {
  if (!decode_who((struct event *)object))
    return NULL;
  return Py_NewRef(*(PyObject **)((char *)object + (uintptr_t)offset));
}

static PyObject *event_repr(PyObject *object) {
  PyObject *name = get_of_class(object, "name"), *time = get_time_text(object, NULL);
  PyObject *fields = get_part(object, (void *)(uintptr_t)PART_FIELDS), *made = NULL;
  if (name && time && fields)
    made = PyUnicode_FromFormat("<kymo.Event %U %S %R>", name, time, fields);
  Py_XDECREF(name);
  Py_XDECREF(time);
  Py_XDECREF(fields);
  return made;
}

#define PART(part) (void *)(uintptr_t)(part)
#define WHO(member) (void *)(uintptr_t)offsetof(struct event, member)
static PyGetSetDef attributes[] = {
    {"time", get_time, NULL,
     "Nanoseconds since 1970, or since the origin of the clock; None if the event has no time.", NULL},
    {"time_text", get_time_text, NULL,
     "The time as text: a date in UTC with nanoseconds, or seconds since the origin of the clock.", NULL},
    {"datetime", get_datetime, NULL,
     "The time as datetime in UTC, cut to microseconds; None if the clock does not count from 1970.", NULL},
    {"name", get_of_class, NULL, "The name of the event class: \"group:name\", or a free one.", "name"},
    {"group", get_of_class, NULL, "The part of the name before the colon, or \"\".", "group"},
    {"level", get_of_class, NULL, "The log level of the class, 0 (emergency) to 14 (debug), or None.",
     "level"},
    {"event_class", get_class, NULL, "The EventClass.", NULL},
    {"fields", get_part, NULL, "The payload: a dict of values by name.", PART(PART_FIELDS)},
    {"context", get_part, NULL, "The fields of the common context, a dict.", PART(PART_CONTEXT)},
    {"event_context", get_part, NULL, "The fields of the event's own context, a dict.",
     PART(PART_EVENT_CONTEXT)},
    {"message", get_part, NULL, "The text of an event whose class has a format, else None.",
     PART(PART_MESSAGE)},
    {"process", get_of_stream, NULL, "The name of the process, or None.", "process"},
    {"pid", get_who, NULL, "The number of the process, or None.", WHO(pid)},
    {"thread", get_who, NULL, "The name of the thread, or None.", WHO(thread)},
    {"tid", get_who, NULL, "The number of the thread, or None.", WHO(tid)},
    {"cpu", get_who, NULL, "The number of the CPU, or None.", WHO(cpu)},
    {"stream", get_stream, NULL, "The Stream.", NULL},
    {"trace", get_of_stream, NULL, "The number of the trace among those that were opened, from 0.", "trace"},
    {"number", get_number, NULL, "The number of the event in the order of time, from 1.", NULL},
    {"cycles", get_cycles, NULL, "The value of the clock.", NULL},
    {"losses", get_losses, NULL, "A tuple: what was lost before this event (Loss), usually nothing.", NULL},
    {"after_damage", get_after_damage, NULL, "Whether bytes right before it in its stream could not be read.",
     NULL},
    {0}};

int event_add_type(PyObject *module) {
  static PyType_Slot slots[] = {
      {Py_tp_dealloc, event_dealloc},
      {Py_tp_traverse, event_traverse},
      {Py_tp_clear, event_clear},
      {Py_tp_repr, event_repr},
      {Py_tp_getset, attributes},
      {Py_tp_doc, "An event of a trace. It stays valid when its pass moves on and when the trace is closed."},
      {0}};
  static PyType_Spec spec = {.name = "kymo.Event",
                             .basicsize = sizeof(struct event),
                             .flags =
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                             .slots = slots};
  return add_type(module, "Event", &spec, &known.event_type);
}
