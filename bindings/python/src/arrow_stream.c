/* SPDX-License-Identifier: MIT */
/*
 * The C stream interface of Arrow over a table, and the object that offers it to Python. The consumer
 * calls the stream with or without the interpreter's lock, in any thread, one call at a time; it may
 * outlive the trace.
 */
#include "arrow.h"
#include "kymo_python.h"
#include <errno.h>
#include <inttypes.h>

struct source {
  struct table *table;
  bool warns_damage, is_over, has_reported;
  char message[2048];
};

/* ---- the stream ---- */

/* 0, or an errno with the message. */
static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  struct source *source = stream->private_data;
  snprintf(source->message, sizeof source->message, "out of memory");
  return column_export_schema(table_columns(source->table), out);
}

static int fail_with(struct source *source, const struct kymo_error *error) {
  kymo_error_text(error, source->message, sizeof source->message);
  return error->code == KYMO_E_MEMORY ? ENOMEM : EIO;
}

static void describe_losses(const struct reader *reader, char *text, size_t size) {
  uint64_t events = 0, packets = 0, unknown = 0;
  for (size_t i = 0; i < reader->loss_count; i++) {
    const struct loss *loss = &reader->losses[i];
    events += loss->count_known && !loss->is_packets ? loss->count : 0;
    packets += loss->count_known && loss->is_packets ? loss->count : 0;
    unknown += !loss->count_known;
  }
  snprintf(text, size,
           "lost: %" PRIu64 " events, %" PRIu64 " packets, and %" PRIu64 " times an unknown number", events,
           packets, unknown);
}

/* Warns in Python. False: the warning is an error, whose message is the text. */
static bool warn(PyObject *category, const char *text) {
  if (!Py_IsInitialized())
    return true;
  PyGILState_STATE state = PyGILState_Ensure();
  bool ok = PyErr_WarnEx(category, text, 1) == 0;
  if (!ok)
    PyErr_Clear();
  PyGILState_Release(state);
  return ok;
}

/* At the end, once: what was lost, and what is damaged. 0, or EIO with the message. */
static int report(struct source *source) {
  const struct reader *reader = table_reader(source->table);
  const struct kymo_damage *damage = kymo_trace_damage(reader->trace, 0);
  size_t total = kymo_trace_damage_total(reader->trace);
  bool ok = true;
  if (source->has_reported)
    return 0;
  source->has_reported = true;
  if (reader->loss_count) {
    describe_losses(reader, source->message, sizeof source->message);
    ok = warn(known.loss_warning, source->message);
  }
  if (!ok || !total)
    return ok ? 0 : EIO;
  struct kymo_error error = {.code = KYMO_E_FORMAT, .offset = damage->offset};
  snprintf(error.file, sizeof error.file, "%s", damage->path ? damage->path : "");
  snprintf(error.message, sizeof error.message, "%s (%zu damaged places; the rows are what is readable)",
           damage->message, total);
  int status = fail_with(source, &error);
  return source->warns_damage && warn(known.damage_warning, source->message) ? 0 : status;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  struct source *source = stream->private_data;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  *out = (struct ArrowArray){.release = NULL};
  if (!source->is_over) {
    int status = table_read(source->table, &source->is_over, &error);
    if (status < 0) {
      source->is_over = source->has_reported = true;
      return fail_with(source, &error);
    }
  }
  if (source->is_over)
    return report(source);
  snprintf(source->message, sizeof source->message, "out of memory");
  return column_export(table_columns(source->table), out);
}

static const char *get_last_error(struct ArrowArrayStream *stream) {
  return ((struct source *)stream->private_data)->message;
}

static void release_stream(struct ArrowArrayStream *stream) {
  struct source *source = stream->private_data;
  table_free(source->table);
  free(source);
  stream->release = NULL;
}

/* ---- the object ---- */

struct arrow {
  PyObject_HEAD struct trace *trace;
  char *class_name; /* or NULL */
};

