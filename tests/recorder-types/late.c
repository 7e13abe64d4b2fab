/* SPDX-License-Identifier: MIT */
/* Loads a library with its own types after tracing has begun. */
#include <dlfcn.h>
#include <kymo/trace.h>

struct entry {
  int early;
};
KYMO_STRUCT_TYPE(struct entry, early)

int main(int argc, char **argv) {
  struct entry entry = {1};
  KYMO(late, before, KYMO_STRUCT(entry, struct entry, &entry));
  void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  void (*run)(void) = library ? (void (*)(void))dlsym(library, "plugin_run") : NULL;
  if (!run)
    return 3;
  run();
  dlclose(library);
  KYMO(late, after, KYMO_STRUCT(entry, struct entry, &entry));
  return 0;
}
