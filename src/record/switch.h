/* SPDX-License-Identifier: MIT */
/* Switching this process's tracepoints and rings. Call with the lock held (record/session.h). */
#ifndef KYMO_RECORD_SWITCH_H
#define KYMO_RECORD_SWITCH_H

#include "record/rules.h"

/* Adds a rule and applies it. How many tracepoints match, or -1 with errno and *wrong (static). */
int kymo_switch(const struct kymo_choice *choice, bool on, const char **wrong);
/* The mode that the rings are in from now on; enum kymo_pool_mode. */
void kymo_switch_mode(uint32_t mode);

#endif
