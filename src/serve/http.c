/* SPDX-License-Identifier: MIT */
#include "serve/http.h"
#include "base/fail.h"
#include "serve/clock.h"
#include "trace/library.h"
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  CONNECTIONS_MAX = 256,     /* accepted at a time … */
  CONNECTIONS_IDLE = 128,    /* … of which this many may wait; beyond, the oldest is closed */
  REQUEST_US = 10 * 1000000, /* a request is complete after this time, or its connection is closed … */
  REPLY_US = 60 * 1000000,   /* … and so is one that does not take its reply */
  INACTIVE_S = 30,           /* nothing arrives and nothing is taken */
  MEMORY_BYTES = 32 << 10,   /* of one connection, for its headers */
  STEPPED_MAX = 16,          /* answers that are made by steps at a time; further ones begin later */
  HOSTS = 3,
};

struct connection {
  struct connection *previous, *next; /* of the list; the newest first */
  struct http *http;
  int fd;
  int64_t since_us; /* when it was opened, or its last request was done, or this one began to be answered */
  bool is_answered, is_shut;
  char *target; /* of the current request; NULL: no memory */
  /* an answer that is made by steps; libmicrohttpd leaves the connection alone meanwhile */
  struct MHD_Connection *suspended; /* NULL: none is */
  bool has_token, is_ready;
  void *rest; /* NULL, unless it is ready: it has not begun */
  uint64_t turn;
  struct http_reply reply; /* when it is ready */
};

struct http {
  struct http_options options;
  struct MHD_Daemon *daemons[2]; /* of 127.0.0.1 and of ::1, if there is one */
  int polled[2];
  unsigned port;
  char token[HTTP_TOKEN_DIGITS + 1];
  char hosts[HOSTS][32];     /* what we are called */
  struct connection list;    /* its head */
  size_t waiting;            /* connections that are neither answered nor shut */
  int64_t request_us;        /* when the last request came */
  size_t suspended, stepped; /* connections, and those of which the answer has begun */
  bool is_closing;           /* no request is answered any more */
  uint64_t turns;
};

/* ---- libmicrohttpd ---- */

/* clang-format off */
#define MHD_FUNCTIONS(X) \
  X(add_response_header) X(create_response_from_buffer) X(destroy_response) X(get_connection_info) \
  X(get_connection_values) X(get_daemon_info) X(get_timeout) X(queue_response) \
  X(resume_connection) X(run) X(start_daemon) X(stop_daemon) \
  X(suspend_connection)
/* clang-format on */

#define POINTER(name) __typeof__(MHD_##name) *name;
static struct { MHD_FUNCTIONS(POINTER) } mhd;

static int load_mhd(struct kymo_error *error) {
#define FUNCTION(name) {"MHD_" #name, &mhd.name},
  static const struct kymo_library_function functions[] = {MHD_FUNCTIONS(FUNCTION)};
  return kymo_library_load("libmicrohttpd.so.12", functions, sizeof functions / sizeof *functions, error);
}

/* ---- connections ---- */

static void shut(struct http *http, struct connection *connection) {
  connection->is_shut = true;
  http->waiting -= !connection->is_answered;
  shutdown(connection->fd, SHUT_RDWR); /* which libmicrohttpd sees as its end */
}

static void shut_oldest(struct http *http) {
  for (struct connection *at = http->list.previous; at != &http->list; at = at->previous)
    if (!at->is_answered && !at->is_shut) {
      shut(http, at);
      return;
    }
}

static void shut_late(struct http *http) {
  int64_t now_us = serve_now_us();
  for (struct connection *at = http->list.next; at != &http->list; at = at->next)
    if (!at->is_shut && now_us - at->since_us > (at->is_answered ? REPLY_US : REQUEST_US))
      shut(http, at);
}

static void begin_connection(struct http *http, struct MHD_Connection *wire, void **context) {
  const union MHD_ConnectionInfo *info = mhd.get_connection_info(wire, MHD_CONNECTION_INFO_CONNECTION_FD);
  struct connection *connection = *context = info ? calloc(1, sizeof *connection) : NULL;
  if (!connection)
    return; /* its requests are not answered */
  *connection = (struct connection){.previous = &http->list,
                                    .next = http->list.next,
                                    .http = http,
                                    .fd = info->connect_fd,
                                    .since_us = serve_now_us()};
  http->list.next->previous = connection;
  http->list.next = connection;
  if (++http->waiting > CONNECTIONS_IDLE)
    shut_oldest(http);
}

static void end_connection(struct http *http, struct connection *connection) {
  if (connection->is_ready && !connection->reply.is_static)
    free(connection->reply.bytes);
  http->waiting -= !connection->is_answered && !connection->is_shut;
  connection->previous->next = connection->next;
  connection->next->previous = connection->previous;
  free(connection->target);
  free(connection);
}

