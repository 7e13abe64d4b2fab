/* SPDX-License-Identifier: MIT */
/* The events of the jobs library, for the library itself and for programs that use it. */
#ifndef JOBS_EVENTS_H
#define JOBS_EVENTS_H

#include <kymo/trace.h>

KYMO_EVENT(jobs, queued, KYMO_ARGS(uint32_t id, const char *what, unsigned waiting), KYMO_LEVEL(info),
           KYMO_ABOUT("a job was put into the queue"), id, what, waiting);
KYMO_EVENT(jobs, done, KYMO_ARGS(uint32_t id, int status), KYMO_LEVEL(info),
           KYMO_ABOUT("a job was finished; status 0: well"), id, status);
KYMO_EVENT(jobs, idle, KYMO_ARGS(), KYMO_LEVEL(debug), KYMO_ABOUT("the queue is empty"));
/* In every turn of the loop: there only in programs compiled with -DKYMO_FP. */
KYMO_EVENT_FP(jobs, turn, KYMO_ARGS(uint32_t id), id);

#endif
