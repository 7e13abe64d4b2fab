/* SPDX-License-Identifier: MIT */
/* The report about what threads do (stat/schedule.h): a row for each thread, the longest waits and who ended
 * them, and the system calls in which threads were blocked. */
#ifndef KYMO_STAT_THREADS_H
#define KYMO_STAT_THREADS_H

#include "stat/report.h"
#include "stat/schedule.h"

/* `worst`: how many waits are listed. KYMO_E_MEMORY. */
int kymo_threads_report(const struct kymo_schedule *schedule, const struct kymo_report *report,
                        unsigned worst);

/* "futex", "disk (fsync)", "other (read)"; "unknown" alone. */
enum { KYMO_CAUSE_TEXT = 96 };
const char *kymo_cause_text(enum kymo_block_cause cause, const char *call, char out[KYMO_CAUSE_TEXT]);
enum { KYMO_WAKER_TEXT = 160 };
/* "worker/12", "an interrupt in worker/12", "an interrupt", or "" if it is unknown; safe for a terminal.
 * False: out of memory. */
bool kymo_waker_text(const struct kymo_waker *waker, char out[KYMO_WAKER_TEXT]);
/* Members of an open object: the times in each state, and the causes. */
void kymo_shares_put_json(struct kymo_json *json, const struct kymo_shares *shares);
void kymo_wait_put_json(struct kymo_json *json, const struct kymo_wait *wait);
/* ",RUNNING,RUNNABLE,BLOCKED,DISK,…,NOT_SEEN", and its titles. */
#define KYMO_SHARES_CSV ",running,runnable,blocked,disk,futex,socket,sleep,other,unknown,not_seen"
void kymo_shares_put_csv(const struct kymo_report *report, const struct kymo_shares *shares);
int64_t kymo_shares_of(const struct kymo_shares *shares, enum kymo_block_cause cause);
/* What the figures rest on: which events the traces do not have. */
void kymo_schedule_put_notes(const struct kymo_schedule *schedule, const struct kymo_report *report);

#endif
