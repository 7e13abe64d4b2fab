/* SPDX-License-Identifier: MIT */
#include "trace/library.h"
#include "base/fail.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

int kymo_library_load(const char *name, const struct kymo_library_function *functions, size_t count,
                      struct kymo_error *error) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  bool is_loaded = library;
  for (size_t i = 0; i < count && is_loaded; i++) {
    void *function = dlsym(library, functions[i].name);
    memcpy(functions[i].place, &function, sizeof function);
    is_loaded = function;
  }
  const char *why = is_loaded ? NULL : dlerror();
  return is_loaded ? KYMO_OK
                   : kymo_fail(error, KYMO_E_SYSTEM, "%s cannot be loaded: %s", name,
                               why ? why : "for no known reason");
}
