/* SPDX-License-Identifier: MIT */
/* A Trace: how traces are opened, and what is known of them without reading events. */
#include "kymo_python.h"
#include <kymo/time.h>
#include <stddef.h>
#include <string.h>

/* ---- classes and parts ---- */

static PyObject *none_or_long(bool is_there, long value) {
  return is_there ? PyLong_FromLong(value) : Py_NewRef(Py_None);
}

/* The names of the fields that are not hidden. */
static PyObject *make_field_names(const struct kymo_type *payload) {
  PyObject *keys = payload ? value_keys(payload) : PyTuple_New(0), *list = PyList_New(0);
  bool ok = keys && list;
  for (Py_ssize_t i = 0; ok && i < PyTuple_Size(keys); i++) {
    PyObject *key = PyTuple_GetItem(keys, i);
    ok = key == Py_None || PyList_Append(list, key) == 0;
  }
  PyObject *names = ok ? PyList_AsTuple(list) : NULL;
  Py_XDECREF(keys);
  Py_XDECREF(list);
  return names;
}

static PyObject *make_class(const struct kymo_event_class *class_) {
  PyObject *name = value_name(class_->name ? class_->name : "");
  PyObject *group = value_name(class_->group ? class_->group : "");
  PyObject *level = none_or_long(class_->level >= 0, class_->level), *made = NULL;
  PyObject *fields = make_field_names(class_->payload);
  PyObject *description = value_name(class_->description);
  if (name && group && level && fields && description)
    made = PyObject_CallFunction(known.class_of, "OOKOOO", name, group, (unsigned long long)class_->id, level,
                                 fields, description);
  Py_XDECREF(name);
  Py_XDECREF(group);
  Py_XDECREF(level);
  Py_XDECREF(fields);
  Py_XDECREF(description);
  return made;
}

PyObject *trace_class_of(struct trace *trace, const struct kymo_trace *reading, uint32_t number,
                         const struct kymo_event_class *class_) {
  bool is_listed = kymo_trace_class(reading, number) == class_;
  if (!is_listed || (Py_ssize_t)number >= PyTuple_Size(trace->classes))
    return make_class(class_);
  PyObject *listed = PyTuple_GetItem(trace->classes, number), *made = make_class(class_);
  if (!made)
    return NULL;
  int is_same = PyObject_RichCompareBool(listed, made, Py_EQ); /* the files may have changed since */
  if (is_same <= 0)
    return is_same == 0 ? made : (Py_DECREF(made), NULL);
  Py_DECREF(made);
  return Py_NewRef(listed);
}

static PyObject *list_classes(const struct kymo_trace *trace) {
  uint32_t count = kymo_trace_class_count(trace);
  PyObject *list = PyTuple_New(count);
  for (uint32_t i = 0; list && i < count; i++) {
    PyObject *class_ = make_class(kymo_trace_class(trace, i));
    if (!class_ || PyTuple_SetItem(list, i, class_) < 0)
      Py_CLEAR(list);
  }
  return list;
}

static PyObject *make_environment(const struct kymo_schema *schema) {
  PyObject *made = PyDict_New();
  for (uint32_t i = 0; made && i < schema->environment_count; i++) {
    const struct kymo_environment *entry = schema->environment[i];
    PyObject *key = value_name(entry->name), *value = NULL;
    if (key)
      value = entry->text ? value_name(entry->text) : PyLong_FromLongLong(entry->integer);
    if (!value || PyDict_SetItem(made, key, value) < 0)
      Py_CLEAR(made);
    Py_XDECREF(key);
    Py_XDECREF(value);
  }
  return made;
}

static PyObject *make_part(const struct kymo_part *part) {
  const struct kymo_schema *schema = part->schema;
  PyObject *path = PyUnicode_DecodeFSDefault(part->path ? part->path : ""), *made = NULL;
  PyObject *format = value_name(part->format), *name = value_name(schema->trace_name);
  PyObject *uuid =
      schema->has_uuid ? PyBytes_FromStringAndSize((const char *)schema->uuid, 16) : Py_NewRef(Py_None);
  PyObject *environment = make_environment(schema);
  if (path && format && name && uuid && environment)
    made = PyObject_CallFunction(known.part_of, "OOOOO", path, format, name, uuid, environment);
  Py_XDECREF(path);
  Py_XDECREF(format);
  Py_XDECREF(name);
  Py_XDECREF(uuid);
  Py_XDECREF(environment);
  return made;
}

