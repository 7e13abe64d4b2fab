/* SPDX-License-Identifier: MIT */
/* plugins ROUNDS LIBRARY...: loads each, has it record, unloads it, again and again; then saves to
 * ./saved. */
#include <dlfcn.h>
#include <kymo/trace.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int rounds = argc > 2 ? (int)strtol(argv[1], NULL, 0) : 0;
  for (int round = 0; round < rounds; round++)
    for (int i = 2; i < argc; i++) {
      void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
      void (*run)(int) = library ? (void (*)(int))dlsym(library, "plugin_run") : NULL;
      if (!run)
        return fprintf(stderr, "%s\n", dlerror()), 2;
      run(round);
      KYMO(host, between, round);
      if (dlclose(library) || dlopen(argv[i], RTLD_NOW | RTLD_NOLOAD))
        return fprintf(stderr, "%s stays\n", argv[i]), 2;
    }
  return kymo_rings_save("saved") ? 3 : 0;
}
