/* SPDX-License-Identifier: MIT */
/* The control socket of a traced process (docs/control.md). */
#ifndef KYMO_LIVE_CLIENT_H
#define KYMO_LIVE_CLIENT_H

#include "base/strbuf.h"
#include <kymo/error.h>

struct kymo_client {
  int fd, pid;
  int inner;                 /* the process's own number, in another PID namespace; else `pid` */
  struct kymo_strbuf answer; /* to the last request: its lines, without the first and the last */
};

/*
 * Connects to process `pid`; the client is to be closed. KYMO_E_UNKNOWN: there is no such process, or it has
 * no socket; KYMO_E_SYSTEM: permission is missing, or it does not answer.
 */
int kymo_client_open(struct kymo_client *client, int pid, struct kymo_error *error);
void kymo_client_close(struct kymo_client *client);
/* Sends a request and waits for the answer, some seconds at most. KYMO_E_USAGE: the process refuses, `error`
 * has its message. */
int kymo_client_ask(struct kymo_client *client, struct kymo_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The value of the answer's line "KEY VALUE", up to the line's end, to be freed; NULL: there is none. */
char *kymo_client_value(const struct kymo_client *client, const char *key);
/* The same as a number, or `otherwise`. */
long long kymo_client_number(const struct kymo_client *client, const char *key, long long otherwise);

/* Opens, sends one request and closes, except the answer, which kymo_client_close frees. */
int kymo_client_once(struct kymo_client *client, int pid, const char *request, struct kymo_error *error);

/* Visits each listening process of this user, for root of all users, in containers too. Sockets of dead ones
 * are removed. */
typedef void kymo_client_visitor(void *user, int pid);
void kymo_client_each(kymo_client_visitor *visitor, void *user);

/* "process 12 (name)" of /proc, in `out`. */
const char *kymo_process_name(int pid, char *out, size_t size);
/* Its name alone; "" if it cannot be read. */
const char *kymo_process_program(int pid, char *out, size_t size);
/* The pid that a word of the command line means, or -1. */
int kymo_pid_of(const char *word);

#endif