static PyObject *list_parts(const struct kymo_trace *trace) {
  size_t count = kymo_trace_part_count(trace);
  PyObject *list = PyTuple_New((Py_ssize_t)count);
  for (size_t i = 0; list && i < count; i++) {
    PyObject *part = make_part(kymo_trace_part(trace, i));
    if (!part || PyTuple_SetItem(list, (Py_ssize_t)i, part) < 0)
      Py_CLEAR(list);
  }
  return list;
}

/* Takes `text`. */
static bool add_text(PyObject *list, PyObject *text) {
  bool ok = text && PyList_Append(list, text) == 0;
  Py_XDECREF(text);
  return ok;
}

static PyObject *list_warnings(const struct reader *reader) {
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list && i < kymo_trace_warning_count(reader->trace); i++) {
    const struct kymo_warning *warning = kymo_trace_warning(reader->trace, i);
    PyObject *path = PyUnicode_DecodeFSDefault(warning->path ? warning->path : "");
    PyObject *message = path ? value_name(warning->message ? warning->message : "") : NULL;
    if (!add_text(list, message ? PyUnicode_FromFormat("%U: %U", path, message) : NULL))
      Py_CLEAR(list);
    Py_XDECREF(path);
    Py_XDECREF(message);
  }
  for (size_t i = 0; list && i < reader->warning_count; i++)
    if (!add_text(list, value_name(reader->warnings[i])))
      Py_CLEAR(list);
  PyObject *made = list ? PyList_AsTuple(list) : NULL;
  Py_XDECREF(list);
  return made;
}

/* ---- opening ---- */

static int open_reader(struct reader **reader, const struct opening *opening) {
  struct kymo_error error;
  int status;
  Py_BEGIN_ALLOW_THREADS status = reader_open(reader, opening, &error);
  Py_END_ALLOW_THREADS if (status < 0) raise_error(&error);
  return status;
}

/* A copy of a text, or NULL for None. False with an exception. */
static bool copy_text(char **out, PyObject *text) {
  PyObject *bytes = text == Py_None ? NULL : PyUnicode_AsUTF8String(text);
  char *from = NULL;
  *out = NULL;
  if (text == Py_None)
    return true;
  if (bytes && PyBytes_AsStringAndSize(bytes, &from, NULL) == 0 && !(*out = strdup(from)))
    PyErr_NoMemory();
  Py_XDECREF(bytes);
  return *out != NULL;
}

static bool take_limit(struct limit *limit, PyObject *value) {
  limit->is_set = value != Py_None;
  if (PyUnicode_Check(value))
    return copy_text(&limit->text, value);
  if (!limit->is_set)
    return true;
  long long ns = PyLong_AsLongLong(value);
  limit->ns = ns;
  return ns != -1 || !PyErr_Occurred();
}

static bool take_paths(struct opening *opening, PyObject *paths) {
  Py_ssize_t count = PyTuple_Size(paths);
  opening->paths = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *opening->paths);
  if (!opening->paths) {
    PyErr_NoMemory();
    return false;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *bytes;
    if (!PyUnicode_FSConverter(PyTuple_GetItem(paths, i), &bytes))
      return false;
    opening->paths[opening->path_count] = strdup(PyBytes_AsString(bytes));
    Py_DECREF(bytes);
    if (!opening->paths[opening->path_count++]) {
      PyErr_NoMemory();
      return false;
    }
  }
  return true;
}

static bool take_description(struct opening *opening, PyObject *path) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  PyObject *bytes;
  if (path == Py_None)
    return true;
  if (!PyUnicode_FSConverter(path, &bytes))
    return false;
  int status = kymo_description_load(&opening->description, PyBytes_AsString(bytes), &error);
  Py_DECREF(bytes);
  if (status < 0)
    raise_error(&error);
  return status == KYMO_OK;
}