static void on_connection(void *user, struct MHD_Connection *wire, void **context,
                          enum MHD_ConnectionNotificationCode code) {
  if (code == MHD_CONNECTION_NOTIFY_STARTED)
    begin_connection(user, wire, context);
  else if (*context)
    end_connection(user, *context);
}

/* The first line of a request is there: its target as it was sent. */
static void *on_target(void *user, const char *target, struct MHD_Connection *wire) {
  const union MHD_ConnectionInfo *info = mhd.get_connection_info(wire, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  struct connection *connection = info ? info->socket_context : NULL;
  (void)user;
  if (connection) {
    free(connection->target);
    connection->target = strndup(target, HTTP_TARGET_MAX + 1);
  }
  return connection;
}

static void on_completed(void *user, struct MHD_Connection *wire, void **context,
                         enum MHD_RequestTerminationCode code) {
  struct http *http = user;
  struct connection *connection = *context;
  (void)wire;
  (void)code;
  if (!connection)
    return;
  free(connection->target);
  connection->target = NULL;
  http->waiting += connection->is_answered && !connection->is_shut;
  connection->is_answered = false;
  connection->since_us = serve_now_us();
  *context = NULL;
}

/* ---- who may ask ---- */

/* In a time that does not depend on where they differ. */
static bool is_token(const struct http *http, const char *given) {
  unsigned char differs = 0;
  if (!given || strlen(given) != HTTP_TOKEN_DIGITS)
    return false;
  for (size_t i = 0; i < HTTP_TOKEN_DIGITS; i++)
    differs |= (unsigned char)(given[i] ^ http->token[i]);
  return differs == 0;
}

static bool is_host(const struct http *http, const char *host) {
  for (size_t i = 0; i < HOSTS; i++)
    if (strcasecmp(host, http->hosts[i]) == 0)
      return true;
  return false;
}

/* The headers that decide; a request that has one of them twice is not a browser's. */
struct headers {
  const char *host, *origin, *token;
  unsigned hosts, origins, tokens;
};

static enum MHD_Result take_header(void *user, enum MHD_ValueKind kind, const char *name, const char *value) {
  struct headers *headers = user;
  (void)kind;
  if (strcasecmp(name, "Host") == 0) {
    headers->host = value;
    headers->hosts++;
  } else if (strcasecmp(name, "Origin") == 0) {
    headers->origin = value;
    headers->origins++;
  } else if (strcasecmp(name, "X-Kymo-Token") == 0) {
    headers->token = value;
    headers->tokens++;
  }
  return MHD_YES;
}

static unsigned refusal(const struct http *http, const struct headers *headers, const char *method,
                        const struct connection *connection) {
  static const char scheme[] = "http://";
  const char *origin = headers->origin;
  if (headers->hosts != 1 || !headers->host || !is_host(http, headers->host))
    return MHD_HTTP_MISDIRECTED_REQUEST;
  if (headers->origins > 1 ||
      (headers->origins && (!origin || strncmp(origin, scheme, sizeof scheme - 1) != 0 ||
                            !is_host(http, origin + sizeof scheme - 1))))
    return MHD_HTTP_FORBIDDEN;
  if (strcmp(method, "GET") != 0)
    return MHD_HTTP_METHOD_NOT_ALLOWED;
  return strlen(connection->target) > HTTP_TARGET_MAX ? MHD_HTTP_URI_TOO_LONG : 0;
}

/* ---- replies ---- */

static const char *const fixed_headers[][2] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
     "img-src 'self' data: blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"X-Frame-Options", "DENY"},
    {"Cache-Control", "no-store"},
};

static enum MHD_Result send_reply(struct MHD_Connection *wire, const struct http_reply *reply) {
  struct MHD_Response *response = mhd.create_response_from_buffer(
      reply->size, reply->bytes, reply->is_static ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_FREE);
  if (!response) {
    if (!reply->is_static)
      free(reply->bytes);
    return MHD_NO;
  }
  enum MHD_Result result = mhd.add_response_header(response, "Content-Type", reply->type);
  for (size_t i = 0; i < sizeof fixed_headers / sizeof *fixed_headers && result == MHD_YES; i++)
    result = mhd.add_response_header(response, fixed_headers[i][0], fixed_headers[i][1]);
  if (reply->status == MHD_HTTP_METHOD_NOT_ALLOWED && result == MHD_YES)
    result = mhd.add_response_header(response, "Allow", "GET");
  if (result == MHD_YES)
    result = mhd.queue_response(wire, reply->status, response);
  mhd.destroy_response(response);
  return result;
}

