/* SPDX-License-Identifier: MIT */
/* The bytes that events were made of. */
#ifndef KYMO_TRACE_ORIGINAL_H
#define KYMO_TRACE_ORIGINAL_H

#include "source/format.h"

/* What an event that was got last was made of, valid until the next move. KYMO_E_USAGE: its format has no
 * such bytes; KYMO_E_FORMAT: they are gone. */
int kymo_event_original(const struct kymo_event *event, struct kymo_original *original,
                        struct kymo_error *error);

#endif
