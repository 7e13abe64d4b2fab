/* SPDX-License-Identifier: MIT */
/* Loads the library in the argument three times, and unloads it. */
#include <dlfcn.h>
#include <kymo/trace.h>

int main(int argc, char **argv) {
  kymo_thread_init(); /* the recorder is the program's and stays */
  for (int i = 0; argc == 2 && i < 3; i++) {
    void *library = dlopen(argv[1], RTLD_NOW);
    if (!library)
      return 2;
    void (*plugged)(int) = (void (*)(int))dlsym(library, "plugged");
    plugged(i);
    plugged(i);
    dlclose(library);
  }
  return 0;
}