static enum MHD_Result refuse(struct MHD_Connection *wire, unsigned status) {
  static char text[] = "refused\n";
  return send_reply(wire, &(struct http_reply){status, "text/plain", text, sizeof text - 1, true});
}

/* Whether the other side has gone away: a page that no longer wants a picture closes its connection. */
static bool is_gone(const struct connection *connection) {
  char byte;
  return recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* ---- answers by steps ---- */

/* The first step of an answer. False: there are more, or it begins later. */
static bool begin_answer(struct http *http, struct connection *connection) {
  void *rest = NULL;
  http->options.handler(http->options.user, connection->target, connection->has_token, &connection->reply,
                        &rest);
  if (rest && http->stepped == STEPPED_MAX) {
    http->options.step(http->options.user, rest, NULL);
    return false;
  }
  http->stepped += rest != NULL;
  connection->rest = rest;
  return !rest;
}

static void resume(struct http *http, struct connection *connection) {
  http->suspended--;
  connection->is_ready = true;
  mhd.resume_connection(connection->suspended);
  connection->suspended = NULL;
}

/* Gives an answer up: there is no reply. */
static void give_up(struct http *http, struct connection *connection) {
  if (connection->rest)
    http->options.step(http->options.user, connection->rest, NULL);
  http->stepped -= connection->rest != NULL;
  connection->rest = NULL;
  connection->reply = (struct http_reply){0};
  resume(http, connection);
}

/* One step of the answer whose turn it is. */
static void go_on(struct http *http) {
  struct connection *next = NULL;
  for (struct connection *at = http->list.previous; at != &http->list; at = at->previous)
    if (at->suspended && (at->rest || http->stepped < STEPPED_MAX) && (!next || at->turn < next->turn))
      next = at;
  if (!next)
    return;
  next->turn = ++http->turns;
  if (is_gone(next)) {
    give_up(http, next);
  } else if (!next->rest) {
    if (begin_answer(http, next))
      resume(http, next);
  } else if (http->options.step(http->options.user, next->rest, &next->reply)) {
    next->rest = NULL;
    http->stepped--;
    resume(http, next);
  }
}

static enum MHD_Result send_ready(struct MHD_Connection *wire, struct connection *connection) {
  const struct http_reply reply = connection->reply;
  connection->is_ready = false;
  connection->reply = (struct http_reply){0};
  return reply.status ? send_reply(wire, &reply) : MHD_NO;
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *wire, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **context) {
  struct http *http = user;
  struct connection *connection = *context;
  struct headers headers = {0};
  (void)url;
  (void)version;
  (void)upload;
  (void)upload_size;
  if (connection && connection->is_ready)
    return send_ready(wire, connection);
  if (!connection || !connection->target || connection->is_answered || http->is_closing ||
      is_gone(connection))
    return MHD_NO;
  http->waiting -= !connection->is_shut;
  connection->is_answered = true;
  connection->since_us = serve_now_us();
  mhd.get_connection_values(wire, MHD_HEADER_KIND, take_header, &headers);
  unsigned status = refusal(http, &headers, method, connection);
  if (status)
    return refuse(wire, status);
  connection->has_token = headers.tokens == 1 && is_token(http, headers.token);
  if (connection->has_token)
    http->request_us = connection->since_us;
  if (begin_answer(http, connection))
    return send_ready(wire, connection);
  connection->suspended = wire;
  connection->turn = ++http->turns;
  http->suspended++;
  mhd.suspend_connection(wire);
  return MHD_YES;
}

/* ---- listening ---- */

static int listen_on(const struct sockaddr *address, socklen_t size) {
  int one = 1, fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0)
    return -1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (address->sa_family == AF_INET6)
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
  if (bind(fd, address, size) == 0 && listen(fd, SOMAXCONN) == 0)
    return fd;
  int cause = errno;
  close(fd);
  errno = cause;
  return -1;
}

static int listen_4(struct http *http, struct kymo_error *error) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)http->options.port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int fd = listen_on((const struct sockaddr *)&address, size);
  if (fd < 0 || getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
    int cause = errno;
    if (fd >= 0)
      close(fd);
    if (!http->options.port)
      return kymo_fail(error, KYMO_E_SYSTEM, "cannot listen on 127.0.0.1: %s", strerror(cause)), -1;
    return kymo_fail(error, KYMO_E_SYSTEM, "cannot listen on port %u of 127.0.0.1: %s", http->options.port,
                     strerror(cause)),
           -1;
  }
  http->port = ntohs(address.sin_port);
  return fd;
}

static int listen_6(const struct http *http) {
  const struct sockaddr_in6 address = {
      .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)http->port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  return listen_on((const struct sockaddr *)&address, sizeof address);
}

