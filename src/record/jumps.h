/* SPDX-License-Identifier: MIT */
/* Call sites that are switched by changing their code (KYMO_PATCH). */
#ifndef KYMO_RECORD_JUMPS_H
#define KYMO_RECORD_JUMPS_H

#include <stdbool.h>

/* Makes the code of all call sites follow their enable words. Where the system refuses that, the words follow
 * the code, so that they tell the truth, a warning is given, and the result is false with errno. Call with
 * the lock held, when ids and descriptions are there. */
bool kymo_jumps_follow(void);

#endif