static bool describe(struct trace *self) {
  self->losses = PyList_New(0);
  self->damage = PyList_New(0);
  self->classes = list_classes(self->first->trace);
  self->parts = list_parts(self->first->trace);
  self->warnings = list_warnings(self->first);
  return self->losses && self->damage && self->classes && self->parts && self->warnings;
}

static PyObject *trace_new(PyTypeObject *type, PyObject *arguments, PyObject *words) {
  static char *names[] = {"paths", "filter", "begin", "end", "format", "description", "warns_damage", NULL};
  PyObject *paths, *filter, *begin, *end, *format, *description;
  int warns_damage;
  if (!PyArg_ParseTupleAndKeywords(arguments, words, "O!OOOOOp", names, &PyTuple_Type, &paths, &filter,
                                   &begin, &end, &format, &description, &warns_damage))
    return NULL;
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  struct trace *self = (struct trace *)allocate(type, 0);
  if (!self)
    return NULL;
  node_begin(&self->passes);
  self->warns_damage = warns_damage;
  self->paths = Py_NewRef(paths);
  struct opening *opening = &self->opening;
  if (take_paths(opening, paths) && copy_text(&opening->filter, filter) &&
      take_limit(&opening->begin, begin) && take_limit(&opening->end, end) &&
      copy_text(&opening->format, format) && take_description(opening, description) &&
      open_reader(&self->first, opening) == KYMO_OK && describe(self))
    return (PyObject *)self;
  Py_DECREF(self);
  return NULL;
}

/* ---- life ---- */

static int trace_traverse(PyObject *object, visitproc visit, void *arg) {
  const struct trace *self = (const struct trace *)object;
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->paths);
  Py_VISIT(self->classes);
  Py_VISIT(self->parts);
  Py_VISIT(self->losses);
  Py_VISIT(self->damage);
  Py_VISIT(self->warnings);
  return 0;
}

/* A pass that is neither closed nor about to be. */
static struct events *open_pass(const struct trace *self) {
  for (struct node *node = self->passes.next; node != &self->passes; node = node->next) {
    struct events *pass = (struct events *)((char *)node - offsetof(struct events, node));
    if (!pass->must_close)
      return pass;
  }
  return NULL;
}

static void close_trace(struct trace *self) {
  struct reader *first = self->first;
  struct events *pass;
  self->is_closed = true;
  self->first = NULL;
  while ((pass = open_pass(self)))
    events_close(pass);
  reader_close(first);
}

static int trace_clear(PyObject *object) {
  struct trace *self = (struct trace *)object;
  close_trace(self);
  Py_CLEAR(self->paths);
  Py_CLEAR(self->classes);
  Py_CLEAR(self->parts);
  Py_CLEAR(self->losses);
  Py_CLEAR(self->damage);
  Py_CLEAR(self->warnings);
  return 0;
}

