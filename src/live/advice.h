/* SPDX-License-Identifier: MIT */
/*
 * What helps against losses.
 */
#ifndef KYMO_LIVE_ADVICE_H
#define KYMO_LIVE_ADVICE_H

#include <stdint.h>

/* Says in one line what would help, if one event in a hundred or more was lost because a ring was full.
 * `larger`: how to get larger rings. */
void kymo_advise_on_losses(uint64_t events, uint64_t lost, uint64_t full, const char *larger);

#endif
