/* SPDX-License-Identifier: MIT */
/*
 * A pass over the events of a trace: an iterator. Without a filter it reads by the batch, so that Event
 * objects stay undecoded until the next batch; with a filter by the event.
 */
#include "kymo_python.h"
#include <stddef.h>
#include <string.h>

/* A filter that leaves out this number of events at a time works without the interpreter's lock: switching
 * threads may cost as much as reading thousands of events. */
#define SPARSE 1024

/* ---- the end ---- */

static void free_class(void *memory) {
  struct pass_class *class_ = memory;
  Py_XDECREF(class_->object);
  free(class_);
}

/* Decodes the Event objects that the program still has. */
static void part_all(struct events *self) {
  while (self->undecoded.next != &self->undecoded) {
    struct event *event = (struct event *)((char *)self->undecoded.next - offsetof(struct event, node));
    event_part_from_pass(event);
  }
  self->batch_next = self->batch.count = 0;
}

static void free_streams(PyObject **streams, size_t count) {
  for (size_t i = 0; i < count; i++)
    Py_XDECREF(streams[i]);
  PyMem_Free(streams);
}

/* First all is taken out of the object, since what is freed may call it again. */
void events_close(struct events *self) {
  struct reader *reader = self->reader;
  struct map classes = self->classes, types = self->types;
  PyObject **streams = self->streams;
  size_t stream_count = self->stream_count;
  if (self->is_busy) {
    self->must_close = true;
    return;
  }
  if (self->walk)
    part_all(self);
  types = self->types; /* decoding may have added some */
  node_remove(&self->node);
  kymo_walk_free(self->walk);
  self->reader = NULL;
  self->walk = NULL;
  self->classes = self->types = (struct map){0};
  self->streams = NULL;
  self->stream_count = 0;
  reader_close(reader);
  map_free(&classes, free_class);
  map_free(&types, value_type_free);
  free_streams(streams, stream_count);
}

/* ---- losses and damage ---- */

static PyObject *make_loss(const struct loss *loss) {
  PyObject *path = PyUnicode_DecodeFSDefault(loss->path), *made = NULL;
  PyObject *count = loss->count_known ? PyLong_FromUnsignedLongLong(loss->count) : Py_NewRef(Py_None);
  PyObject *begin = loss->has_times ? PyLong_FromLongLong(loss->begin_ns) : Py_NewRef(Py_None);
  PyObject *end = loss->has_times ? PyLong_FromLongLong(loss->end_ns) : Py_NewRef(Py_None);
  if (path && count && begin && end)
    made = PyObject_CallFunction(known.loss_of, "sOOOO", loss->is_packets ? "packets" : "events", count,
                                 begin, end, path);
  Py_XDECREF(path);
  Py_XDECREF(count);
  Py_XDECREF(begin);
  Py_XDECREF(end);
  return made;
}

/* Moves what the reader has noted to the list, and keeps it for the next event. */
static bool take_losses(struct events *self) {
  struct reader *reader = self->reader;
  PyObject *list = PyList_New(0);
  bool ok = list != NULL;
  for (size_t i = 0; i < reader->loss_count && ok; i++) {
    PyObject *loss = make_loss(&reader->losses[i]);
    ok = loss && PyList_Append(list, loss) == 0 && PyList_Append(self->losses, loss) == 0;
    Py_XDECREF(loss);
  }
  reader_drop_losses(reader);
  if (ok && reader->has_missed_loss) {
    PyErr_NoMemory();
    ok = false;
  }
  Py_XDECREF(self->losses_before);
  self->losses_before = ok ? PyList_AsTuple(list) : NULL;
  Py_XDECREF(list);
  return self->losses_before != NULL;
}

/* Takes `text`. False: the warning is an error, or there is no text. */
static bool warn(PyObject *category, PyObject *text) {
  PyObject *words = text ? PyUnicode_AsEncodedString(text, "utf-8", "replace") : NULL;
  bool ok = words && PyErr_WarnEx(category, PyBytes_AsString(words), 1) == 0;
  Py_XDECREF(text);
  Py_XDECREF(words);
  return ok;
}

/* Warns about the first loss of a pass, and at its end about all. False: the warning is an error. */
static bool warn_of_losses(struct events *self) {
  Py_ssize_t count = PyList_Size(self->losses), warned = self->losses_warned;
  if (count == warned || (warned && !self->is_at_end))
    return true;
  self->losses_warned = count;
  return warn(known.loss_warning, PyObject_CallFunctionObjArgs(known.loss_text, self->losses, NULL));
}