/* A daemon that does something only in http_run. It takes the socket. */
static struct MHD_Daemon *start(struct http *http, int fd) {
  struct MHD_Daemon *daemon = mhd.start_daemon(
      MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, http, MHD_OPTION_LISTEN_SOCKET, fd,
      MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
      (unsigned)INACTIVE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_BYTES,
      MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_URI_LOG_CALLBACK, on_target, http,
      MHD_OPTION_NOTIFY_COMPLETED, on_completed, http, MHD_OPTION_END);
  if (!daemon)
    close(fd);
  return daemon;
}

static int make_token(char token[HTTP_TOKEN_DIGITS + 1], struct kymo_error *error) {
  unsigned char bytes[HTTP_TOKEN_DIGITS / 2];
  if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
    return kymo_fail(error, KYMO_E_SYSTEM, "no random numbers: %s", strerror(errno));
  for (size_t i = 0; i < sizeof bytes; i++)
    snprintf(token + 2 * i, 3, "%02x", bytes[i]);
  return KYMO_OK;
}

static int begin(struct http *http, struct kymo_error *error) {
  int status = load_mhd(error);
  if (status == KYMO_OK)
    status = make_token(http->token, error);
  if (status != KYMO_OK)
    return status;
  int fd = listen_4(http, error);
  if (fd < 0)
    return KYMO_E_SYSTEM;
  int fd6 = listen_6(http);
  http->daemons[0] = start(http, fd);
  http->daemons[1] = fd6 >= 0 ? start(http, fd6) : NULL;
  if (!http->daemons[0])
    return kymo_fail(error, KYMO_E_SYSTEM, "libmicrohttpd cannot start");
  for (size_t i = 0; i < 2; i++) {
    const union MHD_DaemonInfo *info =
        http->daemons[i] ? mhd.get_daemon_info(http->daemons[i], MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    http->polled[i] = info ? info->epoll_fd : -1;
  }
  snprintf(http->hosts[0], sizeof http->hosts[0], "127.0.0.1:%u", http->port);
  snprintf(http->hosts[1], sizeof http->hosts[1], "localhost:%u", http->port);
  snprintf(http->hosts[2], sizeof http->hosts[2], "[::1]:%u", http->port);
  return KYMO_OK;
}

int http_open(struct http **out, const struct http_options *options, struct kymo_error *error) {
  struct http *http = *out = calloc(1, sizeof *http);
  if (!http)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  http->options = *options;
  http->list.next = http->list.previous = &http->list;
  http->request_us = serve_now_us();
  int status = begin(http, error);
  if (status != KYMO_OK) {
    http_close(http);
    *out = NULL;
  }
  return status;
}

static void run_daemons(struct http *http) {
  for (size_t i = 0; i < 2; i++)
    if (http->daemons[i])
      mhd.run(http->daemons[i]);
}

void http_close(struct http *http) {
  if (!http)
    return;
  http->is_closing = true;
  for (struct connection *at = http->list.next; at && at != &http->list; at = at->next)
    if (at->suspended)
      give_up(http, at);
  run_daemons(http);
  for (size_t i = 0; i < 2; i++)
    if (http->daemons[i])
      mhd.stop_daemon(http->daemons[i]);
  free(http);
}

unsigned http_port(const struct http *http) { return http->port; }

const char *http_token(const struct http *http) { return http->token; }

bool http_is_answering(const struct http *http) {
  for (const struct connection *at = http->list.next; at != &http->list; at = at->next)
    if (at->is_answered && !at->is_shut)
      return true;
  return false;
}

int64_t http_idle_ms(const struct http *http) { return (serve_now_us() - http->request_us) / 1000; }

/* ---- running ---- */

void http_run(struct http *http, int wait_ms, const sigset_t *mask) {
  struct pollfd polled[2];
  wait_ms = http->suspended ? 0 : wait_ms;
  for (size_t i = 0; i < 2; i++) {
    MHD_UNSIGNED_LONG_LONG until_ms;
    polled[i] = (struct pollfd){.fd = http->polled[i], .events = POLLIN};
    if (http->daemons[i] && mhd.get_timeout(http->daemons[i], &until_ms) == MHD_YES &&
        until_ms < (MHD_UNSIGNED_LONG_LONG)wait_ms)
      wait_ms = (int)until_ms;
  }
  const struct timespec wait = {wait_ms / 1000, wait_ms % 1000 * 1000000L};
  ppoll(polled, 2, &wait, mask);
  shut_late(http);
  run_daemons(http);
  size_t suspended = http->suspended;
  go_on(http);
  if (http->suspended < suspended)
    run_daemons(http);
}
