/* SPDX-License-Identifier: MIT */
/* Logs whose events are defined in them: program CASE NAME. run.sh compares the output of a reader that has
 * no other description. */
#include <errno.h>
#include <kymo/define.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct kymo_log *log;
static struct kymo_log_options options = {.is_framed = true};

static void die(const char *what) {
  perror(what);
  exit(1);
}

static void open_stream(const char *name) {
  log = kymo_log_open(name, &options);
  if (!log)
    die(name);
}

struct field {
  const char *name;
  uint32_t what;
};

static struct kymo_definition *define(const char *name, const struct kymo_definition_options *with,
                                      const struct field *fields) {
  struct kymo_definition *definition = kymo_definition_new(log, name, with);
  for (; definition && fields->name; fields++)
    if (kymo_definition_add_field(definition, fields->name, fields->what))
      die(fields->name);
  if (!definition)
    die(name);
  return definition;
}

#define STORE(...)                               \
  do {                                           \
    if (kymo_definition_printf(__VA_ARGS__) < 0) \
      die("kymo_definition_printf");             \
  } while (0)

/* The same with a vector: compilers take long for this number of arguments. */
#define ARGUMENT(ID, i, previous, x) KYMO_BARG(x),
#define STORE_MANY(definition, format, ...)                                                   \
  do {                                                                                        \
    const struct kymo_barg args_[] = {KYMO_LIST_(ARGUMENT, 0, __VA_ARGS__)};                  \
    if (kymo_definition_vprintf(definition, format, args_, sizeof args_ / sizeof *args_) < 0) \
      die("kymo_definition_vprintf");                                                         \
  } while (0)

/* ---- a tracer of system calls ---- */

#define PROCESS                                                                       \
  {"id", KYMO_FIELD_ID}, {"timeval", KYMO_FIELD_TIMEVAL}, {"tgid", KYMO_FIELD_INT32}, \
      {"parent pid", KYMO_FIELD_INT32}, {                                             \
    "pid", KYMO_FIELD_INT32                                                           \
  }
static struct kymo_definition *read_event, *open_event;

static void define_calls(void) {
  static const struct field of_read[] = {
      PROCESS, {"name", KYMO_FIELD_TEXT}, {"fd", KYMO_FIELD_INT32}, {"count", KYMO_FIELD_UINT64}, {0}};
  static const struct field of_open[] = {
      PROCESS, {"filename", KYMO_FIELD_COUNTED_TEXT(2)}, {"execname", KYMO_FIELD_TEXT}, {0}};
  read_event = define("read", NULL, of_read);
  open_event = define("open", NULL, of_open);
}

static void run_on(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one))
    exit(77);
}

struct call {
  int cpu;
  unsigned second, microsecond;
  int tgid, parent, fd;
  uint64_t count;
  const char *filename, *execname;
};

static void calls(void) {
  static const struct call all[] = {{0, 1142896381, 115226, 13495, 13408, 3, 8192, NULL, NULL},
                                    {0, 1142896381, 115233, 13495, 13408, 3, 8192, NULL, NULL},
                                    {0, 1142896381, 875678, 2739, 2256, 0, 0, "/dev/hdc", "hald-addon-stor"},
                                    {0, 1142896383, 876070, 3532, 3529, 3, 16384, NULL, NULL},
                                    {1, 1142896383, 876199, 13495, 13408, 3, 8192, NULL, NULL},
                                    {1, 1142896383, 876201, 13495, 13408, -1, 0, NULL, NULL},
                                    {0, 1142896383, 879811, 2739, 2256, 0, 0, "/dev/hdc", "hald-addon-stor"},
                                    {0, 1142896383, 879900, 2739, 2256, 0, 0, "", ""}};
  define_calls();
  for (const struct call *one = all; one < all + sizeof all / sizeof *all; one++) {
    run_on(one->cpu);
    if (one->filename)
      STORE(open_event, "%8b%4b%4b*3%2S%0s", one->second, one->microsecond, one->tgid, one->parent, one->tgid,
            one->filename, one->execname);
    else
      STORE(read_event, "%8b%4b%4b*3%0s%4b%8b", one->second, one->microsecond, one->tgid, one->parent,
            one->tgid, "read", one->fd, one->count);
  }
}

/* ---- every kind of field ---- */

