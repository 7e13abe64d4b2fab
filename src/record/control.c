/* SPDX-License-Identifier: MIT */
/*
 * Connections to the control socket: many, of callers that may send garbage, stop in the middle, or never
 * read their answer.
 *
 *   listening ──► connection: a line arrives ──► kymo_request_answer ──► answer is sent ──► next line …
 *
 * The thread's descriptors are its own (close_range with CLOSE_RANGE_UNSHARE): a daemon that closes all
 * descriptors does not close these, none is taken from the program or handed to its children, and no number
 * of a program's file ever means our socket. Numbers 0 to 2 stay free, since code that prints expects the
 * standard streams there.
 */
#include "ring/places.h"
#include "record/service.h"
#include "record/session.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
enum { UNSHARE = 1 << 1 }; /* CLOSE_RANGE_UNSHARE */

enum {
  CONNECTIONS_MAX = 256,  /* the one that has been silent for longest is closed for another */
  REQUEST_MAX = 64 << 10, /* bytes */
  PATIENCE_MS = 5000,     /* with a caller that neither sends nor reads */
};

struct connection {
  int fd;
  uint64_t since_ms; /* time of the last byte in or out */
  struct kymo_peer peer;
  struct kymo_strbuf in, out;
  size_t sent; /* of out */
  bool ends;   /* close once out is sent */
};

static struct {
  int fd; /* the listening socket */
  size_t count;
  struct connection
      connection[CONNECTIONS_MAX]; /* no memory of its own, which a forked child could only lose */
} control;

static uint64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void pause_ms(long ms) { nanosleep(&(struct timespec){0, ms * 1000000}, NULL); }

/* ---- the socket ---- */

/* The same descriptor with a number above those of the standard streams. */
static int move_up(int fd) {
  int up = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (fd >= 0)
    close(fd);
  return up;
}

static int new_socket(void) {
  return move_up(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/* A dead process with our pid may have left its socket; or a live one uses it, in a container that shares the
 * directory. */
static bool is_answered(const struct sockaddr_un *address) {
  int fd = new_socket();
  bool answered =
      fd >= 0 && (!connect(fd, (const struct sockaddr *)address, sizeof *address) || errno == EAGAIN);
  if (fd >= 0)
    close(fd);
  return answered;
}

static bool bind_and_listen(int fd, const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path)
    return false;
  memcpy(address.sun_path, path, strlen(path));
  if (bind(fd, (const struct sockaddr *)&address, sizeof address)) {
    if (errno != EADDRINUSE || is_answered(&address) || unlink(path) ||
        bind(fd, (const struct sockaddr *)&address, sizeof address))
      return false;
  }
  return !chmod(path, 0600) && !listen(fd, SOMAXCONN); /* whatever the umask of the program is */
}

static bool listen_at(int place) {
  char directory[KYMO_CONTROL_PATH_MAX], path[KYMO_CONTROL_PATH_MAX + 16];
  if (!kymo_control_directory(directory, place, true))
    return false;
  snprintf(path, sizeof path, "%s/" KYMO_CONTROL_PREFIX "%d", directory, (int)getpid());
  control.fd = new_socket();
  if (control.fd >= 0 && bind_and_listen(control.fd, path)) {
    kymo_control_clean(directory, time(NULL));
    return true;
  }
  if (control.fd >= 0)
    close(control.fd);
  return false;
}

bool kymo_control_open(void) {
  if (syscall(SYS_close_range, 0, ~0u, UNSHARE)) /* before Linux 5.9 there is no control socket */
    return false;
  for (int place = 0; place < KYMO_CONTROL_PLACES; place++)
    if (listen_at(place))
      return true;
  return false;
}

void kymo_control_forget(void) {
  control.fd = 0;
  control.count = 0;
}

/* ---- connections ---- */

static void hang_up(size_t index) {
  struct connection *c = &control.connection[index];
  kymo_request_hang_up(&c->peer);
  close(c->fd);
  kymo_strbuf_free(&c->in);
  kymo_strbuf_free(&c->out);
  memmove(c, c + 1, (--control.count - index) * sizeof *c);
}

/* Space for one more connection; if necessary the one that has been silent for longest is closed. */
static void make_room(void) {
  size_t oldest = SIZE_MAX;
  for (size_t i = 0; i < control.count; i++) {
    const struct connection *c = &control.connection[i];
    if (!c->peer.is_recorder && (oldest == SIZE_MAX || c->since_ms < control.connection[oldest].since_ms))
      oldest = i;
  }
  if (oldest != SIZE_MAX)
    hang_up(oldest);
}

static bool is_allowed(int fd, struct kymo_peer *peer) {
  struct ucred who;
  socklen_t size = sizeof who;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size))
    return false;
  peer->pid = who.pid;
  return !who.uid || who.uid == geteuid();
}

