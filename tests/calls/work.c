/* SPDX-License-Identifier: MIT */
/*
 * A program without tracepoints: it calls the functions that libkymo-calls wraps and prints each result, so
 * that its output with and without the library can be compared. Its argument chooses the part.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char told[1 << 16];
static size_t told_length;

/* Prints at the end, so that stdio's own calls are not among the tested ones. */
#define TELL(name, value)                                                                                    \
  do {                                                                                                       \
    errno = 12345; /* which a call that succeeds leaves alone */                                             \
    long value_ = (long)(value);                                                                             \
    told_length +=                                                                                           \
        (size_t)snprintf(told + told_length, sizeof told - told_length, "%s %ld %d\n", name, value_, errno); \
  } while (0)

/* ---- files ---- */

static void files(void) {
  char buffer[64] = "0123456789";
  struct iovec parts[2] = {{buffer, 3}, {buffer + 3, 4}};
  volatile size_t size = 10; /* not known to the compiler, so that fortified calls are made */
  int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0640);
  TELL("open", fd);
  TELL("missing", open("no/such/file", O_RDONLY));
  TELL("bad path", open((const char *)8, O_RDONLY));
  TELL("openat", openat(AT_FDCWD, "file", O_RDONLY));
  TELL("creat", creat("other", 0600));
  TELL("write", write(fd, buffer, size));
  TELL("pwrite", pwrite(fd, buffer, size, 100));
  TELL("writev", writev(fd, parts, 2));
  TELL("pwritev", pwritev(fd, parts, 2, 5));
  TELL("pread", pread(fd, buffer, size, 1));
  TELL("readv", readv(fd, parts, 2));
  TELL("preadv", preadv(fd, parts, 2, 3));
  TELL("read", read(fd, buffer, size));
  TELL("bad buffer", write(fd, (const void *)8, size));
  TELL("fsync", fsync(fd));
  TELL("fdatasync", fdatasync(-1));
  TELL("close", close(fd));
  TELL("close again", close(fd));
}

/* ---- sockets ---- */

static void *peer(void *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", (const char *)path);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  char buffer[16];
  if (connect(fd, (struct sockaddr *)&address, sizeof address) || send(fd, "hello", 5, 0) != 5 ||
      recv(fd, buffer, 16, 0) < 0)
    abort();
  close(fd);
  return NULL;
}

static void sockets(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
  volatile size_t size = 16;
  pthread_t thread;
  char buffer[16];
  int fd = socket(AF_UNIX, SOCK_STREAM, 0), epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  TELL("bind", bind(fd, (struct sockaddr *)&address, sizeof address));
  TELL("listen", listen(fd, 5));
  pthread_create(&thread, NULL, peer, address.sun_path);
  struct pollfd wait = {fd, POLLIN, 0};
  TELL("poll", poll(&wait, 1, 10000));
  fd_set set;
  FD_ZERO(&set);
  FD_SET(fd, &set);
  TELL("select", select(fd + 1, &set, NULL, NULL, NULL));
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
  TELL("epoll_wait", epoll_wait(epoll, &event, 1, 10000));
  int one = accept(fd, NULL, NULL);
  TELL("accept", one);
  TELL("recv", recv(one, buffer, size, MSG_WAITALL & 0));
  TELL("send", send(one, buffer, 5, MSG_NOSIGNAL));
  pthread_join(thread, NULL);
  struct iovec part = {buffer, sizeof buffer};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  TELL("recvmsg", recvmsg(one, &message, 0));
  TELL("broken", sendmsg(one, &message, MSG_NOSIGNAL));
  TELL("recvfrom", recvfrom(one, buffer, size, 0, NULL, NULL));
  TELL("shutdown", shutdown(one, SHUT_RDWR));
  TELL("not a socket", accept(0, NULL, NULL));
}

/* ---- memory ---- */