static PyObject *make_damage(const struct kymo_damage *damage) {
  PyObject *path = damage->path ? PyUnicode_DecodeFSDefault(damage->path) : Py_NewRef(Py_None), *made = NULL;
  PyObject *offset = damage->offset == KYMO_ERROR_NO_OFFSET ? Py_NewRef(Py_None)
                                                            : PyLong_FromUnsignedLongLong(damage->offset);
  PyObject *message = value_name(damage->message ? damage->message : "");
  if (path && offset && message)
    made = PyObject_CallFunction(known.place_of, "OOKO", path, offset, (unsigned long long)damage->bytes_lost,
                                 message);
  Py_XDECREF(path);
  Py_XDECREF(offset);
  Py_XDECREF(message);
  return made;
}

/* Lists the damaged places that were found since the last call. */
static bool take_damage(struct events *self) {
  const struct kymo_trace *trace = self->reader->trace;
  size_t count = kymo_trace_damage_count(trace);
  for (size_t i = (size_t)PyList_Size(self->damage); i < count; i++) {
    PyObject *damage = make_damage(kymo_trace_damage(trace, i));
    bool ok = damage && PyList_Append(self->damage, damage) == 0;
    Py_XDECREF(damage);
    if (!ok)
      return false;
  }
  return true;
}

/* Raises what is damaged, or warns of it. */
static void report_damage(struct events *self, size_t total) {
  PyObject *error = PyObject_CallFunction(known.damage_of, "On", self->damage, (Py_ssize_t)total);
  if (error && self->trace->warns_damage)
    warn(known.damage_warning, PyObject_Str(error));
  else if (error)
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
  Py_XDECREF(error);
}

/* The events are over: what was lost, and what is damaged. Returns NULL, perhaps with an exception. */
static PyObject *finish(struct events *self) {
  size_t total = kymo_trace_damage_total(self->reader->trace);
  self->is_at_end = true;
  if (take_damage(self) && warn_of_losses(self) && PyList_Size(self->damage) > 0)
    report_damage(self, total);
  return NULL;
}

/* ---- moving ---- */

static bool know_stream(struct events *self, const struct kymo_stream *stream) {
  if (stream->number < self->stream_count && self->streams[stream->number])
    return true;
  if (stream->number >= self->stream_count) {
    size_t count = (size_t)stream->number + 16;
    PyObject **larger = PyMem_Realloc(self->streams, count * sizeof(PyObject *));
    if (!larger) {
      PyErr_NoMemory();
      return false;
    }
    memset(larger + self->stream_count, 0, (count - self->stream_count) * sizeof(PyObject *));
    self->streams = larger;
    self->stream_count = count;
  }
  PyObject *path = PyUnicode_DecodeFSDefault(stream->path ? stream->path : "");
  PyObject *process = path ? value_name(reader_process(stream)) : NULL;
  if (process)
    self->streams[stream->number] =
        PyObject_CallFunction(known.stream_of, "KOIO", (unsigned long long)reader_stream_id(stream), path,
                              (unsigned)stream->part->index, process);
  Py_XDECREF(path);
  Py_XDECREF(process);
  return self->streams[stream->number] != NULL;
}

static bool know_class(struct events *self, const struct kymo_event *event) {
  if (map_get(&self->classes, event->class_))
    return true;
  struct pass_class *class_ = calloc(1, sizeof *class_);
  PyObject *object = NULL;
  if (class_)
    object =
        trace_class_of(self->trace, self->reader->trace, kymo_event_get_class_number(event), event->class_);
  else
    PyErr_NoMemory();
  if (object) {
    *class_ = (struct pass_class){.object = object, .is_epoch = reader_is_epoch(event->class_)};
    if (map_add(&self->classes, event->class_, class_))
      return true;
    PyErr_NoMemory();
  }
  Py_XDECREF(object);
  free(class_);
  return false;
}

static PyObject *fail_closed(void) {
  PyErr_SetString(PyExc_ValueError, "the trace is closed");
  return NULL;
}

static PyObject *deliver(struct events *self, const struct kymo_event *event) {
  if (!know_class(self, event) || !know_stream(self, event->packet->stream))
    return NULL;
  PyObject *made = event_new(self, event);
  Py_CLEAR(self->losses_before);
  self->is_sparse = event->number > self->number + SPARSE;
  self->number = event->number;
  return made;
}

/* Reads on, perhaps without the interpreter's lock. KYMO_OK, KYMO_END or negative. */
static int read_on(struct events *self, struct kymo_error *error) {
  struct reader *reader = self->reader;
  PyThreadState *saved = NULL;
  int status;
  part_all(self);
  if (self->is_sparse)
    saved = PyEval_SaveThread();
  if (reader->has_filter) {
    status = reader_next(reader, &self->filtered, error);
    self->batch = (struct kymo_batch){.count = status == KYMO_OK, .events = &self->filtered};
  } else {
    status = kymo_trace_next_batch(reader->trace, &self->batch, error);
    self->batch.count = status == KYMO_OK ? self->batch.count : 0;
  }
  if (saved)
    PyEval_RestoreThread(saved);
  return status;
}

