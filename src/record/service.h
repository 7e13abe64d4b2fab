/* SPDX-License-Identifier: MIT */
/*
 * Work that the sleeping thread does for other processes: connections (control.c), and requests on them
 * (request.c; docs/control.md describes them). That thread calls all functions, except those that a forked
 * child calls.
 */
#ifndef KYMO_RECORD_SERVICE_H
#define KYMO_RECORD_SERVICE_H

#include "base/strbuf.h"

/* ---- control.c ---- */
/* Creates a separate descriptor table for the calling thread, and in it a listening socket. False: no process
 * can connect. */
bool kymo_control_open(void);
/* Waits for a request, which is answered, or until `idle_ms` have passed. */
void kymo_control_serve(int idle_ms);
/* In a forked child: forgets the connections of its parent. */
void kymo_control_forget(void);

/* ---- request.c ---- */
/* The peer of a connection. */
struct kymo_peer {
  int32_t pid;
  bool is_recorder; /* has attached itself: it stays until it disconnects */
};
/* Answers one request; `line` has no line end, and is changed. False: the request is invalid, disconnect. */
bool kymo_request_answer(struct kymo_peer *peer, char *line, struct kymo_strbuf *answer);
void kymo_request_hang_up(struct kymo_peer *peer);
void kymo_request_forget(void);

#endif
