/* SPDX-License-Identifier: MIT */
/* Call sites that are switched by changing their code (KYMO_PATCH). */
#ifndef KYMO_RECORD_JUMPS_H
#define KYMO_RECORD_JUMPS_H

#include <stdbool.h>

/* Makes the code of all call sites match their enable words. If the system refuses that, the words are set to
 * match the code, so that they are correct, a warning is printed, and the result is false with errno. Call
 * with the lock held, after ids and descriptions are stored. */
bool kymo_jumps_follow(void);

#endif