static void kinds(void) {
  static const struct field of_numbers[] = {{"int8", KYMO_FIELD_INT8},
                                            {"int16", KYMO_FIELD_INT16},
                                            {"int32", KYMO_FIELD_INT32},
                                            {"int64", KYMO_FIELD_INT64},
                                            {"uint8", KYMO_FIELD_UINT8},
                                            {"uint16", KYMO_FIELD_UINT16},
                                            {"uint32", KYMO_FIELD_UINT32},
                                            {"uint64", KYMO_FIELD_UINT64},
                                            {"length", KYMO_FIELD_UINT16},
                                            {"character", KYMO_FIELD_UINT8},
                                            {"hex", KYMO_FIELD_UINT32 | KYMO_FIELD_HEX},
                                            {"little", KYMO_FIELD_INT32 | KYMO_FIELD_LITTLE},
                                            {"big", KYMO_FIELD_INT32 | KYMO_FIELD_BIG},
                                            {"float", KYMO_FIELD_FLOAT},
                                            {"double", KYMO_FIELD_DOUBLE},
                                            {"nanoseconds", KYMO_FIELD_TIME},
                                            {"timeval", KYMO_FIELD_TIMEVAL32 | KYMO_FIELD_BIG},
                                            {0}};
  static const struct field of_bytes[] = {{"text", KYMO_FIELD_TEXT},
                                          {"counted1", KYMO_FIELD_COUNTED_TEXT(1)},
                                          {"counted2", KYMO_FIELD_COUNTED_TEXT(2) | KYMO_FIELD_BIG},
                                          {"counted4", KYMO_FIELD_COUNTED_TEXT(4) | KYMO_FIELD_LITTLE},
                                          {"object", KYMO_FIELD_OBJECT(4)},
                                          {"array2", KYMO_FIELD_ARRAY(1, 2)},
                                          {"array4", KYMO_FIELD_ARRAY(2, 4) | KYMO_FIELD_HEX},
                                          {"array8", KYMO_FIELD_ARRAY(4, 8)},
                                          {"memory", KYMO_FIELD_MEMORY(3)},
                                          {"digits", KYMO_FIELD_CHARS(6)},
                                          {"chars", KYMO_FIELD_CHARS(8)},
                                          {0}};
  const uint16_t two[] = {1, 65535};
  const uint32_t four[] = {0xdeadbeef};
  const uint64_t eight[] = {UINT64_MAX, 0, 1};
  const float single = 0.1f;
  const double number = -1e300;
  struct kymo_definition *numbers = define("numbers", NULL, of_numbers),
                         *bytes = define("bytes", NULL, of_bytes);
  STORE_MANY(numbers, "%1b%2b%4b%8b%1b%2b%4b%8b%n%c%4b%<4b%>4b%.4m%.8m%8b%>4b*2", -1, -2, -3, -4, 255, 65535,
             UINT32_MAX, UINT64_MAX, 'A', 0xbeef, -5, -6, (const void *)&single, (const void *)&number,
             UINT64_C(1142896381115226000), 1142896381, 500000);
  STORE_MANY(bytes, "%0s%1S%>2S%<4S%o%1.2o%2.4o%4.8o%.3m%.3M%.8m", "a \"text\"\n", "one", "two", "four",
             (const void *)"\1\2\xff", 3, (const void *)two, 2, (const void *)four, 1, (const void *)eight, 3,
             (const void *)"abc", (const void *)"\x12\x34\xab", (const void *)"chars\0\0\0");
  STORE_MANY(bytes, "%0s%1S%>2S%<4S%o%1.2o%2.4o%4.8o%.3m%.3M%.8m", "", "", "", "", (const void *)"", 0,
             (const void *)two, 0, (const void *)four, 0, (const void *)eight, 0, (const void *)"\0\0\0",
             (const void *)"\0\0\0", (const void *)"12345678");
}

/* ---- applications, versions, templates ---- */

static void versions(void) {
  static const struct field old[] = {{"fd", KYMO_FIELD_INT16}, {0}};
  static const struct field new[] = {{"fd", KYMO_FIELD_INT32}, {"path", KYMO_FIELD_TEXT}, {0}};
  static const struct field other[] = {
      {"id", KYMO_FIELD_ID}, {"what", KYMO_FIELD_TEXT}, {"took", KYMO_FIELD_DOUBLE}, {0}};
  struct kymo_definition_options one = {.id = 7, .application = 1, .version = 1}, two = one, third = one;
  two.version = 2;
  third.application = 65535;
  third.version = 65535;
  third.template_text = "event %u: %10s took %.2f s\n";
  struct kymo_definition *a = define("read", &one, old), *b = define("read", &two, new),
                         *c = define("app:work", &third, other);
  const double seconds = 1.25;
  STORE(a, "%2b", 3);
  STORE(b, "%4b%0s", 70000, "/tmp/x");
  STORE(c, "%0s%.8m", "sorting", (const void *)&seconds);
  STORE(a, "%2b", 4);
}

