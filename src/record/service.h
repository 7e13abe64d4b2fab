/* SPDX-License-Identifier: MIT */
/*
 * What the sleeping thread does for others: connections (control.c), and what is asked for on them
 * (request.c; docs/control.md tells how). Everything is called by that thread, but for what a forked child
 * does.
 */
#ifndef KYMO_RECORD_SERVICE_H
#define KYMO_RECORD_SERVICE_H

#include "base/strbuf.h"

/* ---- control.c ---- */
/* Gives the calling thread a table of descriptors of its own and in it a socket that listens. False: nobody
 * can call. */
bool kymo_control_open(void);
/* Waits until somebody wants something, which is done, or `idle_ms` have passed. */
void kymo_control_serve(int idle_ms);
/* In a forked child: the connections were its parent's. */
void kymo_control_forget(void);

/* ---- request.c ---- */
/* Who has called. */
struct kymo_peer {
  int32_t pid;
  bool is_recorder; /* has attached itself: it stays until it hangs up */
};
/* Answers one request; `line` has lost its line end, and is changed. False: it makes no sense, hang up. */
bool kymo_request_answer(struct kymo_peer *peer, char *line, struct kymo_strbuf *answer);
void kymo_request_hang_up(struct kymo_peer *peer);
void kymo_request_forget(void);

#endif
