/* SPDX-License-Identifier: MIT */
/*
 * HTTP for one user on one machine, over libmicrohttpd: GET alone, on the loopback address alone.
 *
 * A request comes from a page of ours, or it is refused before the handler sees it: its Host is an address
 * of ours (421: other names may be made to point here), its Origin is one of ours if it has one (403), its
 * method is GET (405), its target is short (414). The handler learns whether it has the token of this run.
 *
 * There are no threads: http_run answers what has arrived. An answer that takes long is made by steps, in
 * turn with others; it is given up when its connection is closed. Connections that do not complete a request
 * in time are closed, and the oldest of these are closed first when there are too many.
 */
#ifndef KYMO_SERVE_HTTP_H
#define KYMO_SERVE_HTTP_H

#include <kymo/error.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP_TARGET_MAX = 8192, HTTP_TOKEN_DIGITS = 32 };

struct http_reply {
  unsigned status;
  const char *type; /* of the content; static */
  void *bytes;      /* the reply's, allocated with malloc … */
  size_t size;
  bool is_static; /* … or static */
};

/* Answers one request: `target` is the path, with the query after a '?'. A reply whose status stays 0 means
 * that there is no memory: the connection is closed. */
typedef void http_handler(void *user, const char *target, bool has_token, struct http_reply *reply,
                          void **rest);
/* The next step of an answer whose first one was not enough: the handler has set *rest to what is left of it.
 * False: there are more. After the last one, or if the answer is given up (reply NULL), rest is freed. */
typedef bool http_step(void *user, void *rest, struct http_reply *reply);

struct http;
struct http_options {
  unsigned port; /* 0: any that is free */
  http_handler *handler;
  http_step *step;
  void *user;
};

/* Begins to listen, on 127.0.0.1 and ::1 alone. *out is the caller's, to be closed. KYMO_E_SYSTEM,
 * KYMO_E_MEMORY. */
int http_open(struct http **out, const struct http_options *options, struct kymo_error *error);
/* Closes all connections; NULL is fine. */
void http_close(struct http *http);
/* The port on which it listens. */
unsigned http_port(const struct http *http);
/* The secret of this run: HTTP_TOKEN_DIGITS hexadecimal digits, which are http's. */
const char *http_token(const struct http *http);
/* Waits at most `wait_ms` for requests, with the signals of `mask` blocked, and answers those that have
 * arrived. */
void http_run(struct http *http, int wait_ms, const sigset_t *mask);
/* Whether replies are on their way. */
bool http_is_answering(const struct http *http);
/* For how many milliseconds no request has come. */
int64_t http_idle_ms(const struct http *http);

#endif