static void trace_dealloc(PyObject *object) {
  struct trace *self = (struct trace *)object;
  PyTypeObject *type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  if (self->passes.next) /* else not even begun */
    trace_clear(object);
  opening_end(&self->opening);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

/* ---- methods ---- */

static PyObject *fail_closed(void) {
  PyErr_SetString(PyExc_ValueError, "the trace is closed");
  return NULL;
}

static PyObject *trace_iter(PyObject *object) {
  struct trace *self = (struct trace *)object;
  if (self->is_closed)
    return fail_closed();
  PyObject *made = events_new(self);
  struct events *pass = (struct events *)made;
  if (!made)
    return NULL;
  pass->reader = self->first;
  self->first = NULL;
  if (!pass->reader && open_reader(&pass->reader, &self->opening) != KYMO_OK) {
    Py_DECREF(made);
    return NULL;
  }
  if (self->is_closed) { /* by another thread */
    Py_DECREF(made);
    return fail_closed();
  }
  node_add(&self->passes, &pass->node);
  PyObject *losses = self->losses, *damage = self->damage;
  self->losses = Py_NewRef(pass->losses);
  self->damage = Py_NewRef(pass->damage);
  Py_XDECREF(losses);
  Py_XDECREF(damage);
  return made;
}

static PyObject *trace_close(PyObject *object, PyObject *unused) {
  (void)unused;
  close_trace((struct trace *)object);
  Py_RETURN_NONE;
}

static PyObject *trace_enter(PyObject *object, PyObject *unused) {
  (void)unused;
  return ((struct trace *)object)->is_closed ? fail_closed() : Py_NewRef(object);
}

static PyObject *trace_exit(PyObject *object, PyObject *arguments) {
  (void)arguments;
  close_trace((struct trace *)object);
  Py_RETURN_FALSE;
}

/* Reads what is needed by a reader of its own, since a pass may have the first one. */
static PyObject *trace_range(PyObject *object, PyObject *unused) {
  struct trace *self = (struct trace *)object;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct reader *reader;
  int64_t begin_ns = 0, end_ns = 0;
  int status;
  (void)unused;
  if (self->is_closed)
    return fail_closed();
  if (open_reader(&reader, &self->opening) != KYMO_OK)
    return NULL;
  Py_BEGIN_ALLOW_THREADS status = kymo_trace_range(reader->trace, &begin_ns, &end_ns, &error);
  reader_close(reader);
  Py_END_ALLOW_THREADS if (status == KYMO_E_ABSENT) Py_RETURN_NONE;
  if (status < 0)
    return raise_error(&error);
  return Py_BuildValue("LL", (long long)begin_ns, (long long)end_ns);
}

static PyObject *trace_arrow(PyObject *object, PyObject *name) {
  struct trace *self = (struct trace *)object;
  return self->is_closed ? fail_closed() : arrow_new(self, name);
}

static PyObject *get_object(PyObject *object, void *offset) {
  PyObject *value = *(PyObject **)((char *)object + (uintptr_t)offset);
  return Py_NewRef(value ? value : Py_None);
}

static PyObject *get_closed(PyObject *object, void *data) {
  (void)data;
  return PyBool_FromLong(((struct trace *)object)->is_closed);
}

static PyObject *get_warns_damage(PyObject *object, void *data) {
  (void)data;
  return PyBool_FromLong(((struct trace *)object)->warns_damage);
}

int trace_add_type(PyObject *module) {
  static PyMethodDef methods[] = {
      {"close", trace_close, METH_NOARGS,
       "Closes the trace, and ends all passes over it. Events and streams of Arrow stay valid."},
      {"range", trace_range, METH_NOARGS,
       "The times of the first and the last event of the whole trace, as a pair; None if nothing has a "
       "time."},
      {"_arrow", trace_arrow, METH_O, "arrow() with one argument."},
      {"__enter__", trace_enter, METH_NOARGS, "The trace itself."},
      {"__exit__", trace_exit, METH_VARARGS, "Closes the trace."},
      {0}};
#define OBJECT(member) (void *)(uintptr_t)offsetof(struct trace, member)
  static PyGetSetDef attributes[] = {
      {"paths", get_object, NULL, "What was opened, a tuple.", OBJECT(paths)},
      {"classes", get_object, NULL, "The event classes, a tuple of EventClass.", OBJECT(classes)},
      {"parts", get_object, NULL, "The traces that were found, a tuple of Part.", OBJECT(parts)},
      {"losses", get_object, NULL, "What the latest pass has met that was lost, a list of Loss.",
       OBJECT(losses)},
      {"damage", get_object, NULL,
       "The damaged places of the latest pass, a list of DamagedPlace; complete at its end.", OBJECT(damage)},
      {"warnings", get_object, NULL, "What should be known of how the trace is read, a tuple of texts.",
       OBJECT(warnings)},
      {"closed", get_closed, NULL, "Whether the trace is closed.", NULL},
      {"_warns_damage", get_warns_damage, NULL, "Whether it was opened with damage='warn'.", NULL},
      {0}};
  static PyType_Slot slots[] = {{Py_tp_new, trace_new},           {Py_tp_dealloc, trace_dealloc},
                                {Py_tp_traverse, trace_traverse}, {Py_tp_clear, trace_clear},
                                {Py_tp_iter, trace_iter},         {Py_tp_methods, methods},
                                {Py_tp_getset, attributes},       {0}};
  static PyType_Spec spec = {.name = "kymo._kymo.Trace",
                             .basicsize = sizeof(struct trace),
                             .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
                             .slots = slots};
  return add_type(module, "Trace", &spec, &known.trace_type);
}
