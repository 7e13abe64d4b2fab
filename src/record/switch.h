/* SPDX-License-Identifier: MIT */
/* Switches this process's tracepoints and rings. Call with the lock held (record/session.h). */
#ifndef KYMO_RECORD_SWITCH_H
#define KYMO_RECORD_SWITCH_H

#include "record/rules.h"

/* Adds a rule and applies it. Returns the number of matching tracepoints, or -1 with errno and *wrong
 * (static). */
int kymo_switch(const struct kymo_choice *choice, bool on, const char **wrong);
/* Sets the mode of the rings from now on; enum kymo_pool_mode. */
void kymo_switch_mode(uint32_t mode);

#endif
