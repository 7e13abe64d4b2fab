/* SPDX-License-Identifier: MIT */
/*
 * switches PLUGIN: checks the functions that switch tracepoints against their documentation; PLUGIN has a
 * tracepoint plugin:here. switches PLUGIN storm: several threads switch, record, load and unload at once, for
 * a while.
 */
#include <dlfcn.h>
#include <errno.h>
#include <kymo/trace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int failures;
#define CHECK(what)                                                                       \
  do {                                                                                    \
    errno = 0;                                                                            \
    if (!(what))                                                                          \
      failures++, fprintf(stderr, "%s:%d: not so: %s (%m)\n", __FILE__, __LINE__, #what); \
  } while (0)

static void record(void) {
  static int evaluated;
  KYMO(sw, one, evaluated++);
  KYMO(sw, two, evaluated++);
  KYMO(other, one, evaluated++);
}

static void check_functions(const char *plugin) {
  CHECK(kymo_tracepoint_is_enabled("sw:one") == 0);
  CHECK(kymo_tracepoint_is_enabled("no:such") == -1 && errno == ENOENT);
  CHECK(kymo_tracepoint_is_enabled(NULL) == -1 && errno == ENOENT);
  CHECK(kymo_tracepoint_lookup("sw:one") &&
        kymo_tracepoint_lookup("sw:one") != kymo_tracepoint_lookup("sw:two") &&
        !kymo_tracepoint_lookup("no:such"));
  CHECK(kymo_rings_save("nothing") == -1 && errno == ENODATA);
  CHECK(kymo_tracepoint_enable("sw") == 2 && kymo_tracepoint_is_enabled("sw:one") == 1 &&
        kymo_tracepoint_is_enabled("other:one") == 0);
  CHECK(kymo_tracepoint_lookup("sw:one")->enabled == 1);
  CHECK(kymo_tracepoint_disable("sw:two") == 1 && kymo_tracepoint_is_enabled("sw:two") == 0);
  record();
  CHECK(kymo_tracepoint_enable("re:(") == -1 && errno == EINVAL);
  CHECK(kymo_tracepoint_enable(NULL) == -1 && errno == EINVAL);
  CHECK(kymo_tracepoint_enable("no:such") == 0);
  CHECK(kymo_tracepoint_is_enabled("sw:one") == 1);
  CHECK(kymo_mode_set(KYMO_DISCARD) == 0 && kymo_mode_set((enum kymo_mode)7) == -1 && errno == EINVAL);
  CHECK(kymo_rings_save("saved") == 0);
  CHECK(kymo_tracepoint_enable("plugin:*") == 0);
  void *library = dlopen(plugin, RTLD_NOW);
  CHECK(library && kymo_tracepoint_is_enabled("plugin:here") == 1);
  CHECK(kymo_tracepoint_disable("*") == 4 && kymo_tracepoint_is_enabled("plugin:here") == 0);
  CHECK(!dlclose(library) && kymo_tracepoint_is_enabled("plugin:here") == -1);
}

static int done;
static void *switch_all_the_time(void *unused) {
  static const char *const patterns[] = {"sw:*", "sw:one,other", "*", "re:one$", "!sw:two"};
  for (unsigned i = 0; i < 300; i++)
    if (kymo_tracepoint_enable(patterns[i % 5]) < 0 || kymo_tracepoint_disable(patterns[i % 3]) < 0 ||
        kymo_tracepoint_is_enabled("sw:one") < 0)
      failures++;
  return unused;
}
static void *record_all_the_time(void *unused) {
  while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
    record();
  return unused;
}
static void *load_all_the_time(void *plugin) {
  while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
    void *library = dlopen(plugin, RTLD_NOW);
    void (*here)(void) = library ? (void (*)(void))dlsym(library, "plugin_run") : NULL;
    if (!here)
      return failures++, NULL;
    here();
    dlclose(library);
  }
  return NULL;
}

static void storm(char *plugin) {
  pthread_t switching[4], other[5];
  for (int i = 0; i < 4; i++)
    pthread_create(&other[i], NULL, record_all_the_time, NULL);
  pthread_create(&other[4], NULL, load_all_the_time, plugin);
  for (int i = 0; i < 4; i++)
    pthread_create(&switching[i], NULL, switch_all_the_time, NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(switching[i], NULL);
  __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < 5; i++)
    pthread_join(other[i], NULL);
  CHECK(kymo_tracepoint_enable("sw") == 2);
  record();
  CHECK(kymo_rings_save("stormy") == 0);
}

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  if (argc > 2)
    storm(argv[1]);
  else
    check_functions(argv[1]);
  return failures != 0;
}
