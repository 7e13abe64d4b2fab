/* SPDX-License-Identifier: MIT */
/* The original bytes of events. */
#ifndef KYMO_TRACE_ORIGINAL_H
#define KYMO_TRACE_ORIGINAL_H

#include "source/format.h"

/* The original bytes of the event that was returned last, valid until the next move. KYMO_E_USAGE: its format
 * has no such bytes; KYMO_E_FORMAT: they do not exist any more. */
int kymo_event_original(const struct kymo_event *event, struct kymo_original *original,
                        struct kymo_error *error);

#endif
