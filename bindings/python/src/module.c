/* SPDX-License-Identifier: MIT */
/* The module kymo._kymo: types, and errors of libkymo as exceptions. */
#include "kymo_python.h"
#include <dlfcn.h>

struct known known;

static PyObject *text_of(const char *text) {
  return PyUnicode_Decode(text, (Py_ssize_t)strlen(text), "utf-8", "replace");
}

PyObject *raise_error(const struct kymo_error *error) {
  char text[2048];
  if (error->code == KYMO_E_MEMORY)
    return PyErr_NoMemory();
  PyObject *whole = text_of(kymo_error_text(error, text, sizeof text));
  PyObject *message = text_of(error->message), *file = PyUnicode_DecodeFSDefault(error->file), *made = NULL;
  PyObject *offset =
      error->offset == KYMO_ERROR_NO_OFFSET ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(error->offset);
  if (whole && message && file && offset)
    made = PyObject_CallFunction(known.error_of, "iOOOOII", error->code, whole, message, file, offset,
                                 (unsigned)error->line, (unsigned)error->column);
  if (made)
    PyErr_SetObject((PyObject *)Py_TYPE(made), made);
  Py_XDECREF(whole);
  Py_XDECREF(message);
  Py_XDECREF(file);
  Py_XDECREF(offset);
  Py_XDECREF(made);
  return NULL;
}

int add_type(PyObject *module, const char *name, PyType_Spec *spec, PyObject **kept) {
  *kept = PyType_FromSpec(spec);
  return *kept ? PyModule_AddObjectRef(module, name, *kept) : -1;
}

/* The error handler of texts, as in all outputs of kymo: U+FFFD for each byte of UTF-8 that is no
 * character, and for each unit of other encodings. It is not written in Python: see values.c. */
static PyObject *replace_bytes(PyObject *module, PyObject *error) {
  Py_ssize_t start, end;
  (void)module;
  if (!PyObject_TypeCheck(error, (PyTypeObject *)PyExc_UnicodeDecodeError)) {
    PyErr_SetString(PyExc_TypeError, "kymo.replace is for decoding");
    return NULL;
  }
  if (PyUnicodeDecodeError_GetStart(error, &start) < 0 || PyUnicodeDecodeError_GetEnd(error, &end) < 0)
    return NULL;
  PyObject *encoding = PyUnicodeDecodeError_GetEncoding(error), *made = NULL;
  if (!encoding)
    return NULL;
  Py_ssize_t count = PyUnicode_CompareWithASCIIString(encoding, "utf-8") == 0 ? end - start : 1;
  PyObject *sign = PyUnicode_FromOrdinal(0xFFFD), *signs = sign ? PySequence_Repeat(sign, count) : NULL;
  if (signs)
    made = Py_BuildValue("On", signs, end);
  Py_DECREF(encoding);
  Py_XDECREF(sign);
  Py_XDECREF(signs);
  return made;
}

/* What the package defines in Python. */
static int import_known(void) {
  PyObject *types = PyImport_ImportModule("kymo._types");
  const struct {
    const char *name;
    PyObject **kept;
  } wanted[] = {{"Error", &known.error_type},
                {"_error_of", &known.error_of},
                {"DamagedPlace", &known.place_of},
                {"_damage_of", &known.damage_of},
                {"DamageWarning", &known.damage_warning},
                {"Loss", &known.loss_of},
                {"_loss_text", &known.loss_text},
                {"LossWarning", &known.loss_warning},
                {"Enum", &known.enum_type},
                {"Flags", &known.flags_type},
                {"EventClass", &known.class_of},
                {"Stream", &known.stream_of},
                {"Part", &known.part_of},
                {"to_datetime", &known.datetime_of}};
  for (size_t i = 0; types && i < sizeof wanted / sizeof *wanted; i++)
    if (!(*wanted[i].kept = PyObject_GetAttrString(types, wanted[i].name)))
      Py_CLEAR(types);
  Py_XDECREF(types);
  return types ? 0 : -1;
}

static int register_handler(PyObject *module) {
  PyObject *handler = PyObject_GetAttrString(module, "_replace_bytes");
  int status = handler ? PyCodec_RegisterError("kymo.replace", handler) : -1;
  Py_XDECREF(handler);
  return status;
}

/* The file that libkymo was loaded from: libkymo-sqlite is beside it. */
static int add_library(PyObject *module) {
  Dl_info info;
  bool is_known = dladdr((void *)(uintptr_t)kymo_version, &info) != 0 && info.dli_fname;
  PyObject *path = PyUnicode_DecodeFSDefault(is_known ? info.dli_fname : "");
  int status = path ? PyModule_AddObjectRef(module, "library", path) : -1;
  Py_XDECREF(path);
  return status;
}

static PyMethodDef functions[] = {
    {"_replace_bytes", replace_bytes, METH_O, "The error handler kymo.replace."}, {0}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "kymo._kymo",
                                        .m_doc = "The part of the package kymo that is written in C.",
                                        .m_size = -1, /* its objects are known once in a process */
                                        .m_methods = functions};

PyMODINIT_FUNC PyInit__kymo(void);
PyMODINIT_FUNC PyInit__kymo(void) {
  PyObject *module = PyModule_Create(&definition);
  if (module && import_known() == 0 && register_handler(module) == 0 && trace_add_type(module) == 0 &&
      events_add_type(module) == 0 && event_add_type(module) == 0 && arrow_add_type(module) == 0 &&
      add_library(module) == 0 && PyModule_AddStringConstant(module, "version", kymo_version()) == 0)
    return module;
  Py_XDECREF(module);
  return NULL;
}
