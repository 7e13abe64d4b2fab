/* SPDX-License-Identifier: MIT */
/*
 * Four spans whose reasons are known: sleeping, waiting for a lock, writing a file to the disk, and competing
 * for a CPU with a thread that spins. Prints for each what the kernel's own accounts say of the thread: wall,
 * on a CPU, and waiting for one, and what the host took from all CPUs, in nanoseconds.
 */
#include <fcntl.h>
#include <kymo/trace.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_bool is_over;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_held;

static long long now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void sleep_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

struct account {
  long long wall, cpu, delay, stolen;
};

static long long read_number(int fd, const char *format) {
  char text[128] = "";
  long long number;
  if (pread(fd, text, sizeof text - 1, 0) <= 0 || sscanf(text, format, &number) != 1)
    exit(77);
  return number;
}

/* Quickly, as nothing of it belongs to the span. */
static void read_account(struct account *a) {
  static int own = -1, all = -1;
  if (own < 0)
    own = open("/proc/thread-self/schedstat", O_RDONLY);
  if (all < 0)
    all = open("/proc/stat", O_RDONLY);
  a->stolen = read_number(all, "cpu %*d %*d %*d %*d %*d %*d %*d %lld") * (1000000000 / sysconf(_SC_CLK_TCK));
  a->delay = read_number(own, "%*d %lld");
  a->cpu = now(CLOCK_THREAD_CPUTIME_ID);
}

/* The wall time covers all that is in the accounts, also if the thread had to wait between two of them. */
static struct account begin(void) {
  struct account a;
  a.wall = now(CLOCK_MONOTONIC);
  read_account(&a);
  return a;
}

static void print_since(const char *name, struct account before) {
  struct account after;
  read_account(&after);
  after.wall = now(CLOCK_MONOTONIC);
  printf("%s %lld %lld %lld %lld\n", name, after.wall - before.wall, after.cpu - before.cpu,
         after.delay - before.delay, after.stolen - before.stolen);
}

static void pin(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(sched_getcpu(), &set);
  sched_setaffinity(0, sizeof set, &set);
}

static void *spin(void *unused) {
  (void)unused;
  while (!atomic_load(&is_over))
    ;
  return NULL;
}

static void *hold(void *unused) {
  (void)unused;
  pthread_mutex_lock(&mutex);
  atomic_store(&is_held, true);
  sleep_ms(300);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void sleeps(void) {
  KYMO_SPAN(work, sleeping);
  for (int i = 0; i < 10; i++)
    sleep_ms(30);
}

static void locks(void) {
  KYMO_SPAN(work, locking);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
}

static void syncs(int fd) {
  KYMO_SPAN(work, syncing);
  long long end = now(CLOCK_MONOTONIC) + 200000000;
  static char data[1 << 20]; /* much, for few waits: the kernel's accounts are not exact at switches */
  while (now(CLOCK_MONOTONIC) < end)
    if (pwrite(fd, data, sizeof data, 0) != sizeof data || fsync(fd))
      exit(1);
}

static void competes(void) {
  KYMO_SPAN(work, competing);
  long long end = now(CLOCK_THREAD_CPUTIME_ID) + 200000000;
  while (now(CLOCK_THREAD_CPUTIME_ID) < end)
    ;
}

int main(int argc, char **argv) {
  pthread_t holder, spinner;
  struct account before;
  int fd = argc > 1 ? open(argv[1], O_CREAT | O_WRONLY | O_TRUNC, 0600) : -1;
  if (fd < 0)
    return 1;
  before = begin();
  sleeps();
  print_since("sleeping", before);
  if (pthread_create(&holder, NULL, hold, NULL))
    return 1;
  while (!atomic_load(&is_held))
    sched_yield();
  before = begin();
  locks();
  print_since("locking", before);
  pthread_join(holder, NULL);
  before = begin();
  syncs(fd);
  print_since("syncing", before);
  pin();
  if (pthread_create(&spinner, NULL, spin, NULL)) /* on the same CPU */
    return 1;
  before = begin();
  competes();
  print_since("competing", before);
  atomic_store(&is_over, true);
  pthread_join(spinner, NULL);
  return 0;
}
