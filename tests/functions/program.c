/* SPDX-License-Identifier: MIT */
/* A program compiled with -finstrument-functions: its own functions, those of a library that it opens twice,
 * and those of the library that is loaded in its place. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int inner(int n);
int outer(int n);

__attribute__((noinline)) int inner(int n) { return n + 1; }
__attribute__((noinline)) int outer(int n) { return inner(n) * 2; }

static void call(const char *library, const char *function) __attribute__((no_instrument_function));
static void call(const char *library, const char *function) {
  void *handle = dlopen(library, RTLD_NOW);
  int (*f)(int) = handle ? (int (*)(int))dlsym(handle, function) : NULL;
  if (!f || f(20) != 42) {
    fprintf(stderr, "%s\n", handle ? function : dlerror());
    exit(1);
  }
  dlclose(handle);
}

int main(int argc, char **argv) {
  int sum = outer(20);
  for (int i = 1; i + 1 < argc; i += 2)
    call(argv[i], argv[i + 1]);
  return sum == 42 ? 0 : 1;
}
