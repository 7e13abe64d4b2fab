/* SPDX-License-Identifier: MIT */
/* Logs with the bytes of several threads, handlers, processes: program CASE NAME. run.sh checks the
 * files. */
#include <errno.h>
#include <kymo/bprintf.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, EVENTS = 20000 };

static struct kymo_log *log;
static struct kymo_log_options options = {0};

static void open_stream(const char *name) {
  log = kymo_log_open(name, &options);
  if (!log) {
    perror(name);
    exit(1);
  }
}

static void close_stream(void) {
  struct kymo_log_counts counts;
  kymo_log_count(log, &counts);
  int status = kymo_log_close(log);
  printf("truncated %llu lost %llu errors %llu%s\n", (unsigned long long)counts.truncated,
         (unsigned long long)counts.lost, (unsigned long long)counts.write_errors,
         status ? " close failed" : "");
}

/* "w" who, number, length of the text, the text: who and number of every event are seen again. */
static bool try_one(uint32_t who, uint32_t number) {
  static const char text[] = "abcdefghijklmnopqrstuvwxyz";
  return kymo_bprintf(log, "w%4b%4b%1n%0s", who, number, text + number % 27) > 0;
}
static void write_one(uint32_t who, uint32_t number) {
  if (!try_one(who, number))
    exit(3);
}

static void *work(void *who) {
  for (uint32_t i = 0; i < EVENTS; i++)
    write_one((uint32_t)(uintptr_t)who, i);
  return NULL;
}

static void in_threads(void) {
  pthread_t thread[THREADS];
  for (uintptr_t i = 0; i < THREADS; i++)
    pthread_create(&thread[i], NULL, work, (void *)i);
  for (int i = 0; i < THREADS; i++)
    pthread_join(thread[i], NULL);
}

static uint32_t whose;
static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_passed = PTHREAD_COND_INITIALIZER;

static void *work_in_turn(void *who) {
  uint32_t own = (uint32_t)(uintptr_t)who;
  pthread_mutex_lock(&turn_lock);
  for (uint32_t i = 0; i < EVENTS / 8; i++) {
    while (whose != own)
      pthread_cond_wait(&turn_passed, &turn_lock);
    write_one(own, i);
    whose = (own + 1) % THREADS;
    pthread_cond_broadcast(&turn_passed);
  }
  pthread_mutex_unlock(&turn_lock);
  return NULL;
}

/* A file of each thread, with every fourth number. */
static void in_turn(void) {
  pthread_t thread[THREADS];
  for (uintptr_t i = 0; i < THREADS; i++)
    pthread_create(&thread[i], NULL, work_in_turn, (void *)i);
  for (int i = 0; i < THREADS; i++)
    pthread_join(thread[i], NULL);
}

/* ---- handlers ---- */

static volatile uint32_t handled;
static void handle(int number) {
  (void)number;
  int before = errno;
  if (kymo_bprintf(log, "w%4b%4b%1n%0s", 100u, handled, "handler") > 0)
    handled = handled + 1;
  errno = before;
}

static void under_signals(void) {
  struct itimerval every = {{0, 50}, {0, 50}};
  signal(SIGALRM, handle);
  setitimer(ITIMER_REAL, &every, NULL);
  for (uint32_t i = 0; i < EVENTS || handled < 200; i++)
    write_one(0, i);
  every.it_interval.tv_usec = every.it_value.tv_usec = 0;
  setitimer(ITIMER_REAL, &every, NULL);
}

/* ---- sizes ---- */

static void of_all_sizes(void) {
  char *text = malloc(400000);
  if (!text)
    exit(1);
  static const size_t sizes[] = {0, 1, 100, 4000, 4096, 5000, 65535, 65536, 70000, 300000, 10};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    memset(text, 'a' + (int)i, sizes[i]);
    text[sizes[i]] = 0;
    if (kymo_bprintf(log, "%<4n%s", text) != (int)sizes[i] + 4)
      exit(3);
  }
  free(text);
}

/* ---- processes ---- */

static void in_a_child(void) {
  write_one(0, 0);
  if (!fork()) {
    for (uint32_t i = 0; i < 200; i++)
      write_one(1, i);
    struct kymo_log_counts counts;
    kymo_log_count(log, &counts);
    fprintf(stderr, "child: %llu bytes\n", (unsigned long long)counts.bytes);
    exit(options.is_memory && kymo_log_save(log, "log"));
  }
  write_one(0, 1);
  wait(NULL);
}

static void without_room(void) {
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &(struct rlimit){10000, 10000});
  for (uint32_t i = 0; i < 1000; i++)
    write_one(0, i);
}

static void text_and_binary(void) {
  for (uint32_t i = 0; i < 3; i++) {
    write_one(0, i);
    kymo_log_printf(log, "line %u\n", i);
  }
}

static void switched(void) {
  char line[16];
  puts("ready");
  fflush(stdout);
  for (uint32_t i = 0; fgets(line, sizeof line, stdin); i++) {
    printf("%d\n", kymo_bprintf(log, "%1b", i));
    fflush(stdout);
  }
}

/* What handlers do, without chance: events while another one of the thread is in work. */
static void within_an_event(void) {
  static const unsigned char event[11] = {'w', 0, 0, 0, 0, 0, 0, 0, 0, sizeof event, 0};
  struct kymo_log_counts counts;
  write_one(0, 0);
  struct kymo_bplace_ place = kymo_breserve_(log, sizeof event, 0);
  memcpy(place.at, event, sizeof event);
  place.at[5] = 26; /* of which nothing is left of the text */
  unsigned stored = 0, lost = 0;
  for (uint32_t i = 0; i < 20; i++)
    if (try_one(1, stored))
      stored++;
    else
      lost++;
  kymo_bcommit_(place, place.at + sizeof event);
  kymo_log_count(log, &counts);
  fprintf(stderr, "stored %u\n", stored);
  if (counts.lost != lost)
    exit(4);
}

static void on_the_console(void) {
  kymo_console_print("%d of %d", 1, 2);
  kymo_console_warning("little room");
  kymo_console_error("none");
  write_one(0, 0);
}

static void from_others_meanwhile(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  for (int i = 0; i < 200; i++)
    if (kymo_log_flush(log))
      exit(3);
  pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } cases[] = {
      {"threads", in_threads},     {"signals", under_signals},  {"sizes", of_all_sizes},
      {"fork", in_a_child},        {"full", without_room},      {"text", text_and_binary},
      {"switched", switched},      {"console", on_the_console}, {"flushed", from_others_meanwhile},
      {"within", within_an_event}, {"turns", in_turn},
  };
  for (int i = 3; i < argc; i++) {
    if (!strcmp(argv[i], "framed"))
      options.is_framed = true;
    if (!strcmp(argv[i], "cpu"))
      options.files = KYMO_FILES_PER_CPU;
    if (!strcmp(argv[i], "small"))
      options.packet_bytes = 4096;
    if (!strcmp(argv[i], "tiny"))
      options.packet_bytes = 256;
    if (!strcmp(argv[i], "memory"))
      options.is_memory = true, options.packets = 4;
    if (!strcmp(argv[i], "apart"))
      options.has_text_apart = true;
    if (!strcmp(argv[i], "rotate"))
      options.rotate_bytes = 100000, options.rotate_count = 3;
  }
  for (size_t i = 0; argc > 2 && i < sizeof cases / sizeof *cases; i++)
    if (!strcmp(argv[1], cases[i].name)) {
      open_stream(argv[2]);
      cases[i].run();
      if (options.is_memory && kymo_log_save(log, argv[2]))
        return 3;
      close_stream();
      return 0;
    }
  return 2;
}