static void take_caller(void) {
  if (control.count == CONNECTIONS_MAX)
    make_room();
  struct connection c = {.since_ms = now_ms()};
  int fd = accept4(control.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)) {
    pause_ms(100); /* the program's limit is that low; do not spin */
    make_room();
    return;
  }
  c.fd = fd < 3 ? move_up(fd) : fd;
  if (c.fd < 0)
    return;
  if (!is_allowed(c.fd, &c.peer)) {
    close(c.fd);
    return;
  }
  control.connection[control.count++] = c;
}

/* ---- lines ---- */

/* Answers the received lines one at a time: the next one after the previous answer has been sent. */
static void answer_lines(struct connection *c) {
  while (!c->out.length && !c->ends && c->in.length) {
    char *end = memchr(c->in.text, '\n', c->in.length);
    if (!end)
      break;
    *end = 0;
    size_t used = (size_t)(end - c->in.text) + 1;
    c->ends = strlen(c->in.text) + 1 != used || !kymo_request_answer(&c->peer, c->in.text, &c->out);
    memmove(c->in.text, c->in.text + used, c->in.length - used);
    c->in.length -= used;
  }
}

/* False: nothing more will arrive. */
static bool receive(struct connection *c) {
  char bytes[4096];
  ssize_t n = recv(c->fd, bytes, sizeof bytes, 0);
  if (n < 0)
    return errno == EAGAIN || errno == EINTR;
  if (!n)
    return false;
  c->since_ms = now_ms();
  kymo_strbuf_add(&c->in, bytes, (size_t)n);
  answer_lines(c);
  return !c->in.failed && !c->out.failed && c->in.length <= REQUEST_MAX;
}

static bool send_answer(struct connection *c) {
  ssize_t n = send(c->fd, c->out.text + c->sent, c->out.length - c->sent, MSG_NOSIGNAL);
  if (n < 0)
    return errno == EAGAIN || errno == EINTR;
  c->since_ms = now_ms();
  c->sent += (size_t)n;
  if (c->sent < c->out.length)
    return true;
  kymo_strbuf_free(&c->out); /* lists may be long */
  c->sent = 0;
  answer_lines(c);
  return !c->out.failed && !(c->ends && !c->out.length);
}

static bool serve(struct connection *c, short events, uint64_t now) {
  bool stays = true;
  if (events & (POLLERR | POLLNVAL))
    return false;
  if (events & (POLLIN | POLLHUP))
    stays = receive(c);
  if (stays && c->out.length)
    stays = send_answer(c);
  else if (stays && c->ends)
    stays = false;
  return stays && (c->peer.is_recorder || now < c->since_ms + PATIENCE_MS);
}

/* ---- waiting ---- */

/* How long until a connection has been silent for too long. */
static int patience_ms(uint64_t now, int idle_ms) {
  uint64_t least = (uint64_t)idle_ms;
  for (size_t i = 0; i < control.count; i++) {
    const struct connection *c = &control.connection[i];
    uint64_t end = c->since_ms + PATIENCE_MS, left = end > now ? end - now : 0;
    if (!c->peer.is_recorder && left < least)
      least = left;
  }
  return (int)least;
}

void kymo_control_serve(int idle_ms) {
  struct pollfd wait[CONNECTIONS_MAX + 1];
  size_t count = control.count;
  for (size_t i = 0; i < count; i++) {
    const struct connection *c = &control.connection[i];
    /* nothing is read from a caller that does not read its answer */
    wait[i] = (struct pollfd){c->fd, c->out.length ? POLLOUT : POLLIN, 0};
  }
  wait[count] = (struct pollfd){control.fd, POLLIN, 0};
  int ready = poll(wait, count + 1, patience_ms(now_ms(), idle_ms));
  if (ready < 0) { /* the program has lowered its limit of descriptors, or memory is short */
    pause_ms(100);
    make_room();
    return;
  }
  uint64_t now = now_ms();
  for (size_t i = count; i-- > 0;)
    if (!serve(&control.connection[i], wait[i].revents, now))
      hang_up(i);
  if (wait[count].revents)
    take_caller();
}