PyObject *arrow_new(struct trace *trace, PyObject *name) {
  PyObject *bytes = name == Py_None ? NULL : PyUnicode_AsUTF8String(name);
  char *text = NULL;
  if (name != Py_None && (!bytes || PyBytes_AsStringAndSize(bytes, &text, NULL) < 0)) {
    Py_XDECREF(bytes);
    return NULL;
  }
  struct arrow *self = PyObject_New(struct arrow, (PyTypeObject *)known.arrow_type);
  if (self) {
    self->trace = (struct trace *)Py_NewRef((PyObject *)trace);
    self->class_name = text ? strdup(text) : NULL;
    if (bytes && !self->class_name) {
      Py_CLEAR(self);
      PyErr_NoMemory();
    }
  }
  Py_XDECREF(bytes);
  return (PyObject *)self;
}

static void arrow_dealloc(PyObject *object) {
  struct arrow *self = (struct arrow *)object;
  PyTypeObject *type = Py_TYPE(object);
  Py_XDECREF((PyObject *)self->trace);
  free(self->class_name);
  PyObject_Free(object);
  Py_DECREF(type);
}

/* Opens the traces once more. NULL with an exception. */
static struct table *open_table(const struct arrow *self) {
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  struct reader *reader;
  struct table *table = NULL;
  int status;
  if (self->trace->is_closed) {
    PyErr_SetString(PyExc_ValueError, "the trace is closed");
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS status = reader_open(&reader, &self->trace->opening, &error);
  if (status == KYMO_OK)
    status = table_new(&table, reader, self->class_name, &error);
  Py_END_ALLOW_THREADS if (status < 0) raise_error(&error);
  return table;
}

static void free_stream_capsule(PyObject *capsule) {
  struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
  if (stream && stream->release)
    stream->release(stream);
  free(stream);
}

static void free_schema_capsule(PyObject *capsule) {
  struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");
  if (schema && schema->release)
    schema->release(schema);
  free(schema);
}

/* Takes the table. */
static PyObject *make_stream(struct table *table, bool warns_damage) {
  struct source *source = calloc(1, sizeof *source);
  struct ArrowArrayStream *stream = calloc(1, sizeof *stream);
  if (!source || !stream) {
    table_free(table);
    free(source);
    free(stream);
    return PyErr_NoMemory();
  }
  *source = (struct source){.table = table, .warns_damage = warns_damage};
  *stream = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, source};
  PyObject *capsule = PyCapsule_New(stream, "arrow_array_stream", free_stream_capsule);
  if (!capsule) {
    release_stream(stream);
    free(stream);
  }
  return capsule;
}

static PyObject *arrow_stream(PyObject *object, PyObject *arguments, PyObject *words) {
  static char *names[] = {"requested_schema", NULL};
  struct arrow *self = (struct arrow *)object;
  PyObject *requested = Py_None; /* the consumer converts: the protocol allows it */
  if (!PyArg_ParseTupleAndKeywords(arguments, words, "|O", names, &requested))
    return NULL;
  struct table *table = open_table(self);
  return table ? make_stream(table, self->trace->warns_damage) : NULL;
}

static PyObject *arrow_schema(PyObject *object, PyObject *unused) {
  struct table *table = open_table((struct arrow *)object);
  struct ArrowSchema *schema = table ? calloc(1, sizeof *schema) : NULL;
  (void)unused;
  if (!table)
    return NULL;
  int status = schema ? column_export_schema(table_columns(table), schema) : ENOMEM;
  table_free(table);
  PyObject *capsule =
      status == 0 ? PyCapsule_New(schema, "arrow_schema", free_schema_capsule) : PyErr_NoMemory();
  if (!capsule) {
    if (schema && schema->release)
      schema->release(schema);
    free(schema);
  }
  return capsule;
}

int arrow_add_type(PyObject *module) {
  static PyMethodDef methods[] = {
      {"__arrow_c_stream__", (PyCFunction)(void (*)(void))arrow_stream, METH_VARARGS | METH_KEYWORDS,
       "A capsule with a stream of Arrow, which reads the trace anew."},
      {"__arrow_c_schema__", arrow_schema, METH_NOARGS, "A capsule with the schema of the columns."},
      {0}};
  static PyType_Slot slots[] = {
      {Py_tp_dealloc, arrow_dealloc},
      {Py_tp_methods, methods},
      {Py_tp_doc, "Events as columns, for every library that reads streams of Arrow."},
      {0}};
  static PyType_Spec spec = {.name = "kymo.ArrowTable",
                             .basicsize = sizeof(struct arrow),
                             .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                             .slots = slots};
  return add_type(module, "ArrowTable", &spec, &known.arrow_type);
}