/* ---- files, memory, children ---- */

static void many(unsigned count) {
  static const struct field fields[] = {{"number", KYMO_FIELD_UINT32}, {"text", KYMO_FIELD_TEXT}, {0}};
  struct kymo_definition *even = define("even", NULL, fields), *odd = define("odd", NULL, fields);
  for (uint32_t i = 0; i < count; i++)
    STORE(i % 2 ? odd : even, "%4b%0s", i, "abcdefghijklmnop");
}

/* Each is defined when others are in the file already, in another thread's file as well. */
static void late(void) {
  static const struct field fields[] = {{"number", KYMO_FIELD_UINT32}, {0}};
  for (uint32_t i = 0; i < 5; i++) {
    char name[16];
    snprintf(name, sizeof name, "event%u", i);
    struct kymo_definition *definition = define(name, NULL, fields);
    STORE(definition, "%4b", i);
    if (kymo_log_flush(log))
      die("kymo_log_flush");
  }
}

/* Continues when a following reader has seen the first event, and has made a file for it. */
static void followed(void) {
  many(1);
  if (kymo_log_flush(log))
    die("kymo_log_flush");
  for (int i = 0; access("go", F_OK) && i < 6000; i++)
    usleep(10000);
  late();
}

static pthread_barrier_t all_are_here; /* so each thread has its own file */

static void *define_and_store(void *who) {
  static const struct field fields[] = {{"who", KYMO_FIELD_UINT32}, {"number", KYMO_FIELD_UINT32}, {0}};
  char name[16];
  snprintf(name, sizeof name, "of%u", (unsigned)(uintptr_t)who);
  struct kymo_definition *definition = define(name, NULL, fields);
  STORE(definition, "%4b%4b", (uintptr_t)who, 0);
  pthread_barrier_wait(&all_are_here);
  for (uint32_t i = 1; i < 5000; i++)
    STORE(definition, "%4b%4b", (uintptr_t)who, i);
  return NULL;
}

static void threads(void) {
  pthread_t all[4];
  pthread_barrier_init(&all_are_here, NULL, 4);
  for (uintptr_t i = 0; i < 4; i++)
    pthread_create(&all[i], NULL, define_and_store, (void *)i);
  for (int i = 0; i < 4; i++)
    pthread_join(all[i], NULL);
}

static void child(void) {
  many(2);
  pid_t pid = fork();
  if (pid == 0) {
    static const struct field fields[] = {{"text", KYMO_FIELD_TEXT}, {0}};
    struct kymo_definition *definition = define("of the child", NULL, fields);
    STORE(definition, "%0s", "here");
    exit(kymo_log_close(log) ? 1 : 0);
  }
  int status;
  if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
    die("child");
}

/* Beside events without a definition, and text. */
static void mixed(void) {
  many(1);
  if (kymo_bprintf(log, "%2b", 0x1234) != 2 || kymo_log_printf(log, "a text %d", 5) < 0)
    die("kymo_bprintf");
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  const char *what = argv[1];
  if (!strcmp(what, "calls"))
    options.files = KYMO_FILES_PER_CPU;
  if (!strcmp(what, "rotate"))
    options.packet_bytes = 512, options.rotate_bytes = 2048;
  if (!strcmp(what, "memory"))
    options.is_memory = true, options.packet_bytes = 4096, options.packets = 3;
  open_stream(argv[2]);
  if (!strcmp(what, "calls"))
    calls();
  else if (!strcmp(what, "kinds"))
    kinds();
  else if (!strcmp(what, "versions"))
    versions();
  else if (!strcmp(what, "rotate"))
    many(300);
  else if (!strcmp(what, "memory"))
    many(2000);
  else if (!strcmp(what, "late"))
    late();
  else if (!strcmp(what, "followed"))
    followed();
  else if (!strcmp(what, "threads"))
    threads();
  else if (!strcmp(what, "child"))
    child();
  else if (!strcmp(what, "mixed"))
    mixed();
  else
    return 2;
  if (options.is_memory && kymo_log_save(log, argv[2]))
    die("kymo_log_save");
  return kymo_log_close(log) != 0;
}
