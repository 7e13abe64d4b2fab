/* SPDX-License-Identifier: MIT */
/*
 * Values of fields as objects of Python. What depends on the type alone, the keys of dicts and the objects of
 * enumerations, is made once for each type of a pass.
 *
 * While an event is decoded, no code in Python runs, and no garbage is collected, since its finalisers are
 * such code: it could move or close the pass, or let another thread do it. So decoding is one step under
 * the interpreter's lock.
 */
#include "kymo_python.h"
#include <string.h>

/* Values of an enumeration are remembered up to this number; more are made anew each time. */
#define LABELS_MAX 4096

struct value_type {
  PyObject *keys;   /* a tuple; or NULL */
  PyObject *labels; /* value: object; or NULL */
};

void value_type_free(void *memory) {
  struct value_type *known_type = memory;
  Py_XDECREF(known_type->keys);
  Py_XDECREF(known_type->labels);
  free(known_type);
}

static struct value_type *type_of(struct events *events, const struct kymo_type *type) {
  struct value_type *found = map_get(&events->types, type);
  if (found)
    return found;
  found = calloc(1, sizeof *found);
  if (!found || !map_add(&events->types, type, found)) {
    free(found);
    PyErr_NoMemory();
    return NULL;
  }
  return found;
}

/* ---- texts ---- */

PyObject *value_text(const void *bytes, uint64_t count, enum kymo_encoding encoding) {
  const char *text = count ? bytes : "";
  Py_ssize_t length = (Py_ssize_t)count;
  switch (encoding) {
  case KYMO_ENCODING_UTF16LE: return PyUnicode_Decode(text, length, "utf-16-le", "kymo.replace");
  case KYMO_ENCODING_UTF16BE: return PyUnicode_Decode(text, length, "utf-16-be", "kymo.replace");
  case KYMO_ENCODING_UTF32LE: return PyUnicode_Decode(text, length, "utf-32-le", "kymo.replace");
  case KYMO_ENCODING_UTF32BE: return PyUnicode_Decode(text, length, "utf-32-be", "kymo.replace");
  default: return PyUnicode_DecodeUTF8(text, length, "kymo.replace");
  }
}

PyObject *value_name(const char *name) {
  if (!name)
    Py_RETURN_NONE;
  return value_text(name, strlen(name), KYMO_ENCODING_UTF8);
}

PyObject *value_keys(const struct kymo_type *type) {
  PyObject *keys = PyTuple_New(type->member_count);
  for (uint32_t i = 0; keys && i < type->member_count; i++) {
    bool is_hidden = reader_is_hidden(type, i);
    char *name = is_hidden ? NULL : reader_member_key(type, i);
    PyObject *key = name || is_hidden ? value_name(name) : PyErr_NoMemory();
    free(name);
    if (key && !is_hidden)
      PyUnicode_InternInPlace(&key);
    if (!key || PyTuple_SetItem(keys, i, key) < 0)
      Py_CLEAR(keys);
  }
  return keys;
}

/* ---- labels ---- */

/* Appends a name. Takes `name`. */
static bool append(PyObject *list, PyObject *name) {
  bool ok = name && PyList_Append(list, name) == 0;
  Py_XDECREF(name);
  return ok;
}

static bool holds(const struct kymo_type *type, uint64_t low, uint64_t high, uint64_t value) {
  if (type->is_signed)
    return (int64_t)low <= (int64_t)value && (int64_t)value <= (int64_t)high;
  return low <= value && value <= high;
}

/* All names of a value of an enumeration; ranges of one name follow one another. */
static bool add_names(PyObject *list, const struct kymo_type *type, uint64_t value) {
  const char *last = NULL;
  for (uint32_t i = 0; i < type->mapping_count; i++) {
    uint64_t low, high;
    const char *name = kymo_mapping_get(type->mappings, i, &low, &high);
    if (!holds(type, low, high, value) || (last && strcmp(last, name) == 0))
      continue;
    if (!append(list, value_name(name)))
      return false;
    last = name;
  }
  return true;
}

/* Bits `low` to `high`; bit numbers above 63 are about zeros (kymo_mapping_get). */
static uint64_t bits_of(uint64_t low, uint64_t high) {
  if (low > 63)
    return 0;
  return UINT64_MAX >> (63 - (high > 63 ? 63 : high)) & UINT64_MAX << low;
}

/* The bits that a flag of this name has. */
static uint64_t flag_bits(const struct kymo_type *type, const char *flag) {
  uint64_t bits = 0, low, high;
  for (uint32_t i = 0; i < type->mapping_count; i++)
    if (strcmp(kymo_mapping_get(type->mappings, i, &low, &high), flag) == 0)
      bits |= bits_of(low, high);
  return bits;
}

/* The names of the flags that are set; *rest becomes the bits without a name. */
static bool add_flags(PyObject *list, const struct kymo_type *type, uint64_t value, uint64_t *rest) {
  const char *name;
  *rest = value;
  for (uint32_t i = 0; (name = kymo_type_flag_text(type, value, i)); i++) {
    *rest &= ~flag_bits(type, name);
    if (!append(list, value_name(name)))
      return false;
  }
  return true;
}