static void memory(void) {
  void *p = malloc(100), *aligned = NULL;
  TELL("malloc", p != NULL && (uintptr_t)p % 16 == 0);
  memset(p, 7, 100);
  p = realloc(p, 100000);
  TELL("realloc keeps", ((unsigned char *)p)[99]);
  p = reallocarray(p, 10, 10);
  TELL("usable", malloc_usable_size(p) >= 100);
  free(p);
  free(NULL);
  p = calloc(50, 20);
  TELL("calloc zeroes", ((unsigned char *)p)[999]);
  free(p);
  TELL("posix_memalign", posix_memalign(&aligned, 4096, 10));
  TELL("aligned", (uintptr_t)aligned % 4096);
  free(aligned);
  TELL("posix_memalign of 3", posix_memalign(&aligned, 3, 10));
  aligned = aligned_alloc(64, 128);
  TELL("aligned_alloc", (uintptr_t)aligned % 64);
  free(aligned);
  aligned = memalign(32, 128);
  free(aligned);
  volatile size_t much = SIZE_MAX / 2;
  TELL("too large", malloc(much) == NULL);
  TELL("too many", calloc(much, 4) == NULL);
}

/* ---- locks ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static volatile int ready;

static void *wait_for_mutex(void *unused) {
  (void)unused;
  ready = 1;
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void *signal_condition(void *unused) {
  (void)unused;
  pthread_mutex_lock(&mutex);
  ready = 2;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void *die_with(void *lock) {
  pthread_mutex_lock(lock);
  return NULL;
}

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *lock_both(void *which) {
  pthread_mutex_t *mine = which, *other = mine == &first ? &second : &first;
  pthread_mutex_lock(mine);
  pthread_barrier_wait(&both);
  dprintf(1, "%p\n", (void *)other);
  pthread_mutex_lock(other);
  return NULL;
}

static void deadlock(void) {
  pthread_t thread;
  pthread_barrier_init(&both, NULL, 2);
  pthread_create(&thread, NULL, lock_both, &first);
  lock_both(&second);
}

static void locks(void) {
  pthread_t thread;
  pthread_mutex_t checked, robust, recursive;
  pthread_mutexattr_t attributes;
  struct timespec past = {0, 0};
  TELL("lock", pthread_mutex_lock(&mutex));
  TELL("trylock", pthread_mutex_trylock(&mutex));
  TELL("timedlock", pthread_mutex_timedlock(&mutex, &past));
  TELL("wrong clock", pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &past));
  pthread_create(&thread, NULL, wait_for_mutex, NULL);
  while (!ready || *(volatile int *)&mutex != 2) /* where libc notes that a thread waits */
    usleep(1000);
  usleep(5000);
  TELL("unlock", pthread_mutex_unlock(&mutex));
  pthread_join(thread, NULL);
  pthread_mutex_lock(&mutex);
  pthread_create(&thread, NULL, signal_condition, NULL);
  while (ready != 2)
    TELL("wait", pthread_cond_wait(&condition, &mutex));
  TELL("timedwait", pthread_cond_timedwait(&condition, &mutex, &past));
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, NULL);
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&checked, &attributes);
  TELL("not ours", pthread_mutex_unlock(&checked));
  TELL("checked", pthread_mutex_lock(&checked));
  TELL("deadlock", pthread_mutex_lock(&checked));
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&recursive, &attributes);
  TELL("recursive", pthread_mutex_lock(&recursive));
  TELL("recursive again", pthread_mutex_lock(&recursive));
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&robust, &attributes);
  pthread_create(&thread, NULL, die_with, &robust);
  pthread_join(thread, NULL);
  TELL("dead owner", pthread_mutex_lock(&robust));
  TELL("free but wrong clock", pthread_mutex_clocklock(&checked, CLOCK_PROCESS_CPUTIME_ID, &past));
  TELL("rdlock", pthread_rwlock_rdlock(&rwlock));
  TELL("rdlock again", pthread_rwlock_rdlock(&rwlock));
  TELL("trywrlock", pthread_rwlock_trywrlock(&rwlock));
  TELL("timedwrlock", pthread_rwlock_timedwrlock(&rwlock, &past));
  TELL("rwlock unlock", pthread_rwlock_unlock(&rwlock));
  pthread_rwlock_unlock(&rwlock);
  TELL("wrlock", pthread_rwlock_wrlock(&rwlock));
  TELL("rwlock deadlock", pthread_rwlock_rdlock(&rwlock));
}