/* Nothing more can be read. */
static PyObject *end_by_error(struct events *self, const struct kymo_error *error) {
  self->is_at_end = true;
  if (take_damage(self))
    raise_error(error);
  return NULL;
}

/* The next event, or NULL, with an exception or at the end. */
static PyObject *advance(struct events *self) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  if (self->batch_next >= self->batch.count) {
    int status = read_on(self, &error);
    if (self->must_close)
      return fail_closed();
    if (!take_losses(self))
      return NULL;
    if (status == KYMO_END)
      return finish(self);
    if (status < 0)
      return end_by_error(self, &error);
  }
  if (!warn_of_losses(self)) /* the event follows at the next call */
    return NULL;
  PyObject *made = deliver(self, self->batch.events[self->batch_next]);
  self->batch_next += made != NULL;
  return made;
}

static PyObject *events_next(PyObject *object) {
  struct events *self = (struct events *)object;
  if (self->is_busy) {
    PyErr_SetString(PyExc_RuntimeError, "this pass is being moved already, perhaps by another thread");
    return NULL;
  }
  if (!self->reader)
    return self->is_at_end ? NULL : fail_closed();
  self->is_busy = true;
  PyObject *made = advance(self);
  self->is_busy = false;
  if (self->is_at_end || self->must_close) {
    self->must_close = false;
    events_close(self);
  }
  return made;
}

/* ---- life ---- */

PyObject *events_new(struct trace *trace) {
  struct events *self = PyObject_GC_New(struct events, (PyTypeObject *)known.events_type);
  if (!self)
    return NULL;
  memset((char *)self + offsetof(struct events, node), 0, sizeof *self - offsetof(struct events, node));
  node_begin(&self->node);
  node_begin(&self->undecoded);
  self->trace = (struct trace *)Py_NewRef((PyObject *)trace);
  self->losses = PyList_New(0);
  self->damage = PyList_New(0);
  self->walk = kymo_walk_new();
  self->is_sparse = true; /* what the filter leaves out is unknown */
  PyObject_GC_Track(self);
  if (self->losses && self->damage && self->walk)
    return (PyObject *)self;
  Py_DECREF(self);
  return PyErr_Occurred() ? NULL : PyErr_NoMemory();
}

static int events_traverse(PyObject *object, visitproc visit, void *arg) {
  const struct events *self = (const struct events *)object;
  Py_VISIT(Py_TYPE(object));
  Py_VISIT((PyObject *)self->trace);
  Py_VISIT(self->losses);
  Py_VISIT(self->damage);
  Py_VISIT(self->losses_before);
  return 0;
}

static int events_clear(PyObject *object) {
  struct events *self = (struct events *)object;
  PyObject *trace = (PyObject *)self->trace;
  events_close(self);
  self->trace = NULL;
  Py_XDECREF(trace);
  Py_CLEAR(self->losses);
  Py_CLEAR(self->damage);
  Py_CLEAR(self->losses_before);
  return 0;
}

static void events_dealloc(PyObject *object) {
  struct events *self = (struct events *)object;
  PyTypeObject *type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  if (self->is_busy) /* of a thread that a fork has left out: its reader is in the middle of something */
    node_remove(&self->node);
  events_clear(object);
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

static PyObject *events_method_close(PyObject *object, PyObject *unused) {
  (void)unused;
  events_close((struct events *)object);
  Py_RETURN_NONE;
}

static PyObject *get_list(PyObject *object, void *offset) {
  PyObject *list = *(PyObject **)((char *)object + (uintptr_t)offset);
  return list ? Py_NewRef(list) : PyList_New(0);
}

int events_add_type(PyObject *module) {
  static PyMethodDef methods[] = {
      {"close", events_method_close, METH_NOARGS, "Ends the pass. Its events stay valid."}, {0}};
#define LIST(member) (void *)(uintptr_t)offsetof(struct events, member)
  static PyGetSetDef attributes[] = {
      {"losses", get_list, NULL, "What was lost so far, a list of Loss.", LIST(losses)},
      {"damage", get_list, NULL, "The damaged places, a list of DamagedPlace; complete at the end.",
       LIST(damage)},
      {0}};
  static PyType_Slot slots[] = {{Py_tp_dealloc, events_dealloc},
                                {Py_tp_traverse, events_traverse},
                                {Py_tp_clear, events_clear},
                                {Py_tp_iter, PyObject_SelfIter},
                                {Py_tp_iternext, events_next},
                                {Py_tp_methods, methods},
                                {Py_tp_getset, attributes},
                                {Py_tp_doc, "A pass over the events of a trace."},
                                {0}};
  static PyType_Spec spec = {.name = "kymo.Events",
                             .basicsize = sizeof(struct events),
                             .flags =
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                             .slots = slots};
  return add_type(module, "Events", &spec, &known.events_type);
}