/* An object of a class that is an int with attributes: no code in Python runs. */
static PyObject *make_label(const struct kymo_type *type, PyObject *number, uint64_t value) {
  bool are_flags = type->kind == KYMO_KIND_BITMAP, ok;
  uint64_t rest = 0;
  PyObject *list = PyList_New(0), *names = NULL, *bits = NULL;
  PyObject *made = PyObject_CallFunctionObjArgs(are_flags ? known.flags_type : known.enum_type, number, NULL);
  ok = made && list && (are_flags ? add_flags(list, type, value, &rest) : add_names(list, type, value));
  ok = ok && (names = PyList_AsTuple(list)) && PyObject_SetAttrString(made, "names", names) == 0;
  if (ok && are_flags)
    ok = (bits = PyLong_FromUnsignedLongLong(rest)) && PyObject_SetAttrString(made, "rest", bits) == 0;
  if (!ok)
    Py_CLEAR(made);
  Py_XDECREF(list);
  Py_XDECREF(names);
  Py_XDECREF(bits);
  return made;
}

/* A number with its names; takes `number`. */
static PyObject *labelled(struct events *events, const struct kymo_type *type, PyObject *number,
                          uint64_t value) {
  struct value_type *found = number ? type_of(events, type) : NULL;
  if (found && !found->labels)
    found->labels = PyDict_New();
  if (!found || !found->labels) {
    Py_XDECREF(number);
    return NULL;
  }
  PyObject *label = Py_XNewRef(PyDict_GetItemWithError(found->labels, number));
  if (!label && !PyErr_Occurred())
    label = make_label(type, number, value);
  if (label && PyDict_Size(found->labels) < LABELS_MAX && PyDict_SetItem(found->labels, number, label) < 0)
    Py_CLEAR(label);
  Py_DECREF(number);
  return label;
}

/* ---- values ---- */

static PyObject *integer(struct events *events, const struct kymo_value *value) {
  const struct kymo_type *type = value->type;
  if (type->kind == KYMO_KIND_BOOLEAN)
    return PyBool_FromLong(value->u != 0);
  PyObject *number = type->is_signed ? PyLong_FromLongLong(value->i) : PyLong_FromUnsignedLongLong(value->u);
  bool has_names = type->is_enumeration || type->mapping_count > 0;
  return has_names ? labelled(events, type, number, value->u) : number;
}

static PyObject *any(struct events *events, enum kymo_token token, const struct kymo_value *value);

static PyObject *fault(void) {
  PyErr_SetString(known.error_type, "the bytes of the event do not fit its type");
  return NULL;
}

/* The rest of a struct, with the names of its type, or of a list, up to its end. */
static bool fill(struct events *events, PyObject *into, PyObject *keys, enum kymo_token end) {
  struct kymo_value value;
  enum kymo_token token;
  for (Py_ssize_t i = 0; (token = kymo_walk_next(events->walk, &value)) != end; i++) {
    PyObject *item = any(events, token, &value), *key = NULL;
    bool ok = item != NULL;
    if (ok && keys)
      ok = (key = PyTuple_GetItem(keys, i)) && (key == Py_None || PyDict_SetItem(into, key, item) == 0);
    else if (ok)
      ok = PyList_Append(into, item) == 0;
    Py_XDECREF(item);
    if (!ok)
      return false;
  }
  return true;
}

static PyObject *keys_of(struct events *events, const struct kymo_type *type) {
  struct value_type *found = type_of(events, type);
  if (found && !found->keys)
    found->keys = value_keys(type);
  return found ? found->keys : NULL;
}

static PyObject *compound(struct events *events, const struct kymo_type *type) {
  bool is_list = type->kind == KYMO_KIND_ARRAY || type->kind == KYMO_KIND_SEQUENCE;
  PyObject *keys = is_list ? NULL : keys_of(events, type), *made = NULL;
  if (is_list || keys)
    made = is_list ? PyList_New(0) : PyDict_New();
  if (made && !fill(events, made, keys, KYMO_TOKEN_END))
    Py_CLEAR(made);
  return made;
}

static PyObject *any(struct events *events, enum kymo_token token, const struct kymo_value *value) {
  switch (token) {
  case KYMO_TOKEN_INTEGER: return integer(events, value);
  case KYMO_TOKEN_FLOAT: return PyFloat_FromDouble(value->f);
  case KYMO_TOKEN_TEXT: return value_text(value->bytes, value->count, value->type->encoding);
  case KYMO_TOKEN_BLOB:
    return PyBytes_FromStringAndSize((const char *)value->bytes, (Py_ssize_t)value->count);
  case KYMO_TOKEN_BEGIN: return compound(events, value->type);
  case KYMO_TOKEN_ABSENT: Py_RETURN_NONE;
  default: return fault();
  }
}

static const struct kymo_type *type_of_scope(const struct kymo_event *event, enum kymo_scope scope) {
  switch (scope) {
  case KYMO_SCOPE_PAYLOAD: return event->class_->payload;
  case KYMO_SCOPE_SPECIFIC_CONTEXT: return event->class_->specific_context;
  case KYMO_SCOPE_COMMON_CONTEXT: return event->class_->stream->common_context;
  default: return NULL;
  }
}

PyObject *value_of_scope(struct events *events, const struct kymo_event *event, enum kymo_scope scope) {
  const struct kymo_type *type = type_of_scope(event, scope);
  int collects = PyGC_Disable();
  PyObject *made = PyDict_New(), *keys = made && type ? keys_of(events, type) : NULL;
  bool ok = made && (!type || keys);
  if (ok && type && kymo_walk_begin(events->walk, event, scope))
    ok = fill(events, made, keys, KYMO_TOKEN_DONE);
  if (!ok)
    Py_CLEAR(made);
  if (collects)
    PyGC_Enable();
  return made;
}