/* ---- threads that are cancelled, that end, that are many ---- */

static int channel[2];
static volatile int cleaned;

static void clean(void *unused) {
  (void)unused;
  cleaned++;
}

static void *read_for_ever(void *unused) {
  char c;
  (void)unused;
  pthread_cleanup_push(clean, NULL);
  ready = 3;
  if (read(channel[0], &c, 1) >= 0)
    abort();
  pthread_cleanup_pop(0);
  return NULL;
}

static void *wait_for_ever(void *unused) {
  (void)unused;
  pthread_cleanup_push(clean, NULL);
  pthread_mutex_lock(&mutex);
  ready = 4;
  for (;;)
    pthread_cond_wait(&condition, &mutex);
  pthread_cleanup_pop(0);
  return NULL;
}

static void cancel(void) {
  pthread_t thread;
  void *result;
  if (pipe(channel))
    abort();
  for (int i = 3; i <= 4; i++) {
    pthread_create(&thread, NULL, i == 3 ? read_for_ever : wait_for_ever, NULL);
    while (ready != i)
      usleep(1000);
    usleep(10000);
    TELL("cancel", pthread_cancel(thread));
    pthread_join(thread, &result);
    TELL("cancelled", result == PTHREAD_CANCELED);
    TELL("cleaned", cleaned);
  }
}

static pthread_key_t keys[40];

static void free_late(void *memory_) { free(memory_); }

static void *short_life(void *unused) {
  (void)unused;
  for (int i = 0; i < 40; i++)
    pthread_setspecific(keys[i], malloc(10));
  return NULL;
}

/* Destructors of keys free memory, before and after the recorder's own destructor. */
static void threads(void) {
  for (int i = 0; i < 40; i++)
    pthread_key_create(&keys[i], free_late);
  for (int i = 0; i < 300; i++) {
    pthread_t thread[4];
    for (int k = 0; k < 4; k++)
      pthread_create(&thread[k], NULL, short_life, NULL);
    for (int k = 0; k < 4; k++)
      pthread_join(thread[k], NULL);
  }
  TELL("threads", 1200);
}

/* ---- processes and signals ---- */

static void processes(void) {
  int status;
  pid_t pid = fork();
  if (!pid) {
    void *volatile memory_ = malloc(4711);
    free(memory_);
    _exit(7);
  }
  waitpid(pid, &status, 0);
  TELL("fork", WEXITSTATUS(status));
  pid = vfork();
  if (!pid) {
    close(0);
    execl("/bin/sh", "sh", "-c", "exit 8", (char *)NULL);
    _exit(9);
  }
  waitpid(pid, &status, 0);
  TELL("vfork and exec", WEXITSTATUS(status));
  TELL("stdin is there", fcntl(0, F_GETFD) >= 0);
}

static volatile sig_atomic_t handled;

static void handle(int signal_) {
  (void)signal_;
  int reason = errno;
  if (write(channel[1], "x", 1) == 1)
    handled++;
  errno = reason;
}

static void signals(void) {
  char c;
  if (pipe(channel))
    abort();
  struct sigaction action = {.sa_handler = handle};
  sigaction(SIGALRM, &action, NULL);
  ualarm(2000, 2000);
  long got = 0;
  while (got < 100) {
    void *volatile memory_ = malloc(100);
    free(memory_);
    ssize_t n = read(channel[0], &c, 1);
    if (n == 1)
      got++;
    else if (errno != EINTR)
      abort();
  }
  ualarm(0, 0);
  TELL("signals", got);
}

/* An allocation before anything else of this program runs. */
static void *from_constructor;
__attribute__((constructor)) static void early(void) { from_constructor = malloc(4242); }

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } parts[] = {{"files", files},     {"sockets", sockets},     {"memory", memory},
               {"locks", locks},     {"deadlock", deadlock},   {"cancel", cancel},
               {"threads", threads}, {"processes", processes}, {"signals", signals}};
  for (size_t i = 0; argc > 1 && i < sizeof parts / sizeof *parts; i++)
    if (!strcmp(argv[1], parts[i].name))
      parts[i].run();
  free(from_constructor);
  fwrite(told, 1, told_length, stdout);
  return 0;
}
